"""Cells in which nothing is left to do: known without their data, and never taken for done when something changed."""

import pytest
from test_plan import settings

from runners.cell import run_cell
from runners.finished import finished

WORDS = ["dataset=digits", "method=laplacian_score", "runner.n_jobs=2"]


@pytest.fixture
def done(tmp_path):
    """The results of a cell of two fits that a sweep has run."""
    run_cell(settings(tmp_path, grid=(3, 4), n_jobs=1), "cell 1 of 1: ", WORDS)
    return tmp_path


def test_a_finished_cell_is_told_from_its_note(done):
    assert finished(done, WORDS) == ("laplacian_score on digits", "laplacian_score on digits: 2 of 2 trials stored")
    other_order = ["runner.max_seconds=3", *reversed(WORDS[:2])]  # which trials there are depends on none of it
    assert finished(done, other_order) is not None


@pytest.mark.parametrize("word", ["method.grid.n_neighbors=[3,4,5]", "runner.redo=true", "runner.retry=[timeout]"])
def test_other_words_ask_for_something_else(done, word):
    assert finished(done, [*WORDS, word]) is None


@pytest.mark.parametrize("name", ["trials", "scores", "traces", "facts", "measures"])
def test_a_changed_or_missing_file_of_results_is_looked_at(done, name):
    path = done / "s/digits/laplacian_score" / f"{name}.csv"
    path.write_bytes(path.read_bytes() + b" ")
    assert finished(done, WORDS) is None
    path.unlink()
    assert finished(done, WORDS) is None


def test_other_data_and_half_a_note_are_looked_at(done, monkeypatch):
    (note,) = (done / ".finished").iterdir()
    monkeypatch.setenv("UFS_DATA_DIR", str(done))
    assert finished(done, WORDS) is None
    monkeypatch.undo()
    assert finished(done, WORDS) is not None
    note.write_text(note.read_text()[:-9])
    assert finished(done, WORDS) is None


def test_a_cell_with_a_failure_leaves_no_note(tmp_path, monkeypatch):
    def fail(self, X, y=None):
        raise RuntimeError("no")

    monkeypatch.setattr("methods.laplacian_score.LaplacianScore.fit", fail)
    (row, _) = run_cell(settings(tmp_path, grid=(3, 4), n_jobs=1), "cell 1 of 1: ", WORDS)
    assert row["status"] == "failed" and finished(tmp_path, WORDS) is None
