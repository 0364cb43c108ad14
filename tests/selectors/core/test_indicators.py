"""Indicators: the value and its slope, descent for every gamma, exact gains of single rows, and how far a fit moved."""

import numpy as np
import pytest

from ufs_bench.methods.core.indicators import Indicators, indicator_change
from ufs_bench.methods.core.ridge import spread

GAMMAS = [0.1, 10.0, 1e4, 1e8]


class Dense:
    """M as an array; its diagonal is bounded by a share of itself."""

    def __init__(self, M, share=0.5):
        self.M, self.share, self.asked = M, share, []

    def times(self, F):
        return self.M @ F

    def within(self, labels, n_columns):
        return lambda v: self.times(spread(v, labels, n_columns))[np.arange(len(v)), labels]

    def diagonal(self, rows):
        self.asked.append(rows)
        return np.diag(self.M)[rows]

    def diagonal_bound(self):
        return self.share * np.diag(self.M)


def indicators(gamma, n=24, seed=0):
    """Draw a problem whose M is positive semidefinite, with entries of both signs."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n)) * rng.uniform(0.1, 1, size=n)
    M = root @ root.T / n
    return M, Indicators(Dense(M), gamma)


def printed(M, F, gamma):
    return np.trace(F.T @ M @ F) + gamma / 2 * np.linalg.norm(F.T @ F - np.eye(F.shape[1])) ** 2


def start(n=24, c=3, seed=1):
    F = np.random.default_rng(seed).random((n, c))
    return F / np.linalg.norm(F, axis=0)


def unit_columns(c=3, seed=1):
    """Draw a matrix with one entry a row."""
    F = start(c=c, seed=seed)
    U = spread(F.max(axis=1), F.argmax(axis=1), c)
    return U / np.linalg.norm(U, axis=0)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_value_is_the_printed_one_and_its_slope_that_of_differences(gamma):
    M, function = indicators(gamma)
    F, rng = start(), np.random.default_rng(2)
    value, slope = function(F)
    assert value == pytest.approx(printed(M, F, gamma))
    assert function.value(F) == pytest.approx(value)
    for _ in range(5):
        step = 1e-6 * rng.normal(size=F.shape)
        difference = (printed(M, F + step, gamma) - printed(M, F - step, gamma)) / 2
        assert difference == pytest.approx(np.vdot(slope, step), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("seed", range(5))
def test_value_never_rises_and_ends_where_no_small_change_helps(gamma, seed):
    M, function = indicators(gamma, seed=seed)
    F = start(seed=seed)
    for _ in range(100):
        new = function.lowered(F)
        assert new.min() >= 0
        assert function.value(new) <= function.value(F) * (1 + 1e-12)
        F = new
    rng, value = np.random.default_rng(3), printed(M, F, gamma)
    for _ in range(200):
        moved = np.maximum(F + 10 ** rng.uniform(-6, -2) * rng.normal(size=F.shape), 0.0)
        assert printed(M, moved, gamma) >= value * (1 - 1e-5)


@pytest.mark.parametrize("c", [2, 4])
def test_gain_of_a_row_that_changes_column_is_exact(c):
    M, function = indicators(1e4)
    U = unit_columns(c)
    MU, m = function.quotients(U)
    # `exchanges` has the rows alone that gain the most: the gain of every row is not to be had from outside.
    target, entry, gain = function._gains(U, MU, m, np.arange(len(U)), np.diag(M))
    own = U.argmax(axis=1)
    for i in range(len(U)):
        assert target[i] != own[i]
        V = U.copy()
        V[i] = 0
        V[i, target[i]] = entry[i]
        V /= np.linalg.norm(V, axis=0)
        left = function.left(np.diag(V.T @ M @ V)).sum()
        assert function.left(m).sum() - left == pytest.approx(gain[i], rel=1e-8, abs=1e-10)
        for other in set(np.flatnonzero(MU[i] < 0)) - {own[i]}:
            for length in (0.01, 0.1, 0.5):
                V = U.copy()
                V[i] = 0
                V[i, other] = length
                V /= np.linalg.norm(V, axis=0)
                assert function.left(np.diag(V.T @ M @ V)).sum() >= left - 1e-9


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("gamma", [10.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_rows_that_a_bounded_diagonal_leaves_out_have_nothing_to_gain(seed, gamma, empty):
    M, _ = indicators(gamma, seed=seed)
    U = unit_columns(seed=seed)
    if empty:
        U[:, 1] = 0.0
    screened, whole = (Indicators(Dense(M, share), gamma) for share in (0.9, -1e9))
    MU, m = screened.quotients(U)
    gain = whole._gains(U, MU, m, np.arange(len(U)), np.diag(M))[2]
    rows = np.flatnonzero(gain > 1e-9 * whole.left(m).sum())
    found, expected = screened.exchanges(U, MU, m), whole.exchanges(U, MU, m)
    np.testing.assert_array_equal(np.sort(expected[0]), rows)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(whole.matrix.asked[0]) == len(U)
    assert len(rows) <= len(screened.matrix.asked[0]) and (empty or len(screened.matrix.asked[0]) < len(U))
    for one, other in zip(screened.exchanged(U), whole.exchanged(U), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_value_is_at_least_its_tangent_and_what_the_penalty_is_above_its_own(gamma):
    M, function = indicators(gamma)
    F, rng = start(), np.random.default_rng(4)
    value, slope = function(F)
    for size in (1e-3, 1e-1, 1.0):
        G = np.maximum(F + size * rng.normal(size=F.shape), 0.0)
        smooth = np.vdot(G - F, M @ (G - F))
        expected = function.value(G) - smooth
        assert value + np.vdot(slope, G - F) + function.above(F)(G) == pytest.approx(expected, rel=1e-9)


def test_column_of_zeros_gets_a_row_where_gamma_is_large():
    _, function = indicators(1e8)
    F = start()
    F[:, 1] = 0.0
    assert function.lowered(F).any(axis=0).all()


def test_columns_are_zero_where_gamma_is_less_than_m_costs():
    function = Indicators(Dense(5.0 * np.eye(24)), 1.0)
    F = start()
    for _ in range(20):
        F = function.lowered(F)
    np.testing.assert_allclose(F, 0, atol=1e-3)


def test_change_is_none_for_the_start_or_its_partition_and_whole_for_other_samples():
    rng = np.random.default_rng(0)
    first = np.eye(3)[np.arange(12) % 3] + 0.2
    partition = np.eye(3)[np.arange(12) % 3]
    assert indicator_change(first, first) == pytest.approx(0, abs=1e-12)
    assert indicator_change(first, 7 * partition) == pytest.approx(0, abs=1e-12)
    assert indicator_change(partition, np.roll(partition, 1, axis=1)) == pytest.approx(1)
    assert 0 < indicator_change(first, partition * rng.uniform(0.5, 1.5, size=(12, 1))) < 0.2
    assert indicator_change(np.zeros((4, 2)), np.zeros((4, 2))) <= 1
