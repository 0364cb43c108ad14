"""``python -m scripts.status``: cells that are done, that run and that are left."""

import os

import pytest
from frames import frames, store

from ufs_bench.runners.experiment import notes
from ufs_bench.runners.experiment.notes import note_run, read_run
from ufs_bench.runners.messages import StoreError
from ufs_bench.scripts.status import page, states

POINTS = [
    {"dataset": "umist", "method": "mcfs", "acc": {50: [0.2, 0.4]}, "fit_s": 1.5},
    {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 3}, "acc": {50: [0.2, 0.4]}, "fit_s": 3.5},
    {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 4}, "status": "timeout", "sizes": [50]},
    {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 7}, "status": "failed", "sizes": [50]},
    {"dataset": "orl", "method": "rufs", "acc": {50: [0.2, 0.4]}},
]


@pytest.fixture
def folder(tmp_path):
    store(frames(POINTS), tmp_path)
    return tmp_path


def test_a_running_cell_says_what_is_done_running_pending_and_left(folder):
    keys = [f"dgufs{number:04d}" for number in range(4)]
    note_run(folder / "dgufs/umist/mcfs", [*keys, *"abcdef"], 2)
    orl, umist = states(folder, "dgufs")
    assert (umist["done"], umist["running"], umist["pending"]) == (2, 2, 4)
    assert (umist["timeout"], umist["failed"], len(umist["errors"])) == (1, 1, 2)
    assert umist["seconds"] == 1.5 + 3.5 + 2 * 0.5 + 4 * 0.5
    assert umist["left"] == pytest.approx(6 * umist["seconds"] / 4 / 2)
    assert (orl["done"], orl["pending"], orl["left"]) == (1, 0, 0)
    assert "2 cells; left 6 fits, about " in page([orl, umist])


def test_what_has_no_scores_is_listed_with_its_error(folder):
    text = page(states(folder))
    assert 'failed: mcfs on umist, {"n_neighbors": 7} sizes [50]: ValueError: no' in text
    assert 'timeout: mcfs on umist, {"n_neighbors": 4}' in text and "2 cells; nothing left." in text


def test_nothing_and_what_there_is_not_are_said(tmp_path, command):
    assert page(states(tmp_path)) == "nothing is stored, and nothing runs."
    done = command("status", "study=dguf", f"results_dir={tmp_path}")
    assert done.returncode == 1 and "the study 'dguf' has no results" in done.stderr


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
