"""The audit finds in results: inert parameters, trivial sets, starts that do not move, and gaps to the optimum."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from frames import frames, load_all, study_of

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import audit
from ufs_bench.metrics.study.frames import fits_of
from ufs_bench.metrics.study.sets import distinct_sets
from ufs_bench.metrics.study.summary import SELECTIONS, select
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.experiment.method import Method
from ufs_bench.runners.store.fits import Store
from ufs_bench.runners.store.row import subsets_of
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.scripts.audit import compact, stands_out
from ufs_bench.scripts.core.study import Study

PROTOCOL = Protocol(name="test", sizes=(4, 8), scaling="none", restarts=3, seed=0, nmi="geometric", max_iter=20)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 20)) * np.linspace(0.5, 2, 20)[rng.permutation(20)] + 2 * y[:, None] * (np.arange(20) < 5)
    return SimpleNamespace(name="blobs", X=X, y=y, n_classes=3, n_features=20, n_samples=36, sha="ab12")


def run(dataset, name, target, params, grid, folder=None):
    """Return the study with the trials of a method alone."""
    method = {"name": name, "target": target, "params": params, "grid": grid}
    trials = expand("s", dataset, method, PROTOCOL)
    outcomes = [run_trial(trial, dataset.X, dataset.y) for trial in trials]
    with Store(folder / "s" / dataset.name / name) as cell:
        cell.append([outcome.trial for outcome in outcomes])
    return Study.open(folder, "s").part([name], [dataset.name])


def point(**settings):
    return {"dataset": "umist", "method": "ndfs", "sizes": [50, 100], **settings}


def digests(*names):
    return json.dumps({str(size): name for size, name in zip((50, 100), names, strict=True)})


# --- the grid


def test_a_parameter_that_moves_no_set_is_inert_and_the_other_is_not():
    points = [
        point(params={"alpha": alpha, "beta": beta}, feature_sets=digests(f"a{beta}", f"b{beta}"))
        for alpha in (1e-6, 1e-2, 100.0)
        for beta in (0.1, 1.0)
    ]
    effects = audit.parameter_effects(tidy(frames(points))).set_index("parameter")
    assert effects.loc["alpha", ["n_values", "n_steps", "n_changed"]].tolist() == [3, 8, 0]
    assert effects.loc["beta", ["n_values", "n_steps", "n_changed"]].tolist() == [2, 6, 6]
    distinct = distinct_sets(tidy(frames(points)))
    assert distinct["n_points"].tolist() == [6, 6] and distinct["n_distinct"].tolist() == [2, 2]


def test_steps_go_along_the_values_in_order_of_size():
    found = {1000.0: "x", 2.0: "x", 30.0: "y"}  # as text, "1000.0" < "2.0" < "30.0"
    points = [point(params={"alpha": value}, feature_sets=digests(name, "z")) for value, name in found.items()]
    assert audit.parameter_effects(tidy(frames(points)))["n_changed"].tolist() == [2]


def test_a_parameter_whose_sets_differ_in_few_features_is_told_from_one_that_moves_them():
    rankings = {(1.0, 1.0): [*range(100)], (2.0, 1.0): [*range(1, 101)], (1.0, 2.0): [*range(500, 600)]}
    points = [
        point(
            params={"alpha": alpha, "beta": beta}, feature_sets=digests(f"a{alpha}{beta}", f"b{alpha}{beta}"), ranking=r
        )
        for (alpha, beta), r in rankings.items()
    ]
    found = audit.parameter_effects(tidy(frames(points)), {"umist": 1000}).set_index("parameter")
    assert found.loc["alpha", ["n_changed", "shared"]].tolist() == [2, pytest.approx((0.98 + 0.99) / 2)]
    assert found.loc["beta", ["n_changed", "shared"]].tolist() == [2, 0]
    assert found["chance"].tolist() == [pytest.approx(0.075)] * 2
    assert stands_out("parameters", found).to_dict() == {"alpha": True, "beta": False}


def test_failed_trials_say_nothing_about_parameters():
    points = [
        point(params={"alpha": 1}, feature_sets=digests("a", "b")),
        point(params={"alpha": 2}, status="failed", feature_sets="{}"),
    ]
    whole = tidy(frames(points))
    assert audit.parameter_effects(whole).empty
    assert distinct_sets(whole)["n_points"].tolist() == [1, 1]


# --- trivial rankings


def test_an_overlap_is_the_share_of_the_top_and_ties_are_free():
    values = np.array([3.0, 1.0, 1.0, 1.0, 2.0, 0.0])
    sets = np.array([[5, 1], [5, 3], [1, 2], [0, 4]])
    # Only one of the tied ones has room beside the smallest.
    assert audit.overlap(sets, values).tolist() == [1, 1, 0.5, 0]
    assert audit.overlap(np.arange(6)[None], values).tolist() == [1]


@pytest.mark.parametrize("n_tied, expected", [(1, 0.3), (50, 0.5), (99, 0.99), (100, 1.0)])
def test_random_sets_overlap_by_chance_and_more_where_values_are_tied(n_tied, expected):
    rng = np.random.default_rng(0)
    values = np.r_[np.zeros(n_tied), rng.normal(size=100 - n_tied) ** 2]
    found = audit.overlap(np.array([rng.permutation(100)[:30] for _ in range(400)]), values)
    assert np.mean(found) == pytest.approx(audit.chance(30, values), abs=0.02)
    assert audit.chance(30, values) == pytest.approx(expected, abs=0.005)


def test_standardised_features_are_not_found_to_be_a_ranking_of_their_equal_variances(tmp_path):
    rng = np.random.default_rng(0)
    X = scale(rng.normal(size=(30, 60)) * np.arange(60), "zscore").copy()
    X[:, 7] = 0.0
    points = [point(sizes=[50], acc={50: [0.5]}, ranking=rng.permutation(60)[:50].tolist()) for _ in range(2)]
    found = audit.trivial_overlaps(tidy(frames(points)), audit.trivial_rankings(X)).assign(
        dataset="umist", method="ndfs"
    )
    assert found.set_index("ranking").loc["largest variance", "median"] > 0.95
    assert not stands_out("overlaps", found).any()
    shown = compact("overlaps", found).query("part == ''").set_index("ranking")
    assert shown.loc["largest variance", ["overlap", "chance"]].tolist() == ["97%", "97%"]


def test_dgufs_is_found_to_keep_the_smallest_norms_and_to_have_two_inert_parameters(blobs, tmp_path):
    grid = {"alpha": [10.0, 1000.0], "beta": [0.1, 0.9]}
    params = {"alpha": 10.0, "beta": 0.1, "solver": "released"}
    trials = run(blobs, "dgufs", "methods.dgufs.DGUFS", params, grid, tmp_path).whole
    found = audit.trivial_overlaps(trials, audit.trivial_rankings(blobs.X))
    found = found[~found["is_start"]].set_index(["ranking", "n_selected"])
    assert found.loc["smallest norm", "low"].tolist() == [1, 1]
    assert (found.loc["largest norm", "high"] < 1).all()
    assert audit.parameter_effects(trials)["n_changed"].tolist() == [0, 0]


def test_a_start_that_stays_shows_as_the_first_features_of_the_file():
    rng = np.random.default_rng(0)
    rankings = audit.trivial_rankings(rng.normal(size=(30, 60)))
    rest = [10 + rng.permutation(50) for _ in range(4)]
    points = [
        point(
            params={"alpha": i, "n_clusters": 10},
            sizes=[50],
            ranking=[*map(int, rng.permutation(10)), *others[:40].tolist()],
        )
        for i, others in enumerate(rest)
    ]
    found = audit.trivial_overlaps(tidy(frames(points)), rankings)
    start = found[found["is_start"] & (found["ranking"] == "first in file")].iloc[0]
    assert (start["n_selected"], start["low"]) == (10, 1)
    assert found[found["is_start"] & (found["ranking"] == "largest variance")]["high"].max() < 1


def test_a_set_of_one_size_is_not_taken_for_the_start_of_a_larger_one(blobs):
    values = {"first in file": np.arange(20.0)}
    points = [
        point(params={"alpha": 1}, sizes=[2], ranking=[0, 1]),
        point(params={"alpha": 1}, sizes=[4], ranking=[19, 18, 1, 0]),
    ]
    found = audit.trivial_overlaps(tidy(frames(points)), values)
    assert dict(zip(found["n_selected"], found["median"], strict=True)) == {2: 1, 4: 0.5}


# --- how fits end


def test_outcomes_are_shares_and_a_rise_is_one_above_rounding():
    points = [
        point(params={"alpha": 1}, status="max_iter", trace=[3.0, 2.0, 2.0 + 1e-11]),
        point(params={"alpha": 2}, status="collapsed", trace=[-3.0, -4.0, -3.9]),
        point(params={"alpha": 3}, trace=[3.0]),
        point(params={"alpha": 4}),
    ]
    row = audit.outcomes(fits_of(tidy(frames(points)))).iloc[0]
    assert (row["n_trials"], row["max_iter"], row["collapsed"], row["failed"]) == (4, 0.25, 0.25, 0)
    assert (row["n_traced"], row["rose"]) == (3, pytest.approx(1 / 3))


def test_the_gap_of_kmeans_ufs_admm_to_the_optimum_is_found(blobs, tmp_path):
    for name, params in (("kmeans_ufs", {"solver": "exact"}), ("kmeans_ufs_admm", {"solver": "admm"})):
        run(blobs, name, "methods.kmeans_ufs.KMeansUFS", params, {}, tmp_path)
    gaps = audit.objective_gaps(Study.open(tmp_path, "s").trials, {"kmeans_ufs_admm": "kmeans_ufs"})
    assert gaps["n_selected"].tolist() == [8]  # the optimum is stored for the largest size
    assert (gaps["gap"] > 0).all() and (gaps["gap"] < 1).all()
    assert np.allclose(gaps["gap"], (gaps["objective"] - gaps["best"]) / -gaps["best"])


def test_the_oracle_stands_next_to_median_default_and_the_choices_without_labels():
    points = [
        point(params={"a": i}, is_default=i == 0, acc={100: [acc, acc]}, agreement={100: free}, silhouette={100: -free})
        for i, (acc, free) in enumerate([(0.3, 0.1), (0.9, 0.5), (0.5, 0.9)])
    ]
    summary = study_of(points).summary
    row = audit.choices({name: select(summary, "acc", name) for name in SELECTIONS}).iloc[0]
    expected = {"best_over_grid": 90, "default_params": 30, "grid_median": 50, "stability": 50, "silhouette": 30}
    assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_a_method_whose_indicators_end_where_they_began_is_found():
    changes = {"still": (0.0, 0.004, 0.3), "moving": (0.2, 0.0, 0.4)}
    points = [
        {"dataset": "umist", "method": method, "params": {"alpha": step}, "acc": {50: [0.5]}, "facts": fact}
        for method, values in changes.items()
        for step, fact in enumerate({"indicator_change": value} for value in values)
    ]
    results = frames([*points, {"dataset": "umist", "method": "silent", "acc": {50: [0.5]}}])
    table = audit.movements(fits_of(tidy(results))).set_index("method")
    assert table["still"].to_dict() == pytest.approx({"still": 2 / 3, "moving": 1 / 3})
    assert table.loc["still", ["n_fits", "low", "median", "high"]].tolist() == [3, 0.0, 0.004, 0.3]
    assert stands_out("movements", table).to_dict() == {"still": True, "moving": False}


def test_what_a_fit_reports_of_itself_is_stored_with_it(tmp_path):
    dataset = load_dataset("digits")
    method = Method("ndfs", "methods.ndfs.NDFS", {}, {})
    (trial,) = expand("s", dataset, method, PROTOCOL)
    outcome = run_trial(trial, dataset.X[:80] / 16, dataset.y[:80])
    with Store(tmp_path / "s" / "digits" / "ndfs") as cell:
        cell.append([outcome.trial])
    results = load_all(tmp_path)
    assert results.facts["trial"].unique().tolist() == [trial.key]
    facts = results.facts.set_index("name")["value"]
    assert sorted(facts.index) == ["indicator_change", "n_scored"]
    assert 0 <= facts["indicator_change"] <= 1


def test_a_stored_ranking_is_one_list_or_one_for_each_size():
    assert subsets_of("[4, 2, 9]", [2, 3]) == {2: [4, 2], 3: [4, 2, 9]}
    assert subsets_of('{"2": [4, 2], "3": [1, 2, 3]}', [3]) == {3: [1, 2, 3]}
