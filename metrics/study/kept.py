"""The structure of all features that selected ones keep, nearest neighbours and clusters; without labels."""

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from ufs_bench.metrics.kmeans import kmeans_restarts

SAMPLES, NEIGHBOURS, STARTS = 1000, 5, 10


class Structure:
    """The neighbours and the clusters of the samples of a data set by all of its features.

    X, an array or a sparse array, is as methods are evaluated on it. Of more than `SAMPLES` samples so many count,
    drawn once. Neighbours are the `NEIGHBOURS` nearest by the Euclidean distance, clusters those of the best of
    `STARTS` K-means starts.
    """

    def __init__(self, X, n_clusters):
        n = X.shape[0]
        places = np.sort(np.random.default_rng(0).permutation(n)[:SAMPLES])
        self.X, self.n_clusters = X[places], n_clusters
        whole = np.arange(X.shape[1])
        self.neighbours, self.clusters = self._neighbours(whole), self._clusters(whole)

    def kept(self, features):
        """Return the shares of `metrics.study.KEPT` that selected columns keep.

        They are the mean share of the neighbours of a sample that it also has by the selected features alone, and the
        adjusted Rand index of the clusters by these with those by all.
        """
        features = np.sort(features)
        own = self._neighbours(features)
        both = (own[:, :, None] == self.neighbours[:, None, :]).sum()
        return both / own.size, adjusted_rand_score(self.clusters, self._clusters(features))

    def _selected(self, features):
        selected = self.X[:, features]
        return selected.toarray() if issparse(selected) else np.ascontiguousarray(selected)

    def _neighbours(self, features):
        n_neighbours = min(NEIGHBOURS, self.X.shape[0] - 1)
        found = NearestNeighbors(n_neighbors=n_neighbours, algorithm="brute").fit(self._selected(features))
        return found.kneighbors(return_distance=False)

    def _clusters(self, features):
        return kmeans_restarts(self._selected(features), self.n_clusters, 1, replicates=STARTS)[0]
