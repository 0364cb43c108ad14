"""The smallest eigenvalues of a principal submatrix after one feature has given its place to another."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ufs_bench.methods.core.compiled import compiled

BLOCK = 2**18  # columns whose falls are ranked together, times c (h - 1)
BISECTIONS = 30  # they leave a billionth of a gap between eigenvalues
TINY = 1e-100  # a shorter length counts as zero: powers of it leave the range of floating point
NEWTON = 60  # steps at most; some five are taken
APART = 1e-8  # distance of a second pole from a root, as a share of the pole: nearer ones cannot be told apart
ROOM = 1e-8  # share of an entry of the diagonal: what is lost when terms 1 / APART times as large as it cancel


class Exchange:
    """All swaps of a feature of a set for one outside, for the sum of the c = n_vectors smallest eigenvalues.

    `rows` (h, n_features) are those of a positive semidefinite matrix B for the features of the set, `diagonal` that of
    B.

    Let lambda_l and U be the eigenvalues and eigenvectors of B on the set, u the row of U of the feature that leaves
    and z = U'b the column of the one that joins.  The eigenvalues mu_k without the first are the roots of p, those with
    the other in its place the roots of b_jj - t - s(t), where

        p(t) = sum_l u_l^2 / (lambda_l - t),   r(t) = sum_l u_l z_l / (lambda_l - t),
        s(t) = sum_l z_l^2 / (lambda_l - t) - r(t)^2 / p(t),

    so that one eigendecomposition serves for all swaps.
    """

    def __init__(self, rows, features, diagonal, n_vectors):
        self.features, self.n_vectors = features, n_vectors
        self.outside = np.setdiff1d(np.arange(len(diagonal)), features)
        self.diagonal = diagonal[self.outside]
        within = rows[:, features]
        self.within, self.across = (within + within.T) / 2, rows[:, self.outside]
        self.values, self.vectors = eigh(self.within)
        self.columns = self.vectors.T @ self.across
        self.squares = self.columns**2

    def joining(self, leaving, total):
        """Yield features that lower the sum of the c smallest eigenvalues below a total, the most promising first.

        The one at the place `leaving` gives way.  None is left out that does; rounding may have let one in that does
        not.
        """
        if self.n_vectors == len(self.features):  # all eigenvalues are summed, and their sum is that of the diagonal
            yield from self.outside[np.argsort(self.diagonal, kind="stable")[:1]].tolist()
            return
        rest = _Rest.of_the_whole(self, leaving) or _Rest.on_its_own(self, leaving)
        needed = rest.values.sum() - total
        if rest.values[-1] <= needed:  # no eigenvalue falls below the one before
            return
        bounds = rest.bounds(self.diagonal)
        order = np.argsort(-bounds, kind="stable")[: np.count_nonzero(bounds > needed)]
        height = max(1, BLOCK // (self.n_vectors * (len(self.features) - 1)))
        for block in np.split(order, range(height, len(order), height)):
            falls = rest.falls(block, self.diagonal[block], needed)
            best = np.argsort(-falls, kind="stable")[: np.count_nonzero(falls > needed)]
            yield from self.outside[block[best]].tolist()


@dataclass(frozen=True)
class _Rest:
    """The features that stay.

    Attributes
    ----------
    values : ndarray of shape (c,)
        mu_1 <= mu_2 <= ..., the smallest eigenvalues of B on them.
    squares : ndarray of shape (c, n_outside)
        The squared component of each column along their vectors.
    others : ndarray of shape (c, n_outside)
        The value of s at mu_k without its term in mu_k.
    poles, u, columns : ndarray of shapes (m,), (m,) and (m, n_outside)
        What p, r and s are made of.
    """

    values: np.ndarray
    squares: np.ndarray
    others: np.ndarray
    poles: np.ndarray
    u: np.ndarray
    columns: np.ndarray

    @classmethod
    def of_the_whole(cls, exchange, leaving):
        """Make the bounds from the eigenvectors of the set, in O(c h n_outside); None for too many equal eigenvalues.

        About mu = mu_k, with o the nearest pole, d = lambda_o - mu and sums over all l but o,

            P_m = sum_l u_l^2 / (lambda_l - mu)^(m+1),  R_m = sum_l u_l z_l / (lambda_l - mu)^(m+1),

        the component of z along the vector of mu is (u_o z_o + d R_0) / sqrt(u_o^2 + d^2 P_1).  What s is without its
        term in mu follows by expanding p, r and s about mu.  Terms in 1 / d cancel there, and are cancelled here: o may
        be as near as it likes, also at mu itself, where d / u_o^2 is -1 / P_0.
        """
        c, h = exchange.n_vectors, len(exchange.features)
        u = np.ascontiguousarray(exchange.vectors[leaving])
        nearest, inverse = np.empty(c, dtype=np.int64), np.empty((c, h))
        values, a, b, ratio = numbers = np.empty((4, c))
        if not _roots(exchange.values, u, nearest, inverse, numbers):
            return None
        first = u * inverse
        second = first * inverse
        P_1, P_2 = (np.einsum("kl,kl->k", first, other)[:, None] for other in (first, second))
        R_0, R_1 = np.split(np.concatenate([first, second]) @ exchange.columns, 2)
        z_o, a, b, ratio = exchange.columns[nearest], a[:, None], b[:, None], ratio[:, None]
        along, size = a * z_o + b * R_0, a**2 + b**2 * P_1
        others = ratio * (b * P_1 * z_o - a * R_0) ** 2 - 2 * b * along * R_1 * size + (b * along) ** 2 * P_2
        others = inverse @ exchange.squares + others / size**2
        return cls(values, along**2 / size, others, exchange.values, u, exchange.columns)

    @classmethod
    def on_its_own(cls, exchange, leaving):
        """Make the bounds from the eigenvectors of the features that stay, in O(h^2 (h + n_outside))."""
        stay = np.arange(len(exchange.features)) != leaving
        poles, vectors = eigh(exchange.within[np.ix_(stay, stay)])
        columns = vectors.T @ exchange.across[stay]
        values = poles[: exchange.n_vectors]
        apart = poles - values[:, None]
        np.fill_diagonal(apart, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):  # equal eigenvalues do not fall
            others = (1 / apart) @ columns**2
        return cls(values, columns[: len(values)] ** 2, others, poles, np.zeros(len(poles)), columns)

    def bounds(self, diagonal):
        """Return upper bounds, one for each column, of how much the sum of the eigenvalues falls when the column joins.

        Notes
        -----
        The new ones nu_1 <= mu_1 <= nu_2 <= mu_2 ... solve, with z_k along the vector of mu_k and s_k the rest of s,

            mu_k - nu = z_k^2 / (b_jj - nu - s_k(nu)).

        Between mu_{k-1} and mu_k the denominator falls with nu, so that with nu = mu_k in it the right side is a bound
        of mu_k - nu_k, exact to second order in z; mu_k - mu_{k-1} is another (mu_0 = 0).
        """
        denominators = (1 + ROOM) * diagonal - self.values[:, None] - self.others
        with np.errstate(divide="ignore", invalid="ignore"):
            falls = np.where(denominators > 0, self.squares / denominators, np.inf)
        return np.minimum(falls, np.diff(self.values, prepend=0.0)[:, None]).sum(axis=0)

    def falls(self, order, diagonal, needed):
        """Return the falls that `bounds` bounds, for some columns: never too small; exact to rounding above `needed`.

        Of any other fall the result says only that it is not above `needed`.
        """
        columns = np.ascontiguousarray(self.columns[:, order].T)
        return _falls(self.poles, self.u, columns, diagonal, self.values, needed)


@compiled(error_model="numpy")
def _roots(values, u, nearest, inverse, numbers):
    """Find the root mu_k of p above each of the smallest lambda_k; return False where a second pole is too near to one.

    With o the pole nearest to mu and d = lambda_o - mu, it writes o to `nearest`; 1 / (lambda_l - mu), and 0 for l = o,
    to `inverse`; and to the rows of `numbers` mu, u_o / length, d / length and d / length^2, where length =
    sqrt(u_o^2 + d^2).  The distance e = -d solves u_o^2 = e P_0(e), by Newton's method kept within an interval.  As it
    is e that is solved for, and not mu, a small e has all its digits.
    """
    for k in range(len(nearest)):
        gap = values[k + 1] - values[k]
        half, _ = _sums(values, u, k, -1, gap / 2)
        o = k if half > 0 else k + 1
        low, high = (0.0, gap / 2) if half > 0 else (-gap / 2, 0.0)
        e = (low + high) / 2
        for _ in range(NEWTON):
            P_0, P_1 = _sums(values, u, o, o, e)
            if e * P_0 - u[o] ** 2 > 0:
                low, high = (low, e) if e > 0 else (e, high)
            else:
                low, high = (e, high) if e > 0 else (low, e)
            new = (u[o] ** 2 + e**2 * P_1) / (P_0 + e * P_1)
            if not low <= new <= high:
                new = (low + high) / 2
            change = abs(new - e)
            e = new
            if change <= 1e-15 * abs(e):  # a few units in the last digit
                break
        length = np.hypot(u[o], e)
        seen = length > TINY
        nearest[k] = o
        numbers[0, k] = values[o] + e
        numbers[1, k] = u[o] / length if seen else 1.0
        numbers[2, k] = -e / length if seen else 0.0
        numbers[3, k] = -e / length**2 if seen else -1 / P_0
        next_pole = np.inf if seen or P_0 != 0 else 0.0
        for m in range(len(values)):
            apart = (values[m] - values[o]) - e
            inverse[k, m] = 0.0 if m == o else 1 / apart
            if m != o:
                next_pole = min(next_pole, abs(apart))
        if not next_pole > APART * abs(values[o]):
            return False
    return True


@compiled(error_model="numpy")
def _sums(values, u, o, without, e):
    """Return the sums P_0 and P_1 at lambda_o + e, over all l but `without`."""
    P_0 = P_1 = 0.0
    for m in range(len(values)):
        if m != without:
            first = u[m] / ((values[m] - values[o]) - e)
            P_0 += u[m] * first
            P_1 += first * first
    return P_0, P_1


@compiled(error_model="numpy")
def _falls(poles, u, columns, diagonal, values, needed):
    """Return how much the sum of the smallest eigenvalues falls with each column, where that is more than `needed`.

    The roots of a column are bisected together, until it is clear that they do not fall enough; the result is then a
    number no larger than `needed`.
    """
    falls = np.empty(len(columns))
    low, high = np.empty(len(values)), np.empty(len(values))
    for j in range(len(columns)):
        z = columns[j]
        for k in range(len(values)):
            low[k] = max(values[k - 1], 0.0) if k > 0 else 0.0
            high[k] = max(values[k], 0.0)
        for _ in range(BISECTIONS):
            fall = 0.0
            for k in range(len(values)):
                middle = (low[k] + high[k]) / 2
                p = r = s = 0.0
                for m in range(len(poles)):
                    inverse = 1 / (poles[m] - middle)
                    p += u[m] * u[m] * inverse
                    r += u[m] * z[m] * inverse
                    s += z[m] * z[m] * inverse
                if p != 0:
                    s -= r * r / p
                if diagonal[j] - middle > s:
                    low[k] = middle
                else:
                    high[k] = middle
                fall += values[k] - low[k]
            if fall <= needed:
                break
        falls[j] = fall
    return falls
