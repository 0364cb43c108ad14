"""UDFS, its printed objective: several starts, and sweeps whose weights are extrapolated."""

from dataclasses import dataclass

import numpy as np

from ufs_bench.methods.core.loop import SETTLED, ranking_change
from ufs_bench.methods.core.prox import smoothing
from ufs_bench.methods.core.reweighting import EPS, Memory, close_scales, confined_scales, log_scale, reweighted
from ufs_bench.methods.core.smallest import (
    DenseGram,
    WideGram,
    smallest_eigenvectors,
    tie_breaking_weights,
    varying_centered,
)

patience = SETTLED  # sweeps on end without a change
change = ranking_change
features = varying_centered  # a constant one costs nothing, and would be taken first


@dataclass(frozen=True)
class State:
    """A projection, the objective there, and where the next sweep starts."""

    W: np.ndarray
    value: float
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None
    guess: np.ndarray = None  # W and a few vectors more


class Problem:
    """``tr W'X'LXW + gamma sum_j sqrt(||w_j||^2 + eps)`` for W'W = I, and its minimisation by reweighting.

    L is a positive semidefinite csr_array; W has `n_columns`, no more than features.
    """

    def __init__(self, X, L, n_columns, gamma):
        self.X, self.L, self.n_columns, self.gamma = X, L, n_columns, gamma
        self.gram = WideGram(X, L.__matmul__)
        if len(X) >= X.shape[1]:
            self.gram = DenseGram(self.gram.toarray())

    def starts(self):
        """Return the problem without sparsity, and those that are all but confined to the features that cost least."""
        scales = confined_scales(self.gram.diagonal(), self.n_columns)
        return [self.subspace_start(), *(self.solve(s, None) for s in scales)]

    def subspace_start(self):
        guess = smallest_eigenvectors(self.gram, tie_breaking_weights(self.gram, self.X), self.n_columns)
        return self.state(guess[:, : self.n_columns], guess)

    def restart(self, state):
        return self.solve(close_scales(state.W), state.guess)

    def state(self, W, guess=None):
        return State(W, self.value(W), guess=guess)

    def value(self, W):
        return self.gram.form(W) + self.gamma * float(np.exp(log_scale(W)).sum())

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.gamma * smoothing(state.W, EPS)

    def sweep(self, state):
        """Update D = diag(1 / (2 s)), then W: the whole algorithm, with `solve`."""
        return reweighted(lambda s: self.solve(s, state.guess), state)  # s_j = ||w_j||, smoothed; extrapolated

    def solve(self, s, guess):
        """Return the best W for this D: the n_columns smallest eigenvectors of M + gamma D, M = X'LX."""
        guess = smallest_eigenvectors(self.gram, self.gamma / (2 * s), self.n_columns, guess)
        return self.state(guess[:, : self.n_columns], guess)
