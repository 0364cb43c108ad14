"""Figures as a paper takes them: fonts that publishers accept, no title and no note, one look for each method."""

import functools
import re

import numpy as np
import pandas as pd
import pytest
from frames import study_of

from ufs_bench.scripts.core.conf import names
from ufs_bench.scripts.make_figure import save
from ufs_bench.scripts.make_figure.convergence import convergence
from ufs_bench.scripts.make_figure.curves import acc_vs_seconds, acc_vs_size, front
from ufs_bench.scripts.make_figure.ranks import critical_difference, gains
from ufs_bench.scripts.make_figure.style import styles, take_away

DATASETS = ["umist", "orl", "pie10p", "allaml", "digits", "isolet"]
POINTS = [
    {
        "dataset": dataset,
        "method": method,
        "acc": {size: [low + size / 1000, low] for size in (50, 100)},
        "fit_s": 10 * low,
        "trace": [3.0, 2.0, 1.5],
    }
    for dataset in DATASETS
    for method, low in (("mcfs", 0.3), ("rufs", 0.4), ("of_my_own", 0.35), ("random_rankings", 0.2))
]
of_points = functools.cache(lambda: study_of(POINTS))
DRAW = {
    "size": lambda: acc_vs_size(of_points(), "umist"),
    "seconds": lambda: acc_vs_seconds(of_points(), "umist"),
    "convergence": lambda: convergence(of_points(), "umist", ["rufs", "mcfs"]),
    "gains": lambda: gains(of_points()),
    "ranks": lambda: critical_difference(of_points()),
}


@pytest.mark.parametrize("name", DRAW)
def test_a_pdf_has_no_type_3_fonts_which_publishers_refuse(name, tmp_path):
    pdf = save(DRAW[name](), tmp_path / name)[1].read_bytes()
    found = set(re.findall(rb"/Subtype /(Type3|Type1|TrueType|CIDFontType2)\b", pdf))
    assert found and b"Type3" not in found


def test_a_figure_that_a_notebook_saves_has_the_same_fonts(tmp_path):
    DRAW["size"]().savefig(tmp_path / "own.pdf")
    assert b"/Subtype /Type3" not in (tmp_path / "own.pdf").read_bytes()


@pytest.mark.parametrize("name", DRAW)
def test_without_title_and_note_the_axes_of_a_figure_are_higher(name):
    whole, bare = DRAW[name](), DRAW[name]()
    take_away(bare, "title", "note")
    heights = []
    for figure in (whole, bare):
        figure.draw_without_rendering()
        heights.append(figure.axes[0].get_window_extent().height)
    assert not any(text.get_text() for text in bare.texts)
    assert heights[1] > heights[0]


def colours_of(figure):
    return {line.get_color() for line in figure.axes[0].lines if line.get_marker() not in ("None", None)}


def test_a_method_has_the_same_look_in_every_figure_of_every_study():
    alone = study_of([point for point in POINTS if point["method"] == "rufs"], name="other")
    look = styles(["rufs"])["rufs"]
    assert styles({point["method"] for point in POINTS})["rufs"] == look
    assert colours_of(acc_vs_size(alone, "umist")) == {look[0]}
    assert look[0] in colours_of(acc_vs_seconds(of_points(), "umist"))
    assert [axis.lines[0].get_color() for axis in DRAW["convergence"]().axes] == [look[0], styles(["mcfs"])["mcfs"][0]]
    assert styles(["of_my_own"])["of_my_own"] == styles(["of_my_own", "mcfs", "umap"])["of_my_own"]


def test_the_methods_that_papers_compare_differ_in_colour_and_in_marker():
    looks = styles(names("method"))
    compared = "mcfs rufs udfs ndfs dgufs laplacian_score eufs jgufs kmeans_ufs".split()  # in the papers' tables
    assert all(len({looks[name][part] for name in compared}) == len(compared) for part in (0, 1))


def test_the_front_has_the_points_that_no_other_one_beats_in_score_and_seconds():
    rng = np.random.default_rng(0)
    points = pd.DataFrame({"seconds": rng.integers(1, 20, 60), "mean": rng.integers(1, 20, 60) / 20})
    kept = front(points)
    assert kept["seconds"].is_monotonic_increasing and kept["mean"].is_monotonic_increasing
    for point in points.itertuples():
        as_good = points[(points["mean"] >= point.mean) & (points["seconds"] <= point.seconds)]
        beaten = ((as_good["mean"] > point.mean) | (as_good["seconds"] < point.seconds)).any()
        on_it = ((kept["mean"] == point.mean) & (kept["seconds"] == point.seconds)).any()
        assert on_it != beaten


def test_the_front_is_drawn_through_the_methods_and_not_through_all_features():
    points = [
        {"dataset": "umist", "method": "all_features", "acc": {644: [0.9]}, "fit_s": 0.001},
        {"dataset": "umist", "method": "mcfs", "acc": {100: [0.4]}, "fit_s": 2.0},
        {"dataset": "umist", "method": "rufs", "acc": {100: [0.3]}, "fit_s": 3.0},
        {"dataset": "umist", "method": "udfs", "acc": {100: [0.6]}, "fit_s": 8.0},
    ]
    figure = acc_vs_seconds(study_of(points), "umist")
    (line,) = [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]
    assert line.get_xydata().tolist() == [[2.0, 40.0], [8.0, 60.0]]
    assert "Pareto front" in [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]


@pytest.mark.parametrize("draw", [gains, critical_difference])
def test_three_data_sets_are_too_few_for_a_figure_of_gains_or_ranks(draw):
    study = study_of([point for point in POINTS if point["dataset"] in DATASETS[:3]])
    with pytest.raises(ValueError, match=r"n_datasets=3 \(orl, pie10p, umist\) must be 6 or more"):
        draw(study)
