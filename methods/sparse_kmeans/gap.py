"""The bound on the weights by the gap statistic."""

import numpy as np

from ufs_bench.methods.core.starts import kmeans_labels, order_by_distance
from ufs_bench.methods.sparse_kmeans.partition import lloyd, weighted
from ufs_bench.methods.sparse_kmeans.weights import best_weights, between

N_BOUNDS = 10
LEAST, MOST = 1.2, 0.9  # the smallest bound tried, and the largest as a share of sqrt(n_features)
SAMPLES = 1000  # of more samples so many are taken, evenly along their distances to the mean
STARTS, SWEEPS, CHANGE = (
    3,
    6,
    1e-4,
)  # of K-means on all features; of the alternation, at most; of the weights, the least


def bounds_tried(n_features):
    """Return the bounds s that are compared, in equal ratios within [1, sqrt(n_features)]."""
    most = np.sqrt(n_features)
    ends = np.clip([LEAST, MOST * most], 1.0, most)
    return np.unique(np.geomspace(*ends, N_BOUNDS))


def gaps(X, n_clusters, n_permutations, seed):
    """Return the gap statistic of every bound tried: log of what is between clusters, less its mean without clusters.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred.
    n_clusters : int
    n_permutations : int
        Data sets without clusters: X with every feature permuted by itself.
    seed : int

    Returns
    -------
    bounds, gap : ndarray of shape (n_bounds,)

    Notes
    -----
    Permutations are of the sorted values of a feature, and drawn in the order of the features' sums of squares, so that
    the order of samples and features does not matter, ties aside.
    """
    bounds, rng = bounds_tried(X.shape[1]), np.random.default_rng(seed)
    if len(X) > SAMPLES:
        X = X[order_by_distance(X)[np.linspace(0, len(X) - 1, SAMPLES).astype(int)]]
        X = X - X.mean(axis=0)
    found = _log_between(X, n_clusters, bounds, seed)
    columns, back = np.sort(X, axis=0), np.argsort(np.argsort((X**2).sum(axis=0), kind="stable"), kind="stable")
    without = np.zeros(len(bounds))
    for _ in range(n_permutations):
        places = rng.permuted(np.tile(np.arange(len(X)), (X.shape[1], 1)), axis=1)[back].T
        without += _log_between(np.take_along_axis(columns, places, axis=0), n_clusters, bounds, seed)
    return bounds, found - without / n_permutations


def _log_between(X, n_clusters, bounds, seed):
    """Return the log of w'B for every bound, each by a few sweeps from the same partition."""
    first = kmeans_labels(X, n_clusters, seed, n_starts=STARTS)
    B, result = between(X, first, n_clusters), []
    for s in bounds:
        labels, now = first, B
        w = best_weights(now, s)[0]
        for _ in range(SWEEPS - 1):
            labels, _ = lloyd(weighted(X, w), labels, n_clusters)
            now, before = between(X, labels, n_clusters), w
            w = best_weights(now, s)[0]
            if np.abs(w - before).sum() <= CHANGE * before.sum():
                break
        result.append(np.log(max(float(w @ now), np.finfo(float).tiny)))
    return np.array(result)
