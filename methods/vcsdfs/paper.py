"""VCSDFS, its printed objective: projected quasi-Newton steps, from two starts that the data determine."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, svd

from ufs_bench.methods.core.bounded import minimize_nonnegative
from ufs_bench.methods.core.loop import SETTLED, ranking_change

STEPS = 100  # L-BFGS steps in a sweep, which begins without a memory
FEWEST = 5  # sweeps, with those of the trial, that the allowed work is enough for: a sweep has fewer steps where needed
TRIAL = 1  # sweep of each start
OTHER = 300  # of the work of a step for an entry of W, what the pairs of L-BFGS cost beside the products with R
FILLED = 1e-2  # zeros of a start become this share of the mean entry: every column has a part in the others
SMALLEST = 1e-8  # square of the factor of a start, where the penalty leaves no best one
patience = SETTLED
change = ranking_change


@dataclass(frozen=True)
class State:
    """W and the objective there."""

    W: np.ndarray
    value: float


class Problem:
    """``||XX' - XWW'X'||_F^2 / 2 + rho (1'WW'1 - tr WW')`` over W >= 0.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_columns : int
        Of W.
    rho : float
    work : float
        See `max_work` of `VCSDFS`.
    """

    def __init__(self, X, n_columns, rho, work=np.inf):
        self.n_columns, self.rho = n_columns, rho
        # R'R = X'X, and of R only that matters: principal axes, so that RR' is diagonal.
        factor = np.linalg.qr(X, mode="r") if len(X) > X.shape[1] else X
        _, s, axes = svd(factor, full_matrices=False)
        rank = max(np.count_nonzero(s > s[0] * max(X.shape) * np.finfo(float).eps), 1)
        self.R, self.squares = s[:rank, None] * axes[:rank], s[:rank] ** 2
        self.total = float(self.squares @ self.squares) / 2
        allowed = work / (X.shape[1] * n_columns * (rank + OTHER))  # steps in all
        self.steps = int(min(max(allowed / FEWEST, 1), STEPS))
        self.sweeps = int(min(max(allowed / self.steps - TRIAL, TRIAL), np.iinfo(np.int32).max))  # beside one trial

    def starts(self):
        """Return the parts of one sign of the leading axes of X, and one feature a column, those of a pivoted QR."""
        axes = self.R / np.maximum(np.sqrt(self.squares), np.finfo(float).tiny)[:, None]
        signs = np.where((np.maximum(axes, 0) ** 2).sum(axis=1) * 2 >= (axes**2).sum(axis=1), 1, -1)
        axes = axes * signs[:, None]
        parts = np.vstack([np.maximum(axes, 0), np.maximum(-axes, 0)])
        parts = parts[np.arange(self.n_columns) % len(parts)].T
        pivots = qr(self.R, mode="r", pivoting=True)[1]
        single = np.zeros_like(parts)
        single[pivots[np.arange(self.n_columns) % len(pivots)], np.arange(self.n_columns)] = 1.0
        return [self.scaled(parts + FILLED * parts.mean()), self.scaled(single)]

    def state(self, W):
        return State(W, self.value(W)[0])

    def scaled(self, W):
        """Return the best multiple t W: the objective is a quartic in t, without odd powers."""
        once, twice = (self.value(factor * W)[0] - self.total for factor in (1.0, np.sqrt(2.0)))
        fourth, second = (twice - 2 * once) / 2, (4 * once - twice) / 2
        best = -second / (2 * fourth) if fourth > 0 else 0.0
        return self.state(np.sqrt(max(best, SMALLEST)) * W)

    def value(self, W):
        """Return the objective and its gradient: with V = RW, 2 (R'(VV'V - RR'V) + rho (11'W - W))."""
        V, sums = self.R @ W, W.sum(axis=0)
        scaled, G = self.squares[:, None] * V, V.T @ V
        value = self.total - np.vdot(V, scaled) + np.vdot(G, G) / 2 + self.rho * (sums @ sums - np.vdot(W, W))
        gradient = self.R.T @ (2 * (V @ G - scaled))
        if self.rho:
            gradient += 2 * self.rho * (sums - W)
        return float(value), gradient

    def sweep(self, state):
        return self.state(minimize_nonnegative(self.value, state.W, self.steps, tol=0.0))
