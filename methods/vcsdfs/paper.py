"""VCSDFS, its printed objective: projected quasi-Newton steps, from two starts that the data determine."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr, svd

from methods.core.bounded import minimize_nonnegative
from methods.core.loop import SETTLED, ranking_change

STEPS = 100  # L-BFGS steps in a sweep, which begins without a memory
TRIAL = 2  # sweeps of each start
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
    """

    def __init__(self, X, n_columns, rho):
        self.n_columns, self.rho = n_columns, rho
        self.R = X  # R'R = X'X, and of R only that matters
        if len(X) > X.shape[1]:
            values, axes = eigh(X.T @ X)
            self.R = np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T
        self.total = float(np.linalg.norm(self.R @ self.R.T) ** 2) / 2

    def starts(self):
        """Return the parts of one sign of the leading axes of X, and one feature a column, those of a pivoted QR."""
        axes = svd(self.R, full_matrices=False)[2]
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
        """Return the objective and its gradient."""
        RW, sums = self.R @ W, W.sum(axis=0)
        B = self.R.T @ RW
        G = RW.T @ RW
        value = self.total - np.vdot(B, B) + np.vdot(G, G) / 2 + self.rho * (sums @ sums - np.vdot(W, W))
        return float(value), 2 * (B @ G - self.R.T @ (self.R @ B) + self.rho * (sums - W))

    def sweep(self, state):
        return self.state(minimize_nonnegative(self.value, state.W, STEPS, tol=0.0))
