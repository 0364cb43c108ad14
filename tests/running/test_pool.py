"""Trials in a pool: each is scored as it is alone, a set of features once, and a failure fails one trial only."""

import itertools
import json
import tempfile

import numpy as np
import pandas as pd
import pytest
from fits import DATA, PROTOCOL, outcomes_of, rows_of, trials_of

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.store import row
from ufs_bench.runners.store.row import feature_set_digest, from_json
from ufs_bench.runners.workers import fit
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.fit import reported, run_trial
from ufs_bench.runners.workers.pool import run_all


def test_a_trial_scores_every_size_and_restart_and_the_learned_labels_once():
    outcome = run_trial(trials_of()[0], DATA.X, DATA.y)
    frame = pd.DataFrame(row.tables_of([outcome.trial])["scores"], columns=row.SCORES)
    counts = frame.groupby(["clusterer", "n_selected"]).size().to_dict()
    assert counts == {("kmeans", 2): 3, ("kmeans", 3): 3, ("learned", 6): 1}
    assert frame[["acc", "nmi"]].to_numpy().min() >= 0 and frame[["acc", "nmi"]].to_numpy().max() <= 1
    assert len(json.loads(outcome.trial["ranking"])) == 3
    assert set(outcome.trial) == set(row.FIELDS)


def test_the_number_of_workers_does_not_change_the_rows_of_the_scores():
    trials = trials_of("PerSize")
    one, two = (sorted(repr(outcome.trial["sets"]) for outcome in outcomes_of(trials, n_jobs)) for n_jobs in (1, 2))
    assert one == two


def test_a_run_in_which_nothing_ends_is_heard_of_now_and_then():
    trials = trials_of(grid={"gain": [2.0]}, what="take_longer")
    batches = list(run_all(trials, Data(DATA.X, DATA.y), 2))
    assert [] in batches and sum(map(len, batches)) == 1


def test_an_evaluation_that_raises_fails_the_trials_that_need_it_only(monkeypatch):
    method = {"name": "laplacian_score", "target": "methods.laplacian_score.LaplacianScore", "params": {}}
    trials = expand("s", DATA, method | {"grid": {"n_neighbors": [3, 4, 5, 12]}}, PROTOCOL)
    spoilt = json.loads(run_trial(trials[2], DATA.X, DATA.y).trial["ranking"])[:2]

    def evaluate(features, *args):
        if sorted(features) == sorted(spoilt):
            raise MemoryError("no room")
        return original(features, *args)

    original = fit.evaluate_set
    monkeypatch.setattr(fit, "evaluate_set", evaluate)
    outcomes = outcomes_of(trials, 1)
    for outcome in outcomes:
        needs_it = sorted(json.loads(outcome.trial["ranking"])[:2]) == sorted(spoilt)
        assert (outcome.trial["status"], outcome.trial["error"]) == (
            ("failed", "MemoryError: no room") if needs_it else ("converged", "")
        )
    assert len(outcomes) == 4


def test_no_file_of_a_run_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    outcomes_of(trials_of(), 2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("cls", "n_jobs"), [("Misbehaving", 1), ("Misbehaving", 2), ("Writer", 1)])
def test_a_method_that_writes_into_the_data_fails_and_changes_none(cls, n_jobs):
    before = DATA.X.copy()
    rows = rows_of(trials_of(cls, what="write"), n_jobs)
    assert {row["status"] for row in rows} == {"failed"} and all("read-only" in row["error"] for row in rows)
    np.testing.assert_array_equal(DATA.X, before)


def test_a_method_that_does_not_report_its_fit_fails_and_does_not_end_the_cell():
    rows = rows_of(trials_of("Silent"), 1)
    assert {row["status"] for row in rows} == {"failed"} and all("status_" in row["error"] for row in rows)


def test_the_name_of_a_set_does_not_depend_on_the_order_and_differs_between_sets():
    assert feature_set_digest([5, 1, 300]) == feature_set_digest(np.array([300, 5, 1], dtype=np.int32))
    sets = [subset for size in range(1, 6) for subset in itertools.combinations(range(8), size)]
    assert len({feature_set_digest(subset) for subset in sets}) == len(sets)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_known_feature_set_is_not_evaluated_again_and_the_rows_are_the_same(n_jobs):
    grid = {"n_neighbors": [3, 4, 5, 6]}
    method = {"name": "laplacian_score", "target": "methods.laplacian_score.LaplacianScore", "grid": grid}
    cell = expand("s", DATA, method | {"params": {"n_neighbors": 3}}, PROTOCOL)
    expected = {trial.key: run_trial(trial, DATA.X, DATA.y).trial for trial in cell}
    asked = {digest for one in expected.values() for digest in from_json(one["feature_sets"]).values()}
    found = [outcome.trial for outcome in outcomes_of(cell, n_jobs)]
    for one in found:
        assert repr(one["sets"]) == repr(expected[one["trial"]]["sets"])  # nan is not equal to itself
        assert one["feature_sets"] == expected[one["trial"]]["feature_sets"]
    n_sets, n_shared = (sum(len(from_json(one[name])) for one in found) for name in ("sizes", "shared"))
    # Two workers may each evaluate the same set.
    assert n_sets == 2 * len(cell) and len(asked) <= n_sets - n_shared <= n_jobs * len(asked) and len(asked) < n_sets


SIZE, AMONG = 20, 100


class Stuck(BaseSelector):
    """Select what a random start has, but for some features that are drawn anew."""

    def __init__(self, n_features_to_select=None, *, n_moved=0, random_state=None):
        super().__init__(n_features_to_select)
        self.n_moved = n_moved
        self.random_state = random_state

    def _solve(self, X, rng):
        order = rng.permutation(X.shape[1])
        start, others = np.split(order, [self.n_features_to_select_])
        chosen = np.r_[start[self.n_moved :], others[: self.n_moved]]
        return Solution(1.0 + np.isin(np.arange(X.shape[1]), chosen), learned={"start_": start})


def facts_of(n_moved, seed):
    X = np.random.default_rng(0).normal(size=(12, AMONG))
    return reported(Stuck(SIZE, n_moved=n_moved, random_state=seed).fit(X))


def test_a_fit_reports_how_much_of_its_random_start_it_selects():
    assert facts_of(0, 1) == {"n_scored": AMONG, "start_kept": SIZE, "start_size": SIZE, "start_among": AMONG}
    assert facts_of(3, 1)["start_kept"] == SIZE - 3
