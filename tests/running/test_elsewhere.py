"""Trials that two studies share are computed once."""

import pandas as pd
import pytest
from omegaconf import OmegaConf

from methods import LaplacianScore
from runners import elsewhere, trial
from runners.cell import Cell
from runners.elsewhere import not_elsewhere
from runners.plan import plan_cell
from runners.settings import read_config
from runners.store import load_results
from scripts.core.conf import ROOT

SHA = "5" * 40


def settings(folder, study, grid=(3, 4), protocol=None, **runner):
    """The settings of a cell of a few fits on 8 x 8 digits."""
    method = {
        "name": "laplacian_score",
        "target": "methods.laplacian_score.LaplacianScore",
        "params": {"n_neighbors": 3},
        "grid": {"n_neighbors": list(grid)},
    }
    own = {"sizes": [5], "scaling": "minmax", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}
    parts = {"study": study, "results_dir": str(folder), "data_dir": None}
    return read_config(
        OmegaConf.create({
            **parts,
            "runner": {"n_jobs": 1, "redo": False, "cache": True, "points": "grid"} | runner,
            "method": method,
            "protocol": {"name": study, **own, **(protocol or {})},
            "dataset": OmegaConf.load(ROOT / "conf/dataset/digits.yaml"),
        })
    )  # fmt: skip


@pytest.fixture
def fitted(monkeypatch):
    """A clean checkout, and the neighbours of what is fitted in it."""
    seen = []
    fit = LaplacianScore.fit
    monkeypatch.setattr(LaplacianScore, "fit", lambda self, X: seen.append(self.n_neighbors) or fit(self, X))
    for module in (elsewhere, trial):
        monkeypatch.setattr(module, "git_sha", lambda: SHA)
    return seen


def test_what_another_study_has_is_taken_and_nothing_else_is_done_twice(tmp_path, fitted, caplog):
    Cell(settings(tmp_path, "one")).run()
    fitted.clear()
    two = settings(tmp_path, "two", grid=(3, 4, 5))
    plan = plan_cell(two)
    assert (plan.n_trials, plan.n_pending) == (3, 1)
    assert [trial.params for trial in not_elsewhere(two, Cell(two).asked)] == [{"n_neighbors": 5}]
    with caplog.at_level("INFO"):
        Cell(two).run()
    assert fitted == [5]
    assert "2 of them taken from other studies, which have the same by this code" in caplog.text
    Cell(settings(tmp_path / "alone", "two", grid=(3, 4, 5), cache=False)).run()
    taken, alone = (load_results(folder, "two") for folder in (tmp_path, tmp_path / "alone"))
    for name in ("scores", "traces", "facts", "measures"):
        pd.testing.assert_frame_equal(getattr(taken, name), getattr(alone, name))
    measured = ["fit_s", "eval_s", "peak_mb", "started", "shared"]
    pd.testing.assert_frame_equal(taken.trials.drop(columns=measured), alone.trials.drop(columns=measured))
    one = load_results(tmp_path, "one").trials
    times = taken.trials.merge(one, on="params")
    assert len(times) == 2 and (times["fit_s_x"] == times["fit_s_y"]).all()
    log = (settings(tmp_path, "two").folder / "run.log").read_text()
    assert log.count("taken from the study one, where it is ") == 2
    fitted.clear()
    Cell(settings(tmp_path, "two", grid=(3, 4, 5))).run()
    assert fitted == []


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": {"seed": 1}},
        {"protocol": {"restarts": 3}},
        {"protocol": {"scaling": "none"}},
        {"protocol": {"sizes": [5, 6]}},
        {"cache": False},
        {"redo": True},
    ],
)
def test_what_differs_in_anything_is_computed(tmp_path, fitted, change):
    Cell(settings(tmp_path, "one")).run()
    fitted.clear()
    assert plan_cell(settings(tmp_path, "two", **change)).n_pending == 2
    Cell(settings(tmp_path, "two", **change)).run()
    assert len(fitted) == 2


@pytest.mark.parametrize("sha", ["6" * 40, f"{SHA}-dirty", "unknown"])
def test_only_an_unchanged_commit_is_the_same_code(tmp_path, fitted, monkeypatch, sha):
    Cell(settings(tmp_path, "one")).run()
    fitted.clear()
    for module in (elsewhere, trial):
        monkeypatch.setattr(module, "git_sha", lambda: sha)
    Cell(settings(tmp_path, "two")).run()
    Cell(settings(tmp_path, "three")).run()
    assert len(fitted) == (2 if sha == "6" * 40 else 4)


@pytest.mark.parametrize("name", ["trials.csv", "scores.csv", "../../protocol.json"])
def test_a_damaged_study_is_no_source_and_stops_no_other(tmp_path, fitted, name):
    Cell(settings(tmp_path, "one")).run()
    path = settings(tmp_path, "one").folder / name
    path.write_bytes(path.read_bytes()[:-40])
    fitted.clear()
    Cell(settings(tmp_path, "two")).run()
    assert len(fitted) == 2 and len(load_results(tmp_path, "two").trials) == 2
