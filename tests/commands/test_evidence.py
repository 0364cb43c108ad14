"""`scripts.compare.evidence`: noise alone passes every line, and what is no reproduction passes none."""

import numpy as np
import pandas as pd
import pytest

from scripts.compare.evidence import (
    AGREES,
    DIFFERS,
    INCONCLUSIVE,
    LINES,
    NOT_REPRODUCED,
    REPRODUCED,
    TOO_FEW,
    equivalence,
    lines,
)
from scripts.core.published import PAPERS, load_published

RESTARTS = 20


def published_cells(paper):
    """The cells of a paper beside its all features, without any of ours."""
    cells = load_published().query("paper == @paper").rename(columns={"mean_percent": "published_mean"})
    cells = cells.assign(published_std=cells["std_percent"], published_n=RESTARTS, n_restarts=RESTARTS)
    controls = cells[cells["method"] == "all_features"].set_index(["dataset", "metric"])
    places = pd.MultiIndex.from_frame(cells[["dataset", "metric"]])
    cells["published_all"] = controls["published_mean"].reindex(places).to_numpy()
    cells["all_std"] = controls["published_std"].reindex(places).to_numpy()
    return cells[cells["method"] != "all_features"].reset_index(drop=True)


def noise(std, rng):
    """Of a mean over the restarts."""
    return rng.normal(size=len(std)) * np.nan_to_num(std) / np.sqrt(RESTARTS)


def reproduction(cells, rng):
    """The published values with the noise of K-means in them."""
    return cells.assign(mean=cells["published_mean"] + noise(cells["published_std"], rng))


def random_rankings(cells, rng):
    """Every method is a random ranking: about as good as all features, whatever its name."""
    return cells.assign(mean=cells["published_all"] - 1 + 2 * rng.normal(size=len(cells)))


def other_methods(cells, rng):
    """Every method does what the next one in the list does."""
    names = sorted(cells["method"].unique())
    following = dict(zip(names, names[1:] + names[:1], strict=True))
    values = cells.set_index(["dataset", "metric", "method"])["published_mean"]
    places = zip(cells["dataset"], cells["metric"], cells["method"].map(following), strict=True)
    return reproduction(cells, rng).assign(mean=[values[place] for place in places])


def study(paper, kind, seed=1):
    rng = np.random.default_rng(seed)
    cells = published_cells(paper)
    of_all = cells.groupby(["dataset", "metric"])["all_std"].transform("first")
    all_mean = cells["published_all"] + noise(of_all, rng)
    all_mean = all_mean.groupby([cells["dataset"], cells["metric"]]).transform("first")
    return kind(cells.assign(all_mean=all_mean, std=cells["published_std"]), rng)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_published_values_with_the_noise_of_kmeans_pass_every_line(paper):
    found = lines(study(paper, reproduction))
    assert {name: line.verdict for name, line in found.items()} == dict.fromkeys(LINES, REPRODUCED)


@pytest.mark.parametrize("kind", [random_rankings, other_methods])
@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_no_reproduction_passes_no_line(paper, kind):
    found = lines(study(paper, kind))
    assert {name: line.verdict for name, line in found.items()} == dict.fromkeys(LINES, NOT_REPRODUCED)


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_random_rankings_pass_a_line_no_more_often_than_the_level_says(paper):
    passed = [
        line.verdict == REPRODUCED
        for seed in range(100)
        for line in lines(study(paper, random_rankings, seed), 999).values()
    ]
    assert np.mean(passed) <= 0.02  # a hundred studies of five dependent lines at 0.01


def test_equal_rows_are_no_evidence():
    cells = study("rufs", random_rankings)
    cells = cells.assign(mean=cells["all_mean"], std=2.0)
    found = lines(cells, 99)
    assert all(line.p == 1 for line in found.values())
    assert found["order"].value == 0


def test_a_method_without_a_number_is_left_out_and_the_order_of_the_rows_does_not_matter():
    cells = study("rufs", reproduction)
    lacking = cells.assign(mean=cells["mean"].where((cells["method"] != "udfs") | (cells["dataset"] != "orl")))
    without = cells[(cells["method"] != "udfs") | (cells["dataset"] != "orl")]
    assert lines(lacking, 99) == lines(without, 99) == lines(without.sample(frac=1, random_state=0), 99)


def test_with_few_cells_there_is_no_verdict():
    cells = study("rufs", reproduction).query("dataset == 'orl' and method in ['udfs', 'mcfs', 'ndfs']")
    assert {line.verdict for line in lines(cells, 99).values()} == {TOO_FEW}
    assert {line.verdict for line in lines(cells.iloc[:0], 99).values()} == {TOO_FEW}


def test_equivalence_needs_the_whole_interval_on_one_side_of_the_margin():
    difference = np.array([0.0, 0.5, 1.0, -3.0, 0.0])
    error = np.array([0.1, 0.1, 1.0, 0.5, 5.0])
    assert equivalence(difference, error, 1.0).tolist() == [AGREES, AGREES, INCONCLUSIVE, DIFFERS, INCONCLUSIVE]
