"""The lasso path: optimal at every knot, complete, and the same wherever it is left."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from ufs_bench.methods.mcfs.lars import lasso_paths


def problem(n_samples, n_features, n_targets=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, n_features)), rng.standard_normal((n_samples, n_targets))


def dense(knot, n_features):
    a = np.zeros(n_features)
    a[knot.support] = knot.coefficients
    return a


def optimality_gap(X, y, knot, ridge=0.0):
    """Return the largest violation of the lasso's KKT conditions, relative to the largest penalty of the path."""
    a = dense(knot, X.shape[1])
    gradient = X.T @ (y - X @ a) - ridge * a
    inside = np.abs(gradient).max() - knot.penalty
    on_support = np.abs(gradient - knot.penalty * np.sign(a))[a != 0].max(initial=0)
    return max(inside, on_support) / np.abs(X.T @ y).max()


SHAPES = [(30, 200, 0.0), (200, 30, 0.0), (30, 30, 0.0), (30, 100, 0.1), (100, 40, 1.0), (15, 300, 1e-6)]


@pytest.mark.parametrize(("n_samples", "n_features", "ridge"), SHAPES)
def test_every_knot_is_optimal(n_samples, n_features, ridge):
    X, Y = problem(n_samples, n_features)
    for y, path in zip(Y.T, lasso_paths(X, Y, n_features, ridge), strict=True):
        assert len(path.knots) == (n_features if ridge else min(n_samples, n_features))
        assert [np.count_nonzero(knot.coefficients) for knot in path.knots] == list(range(1, len(path.knots) + 1))
        assert (np.diff([knot.penalty for knot in path.knots]) < 0).all() and path.knots[-1].penalty == 0
        assert max(optimality_gap(X, y, knot, ridge) for knot in path.knots) < 1e-12


def test_nearness_is_one_for_the_feature_about_to_join_and_less_for_the_others():
    X, Y = problem(40, 90)
    for short, longer in zip(lasso_paths(X, Y, 10), lasso_paths(X, Y, 90), strict=True):
        outside = np.delete(np.arange(90), short.knots[-1].support)
        nearest = outside[short.nearness[outside].argmax()]
        assert short.nearness[nearest] == pytest.approx(1, abs=1e-12)
        assert np.sort(short.nearness[outside])[-2] < 1
        assert nearest in longer.knots[10].support


def test_of_duplicate_features_one_is_used_and_the_path_is_unchanged():
    X, Y = problem(20, 50)
    doubled = np.hstack([X, X[:, ::-1], -X[:, :5]])
    for path, other in zip(lasso_paths(X, Y, 50), lasso_paths(doubled, Y, 105), strict=True):
        assert len(path.knots) == len(other.knots)
        for ours, theirs in zip(path.knots, other.knots, strict=True):
            np.testing.assert_allclose(X @ dense(ours, 50), doubled @ dense(theirs, 105), atol=1e-9)


def test_features_that_all_tie_are_all_used():
    H = hadamard(16).astype(float)
    y = H[:, 1:].sum(axis=1)
    (path,) = lasso_paths(H[:, 1:], y[:, None], 15)
    np.testing.assert_allclose(dense(path.knots[-1], 15), 1, rtol=1e-12)
    assert all(optimality_gap(H[:, 1:], y, knot) < 1e-12 for knot in path.knots)


@pytest.mark.parametrize("seed", range(5))
def test_ties_of_binary_data_leave_every_knot_optimal(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (24, 60)).astype(float)
    Y = rng.integers(-1, 2, (24, 2)).astype(float)
    for y, path in zip(Y.T, lasso_paths(X, Y, 60), strict=True):
        assert path.knots[-1].penalty == 0
        assert max(optimality_gap(X, y, knot) for knot in path.knots) < 1e-9


def test_a_target_that_few_features_explain_ends_with_them():
    X, _ = problem(50, 30)
    y = X[:, [4, 9]] @ [2.0, -3.0]
    (path,) = lasso_paths(X, y[:, None], 30)
    expected = np.zeros(30)
    expected[[4, 9]] = 2, -3
    np.testing.assert_allclose(dense(path.knots[-1], 30), expected, atol=1e-10)


def test_a_target_that_no_feature_correlates_with_has_no_knots():
    X = np.vstack([np.eye(3), np.zeros((2, 3))])
    y = np.array([0, 0, 0, 1.0, -1])
    (path,) = lasso_paths(X, y[:, None], 3)
    assert path.knots == []
    assert not path.nearness.any()
