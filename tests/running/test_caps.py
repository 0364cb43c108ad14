"""Caps of a fit: it ends with its worker, is stored with its status, and no other fit is disturbed."""

import itertools
import json
import os
import signal
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import forked
import numpy as np
import pytest
from omegaconf import OmegaConf

from metrics.protocol import Protocol
from runners import processes
from runners.cell import Cell
from runners.family import Caps, own_cpu_seconds
from runners.fit import run_trial
from runners.method import ConfigError
from runners.pool import run_all
from runners.settings import read_config, read_runner
from runners.store import load_results
from runners.tasks import Data
from runners.trial import expand

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = Protocol(name="test", sizes=(2, 3), scaling="none", restarts=3, seed=0, nmi="geometric", max_iter=20)
GREEDY = """
import os
import time
from pathlib import Path
import numba
import numpy as np
from methods.core.base import BaseSelector, Solution

@numba.njit
def spin(rounds):
    total = 0.0
    for index in range(rounds):
        total += np.sin(index)
    return total

class Greedy(BaseSelector):
    def __init__(self, n_features_to_select=None, *, gain=1.0, what="fit"):
        self.n_features_to_select, self.gain, self.what = n_features_to_select, gain, what

    def _solve(self, X, rng):
        if self.gain == 2:
            if self.what == "sleep":
                time.sleep(60)
            if self.what == "count":
                while True:
                    pass
            if self.what == "spin":  # holds Python's lock, so that no thread of the process can run
                spin(1)
                if "SPINS" in os.environ:
                    Path(os.environ["SPINS"]).touch()
                spin(10**12)
            if self.what == "allocate":
                kept = [np.ones(2**20) for _ in range(200)]
                time.sleep(60)
        return Solution(self.gain * X.var(axis=0))
"""


@pytest.fixture(scope="module")
def greedy(tmp_path_factory):
    """Return the dotted name of a selector that takes too long, or too much, where gain is 2."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "greedy.py").write_text(textwrap.dedent(GREEDY))
    processes.close()  # workers that other tests have started do not know the new folder
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield "greedy.Greedy"
    processes.close()


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 6)) + 3 * y[:, None] * (np.arange(6) < 3)
    return SimpleNamespace(name="blobs", X=X, y=y, n_classes=3, n_features=6, n_samples=30, sha="ab12")


def trials_of(greedy, data, what):
    method = {"name": "greedy", "target": greedy, "params": {"gain": 1.0, "what": what}}
    return expand("s", data, method | {"grid": {"gain": [1.0, 2.0, 3.0, 4.0]}}, PROTOCOL)


def outcomes(trials, data, n_jobs, caps):
    ended = itertools.chain.from_iterable(run_all(trials, Data(data.X, data.y), n_jobs, caps=caps))
    return {outcome.trial["trial"]: outcome for outcome in ended}


@pytest.mark.parametrize(
    "n_jobs, what, caps, status, words",
    [
        (1, "count", Caps(max_seconds=1), "timeout", "beyond runner.max_seconds=1: ended after "),
        (2, "spin", Caps(max_seconds=2), "timeout", "beyond runner.max_seconds=2: ended after "),
        (2, "allocate", Caps(max_memory=0.75), "out_of_memory", "beyond runner.max_memory=0.75 GB: ended after "),
    ],
)
def test_a_fit_beyond_its_cap_is_ended_and_the_others_give_the_same_scores(
    greedy, data, n_jobs, what, caps, status, words
):
    trials = trials_of(greedy, data, what)
    found = outcomes(trials, data, n_jobs, caps)
    assert [found[trial.key].trial["status"] for trial in trials] == ["converged", status, "converged", "converged"]
    stopped = found[trials[1].key].trial
    assert words in stopped["error"] and f"{stopped['peak_mb']:.0f} MB" in stopped["error"]
    assert 0 < stopped["fit_s"] < 40 and stopped["peak_mb"] > 50
    if status == "timeout":
        assert stopped["fit_s"] > caps.max_seconds
    else:
        assert stopped["peak_mb"] > 0.75 * 1024
    for trial in trials[::2]:
        np.testing.assert_array_equal(found[trial.key].scores, run_trial(trial, data.X, data.y).scores)


def test_the_worker_of_a_capped_fit_is_gone_and_the_other_one_is_the_same(greedy, data, monkeypatch):
    killed = []
    original = processes.Process.kill
    monkeypatch.setattr(processes.Process, "kill", lambda self: killed.append(self.pid) or original(self))
    before = outcomes(trials_of(greedy, data, "fit"), data, 2, Caps(max_seconds=60))
    pids = {process.pid for process in processes._idle}
    found = outcomes(trials_of(greedy, data, "count"), data, 2, Caps(max_seconds=1))
    assert len(before) == len(found) == 4 and len(pids) == 2
    assert len(killed) == 1 and killed[0] in pids
    assert pids - set(killed) <= {process.pid for process in processes._idle}
    assert not Path(f"/proc/{killed[0]}").exists()


def settings(folder, greedy, what="count", **runner):
    method = {"name": "greedy", "target": greedy, "params": {"gain": 1.0, "what": what}}
    method["grid"] = {"gain": [1.0, 2.0]}
    protocol = {"name": "p", "sizes": [5], "scaling": "minmax", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}
    dataset = OmegaConf.load(ROOT / "conf/dataset/digits.yaml")
    runner = {"n_jobs": 1, "redo": False, "cache": False, "points": "grid"} | runner
    parts = {"study": "s", "results_dir": str(folder), "data_dir": None, "runner": runner}
    return read_config(OmegaConf.create({**parts, "method": method, "protocol": protocol, "dataset": dataset}))


def test_a_capped_trial_is_done_until_it_is_named_in_retry(greedy, tmp_path, caplog):
    def run(**runner):
        return [row["status"] for row in Cell(settings(tmp_path, greedy, **runner)).run()]

    assert run(max_seconds=1) == ["timeout"]
    assert load_results(tmp_path).trials["status"].tolist() == ["converged", "timeout"]
    stored = load_results(tmp_path).trials.set_index("status").loc["timeout"]
    assert stored["fit_s"] >= 1 and stored["n_scores"] == 0 and "max_seconds=1" in stored["error"]
    assert run(max_seconds=1) == run(max_seconds=5) == []  # raising a cap does not run trials again that ended at it
    assert run(max_seconds=1.5, retry=["failed"]) == []
    assert run(max_seconds=1.5, retry=["timeout", "failed"]) == ["timeout"]
    assert "max_seconds=1.5" in load_results(tmp_path).trials.set_index("status").loc["timeout", "error"]


@pytest.mark.parametrize(
    "given, words",
    [
        ({"max_seconds": 0}, "runner.max_seconds=0 must be a number of CPU seconds above 0"),
        ({"max_seconds": "1h"}, "runner.max_seconds='1h' must be a number of CPU seconds above 0"),
        ({"max_memory": True}, "runner.max_memory=true must be a number of GB above 0"),
        ({"retry": ["timeouts"]}, "must be a list of failed, timeout, out_of_memory"),
        ({"retry": "timeout,failed"}, "must be a list of failed, timeout, out_of_memory"),
    ],
)
def test_a_cap_that_cannot_be_meant_is_refused(given, words):
    with pytest.raises(ConfigError, match=words):
        read_runner({"n_jobs": 1, "redo": False, "cache": True, "points": "grid"} | given)


PARENT = """
import numpy as np
from types import SimpleNamespace
from metrics.protocol import Protocol
from runners.family import Caps
from runners.tasks import Data
from runners.trial import expand
from runners.pool import run_all
X, y = np.random.default_rng(0).normal(size=(9, 4)), np.arange(9) % 3
data = SimpleNamespace(name="d", X=X, y=y, n_classes=3, sha="")
method = {"name": "greedy", "target": "greedy.Greedy", "params": {"what": "spin"}, "grid": {"gain": [2.0]}}
trials = expand("s", data, method, Protocol(**PROTOCOL))
for _ in run_all(trials, Data(data.X, data.y), 1, caps=Caps(max_seconds=600)):
    pass
"""


def test_a_killed_parent_leaves_no_worker_that_runs_compiled_code(greedy, tmp_path):
    script, spins = tmp_path / "parent.py", tmp_path / "spins"
    script.write_text(PARENT.replace("PROTOCOL", repr(json.loads(json.dumps(vars(PROTOCOL))))))
    own = {"PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ['PYTHONPATH']}", "SPINS": str(spins)}
    started = forked.start([script], ROOT, tmp_path, os.environ | own)
    deadline = time.monotonic() + 120
    while not spins.exists():
        assert time.monotonic() < deadline and started.returncode is None, started.said
        time.sleep(0.02)
    time.sleep(0.5)  # the worker has begun to spin
    workers = children(started.pid)
    started.kill(signal.SIGKILL)
    started.wait()
    deadline = time.monotonic() + 5
    assert workers
    while any(running(pid) for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


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
