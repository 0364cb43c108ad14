"""Spectral labels: blobs are found, the embedding is of the graph alone, and nothing is selected."""

import numpy as np
import pytest
from samples import blobs
from scipy.sparse import csr_array

from ufs_bench.datasets import load_dataset
from ufs_bench.methods import SpectralLabels, spectral_labels
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.spectral_labels import leading_rows
from ufs_bench.metrics.clustering import accuracy


def graph_of(n_samples, seed=0):
    return knn_graph(np.random.default_rng(seed).normal(size=(n_samples, 6)), 5, "binary", include_self=True)


def test_clusters_of_a_graph_in_parts_are_its_parts():
    X, y = blobs(60, 12, n_clusters=3, noise=0.1)
    fit = SpectralLabels(n_clusters=3, n_neighbors=15, random_state=0).fit(X)
    assert accuracy(y, fit.labels_) == 1
    assert fit.get_support().all() and fit.status_ == "converged"


@pytest.mark.parametrize("limit", [1000, 10])
def test_rows_are_those_of_the_leading_eigenvectors_whichever_solver_finds_them(monkeypatch, limit):
    monkeypatch.setattr(spectral_labels, "DENSE_SAMPLES", limit)
    S = graph_of(80)
    values, vectors = np.linalg.eigh(S.toarray())
    assert values[-4] > values[-5] + 1e-6
    expected = vectors[:, -4:] / np.linalg.norm(vectors[:, -4:], axis=1, keepdims=True)
    rows = leading_rows(S, 4)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-8)


def test_the_diagonal_of_the_graph_changes_nothing():
    S = graph_of(50)
    rows = [leading_rows(given, 3) for given in (S, S - csr_array(np.eye(50)))]
    np.testing.assert_allclose(rows[0] @ rows[0].T, rows[1] @ rows[1].T, atol=1e-8)


def test_a_sample_without_a_part_in_the_eigenvectors_has_a_row_of_zeros_and_a_label():
    S = np.zeros((9, 9))
    S[:5, :5] = S[5:8, 5:8] = 1
    S[8, 8] = 1
    rows = leading_rows(csr_array(S), 2)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1] * 8 + [0], atol=1e-12)
    X = np.repeat([0.0, 50.0, 90.0], [10, 10, 1])[:, None] + np.random.default_rng(0).normal(size=(21, 3))
    assert set(SpectralLabels(n_clusters=3, random_state=0).fit(X).labels_) == {0, 1, 2}


def test_on_faces_it_reaches_what_the_paper_of_dgufs_prints(data_dir):
    for name, published in (("umist", 0.571), ("pix10p", 0.821)):
        data = load_dataset(name, data_dir, download=False)
        fit = SpectralLabels(n_clusters=data.n_classes, random_state=0).fit(data.X)
        assert accuracy(data.y, fit.labels_) > published
