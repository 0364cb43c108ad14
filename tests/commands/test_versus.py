"""One method beside all others: what chance gives, what a real gain gives, gaps, few data sets, and the command."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from frames import study_of
from noisy_studies import DATASETS, METHODS, points
from small_data import TRUTH

from ufs_bench.metrics.study.ranks import holm
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.rank.versus import split_by_data, versus, versus_frame, versus_page
from ufs_bench.scripts.ship import pack

SELECTIONS = ("largest_size", "best_over_grid")


def compared(shipped=None, better=None, datasets=DATASETS, seed=0, selection="largest_size"):
    """Compare a made-up method with those of a study."""
    shipped = study_of(points(METHODS, datasets, seed=seed) if shipped is None else shipped, "made_up")
    mine = study_of(points(["mine"], datasets, better, seed + 100, controls=False), "versus_made_up_mine")
    return versus(shipped, mine, "mine", datasets, selection), shipped


def test_five_points_everywhere_are_found():
    one, _ = compared(better={"mine": 0.05})
    assert one.table["mean"].between(2, 8).all() and (one.table["low"] > 0).all()
    assert (one.table["p_holm"] < 0.05).all()
    own = one.places.loc["mine"]
    assert one.places["average_rank"].idxmin() == "mine" and own["rank_low"] <= own["average_rank"] <= own["rank_high"]
    assert own["front"] and not one.places.loc["mcfs", "front"]


def test_a_missing_cell_is_left_out_of_its_pair_alone_and_named():
    rows = points(METHODS)
    whole, _ = compared(rows)
    some, shipped = compared([row for row in rows if (row["dataset"], row["method"]) != ("umist", "rufs")])
    gains = (whole.scores["mine"] - whole.scores["rufs"]).drop("umist")
    assert some.table.loc["rufs", "mean"] == pytest.approx(gains.mean()) and some.table.loc["rufs", "n_datasets"] == 9
    columns = ["mean", "low", "high", "p"]
    others = some.table.index.drop("rufs")
    pd.testing.assert_frame_equal(some.table.loc[others, columns], whole.table.loc[others, columns])
    assert "rufs" not in some.places.index and "rufs" in whole.places.index
    assert "No score on UMIST: RUFS." in versus_page([some], shipped, "acc", full=True)


def test_where_the_method_itself_has_no_score_the_data_set_is_left_out():
    shipped = study_of(points(METHODS), "made_up")
    rows = [
        row | {"status": "failed", "sizes": [100]} if row["dataset"] == "orl" else row
        for row in points(["mine"], seed=1, controls=False)
    ]
    one = versus(shipped, study_of(rows), "mine", DATASETS, "largest_size")
    assert one.unscored == ["orl"] and "orl" not in one.scores.index and (one.table["n_datasets"] == 9).all()
    head = versus_page([one], shipped, "acc", full=True)
    assert "9 data sets" in head and "mine has no score on ORL, left out here." in head
    with pytest.raises(ValueError, match="mine has no acc under selection=largest_size"):
        versus(shipped, study_of([row for row in rows if row["dataset"] == "orl"]), "mine", ["orl"], "largest_size")


def test_a_method_of_the_study_is_compared_with_the_others_and_not_with_itself():
    shipped = study_of(points(METHODS), "made_up")
    one = versus(shipped, study_of(points(["mine", "mcfs"], seed=1)), "mcfs", DATASETS, "best_over_grid")
    assert "mcfs" not in one.table.index and {"rufs", "udfs", "eufs"} < set(one.table.index)


def test_with_fewer_than_six_data_sets_there_is_no_test_and_the_page_says_so():
    one, shipped = compared(datasets=DATASETS[:5])
    assert one.table[["low", "high", "p", "p_holm"]].isna().all(axis=None)
    assert one.table["mean"].notna().all() and one.places["average_rank"].notna().any()
    text = versus_page([one], shipped, "acc", full=True)
    assert "Fewer than 6 data sets" in text and "Holm" not in text


def test_holm_multiplies_the_smallest_p_most_and_leaves_gaps():
    p = pd.Series([0.03, np.nan, 0.01, 0.04, 0.9], list("abcde"))
    pd.testing.assert_series_equal(holm(p), pd.Series([0.09, np.nan, 0.04, 0.09, 0.9], list("abcde")))


def test_all_formats_have_every_rival():
    found = [compared(selection=selection)[0] for selection in SELECTIONS]
    text = versus_page(found, compared()[1], "acc", full=True)
    for word in ("MCFS", "UDFS", "Random rankings", "UMIST", "largest_size", "best_over_grid: the choice looks"):
        assert word in text
    assert len(versus_page(found, compared()[1], "acc").splitlines()) <= 40
    rows = versus_frame(found)
    assert set(rows.index.levels[0]) == set(SELECTIONS) and {"mine", *METHODS} < set(rows.index.levels[1])
    assert rows.loc["largest_size"].loc["mine"][["score", "average_rank", "seconds"]].notna().all()


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder with the results of a small study."""
    folder = tmp_path_factory.mktemp("results")
    words = ["method=mcfs,max_variance,all_features", f"dataset={TRUTH},truth_wide_d1_s0", "protocol=smoke"]
    run_cells(*words, "study=tiny", "runner.n_jobs=1", f"results_dir={folder}")
    return folder


@pytest.fixture
def shipped(results, shipping):
    pack.ship(results, "tiny")
    return results


def test_the_command_prints_where_a_method_stands(results, tmp_path, command):
    words = ["study=tiny", f"results_dir={results}", "method=mcfs"]
    rows = pd.read_csv(io.StringIO(command("rank", *words, "format=csv").stdout), index_col=["selection", "over"])
    assert set(rows.loc["default_params"].index) == {"mcfs", "max_variance", "all_features"}
    means = Study.open(results, "tiny").means("acc", "default_params")
    gain = (means["mcfs"] - means["max_variance"]).mean()
    assert rows.loc[("default_params", "max_variance"), "mean"] == pytest.approx(gain)
    assert command("rank", *words, "full=true", f"output={tmp_path}/mine.md").returncode == 0
    page = (tmp_path / "mine.md").read_text()
    assert "Fewer than 6 data sets" in page and "All methods, and controls, by largest_size" in page


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["method=mscf"], "no method='mscf'. Did you mean mcfs?\n  (mscf has no file in conf/"),
        (["method=rufs"], f"run.py -m protocol=smoke study=tiny method=rufs dataset={TRUTH},truth_wide_d1_s0 res"),
        (["method=mcfs", "datasets=[umist]"], "the study has no dataset='umist'"),
        (["method=mcfs", "study=none"], "the study 'none' has no results"),
        (["study=[tiny,tiny]"], "several studies are compared by choices=true only"),
    ],
)
def test_what_cannot_be_compared_ends_with_a_line_and_no_page(results, command, words, expected):
    own = [] if words[-1].startswith("study=") else ["study=tiny"]
    done = command("rank", *own, f"results_dir={results}", *words)
    assert (done.returncode, done.stdout) == (1, "") and expected in done.stderr and "Traceback" not in done.stderr


def test_other_data_under_the_same_name_are_left_out(shipped):
    study = Study.open(shipped, "reference/tiny")
    other = study.frame["data_sha"].mask(study.frame["dataset"] == TRUTH, "other")
    mine = replace(study, name="other", frame=study.frame.assign(data_sha=other))
    assert split_by_data(study, mine, [TRUTH, "truth_wide_d1_s0"]) == (["truth_wide_d1_s0"], [TRUTH])
    with pytest.raises(ValueError, match="no data set has the data here"):
        split_by_data(study, mine, [TRUTH])
