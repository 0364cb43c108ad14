"""Ridge regressions with weights: optimal on either side of n = d, and stable under extreme weights."""

import numpy as np
import pytest
from scipy import sparse

from ufs_bench.methods.core.ridge import (
    WeightedRidge,
    doubly_weighted_ridge,
    smallest_collapsing_weight,
    spread,
    weighted_ridge,
)

SHAPES = [(20, 7), (7, 20), (9, 9), (12, 1), (2, 30)]


def _problem(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape), rng.normal(size=(shape[0], 3)), rng.uniform(0.1, 5, size=shape[1])


def test_many_zeros_and_few_samples_change_nothing_but_rounding():
    X, F, weights = _problem((40, 300))
    X[np.random.default_rng(1).random(X.shape) < 0.95] = 0
    system = WeightedRidge(X).factor(weights)
    assert sparse.issparse(system.scaled)
    inverse = np.linalg.inv(X.T @ X + np.diag(weights))
    rest, W = system.residual(F)
    np.testing.assert_allclose(W, inverse @ X.T @ F, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(rest, F - X @ W, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(system.misfit_diagonal(np.arange(40)), 1 - np.diag(X @ inverse @ X.T), rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_of_one_factorisation_are_those_of_the_normal_equations(shape):
    X, F, weights = _problem(shape)
    system = WeightedRidge(X).factor(weights)
    for target in (F, F[:, :1], 2 * F):
        rest, W = system.residual(target)
        expected = np.linalg.solve(X.T @ X + np.diag(weights), X.T @ target)
        np.testing.assert_allclose(weighted_ridge(X, target, weights), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(W, weighted_ridge(X, target, weights), rtol=1e-12)
        np.testing.assert_allclose(W, system.coefficients(target), rtol=1e-12)
        np.testing.assert_allclose(rest, target - X @ W, atol=1e-12)
        minimum = ((X @ W - target) ** 2).sum() + weights @ (W**2).sum(axis=1)
        assert np.vdot(target, rest) == pytest.approx(minimum)


@pytest.mark.parametrize("zeros", [0.0, 0.9])
@pytest.mark.parametrize("shape", [*SHAPES, (30, 40)])
def test_diagonal_of_the_misfit_is_that_of_its_columns_and_never_below_its_bound(shape, zeros):
    X, _, weights = _problem(shape)
    X = X * (np.random.default_rng(1).uniform(size=shape) >= zeros)
    system = WeightedRidge(X).factor(weights)
    expected = np.diag(system.misfit(np.eye(shape[0])))
    for rows in (np.arange(shape[0]), np.array([shape[0] - 1, 0]), np.array([], dtype=int)):
        np.testing.assert_allclose(system.misfit_diagonal(rows), expected[rows], rtol=1e-9)
    bound = system.misfit_diagonal_bound()
    assert (bound <= expected * (1 + 1e-12)).all()
    np.testing.assert_allclose(bound, 1 / (1 + (X**2 / weights).sum(axis=1)))


@pytest.mark.parametrize("zeros", [0.0, 0.9])
@pytest.mark.parametrize("shape", SHAPES)
def test_misfit_within_is_the_misfit_of_one_entry_a_row_at_these_entries(shape, zeros):
    X, _, weights = _problem(shape)
    rng = np.random.default_rng(1)
    X = X * (rng.uniform(size=shape) >= zeros)
    v, labels = rng.normal(size=shape[0]), rng.integers(0, 3, size=shape[0])
    v[0], labels[labels == 1] = 0.0, 2  # a row and a column without an entry
    system = WeightedRidge(X).factor(weights)
    expected = system.misfit(spread(v, labels, 4))[np.arange(shape[0]), labels]
    np.testing.assert_allclose(system.misfit_within(v, labels, 4), expected, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_features_with_a_huge_weight_are_left_out_and_disturb_nothing(shape):
    X, F, weights = _problem(shape)
    weights[0] = 1e30
    W = weighted_ridge(X, F, weights)
    assert np.abs(W[0]).max() < 1e-25
    if shape[1] > 1:
        np.testing.assert_allclose(W[1:], weighted_ridge(X[:, 1:], F, weights[1:]), rtol=1e-9, atol=1e-14)


def test_weights_that_are_not_finite_are_a_linear_algebra_error():
    for shape in ((20, 7), (7, 20)):
        X, F, weights = _problem(shape)
        weights[2] = np.nan
        with pytest.raises(np.linalg.LinAlgError):
            weighted_ridge(X, F, weights)


def test_wide_data_need_no_square_array_of_the_features():
    X, F, weights = _problem((3, 200_000))  # 320 GB
    assert weighted_ridge(X, F, weights).shape == (200_000, 3)


@pytest.mark.parametrize("shape", SHAPES)
def test_zero_is_optimal_exactly_from_the_collapsing_weight_on(shape):
    X, F, _ = _problem(shape)
    threshold = smallest_collapsing_weight(X, F)
    best = (X.T @ F)[np.linalg.norm(X.T @ F, axis=1).argmax()]
    W = np.zeros((shape[1], 3))
    W[np.linalg.norm(X.T @ F, axis=1).argmax()] = 1e-7 * best / np.linalg.norm(best)

    def gain(penalty):
        return ((X @ W - F) ** 2).sum() - (F**2).sum() + penalty * np.linalg.norm(W, axis=1).sum()

    assert gain(0.999 * threshold) < 0
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-3, 1.0):
        for _ in range(50):
            W = size * rng.normal(size=W.shape)
            assert gain(1.001 * threshold) > 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zeros", [0.0, 0.9])
def test_doubly_weighted_solution_is_that_of_the_normal_equations(shape, zeros):
    X, F, weights = _problem(shape)
    rng = np.random.default_rng(1)
    X = X * (rng.uniform(size=shape) >= zeros)
    sample_weights = rng.uniform(0.1, 5, size=shape[0])
    expected = np.linalg.solve((X.T * sample_weights) @ X + np.diag(weights), (X.T * sample_weights) @ F)
    np.testing.assert_allclose(doubly_weighted_ridge(X, F, sample_weights, weights), expected, rtol=1e-9, atol=1e-12)
