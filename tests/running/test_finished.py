"""Cells in which nothing is left to do: they are known without their data, and never taken for done after a change."""

import pytest
from fits import config

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.store.identity import Identity


@pytest.fixture
def done(tmp_path):
    """Return the results of a cell of two fits that a sweep has run."""
    Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ")
    return tmp_path


def test_a_finished_cell_is_known_without_its_data(done, monkeypatch):
    monkeypatch.setattr(Cell.dataset, "func", lambda cell: pytest.fail("the data were loaded"))
    assert Cell(config(done, grid=(3, 4))).finished() == "laplacian_score on digits: 2 of 2 trials stored"


def test_other_points_and_a_redo_ask_for_something_else(done):
    assert Cell(config(done, grid=(3, 4, 5))).finished() is None
    assert Cell(config(done, grid=(3,))).finished() is None  # a run looks whether the others stay
    assert Cell(config(done, grid=(3, 4), redo=True)).finished() is None


@pytest.mark.parametrize("part", ["code_fit", "code_evaluation", "versions"])
def test_other_code_and_other_packages_are_looked_at(done, monkeypatch, part):
    here = Identity.of(config(done).method.cls)
    monkeypatch.setattr(Identity, "of", classmethod(lambda cls, selector: here._replace(**{part: '{"numpy": "0.1"}'})))
    assert Cell(config(done, grid=(3, 4))).finished() is None


def test_a_cell_without_its_tables_is_looked_at_and_gets_them(done):
    path = done / "s/digits/laplacian_score/trials.csv"
    before = path.read_bytes()
    path.unlink()
    assert Cell(config(done, grid=(3, 4))).finished() is None
    Cell(config(done, grid=(3, 4))).run("cell 1 of 1: ")
    assert path.read_bytes() == before


def test_a_cell_with_a_failure_is_not_finished(tmp_path, monkeypatch):
    def fail(self, X, y=None):
        raise RuntimeError("no")

    monkeypatch.setattr("ufs_bench.methods.laplacian_score.LaplacianScore.fit", fail)
    (row, _) = Cell(config(tmp_path, grid=(3, 4))).run("cell 1 of 1: ")
    assert row["status"] == "failed" and Cell(config(tmp_path, grid=(3, 4), retry=("failed",))).finished() is None
