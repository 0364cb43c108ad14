"""JGUFS as printed: its penalised objective, the sweep that lowers it, and the path of lambda to a good start."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.graphs import affinity_graph
from ufs_bench.methods.core.indicators import IndicatorMatrix, Indicators
from ufs_bench.methods.core.loop import iterate, largest_change
from ufs_bench.methods.core.optimal_graph import adapted_laplacian, row_stochastic_graph
from ufs_bench.methods.core.prox import oblique, smoothing, unit_columns
from ufs_bench.methods.core.reweighting import EPS, Memory, log_scale, no_memory, reweighted
from ufs_bench.methods.core.ridge import WeightedRidge
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import times
from ufs_bench.methods.core.starts import graph_labels, indicator

LIFT = 0.2  # added to every entry of the start
WARM_SWEEPS, WARM_TOL = 5, 1e-3  # for each smaller lambda
# Gains fall from sweep to sweep, mostly by more than a thirtieth: what is to come adds up to less than 30 of the last.
# A sweep whose extrapolation fails gains little, hence the largest of three.
RECENT, FURTHER = 3, 30
LONGEST = 12  # powers of ten in a path: beyond, lambda is as good as infinite
bandwidth = None  # for the graph's heat kernel: the default of `methods.core.graphs.knn_graph`


def adjacency(X, affinity, n_neighbors, bandwidth=None):
    """Return A, its rows on the unit simplex."""
    return shared(X, row_stochastic_graph, affinity, n_neighbors)


def first(X, n_clusters, seed, *graph):
    """Return one-hot rows of spectral labels, every entry raised by `LIFT`."""
    return indicator(shared(X, graph_labels, n_clusters, seed, affinity_graph, *graph), n_clusters) + LIFT


@dataclass(frozen=True)
class Graph:
    """S, the F that it was made for, ||S - A||^2, and its Laplacian."""

    S: sparse.csr_array
    F: np.ndarray
    distance: float
    L: sparse.csr_array


@dataclass(frozen=True)
class State:
    """Indicators and their regression, the objective there, and where the next sweep starts."""

    F: np.ndarray
    W: np.ndarray
    graph: Graph  # the best one for the F that the sweep began with
    value: float
    value_w: float  # W minimises it: the part of the objective that beta multiplies
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None

    @property
    def S(self):
        """The learned graph."""
        return self.graph.S


class Problem:
    """The objective for given data, minimised over S, F and W in turn; the rows of A are on the unit simplex."""

    change = staticmethod(largest_change)

    def __init__(self, X, A, alpha, beta, gamma, lambda_, ridge=None):
        self.X, self.A = X, A
        self.alpha, self.beta, self.gamma, self.lambda_ = alpha, beta, gamma, lambda_
        self.ridge = ridge or WeightedRidge(X)

    def start(self, F):
        """Start at F with columns of unit norm, its best graph, and its regression with weights as at W = 1."""
        return self.at(unit_columns(F), np.full(self.X.shape[1], np.log(F.shape[1]) / 2))

    def starts(self, F, tol):
        """Return the state that smaller lambdas, under which F moves more freely, lead to, and the start."""
        start = self.start(F)
        return [self.warmed(start, tol), start]

    def unless_behind(self, best):
        """Return `change`, but 0 where the run seems to end above the best value, so that it is left."""
        gains = []

        def residual(previous, state):
            gains.append(previous.value - state.value)
            behind = len(gains) >= RECENT and state.value - best > FURTHER * max(gains[-RECENT:])
            return 0.0 if behind else self.change(previous, state)

        return residual

    def warmed(self, state, tol):
        """Return a state reached by up to `WARM_SWEEPS` sweeps for each smaller lambda, each from the last."""
        for lambda_ in self.path():
            problem = Warm(self.X, self.A, self.alpha, self.beta, self.gamma, lambda_, self.ridge)
            state, _ = iterate(
                problem.sweep,
                problem.at(state.F, state.log_s),
                residual=problem.change,
                max_iter=WARM_SWEEPS,
                tol=max(tol, WARM_TOL),
            )
            state = replace(state, log_s=log_scale(state.W))
        return self.at(state.F, state.log_s)

    def path(self):
        """Return sqrt(beta) (1, 10, 100, ...) up to a third of lambda."""
        smallest = np.sqrt(self.beta)
        count = int(np.ceil(np.log10(self.lambda_ / 3 / smallest)))
        return smallest * 10.0 ** np.arange(min(max(0, count), LONGEST))

    def at(self, F, log_s):
        """Return the best graph for F, and the regression of F for the weights 1 / (2 s)."""
        system = self.ridge.factor(self.gamma / (2 * np.exp(log_s)))
        state = self.state(F, *system.residual(F), self.graph(F))
        return replace(state, log_s=log_s, memory=no_memory(len(log_s)))

    def sweep(self, state):
        """Update S, M = diag(1 / (2 s)), F and W, in this order: the whole algorithm, with `solve`."""
        graph = self.graph(state.F, state.graph)  # S: (3) to (5)
        return reweighted(lambda s: self.solve(s, state.F, graph), state)  # M: (7), extrapolated

    def solve(self, s, F, graph):
        """Return a better F, and the best W for it, both for this M."""
        system = self.ridge.factor(self.gamma / (2 * s))  # X'X + gamma M
        F = self.lowered(self.indicators(system, graph.L), F)  # F: (11)
        rest, W = system.residual(F)  # W: (9), and F - XW
        return self.state(F, rest, W, graph)

    def graph(self, F, known=None):
        """Return the S that minimises ||S - A||^2 + alpha tr F'L_S F: that of `known` where it was made for this F."""
        if known is not None and np.array_equal(known.F, F):
            return known
        S, L, distance = adapted_laplacian(F, self.A, 1 / self.alpha)
        return Graph(S, F, distance, L)

    lowered = staticmethod(Indicators.lowered)

    def indicators(self, system, L):
        """Return tr F'RF + lambda/2 ||F'F - I||^2, R = alpha L + beta (I - XGX'): the rest with the best W for F."""
        return Indicators(IndicatorMatrix(L, system, self.alpha, self.beta), self.lambda_)

    def state(self, F, rest, W, graph):
        value_w = np.vdot(rest, rest) + self.gamma * np.exp(log_scale(W)).sum()
        smooth = self.alpha * np.vdot(F, times(graph.L, F))
        value = graph.distance + smooth + self.beta * value_w + self.lambda_ / 2 * oblique(F)
        return State(F, W, graph, float(value), float(value_w))

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.beta * self.gamma * smoothing(state.W, EPS)


class Warm(Problem):
    """The objective for a small lambda, under which F need not be kept to one entry a row."""

    lowered = staticmethod(Indicators.freed)
