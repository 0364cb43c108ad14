"""Studies that take seconds to read or to make: the largest shipped one, the page of a small one, one handed in."""

import os
import runpy
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from frames import SMALL, frames, store
from small_data import TRUTH

from ufs_bench.runners.store import reference
from ufs_bench.scripts.compare import compare_studies, open_studies, shipped_names
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_report import make_report
from ufs_bench.scripts.ship import Finding, pack, scores
from ufs_bench.scripts.ship.check import check

METHODS = ("max_variance", "dgufs", "mcfs", "ndfs")  # ndfs learns labels of ten clusters, dgufs here of one


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Return a function that returns a folder of this name, which the first of all workers fills by `fill(folder)`."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made(name, fill):
        folder, filled = base / f"of_all_workers_{name}", base / f"of_all_workers_{name}.filled"
        with FileLock(base / f"of_all_workers_{name}.lock"):
            if not filled.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                filled.touch()
        return folder

    return made


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs ``python -m scripts.NAME`` in this process, which saves a second."""

    def run(name, *words):
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        status = 0
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "'scripts.* found in sys.modules", RuntimeWarning)  # by other tests
            try:
                runpy.run_module(f"scripts.{name}", run_name="__main__", alter_sys=True)
            except SystemExit as end:
                status = end.code or 0
        return subprocess.CompletedProcess(words, status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def fair():
    """Return the largest shipped study, which keeps what is computed of it."""
    return Study.open(ROOT / "results", "reference/fair")


def with_few_flips(patch):
    """Let p be of a hundredth of the flips, where its third digit does not matter: .05 is off by .002."""
    from ufs_bench.scripts.findings import plan

    patch.setattr(plan, "FLIPS", plan.FLIPS // 100)
    patch.setattr(plan, "FLIPS_WITHOUT", plan.FLIPS_WITHOUT // 10)


few_flips = pytest.fixture(lambda monkeypatch: with_few_flips(monkeypatch))


@pytest.fixture
def without_power(monkeypatch):
    """Leave out the power of lines of evidence, most of their seconds, on which neither p nor a verdict rests."""
    from ufs_bench.scripts.compare import evidence

    monkeypatch.setattr(evidence, "passes", lambda *given: np.zeros((len(evidence.LINES), 1), dtype=bool))


@pytest.fixture(scope="session")
def comparison(once):
    """Return the shipped studies of the papers, and their comparison with what is printed."""
    studies = open_studies(ROOT / "results", shipped_names())
    folder = once("comparison", lambda folder: compare_studies(studies).to_pickle(folder / "rows"))
    return studies, pd.read_pickle(folder / "rows")


@pytest.fixture(scope="session")
def html(once):
    """Return the text of the report of `frames.SMALL`."""

    def report(folder):
        store(frames(SMALL), folder)
        text = make_report(Study.open(folder, "dgufs", folder / "none"))
        (folder / "report.html").write_text(text, encoding="utf-8")

    return (once("report", report) / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def leaderboard(fair):
    """Return the numbers of the leaderboard, which take seconds to compute."""
    from ufs_bench.scripts.docs.board import Board

    found = Board(fair)
    with pytest.MonkeyPatch.context() as patch:
        with_few_flips(patch)
        assert found.rows
    return found


@pytest.fixture(scope="session")
def handed_in(once, run_cells, tmp_path_factory):
    """Return a shipped study of small made-up data, as a folder to copy."""

    def run(folder):
        words = [f"method={','.join(METHODS)}", f"dataset={TRUTH}", "protocol=smoke", "study=mine"]
        words += ["runner.points=2", f"results_dir={folder}", "runner.n_jobs=1", "protocol.restarts=3"]
        run_cells(*words, "+protocol.seeds=2")
        with pytest.MonkeyPatch.context() as patch:
            for module in (reference, pack):
                patch.setattr(module, "SHIPPED", folder / "shipped")
            pack.ship(folder, "mine")

    folder = shutil.copytree(once("handed_in", run), tmp_path_factory.mktemp("handed_in") / "results")
    return folder / "shipped" / "mine"


@pytest.fixture
def study(handed_in, shipping):
    """Return the folder of the study, a copy for one test."""
    shutil.copytree(handed_in.parent, shipping)
    return shipping / "mine"


@pytest.fixture
def verify():
    """Return a function that checks the rows and the scores of the study."""

    def verified(methods=None):
        frame, found = check("mine", reference.files_of("mine", methods))
        wrong = scores.faults(frame, None, say=lambda line: None)
        return found + [Finding(kind, "mine", method, dataset, *rest) for kind, dataset, method, *rest in wrong]

    return verified
