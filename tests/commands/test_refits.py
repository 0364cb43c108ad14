"""Other seeds of a method: the starts of K-means stay, every fit is kept at once, and every file is written whole."""

import errno
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ufs_bench.methods import MaxVariance, RandomSelection
from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study.seeds import spreads
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.experiment.trial import has_random_part, stored_trial, takes_seed
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import StoreError
from ufs_bench.runners.store.parquet import read_refits
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.runners.workers import fit
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.fit import fit_trial, run_trial
from ufs_bench.runners.workers.pool import Scores
from ufs_bench.scripts.core import refits
from ufs_bench.scripts.core.conf import ROOT, find
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ship import files

PROTOCOL = Protocol(name="test", sizes=(4, 8), scaling="none", restarts=3, seed=7, nmi="geometric", max_iter=20)
SEEDS = [7, 8, 9, 10, 11]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 20)) + 2 * y[:, None] * (np.arange(20) < 5)
    return SimpleNamespace(name="blobs", X=X, y=y, n_classes=3, n_features=20, n_samples=36, sha="ab12")


@pytest.fixture(scope="module")
def points(blobs):
    """Return the single trial of random features, at 8 of them."""
    method = {"name": "random_selection", "target": "methods.baselines.RandomSelection", "params": {}, "grid": {}}
    (trial,) = expand("s", blobs, method, PROTOCOL)
    scores = [(row[6], row[7]) for row in run_trial(trial, blobs.X, blobs.y).scores if row[3] == 8]
    acc, nmi = np.mean(scores, axis=0).tolist()
    stored = [(trial.key, "blobs", "random_selection", 8, "kmeans", 7, "converged", acc, nmi, "ab", "sha", "")]
    return [refits.Point(trial, stored)]


def test_every_seed_is_scored_from_the_same_kmeans_starts(blobs, points, tmp_path):
    assert refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path) == 4
    rows = refits.read(tmp_path / "seeds.csv")
    assert rows["seed"].tolist() == SEEDS
    expected = []
    for seed in SEEDS:
        features = RandomSelection(8, random_state=seed).fit(blobs.X).subset(8)
        acc, nmi = evaluate(features, blobs.X, blobs.y, PROTOCOL)[0][:2]
        expected.append([acc.mean(), stored_nmi(nmi).mean()])
    assert rows[["acc_mean", "nmi_mean"]].to_numpy() == pytest.approx(np.array(expected), abs=5e-8)
    (own,) = spreads(rows).itertuples()
    assert (own.trial, own.n_selected, own.clusterer, own.n_seeds) == (points[0].trial.key, 8, "kmeans", 5)
    assert own.acc_std == pytest.approx(np.std(expected, axis=0, ddof=1)[0]) and own.acc_std > 0


def test_a_seed_that_selects_the_same_features_has_the_same_scores_to_the_last_digit(blobs, points, tmp_path):
    """If the K-means starts moved with the seed, this spread would not be 0."""
    method = {"name": "max_variance", "target": "methods.baselines.MaxVariance", "params": {}, "grid": {}}
    (trial,) = expand("s", blobs, method, PROTOCOL)
    stored = [(trial.key, "blobs", "max_variance", 8, "kmeans", 7, "converged", 0.5, 0.5, "ab", "sha", "")]
    refits.refit_seeds([refits.Point(trial, stored)], Data(blobs.X, blobs.y), tmp_path)
    rows = refits.read(tmp_path / "seeds.csv")
    assert rows["acc_mean"][1:].nunique() == rows["feature_set"][1:].nunique() == 1


def test_a_killed_run_goes_on_where_it_was_and_nothing_is_done_twice(blobs, points, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir(), killed.mkdir()
    refits.refit_seeds(points, Data(blobs.X, blobs.y), whole)
    seen = []

    def stop(error):
        seen.append(error)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refits.refit_seeds(points, Data(blobs.X, blobs.y), killed, on_fit=stop)
    assert refits.read(killed / "seeds.csv")["seed"].tolist() == SEEDS[:3] and seen == ["", ""]
    (killed / "seeds.csv.1.tmp").write_text("what a killed process left")
    assert refits.refit_seeds(points, Data(blobs.X, blobs.y), killed, n_jobs=2) == 2
    assert refits.refit_seeds(points, Data(blobs.X, blobs.y), killed) == 0
    assert (killed / "seeds.csv").read_bytes() == (whole / "seeds.csv").read_bytes()
    assert not list(killed.glob("*.tmp"))


def test_a_disk_that_refuses_leaves_the_file_as_it_was(blobs, points, tmp_path, monkeypatch):
    refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path, n_seeds=2)
    before = (tmp_path / "seeds.csv").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(StoreError, match="seeds.csv: No space left.*as it was"):
        patch.setattr(os, "replace", full)
        refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path)
    assert (tmp_path / "seeds.csv").read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))


def test_a_fit_that_failed_is_kept_said_and_tried_again(blobs, points, tmp_path, monkeypatch):
    errors = []
    with monkeypatch.context() as patch:
        patch.setattr(RandomSelection, "_solve", lambda self, X, rng: 1 / 0)
        assert refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path, n_seeds=3, on_fit=errors.append) == 2
    rows = refits.read(tmp_path / "seeds.csv")
    assert rows["status"].tolist() == ["converged", "failed", "failed"]
    assert errors == ["ZeroDivisionError: division by zero"] * 2
    assert np.isnan(spreads(rows)["acc_std"]).all()
    assert refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path, n_seeds=3) == 2
    assert "failed" not in set(refits.read(tmp_path / "seeds.csv")["status"])


def test_what_is_known_of_a_feature_set_is_not_computed_again(blobs, points, tmp_path, monkeypatch):
    known = Scores(tmp_path / ".evaluations")
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path / "a", scores=known)
    monkeypatch.setattr(fit, "evaluate_set", None)
    refits.refit_seeds(points, Data(blobs.X, blobs.y), tmp_path / "b", scores=known)
    assert (tmp_path / "a/seeds.csv").read_bytes() == (tmp_path / "b/seeds.csv").read_bytes()


def test_a_feature_set_whose_name_looks_like_a_number_is_read_as_it_is(points, tmp_path):
    row = (*points[0].stored[0][:9], "00012345678901234567890123456789", "1234567", "0123456789012345")
    names = ",".join(refits.COLUMNS[refits.SEEDS])
    (tmp_path / "seeds.csv").write_text("\n".join([names, ",".join(map(str, row)), ""]))
    assert tuple(refits.read(tmp_path / "seeds.csv").iloc[0]) == row
    (tmp_path / "seeds.csv").write_text(names + "\nk,d,m,8,kmeans,x\n")
    with pytest.raises(StoreError, match="seeds.csv, line 2"):
        refits.read(tmp_path / "seeds.csv")


def test_a_trial_of_a_row_is_the_same_trial_and_only_its_seed_is_changed(blobs, points):
    trial = points[0].trial
    row = fit_trial(trial, blobs.X).row | {"sizes": trial.sizes}
    assert stored_trial(row, trial.target) == trial
    assert stored_trial(row, "methods.baselines.MaxVariance") is None
    assert replace(trial, seed=9).selector().random_state == 9
    assert trial.selector().random_state == 7
    assert takes_seed("methods.baselines.RandomSelection") and not takes_seed(f"methods.{MaxVariance.__name__}")


def test_a_method_whose_file_says_that_it_is_seedless_has_no_random_part():
    vcsdfs, released, fixed = (find("method", name) for name in ("vcsdfs", "vcsdfs_released", "max_variance"))
    assert takes_seed(vcsdfs["target"]) and not has_random_part(vcsdfs)
    assert has_random_part(released) and not has_random_part(fixed)


def test_fits_of_changed_data_are_kept_at_once_and_are_the_same_by_workers(blobs, points, tmp_path, monkeypatch):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir(), cut.mkdir()
    trial, write, written = points[0].trial, refits.write_rows, []
    assert (
        refits.refit_changed(trial, 8, Data(blobs.X, None), whole, 2) == 7
    )  # as it is, and twice samples, columns and seed

    def stop_after_three(*what):
        write(*what)
        written.append(what)
        if len(written) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(refits, "write_rows", stop_after_three)
        refits.refit_changed(trial, 8, Data(blobs.X, None), cut, 2)
    assert refits.refit_changed(trial, 8, Data(blobs.X, None), cut, 2, n_jobs=2) == 4
    assert (cut / "stability.csv").read_bytes() == (whole / "stability.csv").read_bytes()


SHIPPED = {(path.parent.parent.name, path.parent.name) for path in reference.SHIPPED.glob("*/_*/*.parquet")}


@pytest.mark.parametrize(("name", "folder"), sorted(one for one in SHIPPED if f"{one[1][1:]}.csv" in refits.COLUMNS))
def test_every_shipped_refit_counts_and_one_of_another_identity_is_refused(name, folder):
    """The rows of four studies were dropped without a word, as the name of an identity had changed."""
    file, study = f"{folder[1:]}.csv", Study.open(ROOT / "results", f"reference/{name}")
    assert len(refits.load_refits(study, file)) == len(reference.read_refits(name, file))
    path = next(reference.refits_of(name, file).glob("*.parquet"))
    frame = study.trials[study.trials["method"] == path.stem]
    rows = read_refits(path)
    assert list(files.faults_of_refits(rows, frame)) == []
    other = rows.assign(identity="0123456789abcdef")
    assert "of other code or machines" in "".join(files.faults_of_refits(other, frame))
