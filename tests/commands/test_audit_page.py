"""The audit as its command makes it: its findings in a study, and its notes on parts that it could not audit."""

import json

import pandas as pd
import pytest
from frames import frames, store

from ufs_bench.datasets import load_dataset
from ufs_bench.scripts.audit import _optima, audit_page, make_audit
from ufs_bench.scripts.core.conf import names
from ufs_bench.scripts.core.data import data_of
from ufs_bench.scripts.core.study import Study


def point(**settings):
    return {"dataset": "umist", "method": "ndfs", **settings}


def digests(*names):
    return json.dumps({str(size): name for size, name in zip((50, 100), names, strict=True)})


def page_of(points, folder, full=False):
    store(frames(points), folder)
    return audit_page(make_audit(Study.open(folder, "dgufs", folder)), "dgufs", full=full)


def rows_of(text, title):
    """Return the lines of a table of a page as lists of texts, without its head."""
    lines = text.partition(f"## {title}\n")[2].partition("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"][2:]


def test_the_page_names_what_was_found_and_what_could_not_be_looked_at(tmp_path):
    points = [
        point(
            params={"alpha": a},
            is_default=a == 1,
            feature_sets=digests("a", "b"),
            acc={50: [0.5, 0.5], 100: [0.4, 0.4]},
        )
        for a in (1, 2)
    ]
    text = page_of(points, tmp_path)
    assert rows_of(text, "Parameters") == [["umist", "ndfs", "alpha", "2", "2", "0", "", ""]]
    assert rows_of(text, "Distinct feature sets") == [["umist", "ndfs", "1 of 2", "1 of 2"]]
    assert "Nothing stands out in: Overlap with trivial rankings, How the fits ended" in " ".join(text.split())
    assert "No overlaps on umist" in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_data_of_a_file_that_nobody_added_are_named_with_the_command_that_adds_them():
    trials = pd.DataFrame({"dataset": ["wine_of_mine"], "data_sha": ["0"]})
    assert "add_data data=FILE name=wine_of_mine makes one" in data_of(trials, None)[1]


def test_a_parameter_that_moves_few_sets_is_named_with_how_many(tmp_path):
    sets = ["a"] * 9 + ["b"]
    acc = {50: [0.5, 0.5], 100: [0.5, 0.5]}
    points = [point(params={"alpha": i}, feature_sets=digests(name, name), acc=acc) for i, name in enumerate(sets)]
    text = page_of(points, tmp_path)
    assert rows_of(text, "Parameters")[0][:6] == ["umist", "ndfs", "alpha", "10", "18", "2"]
    assert not rows_of(text, "Distinct feature sets")


def test_a_collapsed_fit_that_has_the_best_score_is_named(tmp_path):
    points = [
        point(params={"alpha": 1}, acc={50: [0.5, 0.5]}),
        point(params={"alpha": 2}, acc={50: [0.6, 0.6]}, status="collapsed"),
    ]
    text = page_of(points, tmp_path)
    (row,) = rows_of(text, "Ways to choose parameters and size (ACC)")
    assert "60.0" in row and "collapsed" in row


def test_the_method_that_reaches_an_optimum_is_in_conf():
    optima = _optima()
    assert optima and set(optima.values()) <= set(names("method"))


def test_an_empty_study_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no results"):
        make_audit(Study.open(tmp_path, "none"))


def test_a_cell_without_a_selection_leaves_the_overlaps_of_the_others(tmp_path):
    digits = {"dataset": "digits", "data_sha": load_dataset("digits").sha}
    points = [
        digits | {"method": "mcfs", "ranking": list(range(64)), "acc": {10: [0.5, 0.5]}},
        digits | {"method": "ndfs", "status": "timeout", "sizes": [10]},
    ]
    rows = rows_of(page_of(points, tmp_path, full=True), "Overlap with trivial rankings")
    assert {tuple(row[:2]) for row in rows} == {("digits", "mcfs")}
