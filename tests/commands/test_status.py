"""``python -m scripts.status``: cells that are done, that run and that are left."""

import os

import forked
import pytest
from command_line import ROOT
from frames import frames, store
from small_data import TRUTH

from ufs_bench.runners.experiment import notes, sweep
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.notes import note_run, read_run
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import StoreError
from ufs_bench.scripts.status import _of_last_run, _sweep_of, states
from ufs_bench.scripts.status.status_page import status_page

POINTS = [
    {"dataset": "umist", "method": "mcfs", "acc": {50: [0.2, 0.4]}, "fit_s": 1.5},
    {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 3}, "acc": {50: [0.2, 0.4]}, "fit_s": 3.5},
    {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 4}, "status": "timeout", "sizes": [50]},
    {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 7}, "status": "failed", "sizes": [50]},
    {"dataset": "orl", "method": "rufs", "acc": {50: [0.2, 0.4]}},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "SHIPPED", tmp_path / "none")  # what is shipped counts as done
    store(frames(POINTS), tmp_path)
    return tmp_path


def test_a_running_cell_says_what_is_done_running_pending_and_left(folder):
    keys = [f"dgufs{number:04d}" for number in range(4)]
    note_run(folder / "dgufs/umist/mcfs", [*keys, *"abcdef"], 2)
    found = {state.dataset: state for state in states(folder, "dgufs")}
    umist = found["umist"]
    assert (umist.n_trials, umist.done, umist.running, umist.pending) == (10, 2, 2, 4)
    assert umist.ends == {"timeout": 1, "failed": 1}
    assert umist.seconds == 1.5 + 3.5 + 2 * 0.5 + 4 * 0.5
    assert umist.left == pytest.approx(6 * umist.seconds / 4 / 2)
    assert (found["orl"].done, found["orl"].pending, found["orl"].left) == (1, 0, 0)


def test_what_is_left_of_a_cell_is_estimated_from_the_points_that_it_lacks(tmp_path, monkeypatch):
    """Were it the mean of what is stored, 2 seconds would be left on ORL: heavy points of a grid end last."""
    monkeypatch.setattr(reference, "SHIPPED", tmp_path / "none")
    words = ["dataset=umist,orl", "method=laplacian_score", "+method.grid.n_neighbors=[3,4]", "protocol=dgufs"]
    cells = sweep.cells_of_words(*words, f"results_dir={tmp_path}", "runner.n_jobs=1")
    monkeypatch.setattr("ufs_bench.scripts.status.cells_of_words", lambda *_: cells)
    points = [
        {"dataset": one.dataset["name"], "method": "laplacian_score", "params": dict(trial.params), "acc": {50: [0.2]}}
        for one in cells
        for trial in Cell(one).asked
    ]
    seconds = [1.5, 99.5, 3.5]  # and half a second of evaluation; the fourth point is not stored
    store(frames([{**point, "fit_s": each} for point, each in zip(points, seconds, strict=False)]), tmp_path)
    left = {state.dataset: state.left for state in states(tmp_path, experiment="dgufs")}
    assert left == {"umist": 0, "orl": pytest.approx(100 * 4 / 2)}


def test_a_cell_that_was_run_by_itself_has_the_grid_of_its_last_run(tmp_path):
    words = ["method=laplacian_score", "+method.grid.n_neighbors=[3,4]", f"dataset={TRUTH}", "protocol=smoke"]
    forked.printed(["run.py", *words, f"results_dir={tmp_path}", "runner.n_jobs=1"], ROOT)
    folder = tmp_path / "smoke" / TRUTH / "laplacian_score"
    assert _of_last_run(folder).method.grid == {"n_neighbors": [3, 4]}
    for text in ("{", "method: 3", "runner: {n_jobs: x}"):
        (folder / ".hydra/config.yaml").write_text(text)
        assert _of_last_run(folder) is None
    assert _of_last_run(tmp_path) is None


def test_what_has_no_scores_is_listed_with_its_error(folder):
    text = status_page(states(folder))
    assert 'failed: mcfs on umist, {"n_neighbors": 7} sizes [50]: ValueError: no' in text
    assert 'timeout: mcfs on umist, {"n_neighbors": 4}' in text
    assert "2 cells: 5 of 5 fits stored, nothing left." in text


def test_cells_that_a_method_refuses_are_named_and_not_counted(tmp_path, monkeypatch):
    cells = sweep.cells_of_words("experiment=fair", "dataset=allaml", "method=spca_psd")
    monkeypatch.setattr("ufs_bench.scripts.status.cells_of_words", lambda *_: cells)
    monkeypatch.setattr("ufs_bench.scripts.status.at_hand", lambda *_: True)
    found = states(tmp_path, experiment="fair")
    assert [state.n_trials for state in found] == [0]
    assert "Cannot run: spca_psd on allaml" in status_page(found) and "n_features=7129" in status_page(found)


def test_cells_whose_data_are_not_here_are_named_and_not_counted(tmp_path, monkeypatch):
    cells = sweep.cells_of_words("experiment=dgufs", "dataset=umist,pie10p", "method=mcfs,dgufs")
    monkeypatch.setattr("ufs_bench.scripts.status.cells_of_words", lambda *_: cells)
    monkeypatch.setattr("ufs_bench.scripts.status.at_hand", lambda name, _: name == "umist")
    found = states(tmp_path, experiment="dgufs")
    here = [state for state in found if not state.refused]
    assert {state.dataset for state in here} == {"umist"} and all(state.n_trials for state in here)
    assert len(here) == 2 == len(found) / 2 and all(state.n_trials == 0 for state in found if state.refused)
    text = status_page(found)
    assert f"{len(here)} cells: 0 of {sum(state.n_trials for state in here)} fits stored" in text
    assert "on data sets that are not on this machine, skipped: " in text and "| pie10p " not in text


def test_an_experiment_has_its_cells_before_they_begin(tmp_path):
    found = states(tmp_path, experiment="demo")
    assert len(found) > 5 and {state.study for state in found} == {"demo"}
    assert all(state.stored == 0 and state.n_trials == state.pending > 0 for state in found)
    text = status_page(found)
    assert f"left {sum(state.pending for state in found)}, about " in text  # by the seconds of shipped fits
    assert not list(tmp_path.iterdir())


def test_what_another_study_has_is_not_counted_as_left(folder, monkeypatch):
    cells = sweep.cells_of_words("experiment=rufs", "dataset=umist", "method=mcfs", f"results_dir={folder}")
    monkeypatch.setattr("ufs_bench.scripts.status.cells_of_words", lambda *_: cells)

    def mcfs_on_umist():
        (state,) = states(folder, experiment="rufs")
        assert (state.study, state.dataset, state.method) == ("rufs", "umist", "mcfs")
        return state

    monkeypatch.setattr("ufs_bench.scripts.status.at_hand", lambda *_: True)
    assert mcfs_on_umist().left > 0
    monkeypatch.setattr("ufs_bench.runners.experiment.cell.Cell.not_elsewhere", lambda cell, trials: [])
    assert (mcfs_on_umist().left, mcfs_on_umist().stored) == (0, 0)


def test_a_sweep_with_methods_of_a_config_dir_has_its_state_with_that_folder_and_without(tmp_path):
    folder = tmp_path / "conf"
    (folder / "method").mkdir(parents=True)
    (folder / "method/mine.yaml").write_text("name: mine\ntarget: methods.MaxVariance\nparams: {}\ngrid: {}\n")
    words = ["-m", "--config-dir", folder, "method=mine,max_variance", f"dataset={TRUTH}", "protocol=smoke", "study=s",
             f"results_dir={tmp_path / 'r'}", "runner.n_jobs=1"]  # fmt: skip
    forked.run([ROOT / "run.py", *words], ROOT).check_returncode()
    assert {state.method: state.done for state in states(tmp_path / "r")} == {"mine": 1, "max_variance": 1}
    (tmp_path / f"r/s/{TRUTH}/mine/trials.csv").unlink()  # as before it began
    (tmp_path / f"r/s/{TRUTH}/mine" / notes.RUN).unlink()
    assert {state.method: state.pending for state in states(tmp_path / "r", "s")} == {"mine": 1, "max_variance": 0}
    (folder / "method/mine.yaml").unlink()
    _sweep_of.cache_clear()
    assert [state.method for state in states(tmp_path / "r", "s")] == ["max_variance"]


def test_nothing_and_what_there_is_not_are_said(tmp_path, command):
    assert status_page(states(tmp_path)) == "nothing is stored, and nothing runs.\n"
    done = command("status", "experiment=dguf", f"results_dir={tmp_path}")
    words = "error: experiment=dguf is no file of conf/experiment. Did you mean dgufs?\n"
    assert done.returncode == 1 and done.stderr == words


def test_a_run_tells_of_itself_and_a_dead_one_is_no_run(tmp_path, monkeypatch):
    assert read_run(tmp_path) == (None, 0)
    note_run(tmp_path, ["a", "b"], 2)
    assert read_run(tmp_path) == (["a", "b"], 2)
    monkeypatch.setattr(notes, "lives", lambda pid: pid != os.getpid())
    assert read_run(tmp_path) == (["a", "b"], 0)
    note_run(tmp_path, ["a", "b"], 0)
    assert read_run(tmp_path) == (["a", "b"], 0)
    (tmp_path / notes.RUN).write_text("{")
    with pytest.raises(StoreError, match="is damaged: remove it"):
        read_run(tmp_path)


def test_a_shipped_study_says_how_many_trials_its_cells_lack(tmp_path):
    found, lacking = states(tmp_path, "jgufs"), sum(reference.lacking("jgufs").values())
    stored, never = reference.read("jgufs")["trial"].nunique(), sum(s.n_trials for s in found if not s.stored)
    assert sum(state.stored for state in found) == stored
    assert sum(state.n_trials for state in found) == stored + lacking + never
    assert {state.method for state in found} >= {"ndfs_kmeans_start", "jgufs_released", "random_rankings"}
    lacking += never
    assert lacking and f"left {lacking}, about" in status_page(found)


def test_a_shipped_study_says_which_of_its_fits_ended_at_a_cap(monkeypatch, tmp_path):
    files_of = reference.files_of
    monkeypatch.setattr(reference, "files_of", lambda name, methods=None: files_of(name, ["dufs"]))
    text = status_page(states(tmp_path, "fair"))
    assert "timeout: dufs on coil20" in text
    assert "sizes [10, 25, 50, 100, 200, 300]: beyond runner.max_seconds=60" in text
