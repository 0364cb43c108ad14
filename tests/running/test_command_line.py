"""The command line as a user meets it: each test starts a process."""

import os
import signal
from pathlib import Path
from typing import NamedTuple

import forked
import pytest
from frames import load_all
from small_data import TRUTH

from ufs_bench.runners.code import ROOT
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.sweep import cells_of_words
from ufs_bench.runners.store.fits import FILE

CELL = ["method=random_selection", f"dataset={TRUTH}", "protocol=smoke", "runner.n_jobs=1"]


def run(*arguments, cwd=ROOT, check=True, environment=None):
    done = forked.run([str(ROOT / "run.py"), *arguments], cwd, environment)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def start(folder, *arguments):
    return forked.start([ROOT / "run.py", *arguments], ROOT, folder)


def sorted_scores(folder):
    return sorted((folder / "scores.csv").read_bytes().splitlines())


class First(NamedTuple):
    """A run from another folder."""

    elsewhere: Path
    temporary: Path
    results: Path
    cell: Path
    printed: str
    scores: bytes


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Run the cell for the first time."""
    elsewhere, temporary, results = map(tmp_path_factory.mktemp, ("elsewhere", "temporary", "results"))
    done = run(*CELL, f"results_dir={results}", cwd=elsewhere, environment={**os.environ, "TMPDIR": str(temporary)})
    cell = results / f"smoke/{TRUTH}/random_selection"
    return First(elsewhere, temporary, results, cell, done.stdout, (cell / "scores.csv").read_bytes())


def test_a_run_from_any_folder_writes_its_cell_and_nothing_else(first):
    assert {"trials.csv", "scores.csv", "traces.csv", "run.log"} <= set(os.listdir(first.cell))
    assert not os.listdir(first.elsewhere)
    assert str(first.cell) in first.printed


def test_a_second_run_has_nothing_to_do_and_redo_gives_the_same_bytes(first):
    assert "1 of them stored already, 0 to do" in run(*CELL, f"results_dir={first.results}").stdout
    path = first.cell / "scores.csv"
    before = path.stat().st_mtime_ns
    run(*CELL, f"results_dir={first.results}", "runner.redo=true")
    assert path.read_bytes() == first.scores and path.stat().st_mtime_ns != before


def test_a_study_keeps_to_its_protocol(first):
    done = run(*CELL, f"results_dir={first.results}", "protocol.restarts=3", check=False)
    assert done.returncode == 1 and "restarts: stored 2, asked 3" in done.stdout
    assert (first.cell / "scores.csv").read_bytes() == first.scores


@pytest.mark.parametrize("more", [[], ["runner.plan=true"]])
def test_a_refused_command_removes_no_folder_that_was_there(tmp_path, more):
    cell = tmp_path / "smoke/digits/max_variance"
    cell.mkdir(parents=True)
    (cell / "run.log").write_text("what was said\n")
    words = ["method=max_variance", "dataset=digits", "protocol=smoke", "protocol.sizes=[70]", "runner.n_jobs=1", *more]
    assert run(*words, f"results_dir={tmp_path}", check=False).returncode == 1
    assert (cell / "run.log").read_text().startswith("what was said\n")


def test_parameters_that_the_grid_tries_may_be_the_defaults():
    words = ["method=socfs", f"dataset={TRUTH}", "protocol=smoke", "runner.points=default"]
    words += ["method.params.lambda_=1.0", "method.grid.lambda_=[1.0]", "method.params.lambda2=1.0"]
    (settings,) = cells_of_words(*words)
    (trial,) = Cell(settings).asked
    assert trial.params["lambda_"] == 1.0


def test_an_experiment_file_decides_and_the_command_line_decides_over_it():
    cells = cells_of_words("experiment=smoke", "method=max_variance,first_index", "runner.max_seconds=null")
    assert [str(cell) for cell in cells] == ["max_variance on mnist500", "first_index on mnist500"]
    assert {(cell.study, cell.runner.caps.max_seconds) for cell in cells} == {("smoke", None)}


def test_a_sweep_that_is_run_again_takes_a_line_a_cell_and_changes_nothing_in_it(tmp_path):
    sweep = ["-m", "method=random_selection,all_features", *CELL[1:], f"results_dir={tmp_path}", "runner.n_jobs=1"]
    first = run(*sweep).stdout
    assert first.startswith(f"protocol smoke, study smoke\ncell 1 of 2: random_selection on {TRUTH} (300 x 100")
    table = first.split("\n## Clustering accuracy (ACC); study smoke, protocol smoke\n")[1]
    assert [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")] == [
        "Method", "Random (one draw per seed)", "All Features"
    ]  # fmt: skip
    assert table.endswith(f"python -m scripts.make_table study=smoke results_dir={tmp_path}\n")
    cells = tmp_path / f"smoke/{TRUTH}"
    before = {path: path.stat().st_mtime_ns for path in cells.rglob("*")}
    assert "run.log" in {path.name for path in before}
    lines = run(*sweep).stdout.splitlines()
    assert lines == [
        f"cell 1 of 2: random_selection on {TRUTH}: 1 of 1 trial stored",
        f"cell 2 of 2: all_features on {TRUTH}: 1 of 1 trial stored",
    ]
    assert {path: path.stat().st_mtime_ns for path in cells.rglob("*")} == before
    again = run("-m", *CELL, f"results_dir={tmp_path}", "runner.redo=true").stdout
    assert again.startswith(f"protocol smoke, study smoke\ncell 1 of 1: random_selection on {TRUTH} (300 x 100")


def test_a_sweep_goes_on_after_a_cell_that_cannot_run(tmp_path):
    sweep = ["-m", "method=max_variance", f"dataset=digits,{TRUTH}", "protocol=smoke", "protocol.sizes=[70]"]
    done = run(*sweep, "runner.n_jobs=1", f"results_dir={tmp_path}", check=False)
    assert done.returncode == 1
    assert "1 of 2 cells have a problem:\nmax_variance on digits: protocol.sizes=[70] are all above" in done.stderr
    assert set(load_all(tmp_path).trials["dataset"]) == {TRUTH}


LONG = ["method=mcfs", "dataset=mnist500", "protocol=smoke", "+method.grid.ridge=[0.0,0.01,0.1,1.0,2.0,3.0]"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return the scores of an undisturbed run."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run(*LONG, f"results_dir={folder}", "runner.n_jobs=1")
    return sorted_scores(folder / "smoke/mnist500/mcfs")


# Of the signals that a command answers, test_boundary has the words and the status.
ANSWERED = [pytest.param(how, marks=pytest.mark.slow) for how in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize("how", [*ANSWERED, signal.SIGKILL])
def test_after_a_stop_at_any_moment_the_rerun_gives_the_bytes_of_an_undisturbed_run(tmp_path, undisturbed, how):
    cell = tmp_path / "cut/smoke/mnist500/mcfs"
    stored = cell / FILE
    jobs = ["runner.n_jobs=1"] if how == signal.SIGKILL else []  # that no worker outlives it, test_caps has
    started = start(tmp_path, *LONG, f"results_dir={tmp_path}/cut", *jobs)
    forked.wait_until(lambda: stored.exists() and len(stored.read_bytes().splitlines()) > 1, started=started)
    if how == signal.SIGINT:
        os.killpg(started.pid, how)  # as a terminal does: the workers get the signal, too
    else:
        started.kill(how)
    status, output = started.wait(60)
    assert status != 0
    if how == signal.SIGINT:
        assert "interrupted: finished trials are stored" in output and "Traceback" not in output
    run(*LONG, f"results_dir={tmp_path}/cut", "runner.n_jobs=1")
    assert sorted_scores(cell) == undisturbed


def test_two_runs_of_one_cell_at_once_share_the_work_and_spoil_nothing(tmp_path, undisturbed):
    both = [start(tmp_path, *LONG, f"results_dir={tmp_path}/twice", "runner.n_jobs=1") for _ in range(2)]
    ends = [started.wait() for started in both]
    assert [status for status, _ in ends] == [0, 0], ends
    assert sorted_scores(tmp_path / "twice/smoke/mnist500/mcfs") == undisturbed
