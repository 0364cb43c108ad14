"""Trials in a pool: each is scored as it is alone, and a failure fails one trial only."""

import json
import tempfile

import numpy as np
import pandas as pd
import pytest
from fits import DATA, PROTOCOL, outcomes_of, rows_of, trials_of

from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.store import row
from ufs_bench.runners.workers import fit
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.fit import run_trial
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
