"""The audit as its command makes it: its findings in a study, and its notes on parts that it could not audit."""

import json

import pandas as pd
import pytest
from frames import frames, store

from datasets import load_dataset
from scripts.audit import _optima, make_audit
from scripts.audit.audit_page import audit_page
from scripts.core.conf import names
from scripts.core.data import data_of
from scripts.core.study import Study


def point(**settings):
    return {"dataset": "umist", "method": "ndfs", **settings}


def digests(*names):
    return json.dumps({str(size): name for size, name in zip((50, 100), names, strict=True)})


def page_of(points, folder):
    store(frames(points), folder)
    return audit_page(make_audit(Study.open(folder, "dgufs", folder)), "dgufs")


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
    assert "**ndfs**\n\n* alpha is inert, no step along it changes a selected set: umist (2 steps)." in text
    assert "hardly matters" not in text
    assert "all points of the grid select the same features at every size: umist (2 points)." in text
    assert "No overlaps and no stability on umist" in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_data_of_a_file_that_nobody_added_are_named_with_the_command_that_adds_them():
    trials = pd.DataFrame({"dataset": ["wine_of_mine"], "data_sha": ["0"]})
    assert "add_data data=FILE name=wine_of_mine makes one" in data_of(trials, None)[1]


def test_a_parameter_that_moves_few_sets_is_named_with_how_many(tmp_path):
    sets = ["a"] * 9 + ["b"]
    acc = {50: [0.5, 0.5], 100: [0.5, 0.5]}
    points = [point(params={"alpha": i}, feature_sets=digests(name, name), acc=acc) for i, name in enumerate(sets)]
    text = page_of(points, tmp_path)
    assert "alpha hardly matters, few steps along it change a selected set: umist (2 of 18)." in text


def test_a_collapsed_fit_that_has_the_best_score_is_named(tmp_path):
    points = [
        point(params={"alpha": 1}, acc={50: [0.5, 0.5]}),
        point(params={"alpha": 2}, acc={50: [0.6, 0.6]}, status="collapsed"),
    ]
    text = page_of(points, tmp_path)
    assert "best score of its grid, as judged by the labels, is that of a fit that collapsed: umist (60.0 %)." in text


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
    text = page_of(points, tmp_path)
    rows = text.partition("## Overlap with trivial rankings")[2].partition("## How the fits ended")[0]
    assert "| digits" in rows and "mcfs" in rows and "ndfs" not in rows
