"""Fits with other seeds: the starts of K-means stay, and every fit is kept at once."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from small_data import TRUTH

from ufs_bench.datasets import load_dataset
from ufs_bench.methods import MaxVariance, RandomSelection
from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.experiment.trial import has_random_part, stored_trial, takes_seed
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.fit import fit_trial
from ufs_bench.scripts.core import refits
from ufs_bench.scripts.core.conf import ROOT, find
from ufs_bench.scripts.core.refits import data_of
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.refit import seeds

PROTOCOL = Protocol(name="test", sizes=(4, 8), scaling="none", restarts=3, seed=7, nmi="geometric", max_iter=20)
PLACE = f"random_selection on {TRUTH}"


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 20)) + 2 * y[:, None] * (np.arange(20) < 5)
    return SimpleNamespace(name="blobs", X=X, y=y, n_classes=3, n_features=20, n_samples=36, sha="ab12")


@pytest.fixture(scope="module")
def trial(blobs):
    method = {"name": "random_selection", "target": "methods.baselines.RandomSelection", "params": {}, "grid": {}}
    (trial,) = expand("s", blobs, method, PROTOCOL)
    return trial


def test_data_of_a_file_that_nobody_added_are_named_with_the_command_that_adds_them():
    trials = pd.DataFrame({"dataset": ["wine_of_mine"], "data_sha": ["0"]})
    assert "add_data data=FILE name=wine_of_mine makes one" in data_of(trials, None)[1]


@pytest.fixture
def study(run_cells, tmp_path):
    """Return a study of random features on small data."""
    words = ["method=random_selection", f"dataset={TRUTH}", "protocol=smoke", "study=mine", "runner.n_jobs=1"]
    run_cells(*words, f"results_dir={tmp_path}")
    return Study.open(tmp_path, "mine")


def stored(study):
    return refits.read(study.folder, refits.SEEDS)


def test_every_seed_is_scored_from_the_same_kmeans_starts(study):
    assert seeds.fit_seeds(study, n_seeds=3) == []
    rows, protocol, data = stored(study), Protocol(**study.protocol), load_dataset(TRUTH)
    assert sorted(set(rows["seed"])) == [0, 1, 2]
    X = Data.scaled(data, protocol, "random_selection").X
    for row in rows[rows["clusterer"] == "kmeans"].itertuples():
        features = RandomSelection(row.n_selected, random_state=row.seed).fit(X).subset(row.n_selected)
        acc, nmi = evaluate(features, X, data.y, protocol)[0][:2]
        assert (row.acc_mean, row.nmi_mean) == pytest.approx((acc.mean(), stored_nmi(nmi).mean()), abs=5e-8)


def test_a_killed_run_goes_on_where_it_was_and_nothing_is_done_twice(study, monkeypatch):
    add, fitted = refits.add_refits, []

    def stop_after_two(study, kind, rows):
        rows = list(rows)
        if fitted and len(fitted) == 2:
            raise KeyboardInterrupt
        fitted.extend([rows] if rows[0][5] else [])
        add(study, kind, rows)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(seeds, "add_refits", stop_after_two)
        seeds.fit_seeds(study)
    assert sorted(set(stored(study)["seed"])) == [0, 1, 2]
    assert seeds.fit_seeds(study) == [] and sorted(set(stored(study)["seed"])) == [0, 1, 2, 3, 4]
    monkeypatch.setattr(seeds, "run_all", None)
    assert seeds.fit_seeds(study) == []


def test_a_fit_that_failed_is_kept_said_and_tried_again(study, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(RandomSelection, "_solve", lambda self, X, rng: 1 / 0)
        assert seeds.fit_seeds(study, n_seeds=3) == [f"{PLACE}: ZeroDivisionError: division by zero"]
    assert sorted(set(stored(study)["status"])) == ["converged", "failed"]
    assert seeds.fit_seeds(study, n_seeds=3) == [] and "failed" not in set(stored(study)["status"])


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "_seeds.parquet").write_text("no rows")
    with pytest.raises(StoreError, match="_seeds.parquet cannot be read .*restore it"):
        refits.read(tmp_path, refits.SEEDS)
    assert refits.read(tmp_path, refits.RESTARTS).empty and refits.read(None, refits.SEEDS).empty


def test_a_trial_of_a_row_is_the_same_trial_and_only_its_seed_is_changed(blobs, trial):
    row = fit_trial(trial, blobs.X).trial | {"sizes": trial.sizes}
    assert stored_trial(row, trial.target) == trial
    assert stored_trial(row, "methods.baselines.MaxVariance") is None
    assert replace(trial, seed=9).selector().random_state == 9
    assert trial.selector().random_state == 7
    assert takes_seed("methods.baselines.RandomSelection") and not takes_seed(f"methods.{MaxVariance.__name__}")


def test_a_method_whose_file_says_that_it_is_seedless_has_no_random_part():
    vcsdfs, released, fixed = (find("method", name) for name in ("vcsdfs", "vcsdfs_released", "max_variance"))
    assert takes_seed(vcsdfs["target"]) and not has_random_part(vcsdfs)
    assert has_random_part(released) and not has_random_part(fixed)


SHIPPED = [(path.parent.name, path.stem[1:]) for path in sorted(reference.SHIPPED.glob("*/_*.parquet"))]


@pytest.mark.parametrize(("name", "kind"), [one for one in SHIPPED if one[1] in refits.OF_TRIALS])
def test_every_shipped_refit_counts(name, kind):
    """The rows of four studies were dropped without a word, as the name of an identity had changed."""
    study = Study.open(ROOT / "results", f"reference/{name}")
    assert len(refits.load_refits(study, kind)) == len(refits.read(reference.SHIPPED / name, kind)) > 0
