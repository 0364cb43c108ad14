"""Reweighting: sweeps and blocks never raise what they minimise, and starts confined to few features."""

from dataclasses import dataclass

import numpy as np
import pytest
from samples import correlated

from ufs_bench.methods.core.loop import iterate_best
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import (
    Memory,
    close_scales,
    confined_scales,
    log_scale,
    reweight_block,
    reweighted,
)
from ufs_bench.methods.core.ridge import weighted_ridge

SPARSITY = 0.7  # a share of the weight from which on W = 0 is the best


@dataclass(frozen=True)
class State:
    W: np.ndarray
    value: float
    log_s: np.ndarray = None
    memory: Memory = None


def regression():
    """Return X, F and the weight of an l21 norm that leaves some rows of W."""
    X = correlated(40, 12)
    X = X - X.mean(axis=0)
    F = X[:, :2] + 0.1 * np.random.default_rng(1).normal(size=(40, 2))
    return X, F, SPARSITY * 2 * row_norms(X.T @ F).max()


def lasso():
    """Return its value as a function of W, smoothed, and what solves it for the weights 1 / (2 s)."""
    X, F, b = regression()

    def value(W):
        return float(((X @ W - F) ** 2).sum() + b * np.exp(log_scale(W)).sum())

    def solve(s):
        W = weighted_ridge(X, F, b / (2 * s))
        return State(W, value(W))

    return value, solve


def test_sweeps_never_raise_the_objective_and_end_where_no_neighbour_is_lower():
    value, solve = lasso()
    state, values = State(np.ones((12, 2)), value(np.ones((12, 2)))), []
    for _ in range(60):
        state = reweighted(solve, state)
        assert state.value == value(state.W)
        values.append(state.value)
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        assert all(value(state.W + size * rng.normal(size=state.W.shape)) > state.value for _ in range(20))


def test_the_first_sweep_of_a_start_without_weights_is_the_plain_one():
    _, solve = lasso()
    W = np.random.default_rng(2).normal(size=(12, 2))
    state = reweighted(solve, State(W, np.inf))
    np.testing.assert_array_equal(state.W, solve(np.exp(log_scale(W))).W)
    np.testing.assert_array_equal(state.log_s, log_scale(W))


def test_extrapolated_weights_are_given_up_where_the_objective_would_rise():
    value, solve = lasso()
    state = State(np.ones((12, 2)), value(np.ones((12, 2))))
    for _ in range(4):
        state = reweighted(solve, state)
    plain = reweighted(solve, state, bound=-np.inf)
    np.testing.assert_array_equal(plain.log_s, log_scale(state.W))
    assert len(plain.memory.after) == 1
    assert reweighted(solve, state, bound=np.inf).log_s.tolist() != plain.log_s.tolist()


@pytest.mark.parametrize("times", [1, 3, 10])
def test_a_block_ends_at_the_last_step_that_lowers_its_value(times):
    asked = []

    def measure(x):
        return abs(x), "parts"

    def step(x, parts):
        asked.append((x, parts))
        return x / 2 if len(asked) < 4 else 2 * x

    assert reweight_block(8.0, measure, step, times) == {1: 4.0, 3: 1.0, 10: 1.0}[times]
    assert asked == [(8.0, "parts"), (4.0, "parts"), (2.0, "parts"), (1.0, "parts")][: min(times, 4)]


def test_a_block_is_left_after_a_step_that_gains_next_to_nothing():
    steps = []
    found = reweight_block(1.0, lambda x: (x, None), lambda x, _: steps.append(x) or x * (1 - 1e-7), 5)
    assert steps == [1.0]
    assert found == 1.0 * (1 - 1e-7)


@dataclass(frozen=True)
class Point:
    """A place on a line, and the objective there."""

    x: float

    @property
    def value(self):
        return (self.x**2 - 1) ** 2 + 0.3 * self.x + 2  # the left of its two minima is the lower one


def downhill(point):
    return Point(point.x - 0.02 * (4 * point.x * (point.x**2 - 1) + 0.3))


def test_scales_are_one_for_the_cheapest_features_of_each_size():
    costs = np.random.default_rng(0).random(30)
    cheap = np.argsort(costs)
    for s, size in zip(confined_scales(costs, 3), (3, 6, 24), strict=True):
        np.testing.assert_array_equal(np.flatnonzero(s == 1), np.sort(cheap[:size]))
        assert set(s) == {0.1, 1.0}
    assert [s.tolist() for s in confined_scales(costs[:2], 2)] == [[1.0, 1.0]]


def test_close_scales_keep_the_order_of_the_rows_and_none_is_far_below_the_largest():
    W = np.diag([1.0, 0.1, 0.0])
    s = close_scales(W)
    assert (np.diff(s) < 0).all()
    assert s[0] / s[-1] < 4


def test_the_start_that_leads_lowest_is_kept_and_its_trace_is_whole():
    starts = [Point(1.5), Point(-2.0)]
    state, trace = iterate_best(downhill, starts, trial=3, max_iter=500, tol=1e-9)
    assert state.x == pytest.approx(-1.036, abs=1e-2)
    assert trace.objective[0] == Point(-2.0).value
    assert len(trace.objective) == trace.n_iter + 1
    assert trace.status == "converged"


@pytest.mark.parametrize(("x", "expected"), [(-0.5, -1.036), (1.4, 0.960)])
def test_a_restart_is_kept_where_it_ends_lower_and_else_not(x, expected):
    state, trace = iterate_best(downhill, [Point(1.5)], trial=3, max_iter=500, tol=1e-9, restart=lambda state: Point(x))
    assert state.x == pytest.approx(expected, abs=1e-2)
    assert trace.objective[-1] == state.value


def test_without_convergence_there_is_no_restart():
    def refuse(state):
        raise AssertionError("restarted")

    assert iterate_best(downhill, [Point(1.5)], trial=3, max_iter=5, tol=0, restart=refuse)[1].status == "max_iter"
