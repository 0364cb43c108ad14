"""Replication: two measures, without labels, of how far the clusters of half the samples return in the other half.

K-means is judged on samples that it has not seen.  Clusters of few features replicate well, too: to choose the size,
replication is no better than the agreement of restarts (`python -m scripts.rank choices=true`).
"""

import numpy as np

from ufs_bench.metrics.kmeans import kmeans_restarts, unit_samples
from ufs_bench.metrics.label_free import adjusted_rand

SPLITS = 5
STARTS = 2  # K-means starts on each half; the clustering with the smaller sum of squares is taken


def replications(X: np.ndarray, n_clusters: int, seed: int = 0, max_iter: int = 100) -> tuple[float, float]:
    """Cluster two halves of the samples, and assign each half to the centres of the other.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_clusters : int
    seed : int, default=0
        Seed of the splits, which are the same for every set of features, and of the starts.
    max_iter : int, default=100
        Lloyd steps at most.

    Returns
    -------
    replication : float
        Adjusted Rand index between the clusters of a half and those that the centres of the other half give it.
    strength : float
        Prediction strength: of the pairs in one cluster, the share that the other half's centres keep together, in the
        cluster where this is least; clusters of one sample have no pairs.
        Both are means over `SPLITS` random splits and both directions.  Where K-means gives fewer clusters than were
        asked for, as with features that tell too few samples apart, they are 0 in that split; they are nan where a half
        has fewer samples than there are clusters.

    References
    ----------
    Breckenridge. Replicating cluster analysis. Multivariate Behavioral Research 24, 1989.
    Tibshirani & Walther. Cluster validation by prediction strength. J. Comp. Graph. Stat. 14, 2005: equation (2.1).
    """
    n_samples = len(X)
    if n_samples // 2 < n_clusters:
        return np.nan, np.nan
    X = unit_samples(X)
    found = []
    for split in range(SPLITS):
        order = np.argsort(np.random.PCG64([seed, split, n_samples]).random_raw(n_samples), kind="stable")
        halves = [X[np.sort(half)] for half in np.array_split(order, 2)]
        fitted = [_cluster(half, n_clusters, seed, max_iter) for half in halves]
        for here, there in ((0, 1), (1, 0)):
            own, centres = fitted[here][0], fitted[there][1]
            if min(len(fitted[here][1]), len(centres)) < n_clusters:
                found.append((0.0, 0.0))
                continue
            given = np.argmin((centres**2).sum(axis=1) - 2 * halves[here] @ centres.T, axis=1)
            counts = np.bincount(own * n_clusters + given, minlength=n_clusters**2).reshape(n_clusters, n_clusters)
            found.append((_agreement(counts), _weakest(counts)))
    replication, strength = np.mean(found, axis=0)
    return float(replication), float(strength)


def _cluster(X, n_clusters, seed, max_iter):
    """Return the better of some clusterings, and the means of its clusters that are not empty."""
    labels = kmeans_restarts(X, n_clusters, 1, seed, max_iter, replicates=STARTS)[0]
    return labels, np.array([X[labels == label].mean(axis=0) for label in np.unique(labels)])


def _agreement(counts):
    """Return the adjusted Rand index, from the number of samples in each pair of clusters of two clusterings."""
    together, own, given = (_pairs(part).sum() for part in (counts, counts.sum(axis=1), counts.sum(axis=0)))
    return adjusted_rand(np.array([together]), own, np.array([given]), _pairs(counts.sum()))[0]


def _weakest(counts):
    """Return the smallest share, over clusters, of pairs that stay together; 0 where no cluster has a pair."""
    pairs = _pairs(counts.sum(axis=1))
    return min(_pairs(counts).sum(axis=1)[pairs > 0] / pairs[pairs > 0], default=0.0)


def _pairs(counts):
    return counts * (counts - 1) / 2
