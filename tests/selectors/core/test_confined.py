"""Starts confined to few features, and the loop that keeps the lowest of several starts."""

from dataclasses import dataclass

import numpy as np
import pytest

from ufs_bench.methods.core.loop import iterate_best
from ufs_bench.methods.core.reweighting import close_scales, confined_scales


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
