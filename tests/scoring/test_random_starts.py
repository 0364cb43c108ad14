"""The remains of a random start are counted at the fit, compared with chance, and named by the audit."""

from math import comb

import numpy as np
import pytest
from frames import frames, store

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.metrics.study.audit import starts
from ufs_bench.metrics.study.frames import fits_of
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.runners.workers.fit import reported
from ufs_bench.scripts.audit import audit_page, make_audit, stands_out
from ufs_bench.scripts.core.study import Study

SIZE, AMONG = 20, 100


class Stuck(BaseSelector):
    """Select what a random start has, but for some features that are drawn anew."""

    def __init__(self, n_features_to_select=None, *, n_moved=0, random_state=None):
        super().__init__(n_features_to_select)
        self.n_moved = n_moved
        self.random_state = random_state

    def _solve(self, X, rng):
        order = rng.permutation(X.shape[1])
        start, others = np.split(order, [self.n_features_to_select_])
        chosen = np.r_[start[self.n_moved :], others[: self.n_moved]]
        return Solution(1.0 + np.isin(np.arange(X.shape[1]), chosen), learned={"start_": start})


def facts_of(n_moved, seed):
    X = np.random.default_rng(0).normal(size=(12, AMONG))
    return reported(Stuck(SIZE, n_moved=n_moved, random_state=seed).fit(X))


def study(moved):
    """Return the frames of a study with a method for each list of numbers of features that its fits exchange."""
    points = [
        {
            "dataset": "umist",
            "method": name,
            "params": {"draw": seed},
            "acc": {50: [0.5, 0.5]},
            "facts": facts_of(n, seed),
        }
        for name, numbers in moved.items()
        for seed, n in enumerate(numbers)
    ]
    return frames([*points, {"dataset": "umist", "method": "silent", "acc": {50: [0.5, 0.5]}}])


def test_a_fit_reports_how_much_of_its_random_start_it_selects():
    assert facts_of(0, 1) == {"n_scored": AMONG, "start_kept": SIZE, "start_size": SIZE, "start_among": AMONG}
    assert facts_of(3, 1)["start_kept"] == SIZE - 3


def test_starts_are_compared_with_chance():
    results = study({"stuck": (0, 1, 3), "moving": (16, 17, 18)})
    table = starts(fits_of(tidy(results))).set_index("method")
    assert table["held"].to_dict() == {"moving": 0.0, "stuck": 1.0}
    assert table["chance"].to_dict() == pytest.approx({"moving": 0.2, "stuck": 0.2})
    assert table.loc["stuck", ["n_fits", "kept", "low", "high"]].tolist() == pytest.approx([3, 0.95, 0.85, 1.0])
    ways = [comb(SIZE, kept) * comb(AMONG - SIZE, SIZE - kept) for kept in range(SIZE - 3, SIZE + 1)]
    assert table.loc["stuck", "probability"] == pytest.approx(sum(ways) / comb(AMONG, SIZE), rel=1e-9, abs=0)
    assert stands_out("starts", table).to_dict() == {"moving": False, "stuck": True}


def test_a_start_of_all_features_says_nothing():
    facts = {"start_kept": 30, "start_size": 30, "start_among": 30}
    results = frames([{"dataset": "umist", "method": "whole", "acc": {50: [0.5]}, "facts": facts}])
    assert not stands_out("starts", starts(fits_of(tidy(results)))).any()


def test_without_random_starts_there_is_nothing_to_show():
    results = study({})
    assert starts(fits_of(tidy(results))).empty


def test_the_audit_names_the_method_that_keeps_its_start(tmp_path):
    store(study({"stuck": (0, 2), "moving": (16, 16)}), tmp_path)
    text = audit_page(make_audit(Study.open(tmp_path, "dgufs", tmp_path / "empty")), "dgufs")
    rows = text.partition("## What is left of random starts")[2].partition("\n## ")[0]
    assert "| stuck " in rows and "| moving " not in rows
