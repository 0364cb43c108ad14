"""The numbers of the leaderboard: those of the plan, marked by its rule, with what is missing."""

import json

import numpy as np
import pandas as pd
import pytest
from frames import study_of

from ufs_bench.metrics.study import RANDOM
from ufs_bench.metrics.study.families import family_means, step_down, t_intervals
from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.docs.board import Board, numbers
from ufs_bench.scripts.docs.pages import _dataset, _method, leaderboard_page
from ufs_bench.scripts.findings.plan import CONFIRMATORY, SCORES, WEIGHTS, curves, datasets_of

SIZES = list(WEIGHTS)
pytestmark = pytest.mark.usefixtures("few_flips")
DATA = ("umist", "coil20", "webkb", "isolet", "allaml", "micromass")  # of six families, all exploratory


def point(dataset, method, acc, **more):
    sizes = more.pop("sizes", SIZES)
    return {"dataset": dataset, "method": method, "acc": {size: [acc] for size in sizes}, **more}


def study(datasets, methods, lacking=()):
    """Return a study in which random rankings have 40 percent, and methods what `methods` says, and a little more."""
    points = []
    for place, dataset in enumerate(datasets):
        points += [point(dataset, "random_rankings", 0.39 + 0.02 * draw, params={"draw": draw}, is_default=not draw)
                   for draw in range(2)]  # fmt: skip
        points.append(point(dataset, "all_features", 0.5, sizes=[1000]))
        points += [point(dataset, method, acc + 0.001 * place) for method, acc in methods.items()
                   if (dataset, method) not in lacking]  # fmt: skip
    return study_of(points, "fair")


@pytest.fixture(scope="module")
def shipped(fair):
    return Board(fair)


def test_gains_over_all_sizes_are_those_of_the_plan(shipped):
    planned = curves(shipped.study)
    own = shipped.overall[list(SCORES)].unstack("method").swaplevel(axis=1)
    own = own.reindex(index=planned.index, columns=planned.columns)
    pd.testing.assert_frame_equal(own, planned, rtol=1e-9, check_names=False)
    assert planned.notna().to_numpy().sum() > 1000


def test_marks_are_those_of_the_plan_and_of_its_methods_only(shipped):
    families = [family_of(name) for name in shipped.tested]
    columns = [(row["name"], score) for row in shipped.rows if row["enough"] and row["kind"] == "method"
               for score in SCORES]  # fmt: skip
    means = family_means(curves(shipped.study).loc[shipped.tested, columns], families)
    p = dict(zip(columns, step_down(means), strict=True))
    for row in shipped.rows:
        for score, cell in row["cells"].items():
            wanted = np.sign(cell["mean"]) if p.get((row["name"], score), 1) <= 0.05 else 0
            assert cell["sign"] == wanted, (row["name"], score)
    intervals = np.array(t_intervals(means)).T
    rows = {row["name"]: row["cells"] for row in shipped.rows}
    found = [[rows[method][score][name] for name in ("mean", "low", "high")] for method, score in columns]
    np.testing.assert_allclose(found, intervals, rtol=1e-9)


def test_a_method_of_few_families_stands_below_and_has_no_mark():
    lacking = [(dataset, "mcfs") for dataset in DATA[:2]]
    methods = {"mcfs": 0.9, "rufs": 0.5, "rufs_released": 0.6, "max_variance": 0.3, "of_none": 0.45}
    board = Board(study(DATA, methods, lacking))
    rows = {row["name"]: row for row in board.rows}
    assert list(rows) == "rufs_released rufs all_features of_none random_rankings max_variance mcfs".split()
    assert not rows["mcfs"]["enough"] and rows["mcfs"]["n_datasets"] == 4 and rows["mcfs"]["cells"]["acc"]["sign"] == 0
    assert rows["rufs"]["cells"]["acc"]["sign"] == 1  # six families, all of which gain: p = 2 / 64
    assert rows["rufs_released"]["cells"]["acc"]["sign"] == rows["max_variance"]["cells"]["acc"]["sign"] == 0
    assert rows["all_features"]["cells"]["acc"]["mean"] == pytest.approx(10)
    kinds = {name: row["kind"] for name, row in rows.items()}
    assert (kinds["rufs"], kinds["rufs_released"], kinds["max_variance"]) == ("method", "released", "baseline")
    above, below = leaderboard_page(board).split('data-m="mcfs"')
    assert '<tr data-m="rufs" data-drawn>' in above and ' class="few"' in below and "4 of 6" in below
    assert '<th scope="row">of_none</th>' in above  # conf/ has no such method, and so it has no page
    assert "fewer than 6 families" in above and "RUFS (released)" in above


def test_the_confirmatory_data_are_tested_alone_once_all_have_been_run():
    methods = {"mcfs": 0.5, "rufs": 0.45}
    new = list(datasets_of(CONFIRMATORY))
    both = Board(study([*DATA, *new], methods))
    assert both.tested == sorted(new)
    assert Board(study([*DATA, *new[:-1]], methods)).tested == sorted(DATA)
    lacking = leaderboard_page(both).split("Not here yet: ")[1].splitlines()[0].split(", ")
    assert "JELSR" in lacking and "MCFS" not in lacking


def test_what_lacks_a_size_has_a_score_there_no_more_and_no_mean_over_sizes():
    points = [point(name, "random_rankings", 0.4, params={"draw": 0}) for name in DATA]
    points += [point(name, "mcfs", 0.5, sizes=SIZES[:-1] if name == "umist" else SIZES) for name in DATA]
    board = Board(study_of(points, "fair"))
    assert np.isnan(board.overall.loc[("umist", "mcfs"), "acc"]) and board.overall.loc[("webkb", "mcfs"), "acc"] > 9
    assert np.isnan(board.gains.loc[("umist", "mcfs"), ("acc", 300)])
    assert board.gains.loc[("umist", "mcfs"), ("acc", 10)] == pytest.approx(10)
    assert next(row for row in board.rows if row["name"] == "mcfs")["n_datasets"] == 5


def test_the_numbers_of_the_chart_are_tenths_of_points(shipped):
    found = numbers(shipped)
    place = [one["name"] for one in found["datasets"]].index("umist")
    own = next(method for method in found["methods"] if method["name"] == "mcfs")
    assert own["gains"]["acc"][place][2] == round(10 * shipped.gains.loc[("umist", "mcfs"), ("acc", 50)])
    assert json.loads(json.dumps(found)) == found


def test_the_page_of_a_data_set_has_the_best_method_and_the_page_of_a_method_its_cost(shipped):
    own = shipped.scores.xs("umist", level="dataset")["acc"]
    best = own[own.index.isin(shipped.choice.methods)]
    text = _dataset("umist", shipped)
    rows = {cells[1].strip(): cells[2:-1] for line in text.splitlines() if len(cells := line.split("|")) > 2}
    assert [float(cell) for cell in rows["ACC, best method"]] == best.max().round(1).tolist()
    assert rows["which is"] and float(rows["ACC, random rankings"][0]) == round(own.loc[RANDOM, 10], 1)
    seconds = shipped.study.seconds.xs("mcfs", level="method")
    page = _method("methods.mcfs.MCFS", ["mcfs", "mcfs_released"], shipped)
    assert f"* `mcfs`: {seconds.median():.2g} CPU seconds a fit" in page and f"at most {seconds.max():.2g} (" in page
