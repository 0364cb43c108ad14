"""One method beside all others: what chance gives, what a real gain gives, gaps, few data sets, and the command."""

import io
import sys
from dataclasses import replace

import forked
import numpy as np
import pandas as pd
import pytest
from frames import study_of
from scipy import stats
from small_data import TRUTH

from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ranks.gains import gains_of
from ufs_bench.scripts.ship import pack
from ufs_bench.scripts.versus import holm, runs, versus
from ufs_bench.scripts.versus.__main__ import main
from ufs_bench.scripts.versus.runs import divided, split_by_data
from ufs_bench.scripts.versus.versus_page import frame, versus_page

DATASETS = ["umist", "orl", "pie10p", "allaml", "prostate_ge", "coil20", "fashion", "usps", "digits", "isolet"]
METHODS = ["mcfs", "rufs", "udfs", "eufs"]
SELECTIONS = ("largest_size", "best_over_grid")


def points(methods, datasets=DATASETS, better=None, seed=0):
    """Make a study in which every ranking is random: about a level of the data set, with 2 points of noise."""
    rng, rows = np.random.default_rng(seed), []
    for dataset in datasets:
        level = np.random.default_rng(len(dataset)).uniform(0.3, 0.7)

        def cell(method, dataset=dataset, level=level, **more):
            acc = list(level + (better or {}).get(method, 0.0) + rng.normal(0, 0.02) + rng.normal(0, 0.001, size=4))
            return {"dataset": dataset, "method": method, "acc": {100: acc}, **more}

        rows += [cell(method) for method in methods]
        if "mine" not in methods:
            rows += [cell("all_features"), cell("max_variance")]
            rows += [cell("random_rankings", params={"draw": draw}, is_default=not draw) for draw in range(5)]
    return rows


def compared(shipped=None, better=None, datasets=DATASETS, seed=0, selection="largest_size"):
    """Compare a made-up method with those of a study."""
    shipped = study_of(points(METHODS, datasets, seed=seed) if shipped is None else shipped, "made_up")
    mine = study_of(points(["mine"], datasets, better, seed + 100), "versus_made_up_mine")
    return versus(shipped, mine, "mine", datasets, selection), shipped


@pytest.mark.parametrize("datasets", [DATASETS, DATASETS[:6]])
def test_intervals_of_random_rankings_leave_0_no_more_often_than_their_level_says(datasets):
    n_studies, families = 600, {name: family_of(name) for name in datasets}
    gains = np.random.default_rng(0).normal(size=(len(datasets), n_studies))
    gains = pd.DataFrame(gains, index=datasets, columns=range(n_studies))
    found = gains_of(gains, families)
    share = ((found["low"] > 0) | (found["high"] < 0)).mean()
    assert share <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_studies)


def test_a_whole_study_of_random_rankings_has_no_more_such_intervals():
    found = pd.concat([compared(seed=seed)[0].table for seed in range(4)])
    assert len(found) == 4 * (len(METHODS) + 3)
    assert ((found["low"] > 0) | (found["high"] < 0)).mean() <= 0.05


def test_among_random_rankings_few_studies_have_a_method_that_differs_by_holm():
    rng, n_studies, wrong = np.random.default_rng(0), 300, 0
    for _ in range(n_studies):
        gains = rng.normal(size=(10, 1)) - rng.normal(size=(10, 6))  # one method over six others on ten data sets
        wrong += (holm(pd.Series(stats.wilcoxon(gains, axis=0).pvalue)) < 0.05).any()
    assert wrong / n_studies <= 0.05


def test_five_points_everywhere_are_found():
    one, _ = compared(better={"mine": 0.05})
    assert one.table["mean"].between(2, 8).all() and (one.table["low"] > 0).all()
    assert (one.table["better"] > 0.9).all() and (one.table["p_holm"] < 0.05).all()
    own = one.places.loc["mine"]
    assert one.places["average_rank"].idxmin() == "mine" and own["rank_low"] <= own["average_rank"] <= own["rank_high"]
    assert own["front"] and not one.places.loc["mcfs", "front"]


def test_a_missing_cell_is_left_out_of_its_pair_alone_and_named():
    rows = points(METHODS)
    whole, _ = compared(rows)
    some, shipped = compared([row for row in rows if (row["dataset"], row["method"]) != ("umist", "rufs")])
    gains = (whole.scores["mine"] - whole.scores["rufs"]).drop("umist")
    assert some.table.loc["rufs", "mean"] == pytest.approx(gains.mean()) and some.table.loc["rufs", "n_datasets"] == 9
    columns = ["mean", "low", "high", "worse", "better", "p"]
    others = some.table.index.drop("rufs")
    pd.testing.assert_frame_equal(some.table.loc[others, columns], whole.table.loc[others, columns])
    assert "rufs" not in some.places.index and "rufs" in whole.places.index
    assert "No score on UMIST: RUFS." in versus_page([some], shipped, "acc", 1.0, full=True)


def test_where_the_method_itself_has_no_score_the_data_set_is_left_out():
    shipped = study_of(points(METHODS), "made_up")
    rows = [
        row | {"status": "failed", "sizes": [100]} if row["dataset"] == "orl" else row
        for row in points(["mine"], seed=1)
    ]
    one = versus(shipped, study_of(rows), "mine", DATASETS, "largest_size")
    assert one.unscored == ["orl"] and "orl" not in one.scores.index and (one.table["n_datasets"] == 9).all()
    head = versus_page([one], shipped, "acc", 1.0, full=True).split("\n## ")[0]
    assert "9 data sets" in head and "mine has no score on ORL, left out here." in head
    with pytest.raises(ValueError, match="mine has no acc under selection=largest_size"):
        versus(shipped, study_of([row for row in rows if row["dataset"] == "orl"]), "mine", ["orl"], "largest_size")


def test_a_method_of_the_study_is_compared_with_the_others_and_not_with_itself():
    shipped = study_of(points(METHODS), "made_up")
    one = versus(shipped, study_of(points(["mine", "mcfs"], seed=1)), "mcfs", DATASETS, "best_over_grid")
    assert "mcfs" not in one.table.index and {"rufs", "udfs", "eufs"} < set(one.table.index)


def test_with_fewer_than_six_data_sets_there_is_no_test_and_the_page_says_so():
    one, shipped = compared(datasets=DATASETS[:5])
    assert one.table[["low", "high", "p", "p_holm", "worse"]].isna().all(axis=None)
    assert one.table["mean"].notna().all() and one.places["average_rank"].notna().any()
    text = versus_page([one], shipped, "acc", 1.0, full=True)
    assert "Fewer than 6 data sets" in text and "Holm" not in text


def test_holm_multiplies_the_smallest_p_most_and_leaves_gaps():
    p = pd.Series([0.03, np.nan, 0.01, 0.04, 0.9], list("abcde"))
    pd.testing.assert_series_equal(holm(p), pd.Series([0.09, np.nan, 0.04, 0.09, 0.9], list("abcde")))


def test_all_formats_have_every_rival_and_data_set():
    found = [compared(selection=selection)[0] for selection in SELECTIONS]
    text = versus_page(found, compared()[1], "acc", 1.0, full=True)
    for word in ("MCFS", "UDFS", "Random rankings", "UMIST", "largest_size", "best_over_grid"):
        assert word in text
    assert len(versus_page(found, compared()[1], "acc", 1.0).splitlines()) <= 40
    rows = frame(found)
    assert set(rows.index.levels[0]) == set(SELECTIONS) and {"mine", *METHODS} < set(rows.index.levels[1])
    assert rows.loc["largest_size"].loc["mine"][["score", "average_rank", "seconds"]].notna().all()


def test_words_about_the_method_are_handed_to_the_run_with_options_first():
    words = ["method.target=a.B", "study=reference/fair", "--config-dir", "own", "+method.params.a=1", "method=b"]
    assert divided(words) == (
        ["--config-dir", "own", "method.target=a.B", "+method.params.a=1"], ["study=reference/fair", "method=b"],
    )  # fmt: skip
    assert divided(["--config-dir=own", "runner.n_jobs=1", "--help"]) == (
        ["--config-dir=own", "runner.n_jobs=1"],
        ["--help"],
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder with the results of a small study, and a folder of a method of one's own."""
    folder = tmp_path_factory.mktemp("results")
    words = ["method=mcfs,max_variance,all_features", f"dataset={TRUTH},truth_wide_d1_s0", "protocol=smoke"]
    run_cells(*words, "study=tiny", "runner.n_jobs=1", f"results_dir={folder}")
    (folder / "own" / "method").mkdir(parents=True)
    content = "name: mine\ntarget: methods.laplacian_score.LaplacianScore\nparams: {n_neighbors: 3}\ngrid: {}\n"
    (folder / "own" / "method" / "mine.yaml").write_text(content)
    wide = content.replace("mine", "wide").replace("{}", "{n_neighbors: [2, 3, 4, 5, 6, 7, 8, 9]}")
    (folder / "own" / "method" / "wide.yaml").write_text(wide)
    return folder


@pytest.fixture
def shipped(results, shipping):
    pack.ship(results, "tiny")
    return results


def test_a_run_says_all_on_the_standard_error_and_its_exit_status_is_returned(capfd):
    assert runs._run([sys.executable, "-c", "print('said'); raise SystemExit(3)"]) == 3
    assert capfd.readouterr() == ("", "said\n")


def answer(monkeypatch, capfd, results, *words):
    """Run the command, and return its exit status and what it prints."""
    monkeypatch.setattr(runs, "_run", forked.said)
    words = list(map(str, words))
    own = ["study=tiny", f"results_dir={results}", "points=default", "runner.n_jobs=1"]
    given = {word.partition("=")[0] for word in words}
    monkeypatch.setattr(sys, "argv", ["versus", *(word for word in own if word.partition("=")[0] not in given), *words])
    status = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    return status, *capfd.readouterr()


def test_the_command_runs_only_the_method_and_prints_where_it_stands(shipped, monkeypatch, capfd, tmp_path):
    mine = ["method=mine", "--config-dir", shipped / "own"]
    status, out, said = answer(monkeypatch, capfd, shipped, *mine, "plan=true")
    assert (status, out) == (0, "") and "median method" in said and f"mine on {TRUTH}: 0 of 1 fit to do" in said
    assert f"First the default parameters on the largest data sets, {TRUTH} and truth_wide_d1_s0:" in said
    status, out, said = answer(monkeypatch, capfd, shipped, *mine, "format=csv")
    rows = pd.read_csv(io.StringIO(out), index_col=["selection", "over"])
    assert set(rows.loc["default_params"].index) == {"mine", "mcfs", "max_variance", "all_features"}
    study, own = Study.open(shipped, "reference/tiny"), Study.open(shipped, "versus_tiny_mine")
    assert status == 0 and set(own.trials["method"]) == {"mine"} and own.protocol == study.protocol
    means = [one.select(selection="default_params").set_index(["method", "dataset"])["mean"] for one in (own, study)]
    gains = means[0]["mine"] - means[1]["mcfs"]
    assert rows.loc[("default_params", "mcfs"), "mean"] == pytest.approx(gains.mean())
    words = ["full=true", f"output={tmp_path}/mine.md", f"figure={tmp_path}/forest"]
    status, out, said = answer(monkeypatch, capfd, shipped, *mine, *words)
    assert status == 0 and f"cell 1 of 2: mine on {TRUTH}: 1 of 1 trial stored" in said
    page = (tmp_path / "mine.md").read_text()
    assert "Fewer than 6 data sets" in page and "## largest_size" in page
    assert all((tmp_path / f"forest.{suffix}").stat().st_size > 1000 for suffix in ("png", "pdf", "svg"))


@pytest.mark.slow  # the command is tried above
def test_a_method_gets_as_many_points_of_its_grid_as_the_others_have(shipped, monkeypatch, capfd):
    own = ["method=wide", "--config-dir", shipped / "own", "plan=true"]
    trials = Study.open(shipped, "reference/tiny").trials
    most = (trials["method"] == "mcfs").sum() // 2  # on each of two data sets
    for points, wanted in (("null", most), ("5", 5), ("grid", 8), ("default", 1)):
        said = answer(monkeypatch, capfd, shipped, *own, f"points={points}")[2]
        assert (
            f"wide on {TRUTH}: {wanted - 1} of {wanted} fit" in said  # the default is stored
            and f"(points={most if points == 'null' else points})" in said
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "method must be given"),
        (["method=mcfs", "datasets=[umist]"], "umist is not in study=tiny"),
        (["method=mcfs", "study=none"], "the study 'none' has no results"),
        (["method=mscf", f"datasets=[{TRUTH}]"], "mscf"),
        (["method=mcfs", "method.params.of_nobody=1", f"datasets=[{TRUTH}]"], "of_nobody"),
    ],
)
def test_what_cannot_be_compared_ends_with_a_line_and_no_page(shipped, monkeypatch, capfd, words, expected):
    status, out, said = answer(monkeypatch, capfd, shipped, *words)
    assert (status, out) == (1, "") and expected in said and "Traceback" not in said


def test_a_study_with_controls_alone_is_refused_in_words():
    study = study_of(points([]), "alone")
    with pytest.raises(ValueError, match="study=alone has controls only"):
        runs.most_points(study, DATASETS)


def test_other_data_under_the_same_name_are_left_out(shipped):
    study = Study.open(shipped, "reference/tiny")
    other = study.frame["data_sha"].mask(study.frame["dataset"] == TRUTH, "other")
    mine = replace(study, name="other", frame=study.frame.assign(data_sha=other))
    assert split_by_data(study, mine, [TRUTH, "truth_wide_d1_s0"]) == (["truth_wide_d1_s0"], [TRUTH])
    with pytest.raises(ValueError, match="no data set has the data here"):
        split_by_data(study, mine, [TRUTH])
