"""K-means on weighted features from a given partition: Lloyd's steps, then moves of single samples."""

import numpy as np

from ufs_bench.methods.core.compiled import compiled
from ufs_bench.methods.core.starts import order_by_distance
from ufs_bench.methods.sparse_kmeans.weights import means

WORTHWHILE = 1e-12  # share of the squared data that a move must save, so that rounding moves nothing


def weighted(X, w):
    """Return the features with a weight, times its root."""
    kept = np.flatnonzero(w)
    return np.ascontiguousarray(X[:, kept] * np.sqrt(w[kept]))


def lloyd(Z, labels, n_clusters):
    """Return the partition where Lloyd's steps from this one change nothing; every cluster keeps a sample.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,) of int
        Every cluster has a sample.
    n_clusters : int

    Returns
    -------
    labels : ndarray of shape (n_samples,) of int
    within : float
        Sum of squares within clusters, less that of all data.
    """
    best = np.inf
    while True:
        centers, sizes = means(Z, labels, n_clusters)
        within = -float(sizes @ (centers**2).sum(axis=1))
        if within >= best:
            return labels, within
        best = within - WORTHWHILE * abs(within)
        costs = (centers**2).sum(axis=1) - 2 * (Z @ centers.T)
        nearest = costs.argmin(axis=1)
        kept = np.bincount(nearest, minlength=n_clusters) > 0
        if not kept.all():  # a cluster that would lose all of its samples stays as it is
            stays = ~kept[labels]
            nearest[stays] = labels[stays]
            if (np.bincount(nearest, minlength=n_clusters) == 0).any():
                return labels, within
        labels = nearest


def settled(Z, labels, n_clusters):
    """Return the partition from which no move of one sample to another cluster lowers the sum of squares.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,) of int
        The start; every cluster has a sample.
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_samples,) of int
    """
    labels, _ = lloyd(Z, labels, n_clusters)
    return _moved(Z, labels, order_by_distance(Z), n_clusters, WORTHWHILE * float((Z**2).sum()))


@compiled()
def _moved(Z, labels, order, n_clusters, least):
    """Visit the samples in this order, again and again, and move each to where it is worth most, until none moves."""
    n, p = Z.shape
    labels, centers, sizes = labels.copy(), np.zeros((n_clusters, p)), np.zeros(n_clusters)
    for i in range(n):
        sizes[labels[i]] += 1
        for j in range(p):
            centers[labels[i], j] += Z[i, j]
    for k in range(n_clusters):
        for j in range(p):
            centers[k, j] /= sizes[k]
    in_vain, place = 0, 0
    while in_vain < n:
        i = order[place]
        place = (place + 1) % n
        in_vain += 1
        own = labels[i]
        if sizes[own] == 1:
            continue
        saved = _distance(Z[i], centers[own]) * sizes[own] / (sizes[own] - 1)
        target, cost = own, saved - least
        for k in range(n_clusters):
            if k != own:
                rise = _distance(Z[i], centers[k]) * sizes[k] / (sizes[k] + 1)
                if rise < cost:
                    target, cost = k, rise
        if target == own:
            continue
        for j in range(p):
            centers[own, j] -= (Z[i, j] - centers[own, j]) / (sizes[own] - 1)
            centers[target, j] += (Z[i, j] - centers[target, j]) / (sizes[target] + 1)
        sizes[own] -= 1
        sizes[target] += 1
        labels[i] = target
        in_vain = 0
    return labels


@compiled()
def _distance(x, y):
    """Return the squared distance, of four sums side by side."""
    one = two = three = four = 0.0
    whole = len(x) // 4 * 4
    for j in range(0, whole, 4):
        a, b, c, d = x[j] - y[j], x[j + 1] - y[j + 1], x[j + 2] - y[j + 2], x[j + 3] - y[j + 3]
        one += a * a
        two += b * b
        three += c * c
        four += d * d
    for j in range(whole, len(x)):
        one += (x[j] - y[j]) * (x[j] - y[j])
    return (one + two) + (three + four)
