"""Jaccard's and Nogueira's measures: their extremes, their values in special cases, and the interval's coverage."""

from itertools import combinations

import numpy as np
import pytest

from ufs_bench.metrics.study.stability import Z, jaccard, nogueira


def draw(rng, n_sets, size, n_features=40):
    return [rng.permutation(n_features)[:size] for _ in range(n_sets)]


def test_equal_sets_are_fully_stable():
    sets = [[1, 5, 7], [7, 1, 5], [5, 7, 1]]
    assert jaccard(sets) == 1
    assert nogueira(sets, 10) == (1, 1, 1)


def test_disjoint_sets_share_nothing():
    assert jaccard([[0, 1], [2, 3]]) == 0
    assert nogueira([[0, 1], [2, 3]], 4).value == pytest.approx(-1)


def test_sets_of_one_size_have_the_mean_of_kunchevas_pairwise_index():
    sets, d, k = draw(np.random.default_rng(0), 6, 15), 40, 15
    pairs = [(len({*a} & {*b}) - k**2 / d) / (k - k**2 / d) for a, b in combinations(sets, 2)]
    assert nogueira(sets, d).value == pytest.approx(np.mean(pairs))


def test_the_interval_is_as_wide_as_the_values_of_other_sets_scatter():
    """Sets of different sizes, in which the first features are likelier; few of all, where the sizes count most."""
    rng, likely = np.random.default_rng(0), np.linspace(0.9, 0.1, 20) ** 4
    found = [nogueira([np.flatnonzero(rng.random(20) < likely) for _ in range(60)], 20) for _ in range(600)]
    value, low, high = np.array(found).T
    assert high + low == pytest.approx(2 * value)
    # The deviation of 600 values is known to 3 %, and the interval is that of infinitely many sets.
    assert np.sqrt(np.mean(((high - low) / 2 / Z) ** 2)) == pytest.approx(value.std(ddof=1), rel=0.12)


def test_neither_depends_on_the_order_of_the_sets_or_the_names_of_the_features():
    rng = np.random.default_rng(1)
    sets, names = draw(rng, 5, 12), rng.permutation(40)
    others = [names[features] for features in sets[::-1]]
    assert jaccard(others) == pytest.approx(jaccard(sets))
    np.testing.assert_allclose(nogueira(others, 40), nogueira(sets, 40))


def test_nothing_is_said_of_one_set_or_of_all_features():
    assert np.isnan(jaccard([[1, 2]]))
    assert np.isnan(nogueira([[1, 2]], 5)).all()
    assert np.isnan(nogueira([range(5)] * 3, 5)).all()
