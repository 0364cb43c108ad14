"""Measures of a feature set that use no label: the agreement of K-means restarts, and a silhouette.

Both are measured on the selected features, and so favour few of them: little noise is left in few dimensions, whether
or not the classes are.  On JAFFE (protocol fair, sizes 10 to 300) the silhouette takes the smallest for max_variance,
min_norm and laplacian_score; for min_norm that means 36.8 % accuracy, where the oracle has 70.4 %.
"""

import numpy as np
from scipy.sparse import csr_array

from ufs_bench.metrics.centred import centred

# Distances held at a time, so that they stay in the cache of one core.
BLOCK = 2**17


def agreements(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the mean adjusted Rand index of each clustering with the others; their mean is the stability of K-means.

    A clustering that has fewer clusters than were asked for, as K-means gives where too few samples are distinct,
    agrees with nothing: otherwise a feature set that cannot tell samples apart would be the most stable of all.

    Parameters
    ----------
    labels : ndarray of shape (n_restarts, n_samples) of int
        Clusters in [0, n_clusters).
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_restarts,)
        1 where all partitions are the same, about 0 where they agree by chance; nan for a single restart.

    References
    ----------
    Hubert & Arabie. Comparing partitions. Journal of Classification 2, 1985: equation (5).
    Ben-Hur, Elisseeff & Guyon. A stability based method for discovering structure in clustered data. PSB 2002.
    """
    n_restarts, n_samples = labels.shape
    if n_restarts < 2:
        return np.full(n_restarts, np.nan)
    counts = _counts(labels, n_clusters)
    pairs = (counts * (counts - 1) / 2).sum(axis=1)
    total = n_samples * (n_samples - 1) / 2
    index = np.ones((n_restarts, n_restarts))
    for first in range(n_restarts - 1):
        later = labels[first + 1 :]
        cells = np.arange(len(later))[:, None] * n_clusters**2 + labels[first] * n_clusters + later
        joint = np.bincount(cells.ravel(), minlength=len(later) * n_clusters**2).reshape(len(later), -1)
        together = (joint * (joint - 1) / 2).sum(axis=1)
        value = adjusted_rand(together, pairs[first], pairs[first + 1 :], total)
        index[first, first + 1 :] = index[first + 1 :, first] = value
    short = (counts == 0).any(axis=1)
    index[short] = index[:, short] = 0
    return (index.sum(axis=1) - index.diagonal()) / (n_restarts - 1)


def adjusted_rand(together, pairs, others, total):
    """Return the adjusted Rand index of a partition with others, from numbers of pairs of samples.

    Parameters
    ----------
    together : ndarray of shape (k,)
        Pairs that lie in one cluster of both.
    pairs : float
        Those in one cluster of the partition.
    others : ndarray of shape (k,)
        Those in one cluster of each other partition.
    total : float
        All pairs.

    Returns
    -------
    ndarray of shape (k,)
    """
    expected = pairs * others / total
    largest = (pairs + others) / 2
    return np.divide(together - expected, largest - expected, np.ones(len(together)), where=largest > expected)


def silhouettes(X, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the simplified silhouette of each clustering, with distances to the means of the clusters.

    A sample at distance a from the mean of its own cluster and b from the nearest other mean has (b - a) / max(a, b),
    and 0 where it is alone in its cluster (Rousseeuw's convention); the mean over the samples is returned.  It is 0 for
    a clustering with fewer clusters than were asked for.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        A sparse one is not written out, and has the value of the same array to rounding: to 1e-10, or 1e-8 where the
        samples of a cluster are all the same, as a distance of 0 is then the root of a rounding error.
    labels : ndarray of shape (n_restarts, n_samples) of int
        Clusters in [0, n_clusters).
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_restarts,)
        In [-1, 1].

    Notes
    -----
    O(n_restarts n_clusters n_samples n_features), the work of one step of Lloyd's algorithm; of a sparse array its
    stored values count in place of n_samples n_features.

    References
    ----------
    Hruschka, de Castro & Campello. Evolutionary algorithms for clustering gene-expression data. ICDM 2004.
    Rousseeuw. Silhouettes. Journal of Computational and Applied Mathematics 20, 1987.
    """
    n_restarts, n_samples = labels.shape
    counts = _counts(labels, n_clusters)
    whole = np.flatnonzero((counts > 0).all(axis=1))
    result = np.zeros(n_restarts)
    if not len(whole) or n_clusters < 2:
        return result
    X = centred(X)
    cells = np.arange(len(whole))[:, None] * n_clusters + labels[whole]
    columns = np.tile(np.arange(n_samples), len(whole))
    members = csr_array((np.ones(columns.size), (cells.ravel(), columns)), shape=(len(whole) * n_clusters, n_samples))
    centres = X.sums(members) / counts[whole].reshape(-1, 1)
    norms = np.einsum("ij,ij->i", centres, centres)
    step = max(1, BLOCK // len(centres))
    for start in range(0, n_samples, step):
        rows = slice(start, min(start + step, n_samples))
        # Squared distances to all means without the sample's own squared norm, which is added only to the two in use.
        partial = (norms[:, None] - 2 * X.products(centres, rows)).reshape(len(whole), n_clusters, -1)
        own = labels[whole, None, rows]
        squared = X.squared_norms(rows)
        a = np.take_along_axis(partial, own, axis=1)[:, 0] + squared
        np.put_along_axis(partial, own, np.inf, axis=1)
        b = partial.min(axis=1) + squared
        # Rounding leaves a sample on its own mean at about 1e-16 of the norms, on either side of zero.
        a, b = np.sqrt(np.maximum(a, 0)), np.sqrt(np.maximum(b, 0))
        larger = np.maximum(a, b)
        alone = np.take_along_axis(counts[whole], labels[whole, rows], axis=1) == 1
        result[whole] += np.divide(b - a, larger, np.zeros(a.shape), where=(larger > 0) & ~alone).sum(axis=1)
    return result / n_samples


def _counts(labels, n_clusters):
    cells = np.arange(len(labels))[:, None] * n_clusters + labels
    return np.bincount(cells.ravel(), minlength=len(labels) * n_clusters).reshape(len(labels), n_clusters)
