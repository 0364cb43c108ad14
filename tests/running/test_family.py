"""Processes that a fit forks count as the fit, and end with it; seconds are those in which it computes."""

import itertools
import os
import signal
import subprocess
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import forked
import numpy as np
import pytest

from metrics.protocol import Protocol
from runners import family, processes
from runners.family import Caps
from runners.pool import run_all
from runners.tasks import Data
from runners.trial import expand
from runners.workers import Clock

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = Protocol(name="test", sizes=(2, 3), scaling="none", restarts=3, seed=0, nmi="geometric", max_iter=20)
pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="of other processes Linux alone tells")
FORKING = """
import os
import signal
import subprocess
import sys
import time
import numpy as np
from methods.core.base import BaseSelector, Solution

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def forked(file, do):
    pid = os.fork()
    if pid == 0:
        try:
            do()
        finally:
            os._exit(0)
    with open(file, "a") as pids:
        pids.write(f"{pid}\\n")
    return pid

class Forking(BaseSelector):
    def __init__(self, n_features_to_select=None, *, gain=1.0, what="", file=""):
        self.n_features_to_select, self.gain, self.what, self.file = n_features_to_select, gain, what, file

    def _solve(self, X, rng):
        if self.gain == 2:
            getattr(self, self.what)()
        return Solution(self.gain * X.var(axis=0))

    def stop(self):
        subprocess.Popen(["sh", "-c", f"sleep 3; kill -CONT {os.getpid()}"])
        os.kill(os.getpid(), signal.SIGSTOP)
        work(0.5)

    def compute(self):
        with open(self.file or os.devnull, "w") as file:
            file.write("begun")
        work(1.5)

    def hang(self):
        time.sleep(100)

    def child_computes(self):
        os.waitpid(forked(self.file, lambda: work(100)), 0)

    def children_compute(self):
        for _ in range(40):
            os.waitpid(forked(self.file, lambda: work(0.25)), 0)

    def grandchild_computes(self):
        forked(self.file, lambda: forked(self.file, lambda: work(100)))
        time.sleep(100)

    def child_allocates(self):
        def allocate():
            kept = np.ones(2**27)
            time.sleep(100)
        os.waitpid(forked(self.file, allocate), 0)

    def children_share(self):
        for _ in range(6):
            forked(self.file, lambda: time.sleep(100))
        time.sleep(1)

    def leave(self):
        forked(self.file, lambda: time.sleep(100))

    def leave_program(self):
        left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
        with open(self.file, "a") as pids:
            pids.write(f"{left.pid}\\n")

    def die(self):
        self.leave_program()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def forking(tmp_path_factory):
    """Return the dotted name of a selector that forks where gain is 2."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "forking.py").write_text(textwrap.dedent(FORKING))
    processes.close()  # workers that other tests have started do not know the new folder
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield "forking.Forking"
    processes.close()


def trials_of(target, what, file=""):
    method = {"name": "forking", "target": target, "params": {"gain": 1.0, "what": what, "file": str(file)}}
    return expand("s", DATA, method | {"grid": {"gain": [1.0, 2.0, 3.0]}}, PROTOCOL)


DATA = SimpleNamespace(
    name="blobs", X=np.random.default_rng(0).normal(size=(30, 6)), y=np.arange(30) % 3, n_classes=3, sha="ab12"
)


def run(trials, caps, n_jobs=2):
    """Run three trials; check that the first and the third converge, and return the row of the second."""
    ended = itertools.chain.from_iterable(run_all(trials, Data(DATA.X, DATA.y), n_jobs, caps=caps))
    rows = {outcome.trial["trial"]: outcome.trial for outcome in ended}
    first, second, third = (rows[trial.key] for trial in trials)
    assert (first["status"], third["status"]) == ("converged", "converged"), (first, third)
    return second


def gone(file):
    """Return True once none of the processes in a file is left."""
    pids = [int(word) for word in Path(file).read_text().split()]
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return pids and not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_fit_that_is_stopped_for_longer_than_its_cap_goes_on_afterwards(forking):
    row = run(trials_of(forking, "stop"), Caps(max_seconds=2))
    assert row["status"] == "converged" and row["fit_s"] < 2  # of the processor, which the stop does not spend


STOPPED = """
import sys
from test_family import *
row = run(trials_of("forking.Forking", "compute", sys.argv[1]), Caps(max_seconds=3), n_jobs=1)
print(row["status"], flush=True)
"""


def test_a_run_that_is_stopped_with_its_workers_goes_on_afterwards(forking, tmp_path):
    begun, script = tmp_path / "begun", tmp_path / "stopped.py"
    script.write_text(STOPPED)
    places = os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(Path(__file__).parent), os.environ["PYTHONPATH"]])
    started = forked.start([script, begun], ROOT, tmp_path, os.environ | {"PYTHONPATH": places})
    deadline = time.monotonic() + 200
    while not begun.exists():
        assert time.monotonic() < deadline and started.returncode is None, started.said
        time.sleep(0.02)
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


def test_a_fit_that_only_waits_ends_at_the_limit_by_the_clock(forking, monkeypatch):
    monkeypatch.setattr("runners.family.HANG_S", 2)
    row = run(trials_of(forking, "hang"), Caps(max_seconds=0.2))
    assert row["status"] == "timeout" and row["fit_s"] < 0.2
    assert "it hangs, beyond 10 times runner.max_seconds=0.2 and 2 s by the clock: ended after 0." in row["error"]
    assert Caps(max_seconds=600).clock_limit == 6002 and Caps(max_seconds=600).reached(599, 6001, 9e9) is None


def test_where_the_system_does_not_say_the_clock_counts_in_place_of_cpu_seconds():
    assert Caps(max_seconds=2).reached(float("nan"), 1.9, 0) is None
    assert Caps(max_seconds=2).reached(float("nan"), 2.1, 0).status == "timeout"


@pytest.mark.parametrize("what", ["child_computes", "children_compute", "grandchild_computes"])
def test_what_a_fit_forks_counts_in_its_seconds_and_ends_with_it(forking, tmp_path, what):
    row = run(trials_of(forking, what, tmp_path / "pids"), Caps(max_seconds=1))
    assert row["status"] == "timeout" and "beyond runner.max_seconds=1" in row["error"]
    assert gone(tmp_path / "pids")


def test_what_a_fit_forks_counts_in_its_memory_and_ends_with_it(forking, tmp_path):
    row = run(trials_of(forking, "child_allocates", tmp_path / "pids"), Caps(max_memory=1))
    assert row["status"] == "out_of_memory" and row["peak_mb"] > 1024
    assert gone(tmp_path / "pids")


def test_memory_that_a_fit_shares_with_what_it_forks_counts_once(forking, tmp_path):
    alone = run(trials_of(forking, "compute", tmp_path / "pids"), Caps(max_memory=1))
    row = run(trials_of(forking, "children_share", tmp_path / "pids"), Caps(max_memory=1))
    assert row["status"] == "converged"
    assert alone["peak_mb"] < row["peak_mb"] < 2 * alone["peak_mb"]  # six copies of the interpreter would be more


@pytest.mark.parametrize(("what", "caps"), [("leave", Caps(max_seconds=60)), ("leave_program", Caps())])
def test_what_a_fit_leaves_behind_ends_with_it(forking, tmp_path, what, caps):
    assert run(trials_of(forking, what, tmp_path / "pids"), caps)["status"] == "converged"
    assert gone(tmp_path / "pids")


def test_what_a_fit_has_forked_ends_with_a_worker_that_somebody_kills(forking, tmp_path):
    row = run(trials_of(forking, "die", tmp_path / "pids"), Caps())
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
