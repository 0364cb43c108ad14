"""DGUFS with both terms as cosines between kernels, and clusters of scaled indicators: a model of our own."""

from dataclasses import dataclass

import numpy as np

from ufs_bench.methods.core.spectral import smooth_vectors
from ufs_bench.methods.core.starts import scaled_indicator
from ufs_bench.methods.dgufs import kernels
from ufs_bench.methods.dgufs.alignment import SquaredProducts, alignment, grow_subset, improve_subset
from ufs_bench.methods.dgufs.kernel_kmeans import kernel_kmeans, partition_embedding, unit_rows
from ufs_bench.methods.dgufs.kernels import DenseKernel, FactoredKernel, gram_norm


@dataclass(frozen=True)
class State:
    """Labels of the samples, the features s as indices into `Problem.varying`, and the objective there."""

    labels: np.ndarray
    subset: np.ndarray
    value: float


def check_init(init, shape, n_clusters):
    """Raise a ValueError where `init` is not what `Problem.start` takes."""
    labels = np.asarray(init)
    if labels.shape != shape[:1] or not np.array_equal(np.unique(labels), np.arange(n_clusters)):
        raise ValueError(
            f"init of shape {labels.shape} must hold n_samples={shape[0]} labels, "
            f"with each of 0, ..., {n_clusters - 1} present."
        )


class Problem:
    """``min_{L, s} -beta <S_n, L> / ||S_n||_F - (1 - beta) <H X_s X_s' H, L> / ||H X_s X_s' H||_F`` for given data.

    S has loops, so that no degree is zero; alpha is ignored, as the rank is fixed.  `varying` are the features that are
    not constant: the others have no part in the model, and all are chosen if fewer than `size` vary.  `centered` are
    their columns less the means, in units of the largest entry, as the objective does not depend on the unit.  `graph`
    is ``S_n / ||S_n||_F``, sparse for more than `kernels.DENSE_SAMPLES` samples.
    """

    def __init__(self, X, S, size, n_clusters, alpha, beta):
        self.n_features, self.n_clusters, self.beta = X.shape[1], n_clusters, beta
        self.varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
        self.size = min(size, len(self.varying))
        self.centered = X[:, self.varying] - X[:, self.varying].mean(axis=0)
        self.centered /= np.abs(self.centered).max(initial=np.finfo(float).tiny)
        self.products = SquaredProducts(self.centered)
        self.X, self.S = X, S
        self.dense = len(X) <= kernels.DENSE_SAMPLES
        graph, root = S.tocoo(), np.sqrt(S.sum(axis=1))
        graph.data = graph.data / (root[graph.row] * root[graph.col])
        graph = graph.toarray() if self.dense else graph.tocsr()
        self.graph = graph / np.linalg.norm(graph if self.dense else graph.data)

    def starts(self, n_starts, rng):
        """Return partitions to start from, as `DGUFS` says of `n_starts`."""
        embeddings = [unit_rows(self._smoothest())]
        if n_starts > 1:
            embeddings.append(unit_rows(self.kernel(slice(None)).leading_eigenvectors(self.n_clusters)))
        return [
            partition_embedding(embeddings[start % 2], self.n_clusters, rng if start > 1 else None)
            for start in range(n_starts)
        ]

    def kernel(self, subset):
        """Return ``K = beta S_n / ||S_n||_F + (1 - beta) H X_s X_s' H / ||H X_s X_s' H||_F``."""
        chosen, tiny = self.centered[:, subset], np.finfo(float).tiny
        if not self.dense:
            weight = (1 - self.beta) / max(gram_norm(chosen), tiny)
            return FactoredKernel(self.beta * self.graph, np.sqrt(weight) * chosen)
        K = chosen @ chosen.T
        K *= (1 - self.beta) / max(np.linalg.norm(K), tiny)
        K += self.beta * self.graph
        return DenseKernel(K)

    def _smoothest(self):
        """Return the leading eigenvectors of the graph, up to the length of each row."""
        if self.dense:
            return DenseKernel(self.graph).leading_eigenvectors(self.n_clusters)
        # Which eigenvectors of a repeated eigenvalue 1 are taken does not depend on rounding.
        constant = np.full((len(self.X), 1), 1 / np.sqrt(self.S.sum()))
        if self.n_clusters == 1:
            return constant
        return np.hstack([constant, smooth_vectors(self.S, self.n_clusters - 1, self.X)])

    def gains(self, labels):
        """Return ``x_j'H L H x_j`` of every feature that varies; exactly zero for one cluster."""
        if self.n_clusters == 1:
            return np.zeros(len(self.varying))
        return ((scaled_indicator(labels, self.n_clusters).T @ self.centered) ** 2).sum(axis=0)

    def start(self, init):
        """Return the state of a partition: features are added one by one."""
        labels = np.asarray(init, dtype=int)
        return self._state(labels, grow_subset(self.products, self.gains(labels), self.size))

    def sweep(self, state):
        """Update the features, then the labels: the whole algorithm; no step raises the objective."""
        # s: swaps of features that raise <X_s X_s', HLH> / ||H X_s X_s' H||_F; L: kernel K-means with K of `kernel`
        subset = improve_subset(self.products, self.gains(state.labels), state.subset)
        return self._state(kernel_kmeans(self.kernel(subset), state.labels, self.n_clusters), subset)

    def residual(self, previous, state):
        """Return the relative change of the objective; zero only if nothing at all changed."""
        if np.array_equal(previous.labels, state.labels) and np.array_equal(previous.subset, state.subset):
            return 0.0
        tiny = np.finfo(float).tiny
        return max(abs(state.value - previous.value) / max(abs(previous.value), tiny), tiny)

    def learned(self, state):
        """Return scores of the features, labels of the samples, and G."""
        scores, gains = np.zeros(self.n_features), self.gains(state.labels)
        if gains.any():
            scores[self.varying] = np.clip(gains / (self.centered**2).sum(axis=0), 0, 1)
            scores[self.varying[state.subset]] += 1
        labels = _numbered_by_appearance(state.labels)
        return scores, labels, scaled_indicator(labels, self.n_clusters)

    def _state(self, labels, subset):
        G = scaled_indicator(labels, self.n_clusters)
        dependence = np.einsum("ik,ik->", G, self.graph @ G)
        aligned = alignment(self.centered, self.gains(labels), subset)
        return State(labels, subset, -(self.beta * dependence + (1 - self.beta) * aligned))


def _numbered_by_appearance(labels):
    first = np.unique(labels, return_index=True)[1]
    rank = np.empty(len(first), dtype=int)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[labels]
