"""The findings count scores of every seed, changes with another number of clusters, and what intervals allow."""

import math
import re

import numpy as np
import pandas as pd
from frames import PROTOCOL, study_of

from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.findings import clusters, plan, scores_of


def test_a_score_that_lacks_a_seed_is_none():
    def point(dataset, method, seed):
        lacks = (dataset, method, seed) == ("orl", "mcfs", 1)
        return {"dataset": dataset, "method": method, "acc": {100: [0.5]}, "nth_seed": seed} | (
            {"status": "timeout"} if lacks else {}
        )

    rows = [point(name, method, seed) for name in ("umist", "orl") for method in ("mcfs", "rufs") for seed in (0, 1)]
    rows += [{"dataset": name, "method": "random_rankings", "acc": {100: [0.4]}} for name in ("umist", "orl")]
    means = scores_of(study_of(rows, protocol=PROTOCOL | {"seeds": 2}), "default_params")[1]
    assert math.isnan(means.loc["orl", "mcfs"]) and means.drop(columns="mcfs").notna().all(axis=None)
    assert means.loc["umist", "mcfs"] == 50


def test_changes_are_counted_with_their_intervals_for_each_number_of_clusters():
    columns = pd.MultiIndex.from_product([("classes", "half", "twice"), clusters.COUNTED, ("acc", "nmi")])
    means = pd.DataFrame(np.random.default_rng(0).normal(4, 0.1, (8, len(columns))), columns=columns)
    means["half"] = means["classes"].to_numpy() + np.tile([[0.5], [-0.5]], (4, 1))
    means["twice"] = means["classes"].to_numpy() - 2.0 + 0.01 * np.arange(8)[:, None]
    means[("twice", clusters.COUNTED[0], "acc")] += 4.0
    found = clusters.Clusters({}, means, None)
    n = 2 * len(clusters.COUNTED)
    assert found.moved == {"half": (0, 0, n), "twice": (n, n - 1, n)}


def test_what_intervals_allow_is_counted_among_the_methods_that_cannot_be_told():
    index = pd.MultiIndex.from_product([("a", "b", "c"), ("acc", "nmi")], names=["method", "score"])
    table = pd.DataFrame(
        {"mean": [5, 5, 0, 0, -2, -2], "low": [3, 3, -3, -3, -3, -3], "high": [7, 7, 3, 2, -1, -1]}, index
    )
    table = table.astype(float).assign(p=[0.01, 0.01, 1, 1, 0.2, 0.2], needs=[[]] * 6)
    found = plan.Estimates({}, True, 0, None, table, None, {}, {})
    assert found.untold == ["b", "c"] and found.in_both(-1) == ["c"] and found.in_both(1) == []
    assert (found.allow("acc", 2.5), found.allow("nmi", 2.5), found.allow("nmi", -2)) == (1, 0, 2)


def test_the_half_width_that_was_expected_is_that_of_the_plan():
    text = (ROOT / "docs/plan.md").read_text(encoding="utf-8")
    row = re.search(r"^\| new data: 35 sets, .*\| normal .*\| ([\d.]+) +\|$", text, re.MULTILINE)
    assert float(row[1]) == plan.EXPECTED
