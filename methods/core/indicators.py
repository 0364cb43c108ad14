"""Cluster indicators: the F >= 0 that lower ``tr F'MF + gamma/2 ||F'F - I||^2`` for a positive semidefinite M.

For a large gamma a step from an F with several entries in a row costs more than it gains, whatever its direction, and F
stays where it is.  With one entry a row the columns come apart.  A column of direction u, ||u|| = 1, and quotient m =
u'Mu is best of squared length 1 - m / gamma, which leaves m - m^2 / (2 gamma).  So the columns are turned on the
sphere, then rows change column where that pays, and only then are all entries free again.
"""

import numpy as np

from methods.core.bounded import minimize_nonnegative
from methods.core.prox import oblique

TURNS = 20  # quasi-Newton steps on the sphere
FREE = 30  # with all entries free
SMALL = 1e-7  # gain of a step, as a share of the value, at which they stop
ROUNDING = 1e-9  # of a value, which a change of column has to beat
NEAR = 0.1  # by which the value may rise with one entry a row, for the columns to be turned


class Indicators:
    """The function for one M.

    Parameters
    ----------
    product : callable
        ``product(F)`` is MF.
    diagonal : callable
        ``diagonal()`` is that of M, of shape (n_samples,).
    gamma : float
        Above 0.
    """

    def __init__(self, product, diagonal, gamma):
        self.product, self.diagonal, self.gamma = product, diagonal, gamma

    def __call__(self, F):
        """The value at F, and its gradient."""
        MF = self.product(F)
        away = F.T @ F
        away.flat[:: len(away) + 1] -= 1.0
        value = np.vdot(F, MF) + self.gamma / 2 * np.vdot(away, away)
        return float(value), 2 * MF + 2 * self.gamma * (F @ away)

    def value(self, F):
        """The value at F alone."""
        return float(np.vdot(F, self.product(F)) + self.gamma / 2 * oblique(F))

    def lowered(self, F):
        """An F whose value is no higher.

        Parameters
        ----------
        F : ndarray of shape (n_samples, n_columns)
            0 or more.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
        """
        value, single = self.value(F), self.scaled(single_entries(F))
        if self.value(single) <= (1 + NEAR) * value:
            apart = self.scaled(self.exchanged(self.turned(single)))
            MF = self.product(apart)
            if np.vdot(apart, MF) + self.gamma / 2 * oblique(apart) <= value:
                F = apart
                if self.most_of_freeing(F, MF) <= SMALL * value:
                    return F
        return self.freed(F)

    def freed(self, F):
        """`lowered` by steps of all entries alone: enough where gamma is small."""
        return minimize_nonnegative(self, F, FREE, SMALL)

    def most_of_freeing(self, F, MF):
        """A bound on what further entries gain, in an F with one entry a row.

        Beside f_ik, a new f_il gains 2 (MF)_il f_il at most and costs gamma (f_ik f_il)^2 at least: (MF)_il^2 / (gamma
        f_ik^2) at the best.
        """
        pull = np.where(F > 0, 0.0, np.minimum(MF, 0.0))
        with np.errstate(all="ignore"):
            gains = (pull**2).sum(axis=1) / (self.gamma * F.max(axis=1) ** 2)
        return np.where(pull.any(axis=1), gains, 0.0).sum()

    def scaled(self, V):
        """The columns of V at their best lengths."""
        U = V / _lengths(V)
        return U * np.sqrt(np.maximum(1 - self.quotients(U)[1] / self.gamma, 0.0))

    def left(self, m):
        """The least of ``q m + gamma/2 (q - 1)^2`` over q >= 0, the squared length of a column of quotient m."""
        return np.where(m < self.gamma, m - m**2 / (2 * self.gamma), self.gamma / 2)

    def quotients(self, U):
        """MU and the quotients of the columns of U, of unit norm; a column of zeros leaves what m = gamma does."""
        MU = self.product(U)
        return MU, np.where(U.any(axis=0), np.einsum("ij,ij->j", U, MU), self.gamma)

    def turned(self, V):
        """Columns of unit norm with lower quotients, no entry where V has none."""
        mask = V > 0

        def function(V):
            lengths = _lengths(V)
            MU, m = self.quotients(V / lengths)
            slope = 2 * np.maximum(1 - m / self.gamma, 0.0) / lengths * (MU - m * V / lengths)
            return self.left(m).sum(), np.where(mask, slope, 0.0)

        V = minimize_nonnegative(function, V / _lengths(V), TURNS, SMALL)
        return V / _lengths(V)

    def exchanged(self, U):
        """Columns of unit norm, the rows in others where that lowers the value; as many at once as lower it together.

        The gain of one row alone is exact: without its entry a, a column's quotient is (m - 2a (Mu)_i + a^2 M_ii) /
        (1 - a^2), and with a new entry the smaller eigenvalue of [[m, (Mu)_i], [(Mu)_i, M_ii]].
        """
        MU, m = self.quotients(U)
        bound = self.left(m).sum()
        target, entry, gain = self._gains(U, MU, m)
        order = np.argsort(-gain, kind="stable")
        count = np.count_nonzero(gain > ROUNDING * bound)
        while count:
            rows = order[:count]
            V = U.copy()
            V[rows] = 0.0
            V[rows, target[rows]] = entry[rows]
            V /= _lengths(V)
            if self.left(self.quotients(V)[1]).sum() < bound:
                return V
            count //= 2
        return U

    def _gains(self, U, MU, m):
        """For each row its best other column, its entry there, and what the change gains."""
        rows, own, diagonal = np.arange(len(U)), U.argmax(axis=1), self.diagonal()
        a = U[rows, own]
        rest = 1 - a**2
        alone = rest < ROUNDING  # the only entry of its column
        without = (m[own] - 2 * a * MU[rows, own] + a**2 * diagonal) / np.where(alone, 1.0, rest)
        loss = np.where(alone, np.inf, self.left(without) - self.left(m[own]))
        half = (diagonal[:, None] - m) / 2
        with_it = np.where(MU < 0, m + half - np.hypot(half, MU), m)
        empty = ~U.any(axis=0)
        with_it[:, empty] = diagonal[:, None]
        gains = self.left(m) - self.left(with_it)
        gains[rows[a > 0], own[a > 0]] = -np.inf
        target = gains.argmax(axis=1)
        slope = MU[rows, target]
        entry = np.divide(m[target] - with_it[rows, target], -slope, out=np.zeros(len(U)), where=slope < 0)
        entry[empty[target]] = 1.0
        return target, entry, gains[rows, target] - np.where(a > 0, loss, 0.0)


def single_entries(F):
    """F with all but the largest entry of each row set to 0."""
    V = np.zeros_like(F)
    rows, own = np.arange(len(F)), F.argmax(axis=1)
    V[rows, own] = F[rows, own]
    return V


def _lengths(V):
    """Norms of the columns, 1 for a column of zeros."""
    lengths = np.linalg.norm(V, axis=0)
    return np.where(lengths > 0, lengths, 1.0)


def indicator_change(start, end):
    """How far learned indicators are from their start, and from the partition that the start stands for.

    Parameters
    ----------
    start, end : ndarray of shape (n_samples, n_columns)

    Returns
    -------
    float
        In [0, 1]: 1 less the mean cosine between a column at the end and the same one at the start, or the indicator of
        the samples whose largest entry at the start is there, whichever cosine is larger.  0: nothing was learned.
    """
    partition = start == start.max(axis=1, keepdims=True)
    cosines = [np.einsum("ij,ij->j", F / _lengths(F), end / _lengths(end)).mean() for F in (start, partition)]
    return float(np.clip(1 - max(cosines), 0.0, 1.0))
