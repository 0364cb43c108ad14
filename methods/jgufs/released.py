"""JGUFS as its released program computes it."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.graphs import affinity_graph, mean_distance
from ufs_bench.methods.core.optimal_graph import symmetric_adapted_graph
from ufs_bench.methods.core.prox import row_norms, row_weights, unit_columns
from ufs_bench.methods.core.ridge import WeightedRidge
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import times
from ufs_bench.methods.core.spectral import smooth_vectors

EPS = np.finfo(float).eps
bandwidth = mean_distance  # for the graph's heat kernel


def adjacency(X, *graph):
    """Return A, the weights of the neighbourhood graph as they are."""
    return shared(X, affinity_graph, *graph)


def first(X, n_clusters, seed, *graph):
    """Return eigenvectors of D - A; nothing random."""
    return shared(X, signed_eigenvectors, n_clusters, affinity_graph, *graph)


class State(NamedTuple):
    """F, the W before it, the graph that replaces A, LF, the weights of the features, and the traced value."""

    F: np.ndarray
    W: np.ndarray
    A: sparse.csr_array | np.ndarray  # an array of all pairs where most are joined
    LF: np.ndarray
    weights: np.ndarray
    value: float

    @property
    def S(self):
        """The learned graph, made symmetric; an array of all pairs where most are joined."""
        if isinstance(self.A, np.ndarray):
            return self.A
        S = self.A.copy()
        S.eliminate_zeros()
        return S


class Problem:
    """The program's sweeps for given data; A is symmetric."""

    change = None  # the default of `iterate`: the relative change of the traced value

    def __init__(self, X, A, alpha, beta, gamma, lambda_):
        self.X, self.A = X, A
        self.alpha, self.beta, self.gamma, self.lambda_ = alpha, beta, gamma, lambda_
        self.ridge = WeightedRidge(X)

    def start(self, F):
        """Start at W from F with all weights 1; the value is the first sweep's, at this F."""
        weights = np.ones(self.X.shape[1])
        rest, W = self.ridge.factor(self.gamma * weights).residual(F)
        LF = self.A.sum(axis=1)[:, None] * F - times(self.A, F)
        return State(F, W, self.A, LF, weights, self.value(W, rest, np.vdot(F, LF), 0.0))

    def starts(self, F, tol):
        """Return the one start: the program has no path."""
        return [self.start(F)]

    def sweep(self, state):
        """Update W, F with columns of unit norm, then the graph, which takes the place of A: the whole algorithm.

        An array of all pairs is overwritten, once nothing can fail any more.  LinAlgError where F, or what W is worth,
        is not finite.
        """
        F = state.F
        rest, W = self.ridge.factor(self.gamma * state.weights).residual(F)  # W: (9)
        fitted = F - rest
        RF = self.alpha * state.LF + self.beta * (2 * rest - F)
        below = RF + self.lambda_ * (F @ (F.T @ F))
        F = np.divide(F * (self.lambda_ * F), below, out=np.zeros_like(F), where=below != 0)  # (14)
        F = unit_columns(F)
        if not (np.isfinite(F).all() and np.isfinite(self.value(W, F - fitted, 0.0, 0.0))):
            raise np.linalg.LinAlgError("The sweep is not finite.")
        A, smoothness, skew = symmetric_adapted_graph(F, state.A, 1 / (2 * self.alpha))  # (5)
        LF = A.sum(axis=1)[:, None] * F - times(A, F)
        return State(F, W, A, LF, row_weights(W, EPS), self.value(W, F - fitted, smoothness, skew))

    def printed(self, state):
        """Return the traced value."""
        return state.value

    def value(self, W, rest, smooth, distance):
        """Return the printed value: the objective with the Laplacian before the sweep, and no penalty."""
        fit = np.vdot(rest, rest) + self.gamma * row_norms(W).sum()
        return float(distance + self.alpha * smooth + self.beta * fit)


def signed_eigenvectors(X, n_clusters, graph, *args):
    """Return eigenvectors of D - A for its smallest eigenvalues, the constant one first, A = ``graph(X, *args)``.

    Each has a sum of cubes of 0 or more, which settles its sign.
    """
    F = np.full((len(X), n_clusters), 1 / np.sqrt(len(X)))
    if n_clusters > 1:
        F[:, 1:] = smooth_vectors(graph(X, *args), n_clusters - 1, X, weighted=False)
    return F * np.where((F**3).sum(axis=0) < 0, -1.0, 1.0)
