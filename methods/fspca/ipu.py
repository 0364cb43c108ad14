"""FSPCA by the paper's two algorithms: a closed form, and ascent on components and features in turn."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from ufs_bench.methods.core.linalg import principal_axes
from ufs_bench.methods.core.shared import shared

RANK = 1e-12  # squared singular values below this share of the largest are rounding


@dataclass(frozen=True)
class State:
    """Features, the leading left and right singular vectors of their columns, and minus the sum of squared values."""

    features: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: float


class Problem:
    """The sum of the m largest eigenvalues of B'B on h features, to be maximised."""

    def __init__(self, B, h, m):
        self.B, self.h, self.m = B, h, m
        self.variances = np.einsum("ij,ij->j", B, B)
        values, loadings = shared(B, principal_axes, m)
        self.gains = np.einsum("jk,jk->j", loadings, loadings)
        self.bound = float(min(values.sum(), np.sort(self.variances)[::-1][:h].sum()))

    def go(self):
        """Return the features with the largest diagonal entries of A_m; of A where m = h, for they are optimal then."""
        return self.state(self.variances if self.m == self.h else self.gains)

    def of_subspace(self, W):
        """Return the features that P keeps for W."""
        left, values, _ = svd(self.B @ np.asarray(W, dtype=float), full_matrices=False)
        return self.state(self._explained(left[:, values**2 > RANK * values[0] ** 2]))

    def sweep(self, state):
        """Return the features that P keeps for the components of a state; this state where they are its own."""
        new = self.state(self.explained(state))
        return state if np.array_equal(new.features, state.features) or new.value >= state.value else new

    def explained(self, state):
        """Return p_j for all features."""
        return self._explained(state.left)

    def state(self, values):
        """Return the state of the h features of largest value, of equal ones the first."""
        return self.state_of(np.sort(np.argsort(-values, kind="stable")[: self.h]))

    def state_of(self, features):
        """Return the best W on some features."""
        left, sigma, right = svd(self.B[:, features], full_matrices=False)
        kept = slice(max(1, np.count_nonzero(sigma[: self.m] ** 2 > RANK * sigma[0] ** 2)))
        return State(features, left[:, kept], right[kept].T, -float((sigma[: self.m] ** 2).sum()))

    def coefficients(self, state):
        """Return W."""
        W = np.zeros((self.B.shape[1], state.right.shape[1]))
        W[state.features] = state.right
        return W

    def _explained(self, left):
        projected = left.T @ self.B
        return np.einsum("kj,kj->j", projected, projected)
