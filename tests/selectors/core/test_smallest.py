"""Smallest eigenvectors of a diagonal matrix plus X'KX: those of the dense matrix, accurate row by row, without it."""

import numpy as np
import pytest
from scipy.linalg import eigh

from ufs_bench.methods.core import smallest
from ufs_bench.methods.core.smallest import DenseGram, WideGram, smallest_eigenvectors

SHAPES = [(30, 260), (150, 260), (260, 260)]
TALL = (400, 260)


def semidefinite(n, rng, rank=None):
    factor = rng.normal(size=(n, rank or n // 2))
    return factor @ factor.T / n


def problem(shape, spread=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    K = semidefinite(len(X), rng)
    return X, K, 10 ** rng.uniform(-spread, spread, shape[1])


def gram_of(X, K, floor=0.0):
    if len(X) < X.shape[1]:
        return WideGram(X, K.__matmul__, floor)
    return DenseGram(X.T @ K @ X, floor)


@pytest.mark.parametrize("shape", [*SHAPES, TALL])
@pytest.mark.parametrize("spread", [0.5, 3])
def test_vectors_are_those_of_the_dense_matrix(shape, spread):
    X, K, weights = problem(shape, spread)
    found = smallest_eigenvectors(gram_of(X, K), weights, 5)
    expected = eigh(X.T @ K @ X + np.diag(weights), subset_by_index=(0, 4))[1]
    assert found.shape == (shape[1], 5 + smallest.GUARDS)
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-10)
    np.testing.assert_allclose(found[:, :5] @ found[:, :5].T, expected @ expected.T, atol=1e-6)


def inverse_by_singular_values(X, F, weights, V):
    """Return (diag(weights) + X'FF'X)^-1 V, each row as accurate as its own weight allows."""
    root = np.sqrt(weights)[:, None]
    Q, s, _ = np.linalg.svd((F.T @ X).T / root, full_matrices=False)
    U = V / root
    return (U - Q @ (Q.T @ U) + Q @ ((Q.T @ U) / (1 + s[:, None] ** 2))) / root


@pytest.mark.parametrize("shape", SHAPES[:2])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4, 1e8, 1e12])
def test_inverse_undoes_the_matrix_however_large_one_part_is_against_the_other(shape, size):
    rng = np.random.default_rng(1)
    X, F, V = rng.normal(size=shape), np.sqrt(size) * rng.normal(size=(shape[0], 7)), rng.normal(size=(shape[1], 3))
    weights = 10 ** rng.uniform(-1, 1, shape[1])
    weights[:40] *= 1e8
    found = WideGram(X, lambda Y: F @ (F.T @ Y)).inverse(weights)(V)
    expected = inverse_by_singular_values(X, F, weights, V)
    root = np.sqrt(weights)[:, None]
    np.testing.assert_allclose(root * found, root * expected, atol=1e-8 * np.abs(V / root).max())


@pytest.mark.parametrize("shape", [(30, 260), TALL])
def test_indefinite_matrix_needs_only_a_bound_of_its_eigenvalues(shape):
    rng = np.random.default_rng(2)
    X = rng.normal(size=shape)
    K = semidefinite(len(X), rng) - 0.5 * np.eye(len(X))
    weights = rng.uniform(0.1, 1, shape[1])
    floor = -0.5 * float(np.linalg.norm(X, 2) ** 2)
    found = smallest_eigenvectors(gram_of(X, K, floor), weights, 5)[:, :5]
    expected = eigh(X.T @ K @ X + np.diag(weights), subset_by_index=(0, 4))[1]
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)


@pytest.mark.parametrize("weight", [1e-5, 1e-1, 10.0])
@pytest.mark.parametrize("n_negative", [0, 2, 4])
def test_vectors_that_the_weights_alone_decide_are_found_beside_some_far_below_zero(weight, n_negative):
    rng = np.random.default_rng(3)
    X, F = rng.normal(size=(30, 260)), np.linalg.qr(rng.normal(size=(30, 8)))[0]
    signs = np.where(np.arange(8) < n_negative, -1.0, 1.0) * np.linspace(1, 3, 8)
    weights = weight * rng.uniform(1, 3, 260)
    gram = WideGram(X, lambda Y: F @ (signs[:, None] * (F.T @ Y)), floor=-3 * np.linalg.norm(X, 2) ** 2)
    matrix = gram.toarray() + np.diag(weights)
    expected, vectors = eigh(matrix, subset_by_index=(0, 4))
    for guess in (None, smallest_eigenvectors(gram, 1.2 * weights, 5)):
        W = smallest_eigenvectors(gram, weights, 5, guess)[:, :5]
        np.testing.assert_allclose(W.T @ W, np.eye(5), atol=1e-8)
        np.testing.assert_allclose(np.einsum("ij,ij->j", W, matrix @ W), expected, rtol=1e-6, atol=1e-4 * weight)
        np.testing.assert_allclose(W @ W.T, vectors @ vectors.T, atol=1e-4)


def test_repeated_eigenvalues_are_all_found():
    weights = np.concatenate([np.full(4, 1.0), np.linspace(2, 3, 300)])
    X = np.zeros((10, 304))
    X[:, 100:] = np.random.default_rng(0).normal(size=(10, 204))
    found = smallest_eigenvectors(WideGram(X, lambda Y: Y), weights, 4)[:, :4]
    np.testing.assert_allclose((found[:4] ** 2).sum(), 4, atol=1e-8)


def test_few_features_and_failed_iterations_are_left_to_the_dense_solver(monkeypatch):
    X, K, weights = problem((30, 260), 1)
    expected = smallest_eigenvectors(gram_of(X, K), weights, 5)[:, :5]
    monkeypatch.setattr(smallest, "WARM_RESTARTS", 0)
    monkeypatch.setattr(smallest, "COLD_RESTARTS", 0)
    found = smallest_eigenvectors(gram_of(X, K), weights, 5)[:, :5]
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)
    assert smallest_eigenvectors(gram_of(X[:, :4], K), weights[:4], 4).shape == (4, 4)
    monkeypatch.setattr(smallest, "FALLBACK_FEATURES", 100)
    with pytest.raises(np.linalg.LinAlgError, match="not converged"):
        smallest_eigenvectors(gram_of(X, K), weights, 5)


@pytest.mark.parametrize("shape", [(8, 20), (30, 260), TALL])
def test_what_is_not_finite_is_refused(shape):
    X, K, weights = problem(shape, 1)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        smallest_eigenvectors(gram_of(np.nan * X, K), weights, 2)
