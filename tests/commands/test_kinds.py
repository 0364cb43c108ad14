"""Gains by kind of data: who is named, whether a choice by the kind helps, and what the figures show."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.text import Text

from ufs_bench.scripts.compare.controls import ALL, RANDOM
from ufs_bench.scripts.findings import kinds, panels, plan
from ufs_bench.scripts.make_figure.style import PHONE

FAMILIES = {f"{family}{number}": family for family in "abcdef" for number in range(2)} | {"g0": "g"}
METHODS = [f"m{number}" for number in range(8)]


def gains(seed, own=0.0, everywhere=0.0):
    """Return gains in which each family has a method that gains more there, and one method gains more everywhere."""
    values = np.random.default_rng(seed).normal(0, 2, (len(FAMILIES), len(METHODS)))
    values += own * np.array([[family == place for place in "abcdefg-"] for family in FAMILIES.values()])
    values[:, -1] += everywhere
    return pd.DataFrame(values, list(FAMILIES), METHODS)


def said(**planted):
    return kinds.verdict(kinds.by_kind(gains(**planted), FAMILIES), FAMILIES)


@pytest.fixture(scope="module")
def shipped(fair):
    return kinds.kinds_of(fair)


def test_a_choice_by_kind_is_scored_on_the_data_set_that_is_left_out():
    own = gains(0)
    found = kinds.by_kind(own, FAMILIES)["gain"]
    assert list(found.index) == [name for name in FAMILIES if name != "g0"]  # it has no other one of its family
    rest = own.drop(index="a0").groupby(FAMILIES).mean()
    assert found["a0"] == pytest.approx(own.loc["a0", own.loc["a1"].idxmax()] - own.loc["a0", rest.mean().idxmax()])
    own.loc["a1", own.loc["a1"].idxmax()] = np.nan
    assert kinds.by_kind(own, FAMILIES)["gain"]["a0"] == pytest.approx(
        own.loc["a0", own.loc["a1"].idxmax()] - own.loc["a0", own.drop(columns=own.columns[own.loc["a1"].isna()])
        .drop(index="a0").groupby(FAMILIES).mean().mean().idxmax()]
    )  # fmt: skip


def test_with_a_method_for_each_family_it_helps_and_with_one_for_all_it_does_not():
    assert all(said(seed=seed, own=12.0).startswith("helps") for seed in range(10))
    assert not any(said(seed=seed, everywhere=3.0).startswith("helps") for seed in range(10))
    assert any(said(seed=seed, everywhere=3.0).startswith("hurts") for seed in range(10))


def test_with_nothing_planted_it_seldom_helps():
    found = [said(seed=seed) for seed in range(60)]
    assert sum(text.startswith("helps") for text in found) <= 0.05 * len(found)
    assert all(text.startswith(("helps", "hurts", "cannot be told, with a half-width of")) for text in found)


def test_with_one_family_of_two_data_sets_nothing_can_be_told():
    families = {"a0": "a", "a1": "a", "g0": "g"}
    assert "fewer than two" in kinds.verdict(kinds.by_kind(gains(0).loc[list(families)], families), families)


def test_a_family_names_the_methods_that_have_all_its_data_sets(shipped):
    lacking = shipped.gains["fspca", "acc"].isna()
    assert lacking.any()
    table = kinds.lines(shipped)[1:]
    assert len(table) == len(set(shipped.families.values()))
    for line in table:
        family, count, whole, *best = line
        own = shipped.gains.loc[[name for name, its in shipped.families.items() if its.replace("_", " ") == family]]
        assert int(count) == len(own) and whole.startswith(f"{own[ALL, 'acc'].mean():+.1f} ACC")
        assert not (own["fspca", "acc"].isna().any() and "FSPCA" in " ".join(line))
        for score, text in zip(plan.SCORES, best, strict=True):
            top = own.xs(score, axis=1, level="score")[shipped.methods].mean(skipna=False).max()
            assert text.split(", ")[0].endswith(f" {top:+.1f}")


def test_gains_by_size_count_random_rankings_as_0_and_all_features_alike(shipped):
    assert (shipped.sized.xs(RANDOM, level="method").abs() < 1e-9).all(axis=None)
    sizes = shipped.sized.xs(ALL, level="method").loc["umist"].index
    assert list(sizes) == list(plan.WEIGHTS)
    mean = np.average(shipped.sized.xs(ALL, level="method").loc["umist", "acc"], weights=list(plan.WEIGHTS.values()))
    assert shipped.gains.loc["umist", (ALL, "acc")] == pytest.approx(mean)


def test_lines_are_means_over_families_and_names_do_not_overlap(shipped):
    figure = panels.draw_sizes(shipped)
    figure.draw_without_rendering()
    for axis, score in zip(figure.axes, plan.SCORES, strict=True):
        drawn = [line for line in axis.lines if len(line.get_xdata()) == len(plan.WEIGHTS)]
        assert len(drawn) == len(shipped.methods) + 1
        own = shipped.sized.xs((ALL, 100), level=("method", "n_selected"))[score]
        mean = own.groupby(shipped.families).mean().mean()
        assert any(np.isclose(line.get_ydata()[3], mean) and line.get_linestyle() == "--" for line in drawn)
        boxes = [text.get_window_extent() for text in axis.texts]
        assert len(boxes) == 2 * panels.NAMED + 1 and all(box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_the_heat_map_has_a_cell_for_every_method_and_family_and_leaves_out_what_is_missing(shipped):
    lacking = shipped.gains.copy()
    lacking.loc[[name for name, family in shipped.families.items() if family == "text"], "mcfs"] = np.nan
    figure = panels.draw_families(shipped._replace(gains=lacking))
    for axis, score in zip(figure.axes, plan.SCORES, strict=False):
        (mesh,) = [one for one in axis.collections if isinstance(one, QuadMesh)]
        wanted = shipped._replace(gains=lacking).means.xs(score, axis=1, level="score")[shipped.methods].T
        np.testing.assert_array_equal(np.ma.getmaskarray(mesh.get_array()), wanted.isna())
        np.testing.assert_allclose(mesh.get_array().filled(0), wanted.fillna(0))
        assert mesh.norm.vmin == -mesh.norm.vmax and axis.patches[0].get_hatch()
    lowest = figure.axes[len(plan.SCORES) - 1]
    assert [text.get_text() for text in lowest.get_xticklabels()] == [name.replace("_", " ") for name in wanted.columns]


def test_figures_are_as_wide_as_a_phone_with_letters_of_7_points_or_more(shipped):
    few = shipped.means.iloc[:7]
    figures = [panels.draw_sizes(shipped), panels.draw_families(shipped)]
    figures.append(panels.draw_families(SimpleNamespace(means=few, methods=shipped.methods, names=shipped.names)))
    for figure in figures:
        figure.draw_without_rendering()
        assert figure.get_figwidth() <= PHONE
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert len(texts) > 20 and min(text.get_fontsize() for text in texts) >= 7
    for figure, beside in zip(figures[1:], (False, True), strict=True):
        first, second = (axis.get_position() for axis in figure.axes[:2])
        assert (first.x1 < second.x0) == beside and (first.y0 > second.y1) != beside
