"""Fits that a cap ended are shown as such: in tables, compare and the commands that fill a table."""

import pytest
from frames import frames, store

from ufs_bench.metrics.study.summary import running_times, select
from ufs_bench.scripts.compare import compare_studies
from ufs_bench.scripts.core.papers import read_table
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import to_markdown

POINTS = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.43, 0.42]}},
    {"dataset": "umist", "method": "mcfs", "acc": {50: [0.4, 0.5], 100: [0.4, 0.4]}, "fit_s": 2.0},
    {"dataset": "umist", "method": "mcfs", "params": {"a": 1}, "status": "timeout", "sizes": [50, 100], "fit_s": 60.0},
    {"dataset": "umist", "method": "mcfs", "params": {"a": 2}, "status": "failed", "sizes": [50, 100]},
    {"dataset": "umist", "method": "dgufs", "status": "out_of_memory", "sizes": [50, 100]},
    {"dataset": "umist", "method": "dgufs", "params": {"a": 2}, "status": "failed", "sizes": [50, 100]},
]


@pytest.fixture
def study(tmp_path):
    store(frames(POINTS), tmp_path)
    return Study.open(tmp_path, "dgufs")


def test_missing_feature_sets_are_counted_by_their_reason(study):
    chosen = select(study.summary).set_index("method")
    names = ["n_points", "n_failed", "n_timeout", "n_out_of_memory", "n_missing"]
    assert chosen.loc["mcfs", names].tolist() == [2, 2, 2, 0, 4]
    assert chosen.loc["dgufs", names].tolist() == [0, 2, 0, 2, 4]
    times = running_times(study.trials).set_index("method")
    assert times.loc["mcfs", "mean"] == 2.0 and times.loc["mcfs", ["n_failed", "n_timeout"]].tolist() == [1, 1]


def test_a_table_says_capped_why_and_what_repeats_it(study):
    table = make_table(read_table("dgufs_table2"), study)
    found = {key: table.cell((key, "kmeans"), "umist")["status"] for key in ("mcfs", "dgufs", "all_features")}
    assert found == {"mcfs": "partial", "dgufs": "capped", "all_features": "complete"}
    notes = "\n".join(table.below("full"))
    assert "2 failed, 2 timeout (mcfs on umist)" in notes
    assert "2 failed, 2 out_of_memory (dgufs on umist)" in notes
    assert "1 capped" in notes and "runner.max_seconds or runner.max_memory" in notes
    assert any("runner.retry=[failed,timeout,out_of_memory]" in line for line in table.commands)
    assert "capped" in to_markdown(table)


def test_compare_takes_no_capped_fit_for_a_failure_of_the_method(study):
    rows = compare_studies({"dgufs": study})
    rows = rows[(rows["dataset"] == "umist") & (rows["clusterer"] == "kmeans") & (rows["metric"] == "acc")]
    rows = rows.drop_duplicates("method").set_index("method")
    assert rows.loc["dgufs", ["verdict", "status"]].tolist() == ["not comparable", "capped"]
    assert rows.loc["mcfs", "status"] == "partial"
