"""Cells in which nothing is left to do: they are known without their data, and never taken for done after a change."""

import json
from dataclasses import replace

import pytest
from fits import config

from ufs_bench.runners.experiment import notes
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.notes import FOLDER, finished, note_of
from ufs_bench.runners.store.names import FILE


def config_of(folder, **runner):
    """Return the part of a composed configuration that a note depends on."""
    own = {"n_jobs": 1, "redo": False, "plan": False, "points": "grid", "retry": ["failed"], "max_seconds": None}
    return {"study": "s", "results_dir": str(folder), "method": {"grid": {"k": [3, 4]}}, "runner": own | runner}


@pytest.fixture
def done(tmp_path):
    """Return the results of a cell of two fits that a sweep has run."""
    Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ", note_of(config_of(tmp_path)))
    return tmp_path


def test_a_finished_cell_is_told_from_its_note(done):
    assert finished(note_of(config_of(done))) == "laplacian_score on digits: 2 of 2 trials stored"
    how_it_runs = config_of(done, n_jobs=2, max_seconds=3)  # none of these options decides which trials there are
    assert finished(note_of(how_it_runs)) is not None


@pytest.mark.parametrize("runner", [{"redo": True}, {"retry": ["timeout"]}, {"points": "default"}, {"plan": True}])
def test_another_configuration_asks_for_something_else(done, runner):
    assert finished(note_of(config_of(done, **runner))) is None
    assert finished(note_of(config_of(done) | {"method": {"grid": {"k": [3, 4, 5]}}})) is None


@pytest.mark.parametrize("name", ["trials", "scores", "traces", "facts", "measures"])
def test_a_changed_or_missing_file_of_results_is_looked_at(done, name):
    path = done / "s/digits/laplacian_score" / f"{name}.csv"
    path.write_bytes(path.read_bytes() + b" ")
    assert finished(note_of(config_of(done))) is None
    path.unlink()
    assert finished(note_of(config_of(done))) is None


@pytest.mark.parametrize("name", ["program", "versions"])
def test_another_program_and_other_packages_are_looked_at(done, monkeypatch, name):
    monkeypatch.setattr(notes, name, lambda: "another")
    assert finished(note_of(config_of(done))) is None


def test_other_data_are_looked_at(done, monkeypatch):
    monkeypatch.setenv("UFS_DATA_DIR", str(done))
    assert finished(note_of(config_of(done))) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"a"', '{"files": 3}', "[" * 5000])
def test_a_note_of_odd_content_is_no_note(done, text):
    (note,) = (done / FOLDER).iterdir()
    assert finished(note) is not None
    note.write_text(text)
    assert finished(note) is None


def test_a_note_that_cannot_be_written_is_no_fault_of_the_cell(tmp_path):
    (tmp_path / FOLDER).write_text("a file where the folder should be")
    note = note_of(config_of(tmp_path))
    assert Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ", note) == []
    assert finished(note) is None


def test_names_of_features_that_are_gone_are_stored_again(tmp_path, monkeypatch):
    load, names = Cell.dataset.func, tuple(f"pixel {number}" for number in range(64))
    monkeypatch.setattr(Cell.dataset, "func", lambda cell: replace(load(cell), feature_names=names))
    note = note_of(config_of(tmp_path))
    for _ in range(2):
        assert finished(note) is None
        Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ", note)
        assert finished(note) is not None
        (tmp_path / "s/digits" / FILE).unlink()


def test_a_cell_with_a_failure_leaves_no_note(tmp_path, monkeypatch):
    def fail(self, X, y=None):
        raise RuntimeError("no")

    monkeypatch.setattr("ufs_bench.methods.laplacian_score.LaplacianScore.fit", fail)
    note = note_of(config_of(tmp_path))
    (row, _) = Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ", note)
    assert row["status"] == "failed" and finished(note) is None


def test_what_the_data_were_is_asked_before_they_are_read(tmp_path, monkeypatch):
    """Otherwise data that are replaced during a run would count as those that it has read."""
    seen = []
    monkeypatch.setattr("ufs_bench.runners.experiment.cell.digests_of_data", lambda own: seen.append("digest") or {})
    load = Cell.dataset.func
    monkeypatch.setattr(Cell.dataset, "func", lambda cell: seen.append("load") or load(cell))
    Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ", note_of(config_of(tmp_path)))
    assert seen == ["digest", "load"]


def test_a_note_holds_the_code_as_it_was_run(done):
    (note,) = (done / FOLDER).iterdir()
    files = json.loads(note.read_text())["files"]
    (own,) = (file for file in files if file.endswith("laplacian_score.py"))
    files[own] = "0" * 64
    note.write_text(json.dumps(json.loads(note.read_text()) | {"files": files}))
    assert finished(note) is None
