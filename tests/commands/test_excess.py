"""The maximum over a grid: the number of candidates, and the gain of as many random subsets."""

import json

import numpy as np
import pandas as pd
import pytest
from frames import study_of

from ufs_bench.metrics.study.maximum import best_of_random, maxima
from ufs_bench.scripts.compare.tables import excesses, maximum_lines
from ufs_bench.scripts.core.papers import read_table
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import to_csv


def points(gain=0.0, n_draws=20, n_points=4, n_distinct=2, seed=0):
    """Return random rankings, and a method with a grid whose points repeat each other's feature sets."""
    rng = np.random.default_rng(seed)
    found = []
    for draw in range(n_draws):
        accs = {size: [value, value] for size, value in zip((50, 100), rng.normal(0.5, 0.02, 2), strict=True)}
        found.append({"method": "random_rankings", "params": {"draw": draw}, "acc": accs, "is_default": not draw})
    for index in range(n_points):
        place = index % n_distinct
        accs = {size: [0.5 + gain + 0.001 * place] * 2 for size in (50, 100)}
        sets = json.dumps({str(size): f"{place}{size}" for size in accs})
        params = {"ridge": float(index)}
        found.append({"method": "mcfs", "params": params, "acc": accs, "feature_sets": sets, "is_default": not index})
    return [{"dataset": "umist", **point} for point in found]


def test_the_best_of_random_subsets_is_the_mean_of_simulated_maxima():
    rng = np.random.default_rng(0)
    draws = {50: rng.normal(0.5, 0.02, 20), 100: rng.normal(0.52, 0.01, 20)}
    counts = {50: 7, 100: 12}
    drawn = [rng.normal(draws[size].mean(), draws[size].std(ddof=1), (100000, n)) for size, n in counts.items()]
    assert best_of_random(draws, counts) == pytest.approx(np.max(np.hstack(drawn), axis=1).mean(), abs=2e-4)
    assert best_of_random(draws, {50: 1}) == pytest.approx(draws[50].mean(), abs=1e-6)


def test_candidates_are_the_feature_sets_that_differ():
    study = study_of(points())
    found = maxima(study.shares, "acc").set_index("method").loc["mcfs"]
    assert found["n_candidates"] == 4  # two sets at each of two sizes, whatever the number of points
    more = study_of(points(n_distinct=4))
    again = maxima(more.shares, "acc").set_index("method").loc["mcfs"]
    assert again["n_candidates"] == 8
    assert again["random_best"] > found["random_best"] > 0.5


@pytest.mark.parametrize("n_draws", [0, 1])
def test_without_random_rankings_there_is_nothing_to_say(n_draws):
    study = study_of(points(n_draws=n_draws))
    found = maxima(study.shares, "acc").set_index("method").loc["mcfs"]
    assert np.isnan(found["random_best"])
    table = make_table(read_table("dgufs_table2"), study)
    assert not any("as many" in note for note in table.below("full"))


def test_a_table_has_the_excess_of_its_maxima_and_of_nothing_else():
    study = study_of(points(gain=0.1))
    spec = read_table("dgufs_table2")
    table = make_table(spec, study)
    cell = table.cells[(table.cells["method"] == "mcfs") & (table.cells["dataset"] == "umist")].iloc[0]
    assert cell["n_candidates"] == 4
    assert cell["excess"] == pytest.approx(cell["mean"] - cell["random_best"])
    assert any("mcfs +" in note for note in table.below("full"))
    assert "n_candidates,random_best,excess" in to_csv(table).replace("\r", "").splitlines()[0]
    chosen = make_table(spec, study, selection="default_params").cells
    assert chosen["n_candidates"].isna().all()


@pytest.mark.parametrize(("gain", "least", "most"), [(0.0, -5.0, 0.0), (0.2, 10.0, 20.0)])
def test_a_random_study_has_no_excess_and_a_good_method_has(gain, least, most):
    study = study_of(points(gain=gain))
    cells = make_table(read_table("dgufs_table2"), study).cells
    row = cells[(cells["method"] == "mcfs") & (cells["dataset"] == "umist")].iloc[0]
    keys = {"paper": "dgufs", "dataset": "umist", "metric": "acc"}
    comparison = pd.DataFrame([{**row, **keys, "published_method": "mcfs", "published_mean": 60.0}])
    controls = pd.DataFrame([{**keys, "control": "random_rankings", "draw": draw, "mean": 50.0} for draw in range(3)])
    (found,) = excesses(comparison, controls).itertuples()
    assert least <= found.ours_best <= most
    assert found.published == 10
    assert found.published_best == pytest.approx(60 - row["random_best"])
    assert "DGUFS" in maximum_lines(comparison, controls)[-1]
    assert maximum_lines(comparison, controls[:0]) == []


def test_no_expected_best_is_above_one_and_random_rankings_are_not_beside_themselves():
    rng = np.random.default_rng(0)
    draws = {50: np.minimum(rng.normal(0.97, 0.03, 25), 1)}
    drawn = np.minimum(rng.normal(draws[50].mean(), draws[50].std(ddof=1), (20000, 100)), 1).max(axis=1)
    assert drawn.mean() - 1e-3 < best_of_random(draws, {50: 100}) <= 1
    own = points()
    for number, point in enumerate(own):
        point["feature_sets"] = json.dumps({"50": f"{number}a", "100": f"{number}b"})
    found = maxima(study_of(own).shares, "acc").set_index("method")["random_best"]
    assert np.isnan(found["random_rankings"]) and found["mcfs"] > 0.5
