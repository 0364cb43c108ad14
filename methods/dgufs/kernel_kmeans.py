"""Partitions of samples by a kernel, which may be indefinite."""

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.starts import order_by_distance
from ufs_bench.methods.dgufs import kernels
from ufs_bench.methods.dgufs.kernels import DenseKernel, FactoredKernel


def kernel_kmeans(K, labels, n_clusters):
    """Increase ``tr G'KG`` by moving one sample at a time, until no move increases it.

    G is the `scaled_indicator` of the labels.  The gain of a move is computed exactly from the sums of K between
    samples and clusters, which follow every move; hence the value never falls, although K may be indefinite.  A sample
    that is alone in its cluster stays, so that the number of clusters does not change.

    A round computes all gains, O(n_samples n_clusters), and then visits the samples with a positive one, the largest
    first, so that how the samples are stored does not matter.  A move costs O(n_samples) in a dense kernel, in one of m
    factors O(m) and a visit O(n_clusters m).
    """
    labels = np.array(labels)
    diagonal = K.diagonal
    smallest = 10 * len(labels) * np.finfo(float).eps * K.norm  # below it a gain may be rounding
    moved = True
    while moved:
        moved = False
        G = np.zeros((n_clusters, len(labels)))
        G[labels, np.arange(len(labels))] = 1
        sizes, sums = G.sum(axis=1), K.sums(G, labels)
        table = sums.all()
        within = np.einsum("ki,ki->k", table, G)
        gains = _gains(labels, sizes, table, within, diagonal).max(axis=0)
        for i in np.argsort(-gains, kind="stable")[: np.count_nonzero(gains > smallest)]:
            source = labels[i]
            if sizes[source] == 1:
                continue
            column = sums.of(i)
            arrival = (within + 2 * column + diagonal[i]) / (sizes + 1) - within / sizes
            arrival[source] = -np.inf
            target = int(arrival.argmax())
            left = within[source] - 2 * column[source] + diagonal[i]
            departure = left / (sizes[source] - 1) - within[source] / sizes[source]
            if arrival[target] + departure <= smallest:
                continue
            within[target] += 2 * column[target] + diagonal[i]
            within[source] = left
            sizes[target] += 1
            sizes[source] -= 1
            sums.move(i, source, target)
            labels[i] = target
            moved = True
    return labels


def unit_rows(vectors):
    """Return rows scaled to unit norm; a zero row stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)


def partition_embedding(embedding, n_clusters, rng=None):
    """Partition an embedding by K-means with single moves, from well separated or from random centres.

    The generator draws the samples that are the first centres, out of their order by distance to the mean.  Without one
    the first is the sample nearest the mean, and each further one the farthest from those before, ties by index.  Every
    cluster has a sample.
    """
    n = len(embedding)
    norms = np.einsum("ij,ij->i", embedding, embedding)

    def distances(point):
        return norms - 2 * embedding @ point + point @ point

    if rng is not None:
        centres = order_by_distance(embedding)[rng.choice(n, n_clusters, replace=False)]
    else:
        centres = [int(distances(embedding.mean(axis=0)).argmin())]
        nearest = np.full(n, np.inf)
        while len(centres) < n_clusters:
            nearest = np.minimum(nearest, distances(embedding[centres[-1]]))
            nearest[centres] = -np.inf
            centres.append(int(nearest.argmax()))
    labels = np.array([distances(embedding[i]) for i in centres]).argmin(axis=0)
    labels[centres] = np.arange(n_clusters)  # also where samples are equal
    if n <= kernels.DENSE_SAMPLES:
        kernel = DenseKernel(embedding @ embedding.T)
    else:
        kernel = FactoredKernel(sparse.csr_array((n, n)), embedding)
    return kernel_kmeans(kernel, labels, n_clusters)


def _gains(labels, sizes, sums, within, diagonal):
    """Return the gains of moving samples to clusters, (n_clusters, n_samples); 0 where one is there or may not go."""
    samples = np.arange(len(labels))
    arrival = (within[:, None] + 2 * sums + diagonal) / (sizes + 1)[:, None] - (within / sizes)[:, None]
    left = within[labels] - 2 * sums[labels, samples] + diagonal
    departure = left / np.maximum(sizes[labels] - 1, 1) - within[labels] / sizes[labels]
    gains = arrival + departure
    gains[labels, samples] = 0
    gains[:, sizes[labels] == 1] = 0
    return gains
