"""The objective of SOGFS for given data: a projection, cluster indicators and a graph, each the best for the others."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components

from ufs_bench.methods.core.graphs import nearest_neighbors
from ufs_bench.methods.core.linalg import GUARDS, POWERS, largest_eigenvectors
from ufs_bench.methods.core.optimal_graph import adapted_graph, smoother, symmetric_laplacian
from ufs_bench.methods.core.prox import smoothing
from ufs_bench.methods.core.reweighting import (
    EPS,
    Memory,
    close_scales,
    confined_scales,
    log_scale,
    no_memory,
    safeguarded,
)
from ufs_bench.methods.core.smallest import DenseGram, WideGram, smallest_eigenvectors, tie_breaking_weights

SHIFT = 1e-6  # makes a Laplacian definite, whose samples have degrees of about 1
TOL, RESTARTS = 1e-8, 30  # of its eigenvectors, and of the search for them
DENSE_SAMPLES = 3000  # up to here a dense eigendecomposition takes over where that search fails
NEVER = -1e100  # in the place of a weight that must stay 0: below whatever a distance can lead to


@dataclass(frozen=True)
class State:
    """A projection, indicators and a graph, the objective there, and where the next sweep starts."""

    W: np.ndarray
    F: np.ndarray
    S: sparse.csr_array
    value: float
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None
    guess: np.ndarray = None  # W and a few vectors more
    guess_f: np.ndarray = None  # F and a few vectors more


@dataclass(frozen=True)
class Projection:
    """A W for one graph, and its part of the objective."""

    W: np.ndarray
    value: float
    guess: np.ndarray


class Problem:
    """``sum_ij (||W'x_i - W'x_j||^2 s_ij + alpha s_ij^2) + gamma sum_j sqrt(||w_j||^2 + eps) + 2 lambda tr F'L_S F``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred, which changes nothing of the above; no feature is constant.
    S : csr_array of shape (n_samples, n_samples)
        The graph to start from.
    n_clusters, n_columns : int
        Of F and of W.
    alpha, gamma, lambda_ : float
    """

    def __init__(self, X, S, n_clusters, n_columns, alpha, gamma, lambda_):
        self.X, self.S, self.n_clusters, self.n_columns = X, S, n_clusters, n_columns
        self.alpha, self.gamma, self.lambda_ = alpha, gamma, lambda_
        self.no_loops = sparse.csr_array(NEVER * sparse.eye_array(len(X)))

    def starts(self):
        """Return the best states without sparsity, and of those all but confined to the features that cost least."""
        gram = self._gram(self.S)
        F, guess_f = self._indicators(symmetric_laplacian(self.S), None, None)
        free = smallest_eigenvectors(gram, tie_breaking_weights(gram, self.X), self.n_columns)
        found = [free] + [
            self._projection(gram, s, None).guess for s in confined_scales(gram.diagonal(), self.n_columns)
        ]
        return [self.state(guess[:, : self.n_columns], F, self.S, guess, guess_f) for guess in found]

    def state(self, W, F, S, guess=None, guess_f=None):
        """Return the state of these three."""
        L = symmetric_laplacian(S)
        value = self._gram(S).form(W) + self.gamma * np.exp(log_scale(W)).sum()
        value += self.alpha * (S.data**2).sum() + 2 * self.lambda_ * (F * (L @ F)).sum()
        return State(W, F, S, float(value), guess=guess, guess_f=guess_f)

    def restart(self, state):
        """Return a state with the best W for weights that differ less."""
        found = self._projection(self._gram(state.S), close_scales(state.W), state.guess)
        return self.state(found.W, state.F, state.S, found.guess, state.guess_f)

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.gamma * smoothing(state.W, EPS)

    def with_weight(self, state, lambda_):
        """Take another weight of the indicators, and return the state by it."""
        self.lambda_ = lambda_
        return replace(self.state(state.W, state.F, state.S, state.guess, state.guess_f))

    def sweep(self, state):
        """Update W, with extrapolated weights, then F, then S."""
        gram, plain = self._gram(state.S), log_scale(state.W)
        if state.log_s is None:
            found, log_s, memory = self._projection(gram, np.exp(plain), state.guess), plain, no_memory(len(plain))
        else:
            memory = state.memory.remember(state.log_s, plain)
            bound = gram.form(state.W) + self.gamma * np.exp(plain).sum()
            found, log_s, memory = safeguarded(lambda s: self._projection(gram, s, state.guess), memory, bound)
        F, guess_f = self._indicators(symmetric_laplacian(state.S), state.F, state.guess_f)
        Y = np.hstack([self.X @ found.W, np.sqrt(self.lambda_) * F])
        S = adapted_graph(Y, self.no_loops, self.alpha / 2)
        return replace(self.state(found.W, F, S, found.guess, guess_f), log_s=log_s, memory=memory)

    def _gram(self, S):
        """Return 2 X'L_S X, whose form is the first sum of the objective."""
        L = 2 * symmetric_laplacian(S)
        if len(self.X) < self.X.shape[1]:
            return WideGram(self.X, L.__matmul__)
        M = self.X.T @ (L @ self.X)
        return DenseGram((M + M.T) / 2)

    def _projection(self, gram, s, guess):
        """Return the best W for the weights 1 / (2 s)."""
        guess = smallest_eigenvectors(gram, self.gamma / (2 * s), self.n_columns, guess)
        W = guess[:, : self.n_columns]
        return Projection(W, gram.form(W) + self.gamma * float(np.exp(log_scale(W)).sum()), guess)

    def _indicators(self, L, F, guess):
        """Return the smallest eigenvectors of L, or F where it is no worse, and them with a few vectors more."""
        n, p = L.shape[0], self.n_clusters + GUARDS
        if (POWERS + 1) * p > n:
            found = eigh(L.toarray(), subset_by_index=(0, min(n, p) - 1))[1]
        else:
            if guess is None:
                guess = np.random.default_rng(0).standard_normal((n, p))
            try:
                found = largest_eigenvectors(smoother(L, SHIFT), guess, self.n_clusters, TOL, RESTARTS)
            except np.linalg.LinAlgError:
                if n > DENSE_SAMPLES:
                    raise
                found = eigh(L.toarray(), subset_by_index=(0, p - 1))[1]
        new = found[:, : self.n_clusters]
        if F is not None and (F * (L @ F)).sum() <= (new * (L @ new)).sum():
            return F, found
        return new, found


def first_graph(X, n_neighbors):
    """Return the graph whose rows are the best for distances in all features, with k entries each, and its weight.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int
        k = min(n_neighbors, n_samples - 2), or 1.

    Returns
    -------
    S : csr_array of shape (n_samples, n_samples)
        Row i minimises sum_j d_ij s_ij + a_i s_ij^2 over the simplex.
    weight : float
        The mean of the a_i, the largest weights for which a row has k entries.
    """
    n = len(X)
    k = max(1, min(n_neighbors, n - 2))
    near = nearest_neighbors(X, k + 1)
    distances = np.array([((X[row] - X[i]) ** 2).sum(axis=1) for i, row in enumerate(near)])
    farthest = distances[:, k:].max(axis=1, initial=0.0)  # none where there are two samples
    weights = (k * farthest - distances[:, :k].sum(axis=1)) / 2
    values = np.full((n, k), 1 / k)
    known = weights > 0
    values[known] = (farthest[known, None] - distances[known, :k]) / (2 * weights[known, None])
    rows = np.repeat(np.arange(n), k)
    S = sparse.csr_array((values.ravel(), (rows, near[:, :k].ravel())), shape=(n, n))
    S.eliminate_zeros()
    return S, float(np.maximum(weights, 0.0).mean())


def n_components(S):
    """Return into how many parts a graph falls, its edges taken both ways."""
    return connected_components(S, directed=False)[0]
