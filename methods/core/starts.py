"""Partitions of the samples that methods start from.

A start comes from a seed, never from a generator, so that `methods.core.shared` can serve it to a whole grid.  A method
draws ``seed = int(rng.integers(2**31))`` first of all: the same `random_state` then means the same start.
"""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.spectral import smooth_vectors

N_STARTS = 10  # K-means starts; the one with the smallest sum of squares is kept


def kmeans_labels(X, n_clusters, seed, order=None, n_starts=N_STARTS):
    """Return labels by K-means: the best of some k-means++ starts.

    Every cluster 0, ..., n_clusters - 1 has a sample, even where fewer samples than clusters are distinct: an empty
    cluster takes the sample farthest from the centre of its own, out of the clusters with two or more.

    The samples are handed to scikit-learn centred and sorted by their distance to the mean, or in the `order` given.
    The partition therefore depends on the order of neither samples nor features, nor on a rotation of X, ties and
    rounding aside.  Where X is a projection in which many samples all but coincide, rounding orders them: pass the
    order of what was projected.
    """
    if order is None:
        order = order_by_distance(X)
    X = X - X.mean(axis=0)
    kmeans = KMeans(n_clusters, n_init=n_starts, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct samples than clusters: see below
        kmeans.fit(X[order])
    labels = np.empty(len(X), dtype=int)
    labels[order] = kmeans.labels_
    return _without_empty_clusters(X, labels, kmeans.cluster_centers_)


def order_by_distance(X):
    """Return the samples by their distance to the mean, nearest first, whatever the order in which they are stored."""
    X = X - X.mean(axis=0)
    return np.argsort(np.einsum("ij,ij->i", X, X), kind="stable")


def graph_labels(X, n_clusters, seed, graph, *args):
    """Return `spectral_labels` over the graph ``graph(X, *args)``, which is shared too."""
    return spectral_labels(X, shared(X, graph, *args), n_clusters, seed)


def spectral_labels(X, S, n_clusters, seed):
    """Return labels by K-means on the smoothest vectors over a graph, every sample's row scaled to unit norm.

    S holds symmetric non-negative weights; X only decides between vectors that are equally smooth.  Every cluster has a
    sample; there are no more clusters than samples with an edge.

    With D = diag(S 1), the c = n_clusters smallest eigenvectors of I - D^-1/2 S D^-1/2 are D^1/2 times the constant one
    and the c - 1 smoothest; scaling the rows to unit norm removes D^1/2.
    """
    if n_clusters == 1:
        return np.zeros(len(X), dtype=int)
    vectors = smooth_vectors(S, n_clusters - 1, X)
    # It has the same length as the others, for which y'Dy = 1.
    constant = np.full((len(X), 1), 1 / np.sqrt(S.sum()))
    embedding = np.hstack([constant, vectors])
    return kmeans_labels(embedding / np.linalg.norm(embedding, axis=1, keepdims=True), n_clusters, seed)


def indicator(labels, n_clusters):
    """Return one-hot rows (n_samples, n_clusters): 1 where the sample is in the cluster."""
    F = np.zeros((len(labels), n_clusters))
    F[np.arange(len(labels)), labels] = 1.0
    return F


def scaled_indicator(labels, n_clusters):
    """Return one-hot rows with columns scaled to unit norm, so that G'G = I; every cluster has a sample."""
    F = indicator(labels, n_clusters)
    return F / np.sqrt(F.sum(axis=0))


def _without_empty_clusters(X, labels, centers):
    counts = np.bincount(labels, minlength=len(centers))
    difference = X - centers[labels]
    distances = np.einsum("ij,ij->i", difference, difference)
    for empty in np.flatnonzero(counts == 0):
        sample = np.where(counts[labels] > 1, distances, -1.0).argmax()
        counts[labels[sample]] -= 1
        counts[empty] = 1
        labels[sample] = empty
    return labels
