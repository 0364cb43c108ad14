"""Inference over families: weights, intervals, and p corrected for all columns at once."""

import itertools

import numpy as np
import pytest
from scipy.stats import skew, ttest_1samp

from ufs_bench.metrics.study import families as module
from ufs_bench.metrics.study.families import family_means, step_down, t_intervals

OF = np.array(["a", "a", "a", "b", "c", "c"])


def test_each_family_weighs_the_same_and_each_data_set_within_it():
    gains = np.array([[1.0, 2.0], [2.0, np.nan], [6.0, 4.0], [10.0, np.nan], [0.0, 1.0], [4.0, 1.0]])
    means = family_means(gains, OF)
    np.testing.assert_allclose(means, [[3.0, 3.0], [10.0, np.nan], [2.0, 1.0]])
    np.testing.assert_allclose(t_intervals(means)[0], [5.0, 2.0])


def test_the_interval_is_that_of_students_t_over_families():
    means = np.random.default_rng(0).normal(size=(9, 3))
    found = t_intervals(means)
    for column in range(3):
        wanted = ttest_1samp(means[:, column], 0).confidence_interval()
        np.testing.assert_allclose([found[1][column], found[2][column]], wanted)
    assert np.isnan(t_intervals(means[:1])[1]).all()


def plain_step_down(means):
    """The same by the definition: all flips, and for each column the largest t of it and of those less significant."""

    def t(values):
        n, mean, std = len(values), values.mean(axis=0), values.std(axis=0, ddof=1)
        t, a = np.sqrt(n) * mean / std, skew(values) / np.sqrt(n)
        return np.abs(t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6)

    own = t(means)
    flips = [t(means * np.array(signs)[:, None]) for signs in itertools.product([1, -1], repeat=len(means))]
    order, p, last = np.argsort(-own), np.empty(len(own)), 0.0
    for place, column in enumerate(order):
        rest = order[place:]
        last = max(last, np.mean([flip[rest].max() >= own[column] - 1e-9 for flip in flips]))
        p[column] = last
    return p


def test_p_is_that_of_the_definition_and_does_not_depend_on_the_order_or_the_scale_of_columns():
    rng = np.random.default_rng(1)
    means = rng.normal(size=(8, 5)) + np.array([0, 0.5, 1, 2, 4])
    p = step_down(means)
    np.testing.assert_allclose(p, plain_step_down(means))
    order = rng.permutation(5)
    np.testing.assert_allclose(step_down(means[:, order] * [1, 1e3, 1e-3, 1, 7]), p[order])
    assert p.min() == 2 / 2**8  # the study itself, and all signs turned


def test_a_column_that_some_families_lack_is_judged_on_the_others():
    means = np.random.default_rng(2).normal(size=(10, 1)) + 0.8
    gaps = np.vstack([means, [[np.nan]] * 2])
    np.testing.assert_allclose(step_down(gaps), step_down(means))
    assert step_down(np.array([[1.0], [np.nan]])) == [1.0]


@pytest.mark.parametrize("n_families", [10, pytest.param(20, marks=pytest.mark.slow)])  # 300 studies each
def test_no_gain_is_found_too_often_where_some_methods_gain_and_the_others_do_not(n_families):
    rng, wrong, right = np.random.default_rng(3), 0, 0

    def draw(size):  # of mean 0 and variance 1, and skewed
        return (rng.gamma(2.0, size=size) - 2.0) / np.sqrt(2.0)

    for study in range(300):
        means = draw((n_families, 6)) + 0.7 * draw((n_families, 1))
        means[:, :2] += 3.0
        p = step_down(means, seed=study)
        wrong += p[2:].min() <= 0.05
        right += p[:2].max() <= 0.05
    assert wrong <= 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)  # three standard errors
    assert right > 240


def test_flips_that_are_drawn_have_the_study_first_and_agree_with_all_of_them(monkeypatch):
    means = np.random.default_rng(4).normal(size=(12, 3)) + 0.4
    exact = step_down(means)
    monkeypatch.setattr(module, "EXACT", 5)
    np.testing.assert_allclose(step_down(means), exact, atol=4 * np.sqrt(0.25 / module.N_FLIPS))  # errors of shares
