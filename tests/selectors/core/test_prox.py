"""Proximal operators and projections, against what defines them."""

import numpy as np
import pytest

from ufs_bench.methods.core.prox import project_simplex, prox_l21, row_norms, row_weights, smooth_l21, unit_columns


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _by_sorting(v):
    ordered = np.sort(v)[::-1]
    t = (np.cumsum(ordered) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - t[np.flatnonzero(ordered > t)[-1]], 0)


def test_prox_l21_beats_every_random_candidate(rng):
    V, threshold = rng.normal(size=(6, 3)), 1.5

    def value(W):
        return threshold * row_norms(W).sum() + ((W - V) ** 2).sum() / 2

    W = prox_l21(V, threshold)
    assert 0 < np.count_nonzero(row_norms(W)) < 6
    for size in (1e-6, 1e-3, 0.1, 1.0):
        for _ in range(200):
            assert value(W + size * rng.normal(size=W.shape)) >= value(W)


def test_prox_l21_keeps_zero_rows_and_takes_a_threshold_per_row():
    V = np.array([[3.0, 4.0], [0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(prox_l21(V, np.array([1.0, 1.0, 5.0])), [[2.4, 3.2], [0, 0], [0, 0]])


def test_row_weights_give_a_quadratic_that_touches_the_smooth_norm_from_above(rng):
    W, eps = rng.normal(size=(8, 3)), 1e-3
    weights = row_weights(W, eps)

    def bound(V):
        return smooth_l21(W, eps) + weights @ ((V**2).sum(axis=1) - (W**2).sum(axis=1))

    assert bound(W) == pytest.approx(smooth_l21(W, eps))
    for size in (1e-3, 0.1, 1.0, 10.0):
        for _ in range(100):
            V = W + size * rng.normal(size=W.shape)
            assert smooth_l21(V, eps) <= bound(V) * (1 + 1e-14)


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (50, 17), (7, 3000)])
@pytest.mark.parametrize("size", [1e-9, 1e-2, 1.0, 1e6])
def test_projection_agrees_with_sorting(rng, shape, size):
    V = size * rng.normal(size=shape)
    P = project_simplex(V)
    np.testing.assert_allclose(P, [_by_sorting(v) for v in V], atol=1e-15 * max(1.0, size))
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


def test_ties_at_the_threshold_do_not_keep_the_search_going():
    V = np.array([[0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(project_simplex(V), V, atol=1e-15)


def test_projection_agrees_with_the_released_program(reference):
    pair = reference("step11_jgufs")
    np.testing.assert_allclose(project_simplex(pair["v_in"]), pair["v_out"], atol=1e-14)


def test_columns_have_unit_norm_and_a_column_of_zeros_stays():
    F = np.array([[3.0, 0.0, 1e-100], [4.0, 0.0, 0.0]])
    np.testing.assert_allclose(unit_columns(F), [[0.6, 0.0, 1.0], [0.8, 0.0, 0.0]], rtol=1e-15)
