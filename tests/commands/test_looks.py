"""Every figure with all methods: no two look alike, no text covers another, and what learned nothing is marked."""

from itertools import combinations

import numpy as np
import pytest
from frames import PROTOCOL, study_of
from matplotlib.colors import to_hex
from matplotlib.text import Text

from ufs_bench.scripts.core.conf import family_of, find, names
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.make_figure.style import distinct, styles, take_away

DATASETS = ["umist", "isolet", "digits", "allaml", "webkb", "micromass"]
METHODS = names("method")
SIZES = [10, 25, 50, 100, 200, 300]
NO_MARKER = ("None", "", "|", None)


def all_methods():
    """Return the points of a study with all methods; every third of them collapses on some data."""
    rng, points = np.random.default_rng(0), []
    for dataset in DATASETS:
        for nth, method in enumerate(METHODS):
            sizes = SIZES if method != "all_features" else [find("dataset", dataset)["features"]]
            points.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "acc": {size: rng.uniform(0.3, 0.5, 2).tolist() for size in sizes},
                    "fit_s": float(10 ** rng.uniform(-3, 2)),
                    "trace": [3.0, 2.0, 1.5],
                    "status": "collapsed" if nth % 3 == 0 else "converged",
                }
            )
    return points


@pytest.fixture(scope="module")
def study():
    return study_of(all_methods(), "fair", {**PROTOCOL, "name": "fair", "sizes": SIZES})


DRAW = {
    "acc_vs_size": lambda study, width: FIGURES["acc_vs_size"](study, "umist", width=width),
    "acc_vs_seconds": lambda study, width: FIGURES["acc_vs_seconds"](study, DATASETS[:4], width=width),
    "critical_difference": lambda study, width: FIGURES["critical_difference"](study, variants="all", width=width),
    "convergence": lambda study, width: FIGURES["convergence"](study, "umist", METHODS[1:13], width=width),
    "gains": lambda study, width: FIGURES["gains"](study, variants="all", width=width),
}
QUICK = ("acc_vs_size", 3.4), ("acc_vs_seconds", 3.4), ("gains", 6.8)


def looks(figure):
    """Return (colour, marker) of the markers that a figure names: in its legend, or beside a name."""
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    lines = [line for legend in legends for line in legend.get_lines()]
    lines = lines or [line for line in figure.axes[0].lines if not line.get_clip_on()]
    return [(to_hex(line.get_color()), line.get_marker()) for line in lines if line.get_marker() not in NO_MARKER]


def texts(figure):
    """Return the texts that a figure shows: a tick outside of the axes has one that it does not."""
    found = list(figure.texts)
    for axes in filter(lambda axes: axes.get_visible(), figure.axes):
        found += [child for child in axes.get_children() if isinstance(child, Text)]
        found += axes.get_legend().get_texts() if axes.get_legend() else []
        for axis in filter(lambda axis: axis.get_visible(), (axes.xaxis, axes.yaxis) if axes.axison else ()):
            low, high = sorted(axis.get_view_interval())
            labels = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            found += [axis.label, *(label for place, label in labels if low <= place <= high)]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def covered(figure):
    """Return the pairs of texts of a figure that cover each other by more than a pixel."""
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
    return [
        (one, other)
        for (one, box), (other, second) in combinations(boxes, 2)
        if min(box.x1, second.x1) - max(box.x0, second.x0) > 1 and min(box.y1, second.y1) - max(box.y0, second.y0) > 1.5
    ]


def cut(figure):
    """Return the texts of a figure that go beyond its edge by more than a pixel."""
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
    width, height = figure.bbox.size
    return [name for name, box in boxes if min(box.x0, box.y0, width - box.x1, height - box.y1) < -1]


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(name, width, marks=() if (name, width) in QUICK else pytest.mark.slow)
        for name in DRAW
        for width in (3.4, 6.8)
    ],
)
def test_no_two_methods_look_alike_and_no_text_covers_another_or_is_cut(name, width, study):
    figure = DRAW[name](study, width)
    found = looks(figure)
    assert len(found) == len(set(found)) and (found or name == "convergence")
    assert covered(figure) == []
    assert cut(figure) == []


@pytest.mark.parametrize("width", [6.8, 3.4])
def test_the_families_of_all_data_are_named_inside_the_figure(width):
    families = {family_of(name): name for name in names("dataset")}
    rng = np.random.default_rng(0)
    points = [
        {"dataset": dataset, "method": method, "acc": {50: rng.uniform(0.3, 0.5, 2).tolist()}}
        for dataset in families.values()
        for method in ("mcfs", "sparse_kmeans_released", "random_rankings")
    ]
    figure = FIGURES["gains"](study_of(points), variants="all", width=width)
    named = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert len(named) == len(families) > 24 and not any("_" in name for name in named)
    assert covered(figure) == cut(figure) == []


def test_methods_of_a_figure_have_a_colour_each_as_long_as_there_are_some():
    browns = [name for name, look in styles(METHODS).items() if look[0] == "#D55E00"][:3]
    found = distinct(styles(METHODS), browns)
    assert len({found[name][0] for name in browns}) == 3 and found[browns[0]] == styles(METHODS)[browns[0]]


def test_every_method_has_a_look_of_its_own():
    assert len(set(styles(METHODS).values())) == len(METHODS)


def surfaces(collapsed):
    """Return the figure of six fits, without its note, of which some have collapsed."""
    points = [
        {
            "dataset": "umist",
            "method": "dgufs",
            "params": {"alpha": alpha, "beta": beta},
            "acc": {50: [0.2 + alpha / 10 + beta / 100] * 2},
            "status": "collapsed" if collapsed(alpha) else "converged",
        }
        for alpha in (1, 2, 3)
        for beta in (1, 2)
    ]
    figure = FIGURES["surface"](study_of(points), "umist", "dgufs", ["alpha"])
    take_away(figure, "note")
    return figure


def test_fits_that_collapsed_have_no_score_in_a_surface_and_are_not_its_best():
    (axes,) = surfaces(lambda alpha: True).axes  # no colour bar
    assert np.ma.getmaskarray(axes.collections[0].get_array()).all()
    assert not [patch for patch in axes.patches if patch.get_linewidth() == 1.4]
    axes = surfaces(lambda alpha: alpha == 3).axes[0]  # the highest score
    (best,) = [patch for patch in axes.patches if patch.get_linewidth() == 1.4]
    assert best.get_xy() == (1, 0)


def test_collapsed_fits_are_hollow_and_named_beside_their_line():
    points = [
        {"dataset": "umist", "method": "dgufs", "acc": {50: [0.2, 0.2]}, "status": "collapsed"},
        {"dataset": "umist", "method": "mcfs", "acc": {50: [0.4, 0.4]}},
        {"dataset": "umist", "method": "rufs", "acc": {50: [0.3, 0.3]}},
        {"dataset": "umist", "method": "rufs", "params": {"alpha": 2}, "acc": {100: [0.3, 0.3]}, "status": "diverged"},
    ]
    axes = FIGURES["acc_vs_size"](study_of(points), "umist").axes[0]
    labels = [text.get_text() for text in axes.texts]
    assert sorted(labels) == ["DGUFS (collapsed)", "MCFS", "RUFS (partly diverged)"]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    assert {to_hex(line.get_color()) for line in hollow} == {
        styles(["dgufs", "rufs"])[n][0].lower() for n in ("dgufs", "rufs")
    }


def test_of_many_methods_those_of_the_front_are_named_at_the_studys_own_selection(study):
    figure = FIGURES["acc_vs_seconds"](study, "umist")
    named = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert len(named) < 15 and named[-1] == "Pareto front" and named[-2].endswith(" others")
    assert figure.get_supxlabel().startswith("Default parameters, at the largest size")
    grey = [line for line in figure.axes[0].lines if line.get_color() == "#a8a8a8" and line.get_marker() == "o"]
    assert len(grey) == int(named[-2].split()[0])
