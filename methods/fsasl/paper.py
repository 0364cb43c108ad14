"""FSASL as printed: codes, neighbours and projection in turn, each the best for the others."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, lu_factor, lu_solve

from ufs_bench.methods.core.graphs import nearest_neighbors
from ufs_bench.methods.core.optimal_graph import symmetric_laplacian
from ufs_bench.methods.core.prox import smoothing
from ufs_bench.methods.core.reweighting import EPS, Memory, log_scale, no_memory, safeguarded
from ufs_bench.methods.fsasl.structure import code_penalties, local_weights, sparse_codes

SMALLEST = 1e-12  # share of the mean square of XW, 1 / n, below which no weight of the neighbours goes
KNOWN = 1e-14  # share of the largest eigenvalue below which a direction of XW is rounding


@dataclass(frozen=True)
class State:
    """A projection and both graphs, the objective there, and where the next sweep starts."""

    W: np.ndarray
    Y: np.ndarray  # XW
    S: np.ndarray
    P: sparse.csr_array
    value: float
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None


@dataclass(frozen=True)
class Projection:
    """A W for given graphs, XW, and their part of the objective."""

    W: np.ndarray
    Y: np.ndarray
    value: float


class Problem:
    """The objective of `methods.fsasl.FSASL` with ||w_j|| smoothed to sqrt(||w_j||^2 + eps).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        In units in which its singular values are about 1, and so W.
    S, P : ndarray and csr_array of shape (n_samples, n_samples)
        Codes and weights of neighbours to start from.
    n_columns : int
        Of W; at most the rank of X.
    weights : tuple of float
        lambda1, lambda2 and lambda3.
    ratio : float
        Of the penalty of the codes.
    n_neighbors : int
    """

    def __init__(self, X, S, P, n_columns, weights, ratio, n_neighbors):
        self.X, self.n_columns, self.weights, self.ratio = X, n_columns, weights, ratio
        self.n_neighbors = n_neighbors
        self.start = self._start(S, P)

    def _start(self, S, P):
        plain = self._projection(S, P, np.full(self.X.shape[1], 0.5))
        K = plain.Y @ plain.Y.T
        self.penalties = code_penalties(K, self.ratio)
        near = nearest_neighbors(plain.Y, min(self.n_neighbors + 1, len(K) - 1))
        distances = ((plain.Y[near] - plain.Y[:, None]) ** 2).sum(axis=2)
        k = max(1, near.shape[1] - 1)
        reg = (k * distances[:, -1] - distances[:, :k].sum(axis=1)).mean() / 2
        self.reg = max(float(reg), SMALLEST / len(K))
        return self._with_graphs(plain)

    def value(self, found, S, P):
        """Return the objective, given the value of the projection."""
        first, second, _ = self.weights
        codes = 2 * first * float(self.penalties @ np.abs(S).sum(axis=1))
        return found.value + codes + second / 2 * self.reg * float((P.data**2).sum())

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.weights[2] * smoothing(state.W, EPS)

    def sweep(self, state):
        """Update W, with extrapolated weights, then the codes and the neighbours."""
        plain = log_scale(state.W)

        def solve(s):
            return self._projection(state.S, state.P, s)

        if state.log_s is None:
            found, log_s, memory = solve(np.exp(plain)), plain, no_memory(len(plain))
        else:
            memory = state.memory.remember(state.log_s, plain)
            bound = self._measured(state.W, state.Y, state.S, state.P).value
            found, log_s, memory = safeguarded(solve, memory, bound)
        return replace(self._with_graphs(found, state.S), log_s=log_s, memory=memory)

    def _with_graphs(self, found, S=None):
        """Return the state of W with the best graphs for it."""
        S = sparse_codes(found.Y, self.penalties, S)
        near = nearest_neighbors(found.Y, min(self.n_neighbors, len(S) - 1))
        P = local_weights(found.Y, near, self.reg)
        found = self._measured(found.W, found.Y, S, P)
        return State(found.W, found.Y, S, P, self.value(found, S, P))

    def _measured(self, W, Y, S, P):
        first, second, third = self.weights
        value = first * ((Y - S @ Y) ** 2).sum() + second * (Y * (symmetric_laplacian(P) @ Y)).sum()
        return Projection(W, Y, float(value + third * np.exp(log_scale(W)).sum()))

    def _projection(self, S, P, s):
        """Return the best W for the weights 1 / (2 s), by the smaller of both sides of X."""
        first, second, third = self.weights
        L, E = second * symmetric_laplacian(P), 2 * s / third
        n, d = self.X.shape
        if n < d:
            rest = np.eye(n) - S
            L = L.toarray() + first * rest.T @ rest
            B = (self.X * E) @ self.X.T
            system = B @ L
            system.flat[:: n + 1] += 1.0
            T = lu_solve(lu_factor(system, overwrite_a=True), B)
            values, Y = _largest((T + T.T) / 2, None, self.n_columns)
            W = E[:, None] * (self.X.T @ (Y / values - L @ Y))
        else:
            rest = self.X - S @ self.X
            G = first * (rest.T @ rest) + self.X.T @ (L @ self.X)
            G = (G + G.T) / 2
            G.flat[:: d + 1] += 1 / E
            values, W = _largest(self.X.T @ self.X, G, self.n_columns)
            W = W / np.sqrt(values)  # G-orthonormal vectors have W'X'XW = values
        return self._measured(W, self.X @ W, S, P)


def _largest(A, G, n_vectors):
    """Return the largest eigenvalues and vectors of A v = value G v, without those that are rounding."""
    if not (np.isfinite(A).all() and (G is None or np.isfinite(G).all())):
        raise np.linalg.LinAlgError("The system is not finite.")
    values, vectors = eigh(A, G, subset_by_index=(len(A) - n_vectors, len(A) - 1))
    if values[0] <= KNOWN * values[-1]:
        raise np.linalg.LinAlgError("W'X'XW = I cannot hold: XW has fewer dimensions than columns")
    return values[::-1], vectors[:, ::-1]
