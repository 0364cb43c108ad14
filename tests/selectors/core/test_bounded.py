"""Projected L-BFGS: its direction is that of the printed recursion, on the free entries alone."""

import numpy as np
import pytest

from ufs_bench.methods.core.bounded import MEMORY, _Pairs, minimize_nonnegative


def recursion(slope, pairs):
    """Nocedal & Wright's algorithm 7.4 for pairs that all count, the oldest first."""
    q, factors = slope.copy(), []
    for step, change in reversed(pairs):
        factors.append(step @ q / (step @ change))
        q -= factors[-1] * change
    q *= pairs[-1][0] @ pairs[-1][1] / (pairs[-1][1] @ pairs[-1][1])
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        q += (factor - change @ q / (step @ change)) * step
    return q


@pytest.mark.parametrize("added", [1, 3, MEMORY + 4])
def test_direction_is_that_of_the_recursion_on_the_free_entries(added):
    rng = np.random.default_rng(added)
    shape = (9, 4)
    free = rng.uniform(size=shape) < 0.6
    pairs, kept = _Pairs(36), []
    for i in range(added):
        step = rng.normal(size=shape)
        change = step * rng.uniform(0.5, 2, size=shape)
        if i == added - 2:
            change[free] *= -1  # curved the other way there: left out
        pairs.add(step, change)
        if i >= added - MEMORY and i != added - 2:
            kept.append((step[free], change[free]))
    slope = np.where(free, rng.normal(size=shape), 0.0)
    direction = pairs.times(slope, free)
    np.testing.assert_allclose(direction[free], recursion(slope[free], kept), rtol=1e-9)
    np.testing.assert_array_equal(direction[~free], 0)


def test_without_a_pair_the_direction_is_the_slope():
    slope = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(_Pairs(6).times(slope, slope > 0), slope)


def test_a_known_value_spares_the_first_call():
    calls = []

    def function(x):
        calls.append(x)
        return float(((x - 1) ** 2).sum()), 2 * (x - 1)

    x = np.array([0.0, 3.0])
    plain = minimize_nonnegative(function, x, 20)
    count = len(calls)
    np.testing.assert_array_equal(minimize_nonnegative(function, x, 20, known=function(x)), plain)
    assert len(calls) == 2 * count
    np.testing.assert_allclose(plain, 1)
