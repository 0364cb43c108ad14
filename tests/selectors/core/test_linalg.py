"""Factorisations: what they return is optimal, whatever the shape and the scale."""

import numpy as np
import pytest
from scipy.linalg import polar

from ufs_bench.methods.core.linalg import complete_basis, polar_factor, principal_axes


@pytest.mark.parametrize("shape", [(30, 8), (8, 30), (12, 12)])
@pytest.mark.parametrize("n_components", [1, 3, 8])
def test_principal_axes_give_the_best_approximation_of_that_rank(shape, n_components):
    X = np.random.default_rng(0).normal(size=shape)
    values, loadings = principal_axes(X, n_components)
    _, singular, Vt = np.linalg.svd(X, full_matrices=False)
    best = (Vt[:n_components].T * singular[:n_components] ** 2) @ Vt[:n_components]
    np.testing.assert_allclose(values, singular[:n_components] ** 2)
    np.testing.assert_allclose(loadings @ loadings.T, best, atol=1e-10)


@pytest.mark.parametrize("shape", [(9, 20), (20, 9)])
def test_principal_axes_beyond_the_rank_are_zero(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
    values, loadings = principal_axes(X, 5)
    assert (values >= 0).all()
    np.testing.assert_allclose(values[2:], 0, atol=1e-10 * values[0])
    np.testing.assert_allclose(loadings @ loadings.T, X.T @ X, atol=1e-10 * values[0])


@pytest.mark.parametrize("coordinates", [[0, 1, 2, 3, 4], [3, 9, 0, 7, 1]])
def test_completed_basis_is_orthonormal_even_when_it_holds_the_coordinates_already(coordinates):
    coordinates = np.array(coordinates)
    rng = np.random.default_rng(1)
    spanned = np.zeros((10, 2))
    spanned[coordinates[:2], [0, 1]] = 1.0  # the first two coordinate vectors add nothing to these
    for basis in (spanned, np.linalg.qr(rng.normal(size=(10, 3)))[0], np.linalg.qr(rng.normal(size=(10, 5)))[0]):
        full = complete_basis(basis, coordinates)
        np.testing.assert_array_equal(full[:, : basis.shape[1]], basis)
        np.testing.assert_allclose(full.T @ full, np.eye(5), atol=1e-14)


@pytest.mark.parametrize("shape", [(40, 8), (6, 6), (5, 1)])
@pytest.mark.parametrize("decades", [0, 4, 8, 11])
def test_polar_factor_is_exact_for_columns_of_very_different_length(decades, shape):
    rng = np.random.default_rng(4)
    M = rng.normal(size=shape) * 10.0 ** np.linspace(0, -decades, shape[1])
    U, _ = polar(M)
    np.testing.assert_allclose(polar_factor(M), U, atol=1e-15 * 10.0**decades + 1e-13)
    np.testing.assert_allclose(polar_factor(M).T @ polar_factor(M), np.eye(shape[1]), atol=1e-12)


@pytest.mark.parametrize("angle", [1e-2, 1e-6, 1e-10])
def test_polar_factor_is_orthonormal_for_nearly_dependent_columns(angle):
    M = np.random.default_rng(5).normal(size=(40, 3))
    M = np.column_stack([M, M[:, 0] + angle * M[:, 1]])
    U = polar_factor(M)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-9)
    assert np.vdot(U, M) >= (1 - 1e-12) * np.linalg.svd(M, compute_uv=False).sum()


def test_polar_factor_of_a_matrix_of_low_rank_still_attains_the_maximum():
    M = np.random.default_rng(6).normal(size=(30, 4))
    M[:, 2] = 0.0
    M[:, 3] = M[:, 0]
    U = polar_factor(M)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(np.vdot(U, M), np.linalg.svd(M, compute_uv=False).sum())


def test_polar_factor_of_a_matrix_with_nan_is_an_error_that_the_loop_understands():
    M = np.ones((4, 2))
    M[1, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        polar_factor(M)


def with_values(singular_values, seed, shape):
    """Return a matrix with these singular values."""
    rng, rank = np.random.default_rng(seed), len(singular_values)
    U, V = (np.linalg.qr(rng.normal(size=(side, rank)))[0] for side in shape)
    return (U * singular_values) @ V.T


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
@pytest.mark.parametrize("n_components", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_a_space_of_equal_singular_values_is_cut_whatever_the_order_and_rotation(shape, n_components, seed):
    X = with_values([5.0, 4.0, 4.0, 4.0, 1.0], seed, shape)
    rng = np.random.default_rng(seed + 10)
    order, turn = rng.permutation(shape[1]), np.linalg.qr(rng.normal(size=(shape[0], shape[0])))[0]
    values, loadings = principal_axes(X, n_components)
    product = loadings @ loadings.T
    assert values == pytest.approx([25.0, 16.0, 16.0, 16.0][:n_components])
    np.testing.assert_allclose(X.T @ X @ loadings, loadings * values, atol=1e-10)
    for other, back in ((X[:, order], np.argsort(order)), (turn @ X, slice(None))):
        there = principal_axes(other, n_components)[1][back]
        np.testing.assert_allclose(there @ there.T, product, atol=1e-8)


def test_axes_are_as_many_as_asked_for_where_all_singular_values_are_equal():
    for seed in range(100):  # of some such matrices LAPACK gives no eigenvector in a range
        values, loadings = principal_axes(with_values(np.ones(12), seed, (40, 12)), 2)
        assert values == pytest.approx([1.0, 1.0])
        np.testing.assert_allclose(loadings.T @ loadings, np.eye(2), atol=1e-12)
