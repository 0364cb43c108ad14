"""Gains over controls: what counts once, the numbers of synthetic studies, and what is printed and drawn."""

import io

import numpy as np
import pandas as pd
import pytest
from frames import frames, store, study_of
from noisy_studies import DATASETS, METHODS, points

from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.make_figure.ranks import gains as draw
from ufs_bench.scripts.rank.choice import choose
from ufs_bench.scripts.rank.field import field_of, paired_gains, rank_study
from ufs_bench.scripts.rank.page import oracle_words


def tables(rows, **settings):
    """Return the ranks and the gains of a study, by reference."""
    field = field_of(study_of(rows), **settings)
    return rank_study(field).table, {one.reference: one.table for one in paired_gains(field)}


def test_of_random_rankings_no_method_gains_anything():
    _, found = tables(points(seed=1))
    for reference in ("random_rankings", "all_features"):
        table = found[reference].loc[METHODS]
        assert (table["low"] < 0).all() and (table["high"] > 0).all()


def test_a_gain_is_the_difference_to_the_mean_of_all_draws():
    rows = points()
    _, found = tables(rows)
    scores = {name: {} for name in ("mcfs", "random_rankings")}
    for row in rows:
        if row["method"] in scores:
            scores[row["method"]].setdefault(row["dataset"], []).append(100 * np.mean(row["acc"][100]))
    gains = [np.mean(scores["mcfs"][name]) - np.mean(scores["random_rankings"][name]) for name in DATASETS]
    table = found["random_rankings"].loc["mcfs"]
    assert table["mean"] == pytest.approx(np.mean(gains), abs=1e-5)  # a mean has 7 decimals of a share
    assert table["wins"] == np.sum(np.array(gains) > 0)


def test_five_points_everywhere_are_found():
    ranks, found = tables(points(better={"rufs": 0.05}))
    assert ranks.index[0] == "rufs"
    for table in found.values():
        assert table.index[0] == "rufs"
        assert table.loc["rufs", "low"] > 2
        assert (table.loc[["mcfs", "udfs", "eufs"], "low"] < 1).all()


def test_the_order_of_the_data_sets_and_of_the_methods_changes_nothing():
    rows = points(better={"udfs": 0.02})
    mixed = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]
    settings = {"methods": METHODS[::-1], "datasets": DATASETS[::-1]}
    ranks, found = tables(rows)
    for other in (tables(mixed), tables(rows, **settings)):
        pd.testing.assert_frame_equal(other[0], ranks)
        for reference, table in found.items():
            pd.testing.assert_frame_equal(other[1][reference], table)


def test_a_copy_of_a_source_does_not_count_twice():
    rows = points()
    # att is orl again, usps_asu usps; webkb and webkb4_tf are smaller or later than webkb4, which is not in the study.
    copies = [{**row, "dataset": {"orl": "att", "usps": "usps_asu"}[row["dataset"]]}
              for row in rows if row["dataset"] in ("orl", "usps")]  # fmt: skip
    ranks, found = tables(rows)
    other_ranks, other_found = tables(rows + copies)
    pd.testing.assert_frame_equal(other_ranks, ranks)
    pd.testing.assert_frame_equal(other_found["random_rankings"], found["random_rankings"])
    field = field_of(study_of(rows + copies))
    assert field.left_out == [
        "Left out: att (of the same source as orl), usps_asu (of the same source as usps); "
        "datasets=[...] takes those that it names."
    ]
    assert "att" in field_of(study_of(rows + copies), datasets=[*DATASETS, "att"]).scores.index


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        (["mnist", "mnist500"], ["mnist"]),
        (["gina", "mnist500"], ["gina"]),
        (["att", "orl"], ["orl"]),
        (["webkb", "webkb4_tf"], ["webkb4_tf"]),
        (["webkb4", "webkb4_tf"], ["webkb4"]),
        (["of_my_own", "orl"], ["of_my_own", "orl"]),
    ],
)
def test_the_copy_with_more_samples_stands_for_its_source(there, chosen):
    study = study_of([{"dataset": name, "method": "mcfs", "acc": {100: [0.5, 0.5]}} for name in there])
    assert choose(study).datasets == chosen
    assert choose(study, datasets=there).datasets == sorted(there)


def test_a_family_that_is_not_said_is_the_data_sets_own():
    study = study_of(
        [{"dataset": name, "method": "mcfs", "acc": {100: [0.5]}} for name in ("of_my_own", "orl", "fabert")]
    )
    assert choose(study).families == {"of_my_own": "of_my_own", "orl": "faces", "fabert": "fabert"}


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        (["mcfs", "mcfs_released"], ["mcfs"]),
        (["ufsol_max_margin", "ufsol", "ufsol_alpha0"], ["ufsol"]),
        (["dgufs_normalized", "kmeans_ufs", "kmeans_ufs_admm"], ["dgufs_normalized", "kmeans_ufs"]),
        (["rufs_released", "of_my_own"], ["of_my_own", "rufs_released"]),
    ],
)
def test_one_variant_of_a_method_is_ranked(there, chosen):
    study = study_of([{"dataset": "orl", "method": name, "acc": {100: [0.5]}} for name in [*there, "min_norm"]])
    assert choose(study).methods == chosen
    assert choose(study).controls == ["min_norm"]
    assert choose(study, variants="all").methods == choose(study, methods=[*there, "min_norm"]).methods == sorted(there)
    with pytest.raises(ValueError, match="variants='every' must be base or all"):
        choose(study, variants="every")


def test_controls_have_gains_and_no_rank():
    ranks, found = tables(points())
    assert sorted(ranks.index) == sorted(METHODS)
    assert set(found["random_rankings"].index) - set(METHODS) == {"all_features", "max_variance"}
    assert set(found["random_rankings"].index[:4]) == set(METHODS)
    assert set(found["all_features"].index) - set(METHODS) == {"random_rankings", "max_variance"}
    with pytest.raises(ValueError, match=r"only controls \(all_features, max_variance, random_rankings\)"):
        field_of(study_of(points()), methods=["max_variance"])


@pytest.mark.parametrize(("metric", "what"), [("acc", "the labels"), ("reconstruction", "the score itself")])
def test_the_notes_say_what_the_choice_of_the_best_looks_at(metric, what):
    assert f"the choice looks at {what}," in oracle_words("best_over_grid", metric)
    assert oracle_words("default_params", metric) == ""


@pytest.fixture
def run(command):
    """Return a function that returns what a command prints, which must succeed."""

    def printed(name, results, *arguments):
        done = command(name, *arguments, f"results_dir={results}", "study=dgufs")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return printed


def test_command_line_prints_ranks_with_gains_and_as_csv_keeps_the_columns_of_ranks(tmp_path, run):
    store(frames(points(better={"rufs": 0.05})), tmp_path)
    text = run("rank", tmp_path, "full=true")
    assert text.index("Average rank") < text.index("Over random rankings") < text.index("Over all features")
    assert "faces: ORL, PIE 10P, UMIST" in text
    assert "| All Features (control) " in text and len(run("rank", tmp_path).splitlines()) <= 40
    assert "chosen with the labels" not in text and "the choice looks at the labels" in text
    table = pd.read_csv(io.StringIO(run("rank", tmp_path, "format=csv")), index_col="method")
    assert list(table)[:4] == ["average_rank", "low", "high", "wins"]
    assert table.index[0] == "rufs" and table.loc["rufs", "over_random_rankings_low"] > 2
    assert np.isnan(table.loc["all_features", "average_rank"])


def test_without_random_rankings_the_command_that_adds_them_is_named(tmp_path, run):
    store(frames([row for row in points() if row["method"] != "random_rankings"]), tmp_path)
    text = run("rank", tmp_path)
    assert "Over all features" in text and "Over random rankings" not in text
    assert "no score of it: random_rankings. To fill it:" in text
    assert "method=random_rankings dataset=allaml,coil20,digits" in text


def test_the_figure_has_a_panel_for_each_control_and_a_point_for_each_data_set():
    figure = draw(study_of(points()))
    panels = figure.axes[:2]
    assert [axis.get_title(loc="left") for axis in panels] == ["Over random rankings", "Over all features"]
    rows = [text.get_text() for text in panels[0].get_yticklabels()]
    assert sorted(rows) == ["All Features", "EUFS", "MCFS", "MaxVar", "RUFS", "Random rankings", "UDFS"]
    field = field_of(study_of(points()))
    for axis, found in zip(panels, paired_gains(field), strict=True):
        drawn = [line for line in axis.lines if line.get_marker() not in ("None", "|")]
        assert len(drawn) == len(DATASETS) * (len(METHODS) + 2)
        assert sorted(float(line.get_xdata()[0]) for line in drawn) == pytest.approx(
            sorted(found.points.to_numpy().ravel())
        )
        means = sorted(float(line.get_xdata()[0]) for line in axis.lines if line.get_marker() == "|")
        assert means == pytest.approx(sorted(found.table["mean"]))
    families = [text.get_text() for text in figure.axes[2].get_legend().get_texts()]
    assert families == ["faces", "genes", "handwriting", "objects", "speech"]


def test_a_figure_without_any_control_is_refused():
    with pytest.raises(MissingResults, match="random_rankings, all_features") as caught:
        draw(study_of(points(controls=False)))
    assert ("random_rankings", "orl") in caught.value.cells
