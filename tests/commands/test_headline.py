"""The first page of a comparison: random rankings read "not reproduced", and controls stand beside our rows."""

import numpy as np
import pandas as pd
import pytest
from frames import study_of
from paper_studies import DGUFS, RUFS, point, random_rankings, reproduction, study

from ufs_bench.metrics.study import RANDOM
from ufs_bench.scripts.compare import COLUMNS, compare_studies, controls_of
from ufs_bench.scripts.compare.columns import own_error
from ufs_bench.scripts.compare.evidence import CANNOT_TELL, LINES, NOT_REPRODUCED, REPRODUCED
from ufs_bench.scripts.compare.headline import OURS as SCORES
from ufs_bench.scripts.compare.headline import above_random, headline, line_table, studies_of
from ufs_bench.scripts.compare.tables import page, tables
from ufs_bench.scripts.core.controls import control_scores


@pytest.mark.parametrize("kind, verdict", [(reproduction, REPRODUCED), (random_rankings, NOT_REPRODUCED)])
def test_the_page_says_of_random_rankings_not_reproduced_and_of_published_values_with_noise_reproduced(kind, verdict):
    studies = {"rufs": study("rufs", kind, seed=int(kind is random_rankings))}
    printed = tables(compare_studies(studies), controls_of(studies))
    found = printed["lines"][1:]
    assert [row[:2] for row in found] == [["RUFS", name] for name in LINES]
    # All but few rows of RUFS are above all features, so that signs tell little of what is a reproduction.
    untold = ["sign"] if verdict == REPRODUCED else []
    told = [name for name in LINES if name not in untold]
    assert [row[7].removesuffix(" (provisional)") for row in found] == [
        verdict if name in told else CANNOT_TELL for name in LINES
    ]
    assert all((float(row[6]) > 0.5) == (verdict == REPRODUCED) for row in found)
    assert all(" to " in row[8] and row[10] for row in found)
    (own,) = printed["papers"][1:]
    nearer = float(own[6].split()[0])
    assert own[:2] == ["RUFS", "60"] and (nearer > 0.8 if verdict == REPRODUCED else nearer < 0.2)
    assert own[7] == "24"  # cells of one fit of a method with a random part


def test_a_study_without_a_cell_of_the_paper_is_said_to_have_nothing_to_compare():
    nothing = {"rufs": study_of([point("digits", "mcfs", 50.0, 50.0)], "rufs", RUFS)}
    printed = tables(compare_studies(nothing), controls_of(nothing))
    assert printed["verdicts"][1] == ["RUFS", "0", *[CANNOT_TELL] * 5] and "papers" not in printed


@pytest.fixture(scope="module")
def rufs():
    studies = {"rufs": study("rufs", random_rankings)}
    return compare_studies(studies), controls_of(studies)


def test_a_line_of_random_rankings_is_what_its_controls_get(rufs):
    lines = line_table(*rufs).set_index("line")
    assert (lines["random_low"] <= lines["random"]).all() and (lines["random"] <= lines["random_high"]).all()
    # Ours are one more draw of the same kind, and so lie within half a width of their range.
    slack = (lines["random_high"] - lines["random_low"]) / 2
    assert (lines["random_low"] - slack <= lines["value"]).all()
    assert (lines["value"] <= lines["random_high"] + slack).all()
    # WebKB4: NDFS has the ACC of all features in print, 69.2, the one cell of 60 without a sign.
    assert lines.loc["sign", "all_features"] == pytest.approx(1 / 60) and lines.loc["order", "max_variance"] == 0
    assert set(lines["cells"]) == {60}


def test_what_is_no_evidence_is_left_out_by_its_first_reason():
    points = [
        point("umist", "all_features", 42.0, 64.0),
        point("umist", "mcfs", 45.0, 67.0),
        point("umist", "laplacian_score", 45.0, 66.0),
        point("umist", "eufs", 51.0, 69.0, status="collapsed"),
        point("umist", "dgufs", 30.0, 40.0, learned={50: 0.56}),
        point("pie10p", "all_features", 45.0, 50.0),
        point("pie10p", "mcfs", 44.0, 54.0),
    ]
    studies = {"dgufs": study_of(points, "dgufs", DGUFS)}
    comparison = compare_studies(studies)
    assert list(comparison.columns) == COLUMNS
    cells = headline(comparison).query("metric == 'acc'").set_index(["dataset", "published_method"])
    assert cells.loc["umist", "left_out"].to_dict() == {
        "all_features": "all features", "laplacian_score": "inherited", "mcfs": "inherited", "udfs": "inherited",
        "ndfs": "inherited", "rufs": "inherited", "eufs": "hollow", "dgufs": "",
    }  # fmt: skip
    assert cells.loc[("pie10p", "mcfs"), "left_out"] == "not comparable"
    assert cells.loc[("pie10p", "dgufs"), "left_out"] == "not run"
    own = cells.loc[("umist", "dgufs")]
    assert (own["clusterer"], own["mean"]) == ("learned", pytest.approx(56.0))


def test_where_no_labels_were_learned_the_own_row_is_that_of_kmeans():
    points = [point("umist", name, 42.0, 64.0) for name in ("all_features", "dgufs")]
    own = headline(compare_studies({"dgufs": study_of(points, "dgufs", DGUFS)}))
    assert set(own["clusterer"]) == {"kmeans"} and len(own) == 96


def test_without_controls_the_page_says_how_to_run_them():
    points = [point("umist", name, 42.0, 64.0) for name in ("all_features", "mcfs")]
    coarse = study_of(points, "mine", {**DGUFS, "coarse": True})
    found = compare_studies({"dgufs": coarse}), controls_of({"dgufs": coarse})
    assert "python run.py experiment=dgufs_controls." in page(*found, full=True)
    assert {row[7] for row in tables(*found)["lines"][1:]} == {CANNOT_TELL}


# --- controls


SIZES = {50: 0.30, 100: 0.50}


@pytest.fixture
def controls():
    points = [
        {"dataset": "umist", "method": RANDOM, "params": {"draw": draw}, "is_default": draw == 0,
         "acc": {size: [value + draw / 100] * 2 for size, value in SIZES.items()}}
        for draw in range(4)
    ]  # fmt: skip
    points.append({"dataset": "umist", "method": "all_features", "acc": {644: [0.4, 0.4]}})
    points.append({"dataset": "umist", "method": "mcfs", "acc": {50: [0.9, 0.9]}})
    return study_of(points, "dgufs")


@pytest.mark.parametrize("selection, mean", [("best_over_grid", 50.0), ("default_params", 50.0), ("grid_median", 40.0)])
def test_every_random_ranking_stands_for_itself_and_only_its_size_is_chosen(controls, selection, mean):
    scores = control_scores(controls, selection).query("metric == 'acc'")
    assert set(scores["control"]) == {RANDOM, "all_features"}
    random = scores[scores["control"] == RANDOM].sort_values("draw")
    assert random["mean"].tolist() == pytest.approx([mean + draw for draw in range(4)])
    assert scores.loc[scores["control"] == "all_features", "mean"].tolist() == pytest.approx([40.0])


def test_a_study_without_controls_has_none():
    assert control_scores(study_of([], "dgufs")).empty
    assert control_scores(study_of([{"dataset": "umist", "method": "mcfs", "acc": {50: [0.9]}}], "dgufs")).empty


def test_in_the_place_of_our_rows_every_method_is_another_random_ranking_and_each_of_them_once(controls):
    cells = pd.DataFrame({"dataset": "umist", "metric": "acc", "method": ["ndfs", "mcfs", "rufs"]}, index=[3, 5, 9])
    cells = cells.assign(mean=0.0, std=0.0, n_restarts=1)
    found = list(studies_of(cells, control_scores(controls)))
    random = [frame["mean"] for name, frame in found if name == RANDOM]
    assert [name for name, _ in found] == [RANDOM] * 4 + ["all_features"]
    assert all(means.nunique() == 3 and means.index.tolist() == [3, 5, 9] for means in random)
    assert all(sorted(pd.concat(random)[cell]) == pytest.approx([50, 51, 52, 53]) for cell in (3, 5, 9))
    assert found[-1][1]["mean"].tolist() == pytest.approx([40.0] * 3)


def test_published_rows_are_counted_above_the_median_of_the_random_rankings(controls):
    # 51.5 in ACC and half of it in NMI; published on UMIST: DGUFS 57.1, EUFS 51.5, the others less, and NMI all more.
    counts = above_random(compare_studies({"dgufs": controls}), controls_of({"dgufs": controls}))
    assert counts.to_dict("records") == [{"paper": "dgufs", "cells": 14, "above": 8}]


def test_a_paper_without_controls_beside_one_with_them_changes_no_number():
    points = [{"dataset": "umist", "method": name, "acc": {50: [0.4, 0.42]}} for name in ("mcfs", "all_features")]
    studies = {"rufs": study_of([], "rufs"), "dgufs": study_of(points)}
    found = controls_of(studies)
    assert set(found["paper"]) == {"dgufs"}
    assert found[["mean", "std"]].dtypes.tolist() == [float, float]  # not objects, which have no square root


def test_where_no_cell_of_the_papers_own_row_counts_the_first_table_says_so():
    studies = {"rufs": study("rufs", reproduction)}
    frame = studies["rufs"].frame
    frame.loc[frame["method"] == "rufs", "status"] = "collapsed"
    printed = tables(compare_studies(studies), controls_of(studies))
    assert {row[0] for row in printed["lines"][1:]} == {"RUFS, baselines only"}
    assert printed["verdicts"][1][:2] == ["RUFS, baselines only*", "48"]


def test_the_seeds_of_a_method_are_in_the_error_of_its_cells_and_in_no_control():
    points = [point("umist", name, 42.0, 64.0) for name in ("all_features", "mcfs", "ndfs")]
    studies = {"rufs": study_of(points, "rufs", RUFS)}
    comparison = compare_studies(studies)
    moved = comparison.assign(seed_std=np.where(comparison["method"] == "ndfs", 3.0, np.nan))
    cells = headline(moved).query("dataset == 'umist' and metric == 'acc'").set_index("method")
    before = own_error(headline(comparison).query("dataset == 'umist' and metric == 'acc'"))
    before = dict(zip(cells.index, before, strict=True))
    assert own_error(cells.loc[["ndfs"]])[0] == pytest.approx(np.hypot(before["ndfs"], 3.0))
    assert own_error(cells.loc[["mcfs"]])[0] == before["mcfs"]
    scores = pd.DataFrame([("umist", "acc", RANDOM, 0, 40.0, 2.0, 20, np.nan)],
                          columns=["dataset", "metric", "control", "draw", *SCORES])  # fmt: skip
    cells = moved.query("dataset == 'umist' and metric == 'acc' and method == 'ndfs'")
    assert all(instead["seed_std"].isna().all() for _, instead in studies_of(cells, scores))
