"""Starting partitions: every cluster has samples, and neither order nor rotation matters."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from ufs_bench.methods.core.graphs import knn_graph, laplacian
from ufs_bench.methods.core.starts import indicator, kmeans_labels, scaled_indicator, spectral_labels


def _same_partition(a, b):
    return ((a[:, None] == a) == (b[:, None] == b)).all()


@pytest.mark.parametrize("n_clusters", [1, 2, 7, 20])
def test_every_cluster_has_a_sample_and_no_warning_is_raised(n_clusters):
    rng = np.random.default_rng(0)
    distinct = rng.normal(size=(20, 3))
    for X in (distinct, np.repeat(distinct[:4], 5, axis=0), np.zeros((20, 3))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            labels = kmeans_labels(X, n_clusters, 0)
        assert set(labels) == set(range(n_clusters))


def test_an_empty_cluster_takes_the_farthest_sample_out_of_those_with_two_or_more(monkeypatch):
    """The samples are 0, 1, 2, 4, 50 and 60; the last two are alone in their clusters."""

    class Given:
        def __init__(self, *_, **__):
            pass

        def fit(self, X):
            x = X[:, 0] - X[:, 0].min()
            self.labels_ = np.select([x < 5, x < 55], [0, 1], 2)
            centres = np.array([1.75, 50, 50, 200, 200, 200])[:, None]  # the last three have no sample
            self.cluster_centers_ = centres + X[:, 0].min()

    monkeypatch.setattr("ufs_bench.methods.core.starts.KMeans", Given)
    X = np.array([60.0, 0, 4, 1, 50, 2])[:, None]
    # Cluster 3 takes the sample 4, cluster 4 then 0, and cluster 5 then 1: 2 is the last of its cluster and stays.
    assert kmeans_labels(X, 6, 0).tolist() == [2, 4, 3, 5, 1, 0]


def test_order_and_rotation_of_the_data_do_not_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 6))  # no clusters, so that the ten starts end in different places
    labels = kmeans_labels(X, 8, 0)
    samples, features = rng.permutation(150), rng.permutation(6)
    assert _same_partition(kmeans_labels(X[samples], 8, 0), labels[samples])
    assert _same_partition(kmeans_labels(X[:, features], 8, 0), labels)
    rotation, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    assert _same_partition(kmeans_labels(X @ rotation, 8, 0), labels)


def test_spectral_partition_is_that_of_the_smallest_eigenvectors_of_the_normalised_laplacian():
    X = np.random.default_rng(2).normal(size=(80, 4))
    S = knn_graph(X, 8)
    vectors = np.linalg.eigh(laplacian(S, normalized=True).toarray())[1][:, :5]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert _same_partition(spectral_labels(X, S, 5, 3), kmeans_labels(vectors, 5, 3))


def test_components_of_the_graph_or_all_its_samples_are_the_clusters():
    rng = np.random.default_rng(3)
    member = np.repeat([0, 1, 2], [4, 6, 9])
    S = sparse.csr_array((member[:, None] == member) * 1.0 - np.eye(19))
    order = rng.permutation(19)
    labels = spectral_labels(rng.normal(size=(19, 5)), S[order][:, order], 3, 0)
    assert _same_partition(labels, member[order])
    X = rng.normal(size=(9, 5))
    assert len(set(spectral_labels(X, knn_graph(X, 3), 9, 0))) == 9


def test_indicators_are_one_hot_and_scaled_ones_orthonormal():
    labels = np.array([2, 0, 1, 1, 2, 2])
    F, G = indicator(labels, 3), scaled_indicator(labels, 3)
    np.testing.assert_array_equal(F.argmax(axis=1), labels)
    np.testing.assert_array_equal(F.sum(axis=1), 1)
    np.testing.assert_array_equal(G > 0, F > 0)
    np.testing.assert_allclose(G.T @ G, np.eye(3), atol=1e-15)
