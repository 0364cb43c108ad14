"""A study is found by its name: the user's own results first, and from the shipped ones what these lack."""

import shutil
from dataclasses import replace

import forked
import pandas as pd
import pytest
from small_data import TRUTH

from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import study_table
from ufs_bench.scripts.make_table.formats import to_csv, to_markdown
from ufs_bench.scripts.ship import pack

METHODS = "max_variance", "laplacian_score"


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder of results with two finished cells."""
    folder = tmp_path_factory.mktemp("results")
    words = ["protocol=smoke", "runner.n_jobs=1", f"method={','.join(METHODS)}", f"dataset={TRUTH}", "study=mine"]
    run_cells(*words, f"results_dir={folder}")
    return folder


@pytest.fixture
def own(results, shipping, tmp_path):
    """Ship both cells; return a folder of results with the first of them only."""
    pack.ship(results, "mine")
    folder = tmp_path / "own"
    shutil.copytree(results, folder)
    shutil.rmtree(folder / "mine" / TRUTH / METHODS[1])
    return folder


def test_without_own_results_the_shipped_study_is_found(own, tmp_path):
    study = Study.find(tmp_path / "none", "mine")
    assert study.is_shipped and study.title == "mine (shipped)" and set(study.trials["method"]) == set(METHODS)


def test_what_a_shipped_study_lacks_does_not_depend_on_a_folder_of_results():
    """Without a folder 38 cells of JGUFS were complete, and not partial."""
    lacking = Study.open(None, "reference/jgufs").lacking
    assert sum(lacking.values()) and lacking == Study.open(ROOT / "results", "reference/jgufs").lacking


def test_own_cells_come_first_and_the_others_are_shipped_ones_with_a_mark(own, results):
    study = Study.find(own, "mine")
    assert study.taken == {(TRUTH, METHODS[1])} and study.title == "mine (of which 1 cell shipped)"
    pd.testing.assert_frame_equal(
        study.select()[["method", "mean", "std"]], Study.open(results, "mine").select()[["method", "mean", "std"]]
    )
    assert len(study.whole) == len(Study.open(results, "mine").whole)
    assert study.lacking == Study.open(results, "mine").lacking
    table = study_table(study)
    lines = {line.split("|")[1].strip(): line for line in to_markdown(table, notes="short").splitlines() if "|" in line}
    marked = [name for name, line in lines.items() if "°" in line]
    assert len(marked) == 1 and table.rows[METHODS[1], "kmeans"] == marked[0]
    assert "° shipped" in to_markdown(table, notes="short") and "mine (shipped)" in to_csv(table)


@pytest.mark.parametrize(("column", "value"), [("protocol", "{}"), ("data_sha", "0" * 64)])
def test_nothing_is_taken_from_another_protocol_or_from_other_data(own, monkeypatch, column, value):
    opened = Study.open

    def changed(*given):
        study = opened(*given)
        return study if study.is_shipped else replace(study, frame=study.frame.assign(**{column: value}))

    monkeypatch.setattr(Study, "open", changed)
    assert Study.find(own, "mine").taken == frozenset()


def test_the_table_of_a_paper_has_numbers_in_a_fresh_clone(tmp_path):
    words = ["table=dgufs_table2", f"results_dir={tmp_path}"]
    text = forked.printed(["-m", "scripts.make_table", *words], ROOT)
    cells = [line for line in text.splitlines() if line.startswith("| ↳ ours")]
    assert len(cells) == 16 and sum("not run" in line for line in cells) == 8  # LUNG cannot be had
    notes = [line for line in text.splitlines() if line.startswith("* ")]
    assert len(notes) <= 4 and "Study dgufs (shipped)" in notes[-1] and "reference/" not in text
