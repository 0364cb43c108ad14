"""NDFS as printed: its penalised objective, and the sweep that lowers it."""

from dataclasses import dataclass, replace

import numpy as np

from ufs_bench.methods.core.indicators import IndicatorMatrix, Indicators
from ufs_bench.methods.core.loop import largest_change
from ufs_bench.methods.core.prox import oblique, smoothing, unit_columns
from ufs_bench.methods.core.reweighting import EPS, Memory, log_scale, no_memory, reweighted
from ufs_bench.methods.core.ridge import WeightedRidge

patience = 3  # sweeps on end that change nothing: see `methods.core.loop.iterate`
bandwidth = None  # for the graph's heat kernel: the default of `methods.core.graphs.knn_graph`


def first(F, X, rng):
    """Return the indicators as they are."""
    return F


@dataclass(frozen=True)
class State:
    """Indicators and their regression, the objective there, and where the next sweep starts."""

    F: np.ndarray
    W: np.ndarray
    value: float
    value_w: float  # W minimises it: the part of the objective that alpha multiplies
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None


class Problem:
    """The objective for given data, and its descent for given weights of the features; L is a csr_array."""

    change = staticmethod(largest_change)

    def __init__(self, X, L, alpha, beta, gamma):
        self.X, self.L = X, L
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        self.ridge = WeightedRidge(X)

    def start(self, F):
        """Start at F with columns of unit norm, and its regression with all features weighted as at W = 1."""
        d, c = self.X.shape[1], F.shape[1]
        log_s = np.full(d, np.log(c) / 2)
        F = unit_columns(F)
        state = self.state(F, *self.ridge.factor(self.beta / (2 * np.exp(log_s))).residual(F))
        return replace(state, log_s=log_s, memory=no_memory(d))

    def sweep(self, state):
        """Update D = diag(1 / (2 s)), then F, then W: the whole algorithm, with `solve`."""
        return reweighted(lambda s: self.solve(s, state.F), state)  # s_j = ||w_j||, smoothed; extrapolated

    def solve(self, s, F):
        """Return a better F, and the best W for it, both for this D."""
        system = self.ridge.factor(self.beta / (2 * s))  # K = X'X + beta D, and M = L + alpha (I - X K^-1 X')
        F = self.indicators(system).lowered(F)  # F >= 0 that lowers tr F'MF + gamma/2 ||F'F - I||^2
        rest, W = system.residual(F)  # W = K^-1 X'F, rest = F - XW
        return self.state(F, rest, W)

    def indicators(self, system):
        """Return tr F'MF + gamma/2 ||F'F - I||^2, the objective with the best W for F."""
        return Indicators(IndicatorMatrix(self.L, system, 1.0, self.alpha), self.gamma)

    def state(self, F, rest, W):
        value_w = np.vdot(rest, rest) + self.beta * np.exp(log_scale(W)).sum()
        value = np.vdot(F, self.L @ F) + self.alpha * value_w + self.gamma / 2 * oblique(F)
        return State(F, W, float(value), float(value_w))

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.alpha * self.beta * smoothing(state.W, EPS)
