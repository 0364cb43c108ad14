"""UFSOL as printed: its blocks, its starts, and the sweep that lowers the objective."""

from dataclasses import dataclass

import numpy as np

from ufs_bench.methods.core.loop import SETTLED, ranking_change
from ufs_bench.methods.core.prox import smoothing
from ufs_bench.methods.core.reweighting import EPS, Memory, close_scales, confined_scales, log_scale, reweighted
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.smallest import (
    DenseGram,
    WideGram,
    smallest_eigenvectors,
    tie_breaking_weights,
    varying_centered,
)
from ufs_bench.methods.core.starts import kmeans_labels, order_by_distance, scaled_indicator

SQUARED = True  # the distances of the triplets
change = ranking_change
patience = SETTLED
features = varying_centered
ROUNDS = 10  # rounds that make a start, at most
WORTHWHILE = 1e-9  # share of the objective that another partition must save


def scaled(X):
    """Return the samples as they are."""
    return X


@dataclass(frozen=True)
class State:
    """A projection, a partition, the objective there, and where the next sweep starts."""

    W: np.ndarray
    labels: np.ndarray
    gram: WideGram | DenseGram  # X'(I - V'V + alpha L)X for the labels
    value: float
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None
    guess: np.ndarray = None  # W and a few vectors more


class Problem:
    """``||W'X' - UV||^2 + alpha tr W'X'LXW + beta sum_j sqrt(||w_j||^2 + eps)``, U the best for W and V.

    X is centred, which changes nothing of the above, and no feature is constant; the rows of L, a csr_array or
    operator, sum to zero.  W has `n_clusters` columns, or n_features where that is less.  `floor` is a lower bound, 0
    or less, of the eigenvalues of X'LX; `seed` that of K-means.
    """

    def __init__(self, X, L, alpha, beta, n_clusters, seed, floor=0.0):
        self.X, self.L, self.alpha, self.beta = X, L, alpha, beta
        self.n_clusters, self.n_columns, self.seed = n_clusters, min(n_clusters, X.shape[1]), seed
        self.floor = alpha * floor
        self.is_sparse = self.floor == 0  # below, the scatter outweighs all, and W spreads over all features
        self.order = order_by_distance(X)  # that of XW is rounding where samples coincide in it
        self.all = None
        if len(X) >= X.shape[1]:
            self.all = X.T @ X
            if alpha:
                product = X.T @ (L @ X)
                self.all += alpha / 2 * (product + product.T)

    def gram(self, labels):
        """Return X'(I - V'V + alpha L)X."""
        V = scaled_indicator(labels, self.n_clusters)
        if self.all is not None:
            sums = V.T @ self.X
            return DenseGram(self.all - sums.T @ sums, self.floor)

        def K(Y):
            product = Y - V @ (V.T @ Y)
            if self.alpha:
                product += self.alpha * (self.L @ Y)
            return product

        return WideGram(self.X, K, self.floor)

    def value(self, W, gram):
        return gram.form(W) + self.beta * float(np.exp(log_scale(W)).sum())

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.beta * smoothing(state.W, EPS)

    def scatter(self, Y, labels):
        """Return ||Y' - UV||^2, U the means."""
        sums = scaled_indicator(labels, self.n_clusters).T @ Y
        return float((Y**2).sum() - (sums**2).sum())

    def partition(self, W, labels, value):
        """Return labels by K-means on XW, where that lowers the objective; the given ones elsewhere."""
        Y = self.X @ W
        found = kmeans_labels(Y, self.n_clusters, self.seed, self.order)
        saved = self.scatter(Y, labels) - self.scatter(Y, found)
        return found if saved > WORTHWHILE * abs(value) else labels

    def state(self, W, labels, guess=None):
        gram = self.gram(labels)
        return State(W, labels, gram, self.value(W, gram), guess=guess)

    def starts(self, X, W=None):
        """Return the states to begin with: from W where it is given, else from the partition of X by K-means.

        X is that of the fit, constant features included, so that all points of a grid share the partition.
        """
        if W is not None:
            return [self.state(W, kmeans_labels(self.X @ W, self.n_clusters, self.seed, self.order))]
        labels = shared(X, kmeans_labels, self.n_clusters, self.seed)
        coordinates = self.coordinate_start(labels)
        scales = confined_scales(coordinates.gram.diagonal(), self.n_columns) if self.is_sparse else []
        confined = [self.solve(s, coordinates.gram, coordinates.labels, None) for s in scales]
        return [self.subspace_start(labels), coordinates, *confined]

    def restart(self, state):
        return self.solve(close_scales(state.W), state.gram, state.labels, state.guess)

    def subspace_start(self, labels):
        """Return the problem without sparsity, solved in turn for W and the labels."""
        guess = None
        for _ in range(ROUNDS):
            gram = self.gram(labels)
            guess = smallest_eigenvectors(gram, tie_breaking_weights(gram, self.X), self.n_columns, guess)
            W = guess[:, : self.n_columns]
            found = self.partition(W, labels, self.value(W, gram))
            if found is labels:
                break
            labels = found
        return self.state(W, labels, guess)

    def coordinate_start(self, labels):
        """Return the state of the features that cost least, one a column of W, chosen in turn with the labels."""
        chosen = None
        for _ in range(ROUNDS):
            best = np.sort(np.argsort(self.gram(labels).diagonal(), kind="stable")[: self.n_columns])
            if np.array_equal(best, chosen):
                break
            chosen = best
            labels = kmeans_labels(self.X[:, chosen], self.n_clusters, self.seed, self.order)
        W = np.zeros((self.X.shape[1], self.n_columns))
        W[chosen, np.arange(self.n_columns)] = 1.0
        return self.state(W, labels)

    def sweep(self, state):
        """Update V and U, D = diag(1 / (2 s)), then W, of Algorithm 1: the whole algorithm, with `solve`."""
        gram, bound = state.gram, state.value
        labels = self.partition(state.W, state.labels, state.value)  # V by K-means on X W, where that pays; U = W'X'V
        if labels is not state.labels:
            gram = self.gram(labels)  # X'(I - VV' + alpha L)X
            bound = self.value(state.W, gram)
        return reweighted(lambda s: self.solve(s, gram, labels, state.guess), state, bound)  # D: (7), extrapolated

    def solve(self, s, gram, labels, guess):
        """Return the best W for the labels and this D: the smallest eigenvectors of X'(I - VV' + alpha L)X + beta D."""
        guess = smallest_eigenvectors(gram, self.beta / (2 * s), self.n_columns, guess)
        W = guess[:, : self.n_columns]
        return State(W, labels, gram, self.value(W, gram), guess=guess)
