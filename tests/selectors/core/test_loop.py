"""The one loop: when it stops, what it keeps, and what it calls the outcome."""

from types import SimpleNamespace

import numpy as np
import pytest

from ufs_bench.methods.core.loop import (
    COLLAPSED,
    CONVERGED,
    DIVERGED,
    MAX_ITER,
    STATUSES,
    Trace,
    iterate,
    ranking_change,
)


def halve(x):
    return x / 2


def identity(x):
    return x


def test_loop_stops_when_the_objective_hardly_changes():
    # x + 1 with x halved: the relative change of the objective falls below any tolerance.
    state, trace = iterate(halve, 1.0, lambda x: 1 + x, max_iter=100, tol=1e-3)
    changes = -np.diff(trace.objective) / trace.objective[:-1]
    assert trace.status == CONVERGED
    assert changes[-1] <= 1e-3 < changes[-2]
    assert state == 0.5**trace.n_iter


CASES = {
    "out of sweeps": (halve, 8.0, 3, 0.4, MAX_ITER, [8, 4, 2, 1]),
    "no sweeps": (halve, 4.0, 0, 1e-3, MAX_ITER, [4]),
    "nothing changes at all": (identity, 3.0, 50, 0, CONVERGED, [3, 3]),
    "an objective that reaches zero": (lambda x: max(x - 1, 0.0), 3.0, 50, 1e-6, CONVERGED, [3, 2, 1, 0, 0]),
    "an objective that rises": (lambda x: 2 * x, 1.0, 4, 1e-3, MAX_ITER, [1, 2, 4, 8, 16]),
    "a start without a finite objective": (halve, np.nan, 10, 0, DIVERGED, [np.nan]),
}


@pytest.mark.parametrize("case", CASES)
def test_trace_holds_the_start_and_every_sweep_and_the_status_says_why_it_ends(case):
    step, start, max_iter, tol, status, values = CASES[case]
    state, trace = iterate(step, start, identity, max_iter=max_iter, tol=tol)
    np.testing.assert_array_equal(trace.objective, values)
    np.testing.assert_equal(state, values[-1])
    assert (trace.status, trace.n_iter) == (status, len(values) - 1)


@pytest.mark.parametrize(("patience", "n_iter"), [(1, 2), (2, 5), (3, 6), (4, 8)])
def test_patience_asks_for_sweeps_on_end_that_hardly_change_it(patience, n_iter):
    values = [8.0, 4.0, 4.001, 2.0, 2.001, 2.002, 2.003, 1.0, 1.0]
    state, trace = iterate(lambda i: i + 1, 0, lambda i: values[i], max_iter=8, tol=1e-2, patience=patience)
    assert (state, trace.n_iter, trace.status) == (n_iter, n_iter, CONVERGED)  # the last sweep changes nothing at all


def test_rows_that_move_in_a_small_part_of_the_objective_keep_the_loop_going():
    def halved(state):
        W = state.W / 2
        return SimpleNamespace(W=W, value=1 + 1e-9 * np.abs(W).sum())

    def residual(previous, state):  # of the same rows beside two that stay
        beside = [SimpleNamespace(W=np.vstack([np.eye(2), each.W]), value=each.value) for each in (previous, state)]
        return ranking_change(*beside)

    start = SimpleNamespace(W=np.ones((3, 2)), value=1.0)
    assert iterate(halved, start, max_iter=50, tol=1e-6)[1].n_iter == 1
    state, trace = iterate(halved, start, max_iter=50, tol=1e-6, residual=residual)
    # The rows change by their own length, as a share of the norms of all.
    assert 3 * 2 * state.W[0, 0] ** 2 <= 2e-6 < 4 * 3 * 2 * state.W[0, 0] ** 2
    assert trace.status == CONVERGED


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_divergence_keeps_the_last_finite_state(bad):
    sequence = [5.0, 3.0, 2.0, bad, 1.0]
    state, trace = iterate(lambda i: i + 1, 0, lambda i: sequence[i], max_iter=10, tol=0)
    assert state == 2
    assert (trace.status, trace.n_iter) == (DIVERGED, 2)
    np.testing.assert_array_equal(trace.objective, [5, 3, 2])


@pytest.mark.parametrize("failing", ["step", "objective"])
def test_failed_factorisation_is_divergence(failing):
    def fail_at_two(name):
        def function(i):
            if name == failing and i == 2:
                raise np.linalg.LinAlgError("singular")
            return i + 1 if name == "step" else 10.0 - i

        return function

    state, trace = iterate(fail_at_two("step"), 0, fail_at_two("objective"), max_iter=10, tol=0)
    expected = 2 if failing == "step" else 1
    assert state == expected
    assert (trace.status, trace.n_iter) == (DIVERGED, expected)
    assert len(trace.objective) == expected + 1


def test_other_errors_are_not_hidden():
    def broken(state):
        raise KeyError("a programming error")

    with pytest.raises(KeyError):
        iterate(broken, 0.0, identity, max_iter=3, tol=0)


def test_residual_replaces_the_change_of_the_objective():
    seen = []

    def residual(previous, current):
        seen.append((previous, current))
        return abs(previous - current)

    state, trace = iterate(halve, 1.0, lambda x: 7.0, residual=residual, max_iter=100, tol=0.1)
    assert seen[:2] == [(1.0, 0.5), (0.5, 0.25)]
    assert trace.status == CONVERGED
    assert state == 0.0625


def test_closed_form_has_an_empty_trace_that_converged():
    trace = Trace()
    assert (trace.status, trace.n_iter, len(trace.objective)) == (CONVERGED, 0, 0)


@pytest.mark.parametrize("status", STATUSES)
def test_a_trace_is_collapsed_where_nothing_was_learned_and_unchanged_elsewhere(status):
    trace = Trace(np.array([2.0, 1.0]), status, 1)
    assert trace.collapsed_if(False) is trace
    collapsed = trace.collapsed_if(True)
    assert (collapsed.status, collapsed.n_iter) == (COLLAPSED, 1) and collapsed.objective is trace.objective
