"""NDFS as its released program computes it."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.graphs import median_distance
from ufs_bench.methods.core.prox import oblique, row_weights
from ufs_bench.methods.core.ridge import WeightedRidge
from ufs_bench.methods.core.starts import order_by_distance

EPS = np.finfo(float).eps
patience = 1  # sweep that changes nothing, as in the program


def bandwidth(X):
    """Return the bandwidth of the graph's heat kernel, the square of the median distance."""
    return median_distance(X) ** 2


def first(F, X, rng):
    """Return uniform entries and 1 at the label; they are drawn in the order of the samples' distances to the mean."""
    noise = np.empty(F.shape)
    noise[order_by_distance(X)] = rng.random(F.shape)
    return np.where(F > 0, 1.0, noise)


class State(NamedTuple):
    """F, the W of the sweep that led to it, and the traced value."""

    F: np.ndarray
    W: np.ndarray
    value: float


class Problem:
    """The published program's sweeps; L is a csr_array."""

    change = None  # the default of `iterate`: the relative change of the traced value

    def __init__(self, X, L, alpha, beta, gamma):
        self.X, self.L = X, L
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        self.ridge = WeightedRidge(X)

    def start(self, F):
        W = np.ones((self.X.shape[1], F.shape[1]))
        return State(F, W, self.value(self.system(W), F))

    def sweep(self, state):
        """Update W from F, then F from the same weights, its columns scaled to unit norm."""
        F, system = state.F, self.system(state.W)
        rest, W = system.residual(F)  # W = (X'X + beta D)^-1 X'F, rest = F - XW, so that MF = LF + alpha rest
        denominator = self.L @ F + self.alpha * rest + self.gamma * (F @ (F.T @ F)) + EPS
        F = F * (self.gamma * F + EPS) / denominator
        F = F / np.sqrt(np.einsum("ij,ij->j", F, F) + EPS)
        return State(F, W, self.value(system, F))

    def printed(self, state):
        """Return the traced value."""
        return state.value

    def system(self, W):
        return self.ridge.factor(self.beta * row_weights(W, EPS))

    def value(self, system, F):
        """Return tr F'MF + gamma/4 ||F'F - I||^2, as the program traces it."""
        MF = self.L @ F + self.alpha * system.residual(F)[0]
        return float(np.vdot(F, MF) + self.gamma / 4 * oblique(F))
