"""Processes that a fit forks count as the fit, and end with it; seconds are those in which it computes."""

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path

import forked
import pytest
from fits import rows_of, trials_of

from ufs_bench.runners.workers import family
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.watched import Clock
from ufs_bench.scripts.core.conf import ROOT

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="of other processes Linux alone tells"),
    pytest.mark.usefixtures("new_workers"),
]


def run(what, caps, file=""):
    """Run four trials; check that all but the last of them converge, and return the row of the last.

    It is the one that misbehaves, so that no new worker is started for the others; test_caps has some after it.
    """
    first, second, *others = trials_of(what=what, file=str(file))
    *rows, last = rows_of([first, *others, second], 1 if caps else 2, caps=caps)  # one without caps has no worker
    assert {row["status"] for row in rows} == {"converged"}, rows
    return last


def gone(file):
    """Return True once none of the processes in a file is left."""
    pids = Path(file).read_text().split()
    forked.wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 5)
    return bool(pids)


@pytest.mark.slow  # the clock that leaves it out is tried below
def test_a_fit_that_is_stopped_for_longer_than_its_cap_goes_on_afterwards():
    row = run("stop", Caps(max_seconds=2))
    assert row["status"] == "converged" and row["fit_s"] < 2  # of the processor, which the stop does not spend


STOPPED = """
import sys
from test_family import *
row = run("compute", Caps(max_seconds=3), sys.argv[1])
print(row["status"], flush=True)
"""


@pytest.mark.slow  # what is stopped by itself, and the clock that leaves it out, are tried above and below
def test_a_run_that_is_stopped_with_its_workers_goes_on_afterwards(tmp_path):
    begun, script = tmp_path / "begun", tmp_path / "stopped.py"
    script.write_text(STOPPED)
    places = os.pathsep.join(map(str, [ROOT, ROOT / "tests", Path(__file__).parent]))
    started = forked.start([script, begun], ROOT, tmp_path, os.environ | {"PYTHONPATH": places})
    forked.wait_until(begun.exists, 200, started)
    os.killpg(started.pid, signal.SIGSTOP)
    time.sleep(4)
    os.killpg(started.pid, signal.SIGCONT)
    assert started.wait(200) == (0, "converged\n")


def test_the_clock_of_a_fit_leaves_out_what_it_was_stopped(monkeypatch):
    now = itertools.chain([0.5, 1.0, 30.0, 40.0, 40.5])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    clock = Clock(0.0)
    for stopped in (False, False, True, False, False):  # in the fourth step the observer was stopped, too
        clock.look(stopped)
    assert clock.seconds == 0.5 + 0.5 + 1.0 + 0.5


def test_a_fit_that_only_waits_ends_at_the_limit_by_the_clock(monkeypatch):
    monkeypatch.setattr("ufs_bench.runners.workers.caps.HANG_S", 2)
    row = run("hang", Caps(max_seconds=0.2))
    assert row["status"] == "timeout" and row["fit_s"] < 0.2
    assert "it hangs, beyond 10 times runner.max_seconds=0.2 and 2 s by the clock: ended after 0." in row["error"]
    assert Caps(max_seconds=600).clock_limit == 6002 and Caps(max_seconds=600).reached(599, 6001, 9e9) is None


def test_where_the_system_does_not_say_the_clock_counts_in_place_of_cpu_seconds():
    assert Caps(max_seconds=2).reached(float("nan"), 1.9, 0) is None
    assert Caps(max_seconds=2).reached(float("nan"), 2.1, 0).status == "timeout"


@pytest.mark.parametrize(
    "what",
    [
        "grandchild_computes",
        *(pytest.param(what, marks=pytest.mark.slow) for what in ("child_computes", "children_compute")),
    ],
)
def test_what_a_fit_forks_counts_in_its_seconds_and_ends_with_it(tmp_path, what):
    row = run(what, Caps(max_seconds=0.5), tmp_path / "pids")
    assert row["status"] == "timeout" and "beyond runner.max_seconds=0.5" in row["error"]
    assert gone(tmp_path / "pids")


def test_what_a_fit_forks_counts_in_its_memory_and_ends_with_it(tmp_path):
    row = run("child_allocates", Caps(max_memory=1), tmp_path / "pids")
    assert row["status"] == "out_of_memory" and row["peak_mb"] > 1024
    assert gone(tmp_path / "pids")


@pytest.mark.slow  # what is not shared is counted above
def test_memory_that_a_fit_shares_with_what_it_forks_counts_once(tmp_path):
    alone = run("", Caps(max_memory=1))
    row = run("children_share", Caps(max_memory=1), tmp_path / "pids")
    assert row["status"] == "converged"
    assert alone["peak_mb"] < row["peak_mb"] < 2 * alone["peak_mb"]  # six copies of the interpreter would be more


@pytest.mark.parametrize(
    ("what", "caps"),
    [("leave", Caps(max_seconds=60)), pytest.param("leave_program", Caps(), marks=pytest.mark.slow)],
)
def test_what_a_fit_leaves_behind_ends_with_it(tmp_path, what, caps):
    assert run(what, caps, tmp_path / "pids")["status"] == "converged"
    assert gone(tmp_path / "pids")


@pytest.mark.slow  # what a fit leaves behind ends with it, above
def test_what_a_fit_has_forked_ends_with_a_worker_that_somebody_kills(tmp_path):
    row = run("leave_program_and_die", Caps(), tmp_path / "pids")
    assert row["status"] == "failed"
    assert "the worker process died while it ran this trial, by SIGKILL (out of memory?)" in row["error"]
    assert gone(tmp_path / "pids")


def test_no_process_is_ended_that_does_not_carry_the_mark():
    ours, other = (
        subprocess.Popen(["sleep", "100"], env={**os.environ, family.MARK: mark}) for mark in ("mark-1", "mark-11")
    )
    try:
        family.end_marked("mark-1")
        assert ours.wait(5) == -signal.SIGKILL and other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_process_that_ends_while_it_is_looked_at_has_no_children(monkeypatch):
    def gone(path):
        raise FileNotFoundError(path)

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, gone)
    assert family.descendants(os.getpid()) == [] and family.cpu_seconds(os.getpid()) > 0
