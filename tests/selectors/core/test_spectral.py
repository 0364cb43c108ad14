"""Smooth vectors of a graph solve their eigenproblem, whatever the solver and however many components there are."""

import numpy as np
import pytest
from samples import groups
from scipy import sparse

from ufs_bench.methods.core import spectral
from ufs_bench.methods.core.graphs import knn_graph, laplacian
from ufs_bench.methods.core.spectral import smooth_vectors


def check_solution(S, Y, n_zero=0):
    L, d = laplacian(S), S.sum(axis=1)
    np.testing.assert_allclose(Y.T @ (d[:, None] * Y), np.eye(Y.shape[1]), atol=1e-10)
    assert np.abs(d @ Y).max() < 1e-10
    values = np.einsum("ij,ij->j", Y, L @ Y)
    np.testing.assert_allclose(L @ Y, d[:, None] * Y * values, atol=1e-10)
    assert (np.diff(values) > -1e-10).all()
    assert np.count_nonzero(values < 1e-10) == n_zero
    return values


@pytest.mark.parametrize("n_blobs", [1, 2, 4])
def test_vectors_solve_the_eigenproblem_without_the_constant_one(n_blobs):
    X = groups(n_blobs, 30, 6, spread=100.0)
    S = knn_graph(X, 5)
    values = check_solution(S, smooth_vectors(S, 5, X), n_zero=n_blobs - 1)
    every = np.linalg.eigvalsh(laplacian(S, normalized=True).toarray())
    np.testing.assert_allclose(values, every[1:6], atol=1e-10)


def test_lanczos_and_the_dense_solver_agree(monkeypatch):
    X = groups(3, 150, 6, spread=100.0)
    S = knn_graph(X, 5)
    lanczos = smooth_vectors(S, 6, X)
    monkeypatch.setattr(spectral, "DENSE_SAMPLES", len(X))
    exact = smooth_vectors(S, 6, X)
    check_solution(S, lanczos, n_zero=2)
    np.testing.assert_allclose(np.abs(np.einsum("ij,i,ij->j", lanczos, S.sum(axis=1), exact)), 1, atol=1e-9)


def test_more_components_than_vectors_give_piecewise_constant_ones_the_longest_first():
    X = groups(6, 30, 6, spread=100.0)
    S = knn_graph(X, 5)
    Y = smooth_vectors(S, 3, X)
    check_solution(S, Y, n_zero=3)
    assert np.ptp(Y.reshape(6, 30, 3), axis=1).max() < 1e-12
    axes = smooth_vectors(S, 5, X)  # the axes of X' that are the longest come first
    assert (np.diff(np.linalg.norm(X.T @ axes, axis=0)) < 0).all()
    np.testing.assert_allclose(np.abs(axes[:, :3]), np.abs(Y), atol=1e-12)


def test_samples_without_an_edge_are_left_at_zero():
    X = groups(1, 30, 6, spread=100.0)
    S = sparse.block_array([[knn_graph(X), None], [None, sparse.csr_array((2, 2))]]).tocsr()
    Y = smooth_vectors(S, 3, np.vstack([X, X[:2]]))
    assert not Y[-2:].any()
    np.testing.assert_allclose(np.abs(Y[:-2]), np.abs(smooth_vectors(knn_graph(X), 3, X)), atol=1e-10)


def test_too_few_samples_with_an_edge_are_refused():
    S = sparse.csr_array(np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 0]]))
    assert smooth_vectors(S, 1, np.eye(3)).shape == (3, 1)
    with pytest.raises(ValueError, match=r"n_vectors=2 must be less than 2, .* n_clusters"):
        smooth_vectors(S, 2, np.eye(3))
