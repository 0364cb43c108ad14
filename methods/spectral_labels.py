"""A control: the clusters that the neighbourhood graph alone gives, for which no feature is selected."""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import kmeans_labels, order_by_distance

DENSE_SAMPLES = 1000  # up to here a dense eigendecomposition is as fast
ROUNDING = 1e-9  # a row of leading eigenvectors with a smaller norm belongs to a sample without a part in any


class SpectralLabels(BaseSelector):
    """Keep every feature, and label the samples by K-means on the leading eigenvectors of their 0/1 graph.

    A control for methods that learn labels from such a graph and report the labels' scores (`methods.dgufs`): what it
    reaches, the graph has brought, and not the selection.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        None or n_features; anything less is an error, since nothing is selected.
    n_clusters : int, default=2
        Clusters, and eigenvectors, in [1, n_samples].
    n_neighbors : int, default=5
        Neighbours of a sample, itself among them: k = min(n_neighbors, n_samples).
    random_state : int, RandomState or None, default=None
        Of K-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        All 1.
    labels_ : ndarray of shape (n_samples,) of int
        No cluster is empty.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        What K-means clusters: the eigenvectors of the largest eigenvalues of S as columns, then each row scaled to unit
        norm.  The row of a sample that has no part in them is zero.

    Raises
    ------
    ValueError
        When fewer features are asked for, or for a parameter out of its range.

    Notes
    -----
    S is the graph of the DGUFS paper: 1 where one of two samples is among the k nearest of the other, and on the
    diagonal, which moves all eigenvalues by 1 and changes nothing.  It is taken as it is: with D = diag(S 1), the
    vectors of D^-1/2 S D^-1/2, which spectral clustering usually takes, give labels that agree better with the classes
    (docs/claims.md, dgufs_graph).  Of ten starts of K-means by k-means++ the one with the smallest sum of squares is
    kept.

    *Known pathologies*: where the eigenvalues n_clusters and n_clusters + 1 are equal, as where the graph falls into
    equal parts, rounding decides which vector is the last.  The largest eigenvalues of S belong to the densest parts of
    the graph, so that a loose cluster may have no vector of its own.
    """

    keeps_all = True
    arrays = {"nd": 3, "ss": 4}
    dense_samples = DENSE_SAMPLES

    def __init__(self, n_features_to_select=None, *, n_clusters=2, n_neighbors=5, random_state=None):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _check(self, X):
        size, n_features = self.n_features_to_select, X.shape[1]
        if size is not None and size != n_features:
            raise ValueError(
                f"n_features_to_select={size} must be None or n_features={n_features}: SpectralLabels keeps everything."
            )

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        self.n_features_to_select_ = X.shape[1]  # where None means half for every other selector
        embedding = leading_rows(shared(X, knn_graph, self.n_neighbors, "binary", None, True), self.n_clusters)
        labels = kmeans_labels(embedding, self.n_clusters, seed, order_by_distance(X))
        return Solution(np.ones(X.shape[1]), labels=labels, learned={"embedding_": embedding})


def leading_rows(S, n_vectors):
    """Return the eigenvectors of the largest eigenvalues of a symmetric S, largest first, rows scaled to unit norm."""
    n = S.shape[0]
    if n <= DENSE_SAMPLES or n_vectors > n / 4:
        vectors = eigh(S.toarray(), subset_by_index=(n - n_vectors, n - 1))[1]
    else:
        vectors = eigsh(S, n_vectors, which="LA", v0=np.random.default_rng(0).standard_normal(n))[1]
    vectors = vectors[:, ::-1]
    norms = row_norms(vectors)
    return vectors * np.divide(1.0, norms, out=np.zeros(n), where=norms > ROUNDING)[:, None]
