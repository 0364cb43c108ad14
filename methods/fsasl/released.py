"""FSASL as its program does it: both graphs of the samples as they are, their coordinates, and a sparse regression."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.ridge import WeightedRidge
from ufs_bench.methods.fsasl.structure import global_laplacian

EPS = np.finfo(float).eps  # under the root of a row norm, as there


@dataclass(frozen=True)
class State:
    """A regression, and its objective."""

    W: np.ndarray
    value: float


class Problem:
    """``||XW - Y||^2 + weight sum_j sqrt(||w_j||^2 + eps)``, by plain reweighting, the first weights all 1."""

    def __init__(self, X, Y, weight):
        self.X, self.Y, self.weight = X, Y, weight
        self.ridge = WeightedRidge(X)

    def start(self):
        return self._solve(np.ones(self.X.shape[1]))

    def sweep(self, state):
        return self._solve(0.5 / np.sqrt(row_norms(state.W) ** 2 + EPS))

    def _solve(self, weights):
        misfit, W = self.ridge.factor(self.weight * weights).residual(self.Y)
        smooth = np.sqrt(row_norms(W) ** 2 + EPS).sum()
        return State(W, float((misfit**2).sum() + self.weight * smooth))


def coordinates(L_local, S, first, second, n_columns):
    """Return the smallest eigenvectors of first (I - S)'(I - S) + second L_local, of shape (n_samples, n_columns)."""
    L = first * global_laplacian(S) + second * L_local.toarray()
    return eigh((L + L.T) / 2, subset_by_index=(0, n_columns - 1))[1]
