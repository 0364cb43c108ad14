"""Scores that are rounding beside the largest are counted at the fit, and named below tables."""

import numpy as np
import pytest
from frames import study_of

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.runners.workers.fit import reported
from ufs_bench.scripts.make_table import study_table


class Given(BaseSelector):
    """Score the features as told."""

    def __init__(self, n_features_to_select=None, *, given=()):
        super().__init__(n_features_to_select)
        self.given = given

    def _solve(self, X, rng):
        return Solution(np.array(self.given, dtype=float))


@pytest.mark.parametrize(
    "given, count",
    [([1, 2, 1.5, 1e-8, 3e-8], 3), ([5, 4, 3, 2, 1], 5), ([0, 0, 0, 0, 0], 0), ([-1, -2, -1e-9, -3, -4], 5)],
)
def test_scores_above_a_millionth_of_the_largest_are_counted(given, count):
    fit = Given(2, given=given).fit(np.random.default_rng(0).normal(size=(6, 5)))
    assert reported(fit)["n_scored"] == count


def study(**numbers):
    """Return a study of methods whose three fits have scores for these numbers of 50 features."""
    points = [
        {"dataset": "webkb", "method": method, "params": {"alpha": step}, "acc": {50: [0.5]}, "facts": {"n_scored": n}}
        for method, own in numbers.items()
        for step, n in enumerate(own)
    ]
    return study_of(points)


def test_a_table_names_fits_below_that_were_asked_for_more_than_they_score():
    below = " ".join(study_table(study(few=(3, 7, 90), many=(50, 60, 70))).details)
    assert "few on webkb (from 3 on; 67% of its fits)" in below
    assert "many on webkb" not in below


def test_nothing_is_said_where_nothing_is_reported():
    silent = study_of([{"dataset": "webkb", "method": "silent", "acc": {50: [0.5]}}])
    assert "silent on webkb" not in " ".join(study_table(silent).details)
