"""Worker processes: fits that end them, workers that are killed, and methods from outside the suite."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import forked
import pytest
from fits import DATA, PROTOCOL, config, method_of, outcomes_of, rows_of, trials_of

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.workers import pool
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.scripts.core.conf import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="of other processes Linux alone tells")


def descendants(pid):
    """List the processes below one, whether they run or wait to be reaped."""
    found, left = [], [pid]
    while left:
        children = []
        with suppress(OSError):  # the process has ended; it may do so while its folder is read
            for thread in list(Path(f"/proc/{left.pop()}/task").iterdir()):
                children += map(int, (thread / "children").read_text().split())
        found += children
        left += children
    return found


def cpu_seconds(pid):
    """Return the CPU seconds of a process; 0 where it has ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def workers():
    """Return the numbers of the workers of this process."""
    return {pid for pid in descendants(os.getpid()) if is_worker(pid)}


def is_worker(pid):
    try:
        return b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_workers_that_are_killed_while_they_are_free_end_nothing():
    trials = trials_of()
    rows_of(trials, 2)
    for pid in workers():
        os.kill(pid, signal.SIGKILL)
    assert [row["status"] for row in rows_of(trials, 2)] == ["converged"] * 4


def test_a_worker_that_is_killed_during_a_fit_fails_nothing():
    killed = threading.Event()

    def kill():
        while not killed.wait(0.05):
            if busy := [pid for pid in workers() if cpu_seconds(pid) > 1]:
                os.kill(busy[0], signal.SIGKILL)
                return

    killer = threading.Thread(target=kill)
    killer.start()
    rows = rows_of(trials_of(what="take_longer"), 2)
    killed.set()
    killer.join()
    assert [row["status"] for row in rows] == ["converged"] * 4


def test_seven_fits_that_misbehave_end_each_in_its_own_way_and_the_others_are_unharmed():
    trials = trials_of("Various", {"gain": list(map(float, range(1, 11)))})
    outcomes = outcomes_of(trials, 2, caps=Caps(max_seconds=1, max_memory=1))
    found = {outcome.trial["trial"]: outcome for outcome in outcomes}
    rows = [found[trial.key].trial for trial in trials]
    assert len(outcomes) == len(trials)
    ends = ["failed", "failed", "timeout", "timeout", "out_of_memory", "failed", "failed"]
    assert [row["status"] for row in rows] == ["converged", *ends, *["converged"] * 2]
    words = ["by SIGSEGV", "with exit status 3", "beyond runner.max_seconds=1", "beyond runner.max_seconds=1",
             "beyond runner.max_memory=1 GB", "RuntimeError: two, is not",
             "RuntimeError: the worker process died while it ran this trial, by SIGKILL (out of memory?)"]  # fmt: skip
    assert all(word in row["error"] for word, row in zip(words, rows[1:8], strict=True))
    for trial in (trials[0], *trials[8:]):
        assert found[trial.key].trial["sets"] == run_trial(trial, DATA.X, DATA.y).trial["sets"]


@pytest.mark.slow  # one that dies in its fit is tried above
def test_a_method_whose_import_ends_every_worker_fails_in_words(tmp_path, monkeypatch):
    text = f"import os\nfrom misbehaving import Misbehaving\nos.getpid() == {os.getpid()} or os.abort()"
    (tmp_path / "deadly.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    rows = rows_of(expand("s", DATA, method_of() | {"target": "deadly.Misbehaving"}, PROTOCOL)[:2], 2)
    assert [row["status"] for row in rows] == ["failed"] * 2
    assert all("the worker process died while it ran this trial, by SIGABRT" in row["error"] for row in rows)


def test_cells_of_the_suite_s_methods_share_their_workers(tmp_path):
    found = []
    for study in "ab":
        Cell(config(tmp_path, study, grid=(3, 4), n_jobs=2)).run()
        found.append(workers())
    assert len(found[0]) == 2 and found[0] == found[1]


def test_the_data_of_the_next_cell_are_not_those_of_the_last():
    method = {"name": "max_variance", "target": "methods.baselines.MaxVariance", "params": {}, "grid": {}}
    trial = expand("s", DATA, method, PROTOCOL)[0]
    for X in (DATA.X, DATA.X[:, ::-1] ** 2):
        (found,) = outcomes_of([trial], 2, Data(X, DATA.y))
        assert found.trial["sets"] == run_trial(trial, X, DATA.y).trial["sets"]


PATCHING = """
import numpy as np

def patched(original):
    return lambda *args, **kwargs: original(*args, **kwargs) * 0 + 1

for name in ("var", "mean"):
    setattr(np, name, patched(getattr(np, name)))

def one(X):
    return X.sum(axis=0)
"""


MAX_VARIANCE, LAPLACIAN = "methods.baselines.MaxVariance", "methods.laplacian_score.LaplacianScore"


def scores_of(targets, n_jobs, folder):
    """Return the scores of methods on digits, by their names, of a sweep in this order."""
    words = ["dataset=digits", "protocol=smoke", "protocol.scaling=zscore", f"runner.n_jobs={n_jobs}"]
    given = f"method.target={','.join(targets)}"
    forked.printed([ROOT / "run.py", "-m", *words, given, f"results_dir={'_'.join(targets)}"], folder)
    paths = (folder / "_".join(targets)).glob("smoke/digits/*/scores.csv")
    return {path.parent.name: path.read_bytes() for path in paths}


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_module_that_replaces_functions_of_numpy_changes_no_other_method(tmp_path, n_jobs):
    """The data are scaled by the mean: also what scales and evaluates must be numpy's own."""
    (tmp_path / "patching.py").write_text(PATCHING)
    alone = scores_of([MAX_VARIANCE, LAPLACIAN], n_jobs, tmp_path)
    found = scores_of([MAX_VARIANCE, "patching.one", LAPLACIAN], n_jobs, tmp_path)
    assert len(alone) == 2 and len(found) == 3
    assert {name: found[name] for name in alone} == alone


ORPHANS = """
import sys
from fits import outcomes_of, trials_of
from ufs_bench.runners.workers.caps import Caps
outcomes_of(trials_of(grid={"gain": [2.0]}, what="spin", file=sys.argv[1]), 2, caps=Caps(max_seconds=600))
"""


def test_a_killed_parent_leaves_no_worker_that_runs_compiled_code_and_no_file(tmp_path):
    script, spins, temporary = tmp_path / "parent.py", tmp_path / "spins", tmp_path / "tmp"
    script.write_text(ORPHANS)
    temporary.mkdir()
    places = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", "TMPDIR": str(temporary)}
    started = subprocess.Popen([sys.executable, script, spins], cwd=ROOT, env=os.environ | places)
    forked.wait_until(spins.exists, 100, started)
    time.sleep(0.5)  # the worker has begun to spin
    left = [pid for pid in descendants(started.pid) if is_worker(pid)]
    started.kill()
    started.wait()
    assert left
    forked.wait_until(lambda: not any(map(forked.runs, left)), 5)
    assert not list(temporary.iterdir())


def test_an_interrupted_run_leaves_no_worker():
    outcomes = pool.run_all(trials_of(what="hang"), Data(DATA.X, DATA.y), 2)
    next(outcomes)
    assert workers()
    outcomes.close()  # as an error or Ctrl-C does
    assert not workers()
