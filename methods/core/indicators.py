"""Cluster indicators: the F >= 0 that lower ``tr F'MF + gamma/2 ||F'F - I||^2`` for a positive semidefinite M.

For a large gamma a step from an F with several entries in a row costs more than it gains, whatever its direction, and F
stays where it is.  With one entry a row the columns come apart.  A column of direction u, ||u|| = 1, and quotient m =
u'Mu is best of squared length 1 - m / gamma, which leaves m - m^2 / (2 gamma).  So the columns are turned on the
sphere, then rows change column where that pays, and only then are all entries free again.
"""

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.bounded import minimize_nonnegative
from ufs_bench.methods.core.prox import oblique, unit_columns
from ufs_bench.methods.core.ridge import spread
from ufs_bench.methods.core.sparse_data import times

TURNS = 20  # quasi-Newton steps on the sphere
FREE = 30  # with all entries free
SMALL = 1e-7  # gain of a step, as a share of the value, at which they stop
ROUNDING = 1e-9  # a change of column has to lower the value by more than this share of it
NEAR = 0.1  # by which the value may rise with one entry a row, for the columns to be turned


class IndicatorMatrix:
    """M = a L + b (I - X (X'X + D)^-1 X'): ``tr F'MF`` is the value of the two terms with the best W for F.

    L is a Laplacian, csr_array; `system` the `FactoredRidge` of X and D; a and b are `smooth` and `fit`, 0 or more.
    """

    def __init__(self, L, system, smooth, fit):
        self.L, self.system, self.smooth, self.fit = L, system, smooth, fit

    def times(self, F):
        """Return MF, for F of shape (n_samples, n_columns)."""
        return self.smooth * times(self.L, F) + self.fit * self.system.misfit(F)

    def within(self, labels, n_columns):
        """Return a map from v to (MV)_{i, labels_i}: row i of V holds v_i in column labels_i, zeros elsewhere."""
        L = within(self.L, labels)
        return lambda v: self.smooth * (L @ v) + self.fit * self.system.misfit_within(v, labels, n_columns)

    def diagonal(self, rows):
        """Return M_ii of these rows."""
        return self.smooth * self.L.diagonal()[rows] + self.fit * self.system.misfit_diagonal(rows)

    def diagonal_bound(self):
        """Return lower bounds of all M_ii, of shape (n_samples,), at the cost of a product."""
        return self.smooth * self.L.diagonal() + self.fit * self.system.misfit_diagonal_bound()


class Indicators:
    """The function for one M, by the methods of `IndicatorMatrix`, and gamma, above 0."""

    def __init__(self, matrix, gamma):
        self.matrix, self.gamma = matrix, gamma

    def __call__(self, F):
        """Return the value at F, and its gradient."""
        return self.at(F, self.matrix.times(F))

    def at(self, F, MF):
        """Return the value at F and its gradient where MF is known."""
        away = F.T @ F
        away.flat[:: len(away) + 1] -= 1.0
        value = np.vdot(F, MF) + self.gamma / 2 * np.vdot(away, away)
        return float(value), 2 * MF + 2 * self.gamma * (F @ away)

    def value(self, F):
        """Return the value at F alone."""
        return float(np.vdot(F, self.matrix.times(F)) + self.gamma / 2 * oblique(F))

    def lowered(self, F):
        """Return an F (n_samples, n_columns) of 0 or more, whose value is no higher."""
        labels, c = F.argmax(axis=1), F.shape[1]
        v = F[np.arange(len(F)), labels]
        times = self.matrix.within(labels, c)
        Mv, lengths = times(v), _lengths_within(v, labels, c)
        if np.count_nonzero(F) == np.count_nonzero(v):
            MF, away = None, np.bincount(labels, v * v, c) - 1
            value = v @ Mv + self.gamma / 2 * (away @ away)
        else:
            MF = self.matrix.times(F)
            value = np.vdot(F, MF) + self.gamma / 2 * oblique(F)
        u, Mu = v / lengths[labels], Mv / lengths[labels]
        m = self.quotients_within(u, Mu, labels, c)
        if self.left(m).sum() <= (1 + NEAR) * value:
            u = self.turned(np.where(m[labels] < self.gamma, u, 0.0), Mu, labels, c, times)
            U, MU, m = self.exchanged(spread(u, labels, c))
            if self.left(m).sum() <= value:
                lengths = np.sqrt(np.maximum(1 - m / self.gamma, 0.0))
                F, MF = U * lengths, MU * lengths
                if self.most_of_freeing(F, MF) <= SMALL * value:
                    return F
        return self.freed(F, MF)

    def freed(self, F, MF=None):
        """Return `lowered` by steps of all entries alone: enough where gamma is small.  MF spares a product."""
        return minimize_nonnegative(self, F, FREE, SMALL, None if MF is None else self.at(F, MF), self.above)

    def above(self, F):
        """Return how far gamma/2 ||G'G - I||^2 is above its tangent at F, as a function of G; tr G'MG is convex."""
        away = F.T @ F
        away.flat[:: len(away) + 1] -= 1.0
        penalty, slope = self.gamma / 2 * np.vdot(away, away), 2 * self.gamma * (F @ away)
        return lambda G: self.gamma / 2 * oblique(G) - penalty - np.vdot(slope, G - F)

    def most_of_freeing(self, F, MF):
        """Return a bound on what further entries gain, in an F with one entry a row.

        Beside f_ik, a new f_il gains 2 (MF)_il f_il at most and costs gamma (f_ik f_il)^2 at least: (MF)_il^2 / (gamma
        f_ik^2) at the best.
        """
        pull = np.where(F > 0, 0.0, np.minimum(MF, 0.0))
        with np.errstate(all="ignore"):
            gains = (pull**2).sum(axis=1) / (self.gamma * F.max(axis=1) ** 2)
        return np.where(pull.any(axis=1), gains, 0.0).sum()

    def left(self, m):
        """Return the least of ``q m + gamma/2 (q - 1)^2`` over q >= 0, the squared length of a column of quotient m."""
        return np.where(m < self.gamma, m - m**2 / (2 * self.gamma), self.gamma / 2)

    def quotients(self, U):
        """Return MU and the quotients of the columns of U, of unit norm; a column of zeros has quotient gamma."""
        MU = self.matrix.times(U)
        return MU, np.where(U.any(axis=0), np.einsum("ij,ij->j", U, MU), self.gamma)

    def quotients_within(self, u, Mu, labels, c):
        """Return the quotients of the columns that have u_i in row i of column labels_i alone, and there Mu_i."""
        filled = np.bincount(labels, u > 0, c) > 0
        return np.where(filled, np.bincount(labels, u * Mu, c), self.gamma)

    def turned(self, u, Mu, labels, c, times):
        """Return such columns of unit norm, with lower quotients and no entry where u has none; `times` gives Mu."""
        mask = u > 0

        def there(u, Mu, lengths):
            m = self.quotients_within(u, Mu, labels, c)
            slope = (2 * np.maximum(1 - m / self.gamma, 0.0) / lengths)[labels] * (Mu - m[labels] * u)
            return self.left(m).sum(), np.where(mask, slope, 0.0)

        def function(v):
            lengths = _lengths_within(v, labels, c)
            u = v / lengths[labels]
            return there(u, times(u), lengths)

        v = minimize_nonnegative(function, u, TURNS, SMALL, there(u, Mu, np.ones(c)))
        return v / _lengths_within(v, labels, c)[labels]

    def exchanged(self, U):
        """Move rows to other columns, as many at once as lower the value together.

        Returns the columns of unit norm, U, with MU and their quotients.  The gain of one row alone is exact: without
        its entry a, a column's quotient is (m - 2a (Mu)_i + a^2 M_ii) / (1 - a^2), and with a new entry the smaller
        eigenvalue of [[m, (Mu)_i], [(Mu)_i, M_ii]].  It falls as M_ii rises, so that M_ii is needed only in rows that
        gain with less.
        """
        MU, m = self.quotients(U)
        value = self.left(m).sum()
        rows, target, entry = self.exchanges(U, MU, m)
        while len(rows):
            V = U.copy()
            V[rows] = 0.0
            V[rows, target] = entry
            V = unit_columns(V)
            MV, m_there = self.quotients(V)
            if self.left(m_there).sum() < value:
                return V, MV, m_there
            half = len(rows) // 2
            rows, target, entry = rows[:half], target[:half], entry[:half]
        return U, MU, m

    def exchanges(self, U, MU, m):
        """Return the rows that gain by a change of column, the largest gain first, their new columns and entries."""
        least = ROUNDING * self.left(m).sum()
        hopeful = self._gains(U, MU, m, np.arange(len(U)), self.matrix.diagonal_bound())[2] > least
        rows = np.flatnonzero(hopeful)
        target, entry, gain = self._gains(U, MU, m, rows, self.matrix.diagonal(rows))
        best = np.argsort(-gain, kind="stable")[: np.count_nonzero(gain > least)]
        return rows[best], target[best], entry[best]

    def _gains(self, U, MU, m, rows, diagonal):
        """Return the best other column of each of these rows, its entry there, and the gain of the change."""
        empty = ~U.any(axis=0)
        U, MU, rows = U[rows], MU[rows], np.arange(len(rows))
        own = U.argmax(axis=1)
        a = U[rows, own]
        rest = 1 - a**2
        alone = rest < ROUNDING  # the only entry of its column
        without = (m[own] - 2 * a * MU[rows, own] + a**2 * diagonal) / np.where(alone, 1.0, rest)
        loss = np.where(alone, np.inf, self.left(without) - self.left(m[own]))
        half = (diagonal[:, None] - m) / 2
        with_it = np.where(MU < 0, m + half - np.hypot(half, MU), m)
        with_it[:, empty] = diagonal[:, None]
        gains = self.left(m) - self.left(with_it)
        gains[rows[a > 0], own[a > 0]] = -np.inf
        target = gains.argmax(axis=1)
        slope = MU[rows, target]
        entry = np.divide(m[target] - with_it[rows, target], -slope, out=np.zeros(len(U)), where=slope < 0)
        entry[empty[target]] = 1.0
        return target, entry, gains[rows, target] - np.where(a > 0, loss, 0.0)


def _lengths_within(v, labels, c):
    """Return norms of columns that have v_i in row i of column labels_i alone, 1 for a column of zeros."""
    lengths = np.sqrt(np.bincount(labels, v * v, c))
    return np.where(lengths > 0, lengths, 1.0)


def within(L, labels):
    """Return the csr_array L without its entries between samples of different labels, the others in their order.

    Times v it is (LV)_{i, labels_i} for the V that holds v_i in column labels_i of row i, zeros elsewhere.
    """
    rows = np.repeat(np.arange(len(labels)), np.diff(L.indptr))
    kept = labels[rows] == labels[L.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[L.indptr].astype(L.indptr.dtype)
    return sparse.csr_array((L.data[kept], L.indices[kept], ends), shape=L.shape)


def indicator_change(start, end):
    """Return how far learned indicators are from their start, and from the partition that the start stands for.

    In [0, 1]: 1 less the mean cosine between a column at the end and the same one at the start, or the indicator of the
    samples whose largest entry at the start is there, whichever cosine is larger.  0: nothing was learned.
    """
    partition = start == start.max(axis=1, keepdims=True)
    cosines = [np.einsum("ij,ij->j", unit_columns(F), unit_columns(end)).mean() for F in (start, partition)]
    return float(np.clip(1 - max(cosines), 0.0, 1.0))
