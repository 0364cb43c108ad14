"""Whether the clusters of one half of the samples are found again in the other: two measures that use no label.

K-means is judged on samples that it has not seen.  Few features return well, too: as a choice of the size, replication
is no better than the agreement of restarts (`python -m scripts.choices`).
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from metrics.kmeans import kmeans_restarts, unit_samples

SPLITS = 5
STARTS = 2  # of each half; the clustering with the smaller sum of squares is taken


def replications(X, n_clusters, seed=0, max_iter=100):
    """Cluster two halves of the samples, and assign each half to the centres of the other.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_clusters : int
    seed : int, default=0
        Of the splits, which are the same for every set of features, and of the starts.
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
            found.append((adjusted_rand_score(own, given), _weakest(own, given)))
    replication, strength = np.mean(found, axis=0)
    return float(replication), float(strength)


def _cluster(X, n_clusters, seed, max_iter):
    """The better of some clusterings, and the means of its clusters; of an empty one there is none."""
    best = np.inf
    for labels in kmeans_restarts(X, n_clusters, STARTS, seed, max_iter):
        members = (labels[:, None] == np.unique(labels)).T.astype(float)
        means = (members @ X) / members.sum(axis=1, keepdims=True)
        within = np.einsum("ij,ij", X, X) - (members.sum(axis=1) * np.einsum("ij,ij->i", means, means)).sum()
        if within < best:
            best, chosen, centres = within, labels, means
    return chosen, centres


def _weakest(own, given):
    """The least share of a cluster's pairs that stay together; 0 where no cluster has a pair."""
    counts = contingency_matrix(own, given)
    sizes = counts.sum(axis=1)
    together = (counts * (counts - 1)).sum(axis=1)[sizes > 1]
    return min(together / (sizes * (sizes - 1))[sizes > 1], default=0.0)
