"""Sweeps whose weights are extrapolated, and blocks that are reweighted: neither raises what it minimises."""

from dataclasses import dataclass

import numpy as np
import pytest
from samples import correlated

from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import Memory, log_scale, reweight_block, reweighted
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
