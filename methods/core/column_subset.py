"""The residual of a matrix after projection on some of its columns, and the gain of adding each other one.

A is (m, n_features), S a set of its columns, E = A - P_S A with P_S the projector on their span, and e_j column j of E.
To add j to S lowers F(S) = ||E||_F^2 by ||E'e_j||^2 / ||e_j||^2: all columns are projected on e_j.
"""

import numpy as np
from scipy.linalg.blas import dger

SPANNED = 1e-20  # a smaller share of a column's squared norm is rounding: the chosen columns span it
ROUNDING = 32 * np.finfo(float).eps  # the relative error that each update adds to a numerator
UNSURE = 1e-8  # errors above this share of the best gain could decide: the numerators are computed anew
TIE = 1e-10  # share by which two gains differ where it is rounding: of equal columns the first is taken


def smaller_factor(X, center):
    """Return an (m, n_features) matrix with the inner products of the columns of X, m = min(n_samples, n_features).

    With `center` those of the centred columns: a constant feature is then exactly zero.
    """
    if center:
        constant = X.max(axis=0) == X.min(axis=0)
        X = X - X.mean(axis=0)
        X[:, constant] = 0.0
    return np.linalg.qr(X, mode="r") if X.shape[0] > X.shape[1] else X


def first_of_best(values):
    """Return the index of the largest value; of those that rounding cannot tell from it the first."""
    largest = values.max()
    return int(np.argmax(values >= largest - TIE * abs(largest)))


class Residual:
    """E for a set of columns of A (m, n_features) that grows by one at a time.

    `columns` is E', (n_features, m); `left` has ||e_j||^2, 0 for those that the chosen ones span, and for these
    themselves.
    """

    def __init__(self, A):
        self.columns = np.array(A.T, order="C")
        self.sizes = self._norms()
        self.left = self.sizes.copy()

    @property
    def total(self):
        """F(S)."""
        return float(self.left.sum())

    def values(self):
        """Return how much of each column is left, which decides which is next."""
        return self.left

    def take(self, j):
        """Add a column with something left to the set."""
        unit = self.columns[j] / np.sqrt(self.left[j])
        along = self.columns @ unit
        self._taken(unit, along)
        self._subtract(along, unit)
        self.columns[j] = 0.0

    def _taken(self, unit, along):
        """Bring up to date what subclasses keep, before E becomes E - unit along'."""

    def _subtract(self, along, unit):
        dger(-1.0, unit, along, a=self.columns.T, overwrite_a=True)
        self.left = self._norms()
        spanned = self.left <= SPANNED * self.sizes
        self.left[spanned] = 0.0
        self.columns[spanned] = 0.0

    def _norms(self):
        return np.einsum("ij,ij->i", self.columns, self.columns)


class Gains(Residual):
    """E, and the gain of every column: by how much it would lower what the set leaves of a target.

    T is `target` (m, n_targets), or A itself; ||T - P_S T||_F^2 is to fall, and the gain of j is ||T'e_j||^2 /
    ||e_j||^2.

    With the unit vector u along e_j, w = E'u and v = T'u, the numerators fall by 2 w.E'(T v) - ||v||^2 w.w, so that a
    step costs a few products with E.  They are computed anew before the rounding of these updates can decide.
    """

    def __init__(self, A, target=None):
        super().__init__(A)
        self.target = None if target is None else np.array(target.T, order="C")
        self._renew()

    def values(self):
        """Return the gains; 0 for a column that is spanned."""
        gains = ratio(self.numerators, self.left)
        if ROUNDING * ratio(self._renewed, self.left).max() > UNSURE * gains.max():
            self._renew()
            gains = ratio(self.numerators, self.left)
        return gains

    def change(self, unit, along):
        """Return the rise of the numerators where E becomes E + unit along', for a unit vector orthogonal to E."""
        product = self.columns @ (along @ self.columns)
        return along * (2 * product + (along @ along) * along)

    def restore(self, unit, along):
        """Take the direction of a unit vector, to which E is orthogonal, out of the span: E becomes E + unit along'."""
        self.numerators += self.change(unit, along)
        self._renewed = np.maximum(self._renewed, self.numerators)
        self._subtract(-along, unit)

    def _taken(self, unit, along):
        if self.target is None:
            v, T = along, self.columns
        else:
            v, T = self.target @ unit, self.target
        self.numerators += along * ((v @ v) * along - 2 * (self.columns @ (v @ T)))
        np.maximum(self.numerators, 0.0, out=self.numerators)
        if self.target is not None:
            dger(-1.0, unit, v, a=self.target.T, overwrite_a=True)

    def _renew(self):
        T = self.columns if self.target is None else self.target
        if len(T) > T.shape[1]:
            self.numerators = np.einsum("ij,ij->i", self.columns @ (T.T @ T), self.columns)
        else:
            products = self.columns @ T.T
            self.numerators = np.einsum("ij,ij->i", products, products)
        self._renewed = self.numerators.copy()


def ratio(numerators, left):
    """Return the numerators divided by the squared norms that are left; 0 where none is left."""
    return np.divide(numerators, left, out=np.zeros_like(left), where=left > 0)


def grow(residual, count):
    """Add the best column to a residual, in place, as long as one has something left, until there are `count`.

    Returns those chosen, in their order, and F(S) before each of them and at the end.
    """
    chosen, totals = [], [residual.total]
    while len(chosen) < count:
        values = residual.values()
        best = first_of_best(values)
        if not values[best] > 0:
            break
        residual.take(best)
        chosen.append(best)
        totals.append(residual.total)
    return chosen, totals


def ranked(chosen, residual):
    """Return scores of an order: the chosen columns, those that would gain most now, the spanned ones by their size.

    n_features for the first, and so down to 1.
    """
    n_features = len(residual.sizes)
    after = np.lexsort((-residual.sizes, -residual.values()))  # stable: of equal ones the first
    rest = after[~np.isin(after, chosen)]
    scores = np.empty(n_features)
    scores[np.concatenate([np.asarray(chosen, dtype=int), rest])] = np.arange(n_features, 0, -1)
    return scores
