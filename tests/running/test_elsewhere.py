"""Trials that two studies share are computed once, and cells in which nothing is left to do are known."""

from functools import partial

import pandas as pd
import pytest
from fits import config
from frames import load_results

from ufs_bench.methods import LaplacianScore
from ufs_bench.runners.cli.cells import shipped_line
from ufs_bench.runners.experiment import result
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.store.fits import FILE
from ufs_bench.runners.store.identity import Identity
from ufs_bench.scripts.ship import pack

settings = partial(config, grid=(3, 4), reuse="own")


@pytest.fixture
def fitted(monkeypatch):
    """List the parameter `n_neighbors` of every fit that is done."""
    seen = []
    fit = LaplacianScore.fit
    monkeypatch.setattr(LaplacianScore, "fit", lambda self, X: seen.append(self.n_neighbors) or fit(self, X))
    return seen


def test_what_another_study_has_is_taken_and_nothing_else_is_done_twice(tmp_path, fitted, caplog):
    Cell(settings(tmp_path, "one")).run()
    fitted.clear()
    two = settings(tmp_path, "two", grid=(3, 4, 5))
    plan = Cell(two).plan()
    assert (plan.n_trials, plan.n_pending) == (3, 1)
    assert [trial.params for trial in Cell(two).not_elsewhere(Cell(two).asked)] == [{"n_neighbors": 5}]
    with caplog.at_level("INFO"):
        Cell(two).run()
    assert fitted == [5]
    assert "2 of them taken from the study one, which has the same fits by this code" in caplog.text
    Cell(settings(tmp_path / "alone", "two", grid=(3, 4, 5), reuse="none")).run()
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
        *(
            pytest.param({"protocol": part}, marks=pytest.mark.slow)
            for part in ({"restarts": 3}, {"scaling": "none"}, {"sizes": [5, 6]})
        ),
        {"reuse": "none"},
        {"redo": True},
    ],
)
def test_what_differs_in_anything_is_computed(tmp_path, fitted, change):
    Cell(settings(tmp_path, "one")).run()
    fitted.clear()
    assert Cell(settings(tmp_path, "two", **change)).plan().n_pending == 2
    Cell(settings(tmp_path, "two", **change)).run()
    assert len(fitted) == 2


@pytest.mark.parametrize(
    ("part", "fits", "scored"), [("code_fit", 2, 0), ("versions", 2, 0), ("code_evaluation", 0, 2)]
)
def test_what_is_of_other_code_is_done_again_and_kept_until_it_is(tmp_path, fitted, monkeypatch, part, fits, scored):
    own = settings(tmp_path, "one")
    Cell(own).run()
    before = (own.folder / FILE).read_text()
    fitted.clear()
    of = Identity.of.__func__
    other = '{"numpy": "0.1"}' if part == "versions" else "other"
    monkeypatch.setattr(Identity, "of", classmethod(lambda cls, selector: of(cls, selector)._replace(**{part: other})))
    todo = Cell(own).todo(Cell(own).rows())
    assert (len(todo.missing), len(todo.again), len(todo.rescored)) == (0, fits, scored)
    assert Cell(own).plan().n_pending == fits and "stored" in Cell(own).plan().line()
    with monkeypatch.context() as patch:
        patch.setattr("ufs_bench.runners.workers.pool.run_all", None)
        with pytest.raises(TypeError):
            Cell(own).run()
    assert (own.folder / FILE).read_text() == before
    scores = load_results(tmp_path, "one").scores
    Cell(own).run()
    assert len(fitted) == fits and not Cell(own).todo(Cell(own).rows())
    pd.testing.assert_frame_equal(load_results(tmp_path, "one").scores, scores)
    assert len(load_results(tmp_path, "one").trials) == 2
    assert {getattr(Identity.stored(row), part) for row in Cell(own).rows()} == {other}


def test_learned_labels_are_scored_again_as_they_were(tmp_path, monkeypatch):
    method = {"name": "socfs", "target": "methods.socfs.SOCFS", "params": {"max_iter": 2}, "grid": {}}
    own = settings(tmp_path, "one", method=method)
    Cell(own).run()
    before = load_results(tmp_path, "one")
    assert set(before.scores["clusterer"]) == {"kmeans", "learned"}
    of = Identity.of.__func__
    monkeypatch.setattr(
        Identity, "of", classmethod(lambda cls, selector: of(cls, selector)._replace(code_evaluation="other"))
    )
    monkeypatch.setattr("ufs_bench.methods.socfs.SOCFS.fit", None)
    Cell(settings(tmp_path, "one", method=method, reuse="none")).run()
    after = load_results(tmp_path, "one")
    for name in ("scores", "traces", "facts", "measures"):
        pd.testing.assert_frame_equal(getattr(after, name), getattr(before, name))
    assert set(after.trials["code_evaluation"]) == {"other"}


def test_a_damaged_study_is_no_source_and_stops_no_other(tmp_path, fitted):
    Cell(settings(tmp_path, "one")).run()
    path = settings(tmp_path, "one").folder / FILE
    path.write_bytes(path.read_bytes()[:-40])
    fitted.clear()
    Cell(settings(tmp_path, "two")).run()
    assert len(fitted) >= 1  # whole rows of it may be taken
    Cell(settings(tmp_path / "alone", "two")).run()
    pd.testing.assert_frame_equal(load_results(tmp_path, "two").scores, load_results(tmp_path / "alone", "two").scores)


def shipped_as_one(tmp_path, monkeypatch):
    """Ship two fits as the study one."""
    Cell(settings(tmp_path / "a", "one")).run()
    monkeypatch.setattr(pack.rows, "faults", lambda *_: ())  # the method's parameters are this test's own
    pack.ship(tmp_path / "a", "one")


def test_a_run_computes_what_is_shipped_and_says_that_it_is_the_same(tmp_path, shipping, fitted, monkeypatch, caplog):
    shipped_as_one(tmp_path, monkeypatch)
    fitted.clear()
    plan = Cell(settings(tmp_path / "b", "two", grid=(3, 4, 5))).plan()
    assert (plan.n_pending, plan.n_shipped) == (3, 2)
    assert shipped_line([plan, plan]) == "4 of 6 fits are shipped; runner.reuse=shipped takes them"
    with caplog.at_level("INFO"):
        Cell(settings(tmp_path / "b", "two", grid=(3, 4, 5))).run()
    assert sorted(fitted) == [3, 4, 5]
    assert "2 of 2 fits equal the shipped results byte for byte" in caplog.text
    monkeypatch.setattr(result, "_compared", [(2, 0), (3, 1)])
    assert result.in_all() == "in all 5 of 6 fits equal the shipped results byte for byte"


def test_a_run_says_how_far_its_fits_are_from_the_shipped_ones(tmp_path, shipping, fitted, monkeypatch, caplog):
    shipped_as_one(tmp_path, monkeypatch)
    right = LaplacianScore.fit

    def other(self, X):
        right(self, X)
        if self.n_neighbors == 3:
            self.ranking_ = self.ranking_[::-1].copy()
        return self

    monkeypatch.setattr(LaplacianScore, "fit", other)
    with caplog.at_level("INFO"):
        Cell(settings(tmp_path / "b", "two")).run()
    (line,) = [line for line in caplog.messages if "shipped results" in line]
    assert "1 of 2 fits equal the shipped results byte for byte; the other differs by at most" in line


def test_what_was_taken_is_not_called_equal(tmp_path, shipping, fitted, monkeypatch, caplog):
    shipped_as_one(tmp_path, monkeypatch)
    with caplog.at_level("INFO"):
        Cell(settings(tmp_path / "b", "two", reuse="shipped")).run()
        Cell(settings(tmp_path / "b", "two")).run()
    assert "byte for byte" not in caplog.text


def test_a_shipped_study_is_a_source_if_asked_and_one_of_other_code_is_not(
    tmp_path, shipping, fitted, monkeypatch, caplog
):
    shipped_as_one(tmp_path, monkeypatch)
    before = {path: path.read_bytes() for path in shipping.rglob("*") if path.is_file()}
    fitted.clear()
    with caplog.at_level("INFO"):
        Cell(settings(tmp_path / "b", "two", reuse="shipped")).run()
    assert fitted == [] and "2 of them taken from the shipped study one" in caplog.text
    old = Identity.of(LaplacianScore)
    new = old._replace(code_fit="changed")
    monkeypatch.setattr(Identity, "of", classmethod(lambda cls, selector: new))
    Cell(settings(tmp_path / "c", "two", reuse="shipped")).run()
    assert sorted(fitted) == [3, 4]
    assert {path: path.read_bytes() for path in before} == before


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
