"""Caps of a fit: it ends with its worker, is stored with its status, and no other fit is disturbed."""

import os
import signal
import time
from pathlib import Path

import forked
import numpy as np
import pytest
from fits import DATA, config, method_of, outcomes_of, trials_of
from frames import load_all

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.workers import processes
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.family import own_cpu_seconds
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.scripts.core.conf import ROOT

pytestmark = pytest.mark.usefixtures("new_workers")


def by_key(trials, n_jobs, caps):
    return {outcome.trial["trial"]: outcome for outcome in outcomes_of(trials, n_jobs, caps=caps)}


@pytest.mark.parametrize(
    "n_jobs, what, caps, status, words",
    [
        pytest.param(
            1, "count", Caps(max_seconds=0.3), "timeout", "beyond runner.max_seconds=0.3: ended after ",
            marks=pytest.mark.slow,  # the next test ends such a fit, too
        ),
        pytest.param(
            2, "spin", Caps(max_seconds=2), "timeout", "beyond runner.max_seconds=2: ended after ",
            marks=pytest.mark.slow,
        ),
        (2, "allocate", Caps(max_memory=0.75), "out_of_memory", "beyond runner.max_memory=0.75 GB: ended after "),
    ],
)  # fmt: skip
def test_a_fit_beyond_its_cap_is_ended_and_the_others_give_the_same_scores(
    monkeypatch, n_jobs, what, caps, status, words
):
    """The worker of the fit is gone, and the other one is the same."""
    killed, kill = [], processes.Process.kill
    monkeypatch.setattr(processes.Process, "kill", lambda self: killed.append(self.pid) or kill(self))
    processes.start(n_jobs)
    pids = {process.pid for process in processes._idle[:n_jobs]}
    trials = trials_of(what=what)
    found = by_key(trials, n_jobs, caps)
    assert [found[trial.key].trial["status"] for trial in trials] == ["converged", status, "converged", "converged"]
    assert len(killed) == 1 and killed[0] in pids and len(pids) == n_jobs
    assert pids - set(killed) <= {process.pid for process in processes._idle}
    assert not Path(f"/proc/{killed[0]}").exists()
    stopped = found[trials[1].key].trial
    assert words in stopped["error"] and f"{stopped['peak_mb']:.0f} MB" in stopped["error"]
    assert 0 < stopped["fit_s"] < 40 and stopped["peak_mb"] > 50
    if status == "timeout":
        assert stopped["fit_s"] > caps.max_seconds
    else:
        assert stopped["peak_mb"] > 0.75 * 1024
    for trial in trials[::2]:
        np.testing.assert_array_equal(found[trial.key].scores, run_trial(trial, DATA.X, DATA.y).scores)


def test_a_capped_trial_is_done_until_it_is_named_in_retry(tmp_path):
    def run(**runner):
        method = method_of(grid={"gain": [1.0, 2.0]}, what="count")
        return [row["status"] for row in Cell(config(tmp_path, method=method, **runner)).run()]

    assert run(max_seconds=0.3) == ["timeout"]
    assert load_all(tmp_path).trials["status"].tolist() == ["converged", "timeout"]
    stored = load_all(tmp_path).trials.set_index("status").loc["timeout"]
    assert stored["fit_s"] >= 0.3 and stored["n_scores"] == 0 and "max_seconds=0.3:" in stored["error"]
    assert run(max_seconds=0.3) == run(max_seconds=5) == []  # raising a cap does not run trials again that ended at it
    assert run(max_seconds=0.4, retry=["failed"]) == []
    assert run(max_seconds=0.4, retry=["timeout", "failed"]) == ["timeout"]
    assert "max_seconds=0.4:" in load_all(tmp_path).trials.set_index("status").loc["timeout", "error"]


PARENT = """
import sys
from fits import outcomes_of, trials_of
from ufs_bench.runners.workers.caps import Caps
outcomes_of(trials_of(grid={"gain": [2.0]}, what="spin", file=sys.argv[1]), 1, caps=Caps(max_seconds=600))
"""


def test_a_killed_parent_leaves_no_worker_that_runs_compiled_code(tmp_path):
    script, spins = tmp_path / "parent.py", tmp_path / "spins"
    script.write_text(PARENT)
    places = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    started = forked.start([script, spins], ROOT, tmp_path, os.environ | places)
    forked.wait_until(spins.exists, started=started)
    time.sleep(0.5)  # the worker has begun to spin
    workers = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    started.kill(signal.SIGKILL)
    started.wait()
    assert workers
    forked.wait_until(lambda: not any(map(forked.runs, workers)), 5)


def test_seconds_of_a_fit_are_those_of_the_processor_with_what_it_forked(tmp_path):
    def spend(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    before = own_cpu_seconds()
    time.sleep(0.3)
    assert own_cpu_seconds() - before < 0.2
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        spend(0.3)
        os._exit(0)
    assert own_cpu_seconds() - before >= 0.3
