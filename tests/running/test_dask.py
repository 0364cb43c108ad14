"""``runner=dask``: cells in flight, and real schedulers and workers on loopback, where the extra is installed."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import forked
import pytest
from frames import load_all

from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.dask import cluster, worker
from ufs_bench.scripts.core.conf import ROOT

SWEEP = ["-m", "method=max_variance,laplacian_score", "dataset=digits,mnist500", "protocol=smoke", "study=s"]
LONG = ["method=ndfs", "dataset=digits", "protocol=dgufs", "study=s"]  # fits of some seconds
START_S = 300  # a machine may be busy
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="no Dask: pip install -e '.[cluster]'"
)


def test_cells_in_flight_have_their_turns_one_at_a_time_and_wait_together():
    inside, order = [], []

    def run(number):
        inside.append(number)
        with cluster.others_turn():
            deadline = time.monotonic() + 10
            while len(inside) < 3 and time.monotonic() < deadline:  # all three wait at once
                time.sleep(0.001)
        for _ in range(100):
            order.append(number)
        return number * 10

    assert cluster.in_flight(run, [1, 2, 3], most=3) == [10, 20, 30]
    assert [order[i] for i in range(0, 300, 100)] == [order[i] for i in range(99, 300, 100)]  # none was cut short


def test_what_a_cell_raises_ends_the_others_and_is_raised():
    ended = []

    def run(number):
        if number == 1:
            raise ZeroDivisionError("a mistake")
        try:
            while True:
                with cluster.others_turn():
                    time.sleep(0.01)
        finally:
            ended.append(number)

    with pytest.raises(ZeroDivisionError, match="a mistake"):
        cluster.in_flight(run, [0, 1, 2], most=3)
    assert set(ended) <= {0, 2}


def test_a_fit_that_is_given_up_while_it_waits_for_memory_takes_none_and_the_next_one_goes_in():
    here = SimpleNamespace(address="", memory_manager=SimpleNamespace(memory_limit=0))
    rooms = [worker.room(None, Caps(), 1.0, here, lambda given_up=given_up: given_up) for given_up in (True, False)]
    with rooms[0] as first, rooms[1] as second:
        assert (first, second) == (False, True)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install -e '.\[cluster\]'"):
        cluster.Cluster(None, 1)


@needs_dask
def test_a_local_cluster_listens_to_this_machine_alone_and_shows_no_page():
    words = (
        "import psutil, sys; from ufs_bench.runners.workers.dask.cluster import connect; cluster = connect(None, 2); "
    )
    words += "print(cluster.n_threads(), cluster.client.submit(sum, [1, 2]).result()); "
    words += "print(*(one.laddr.ip for one in psutil.Process().net_connections('inet') if one.status == 'LISTEN')); "
    words += "print('distributed.dashboard.scheduler' in sys.modules)"
    command = [sys.executable, "-c", words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=START_S, check=True)
    computed, addresses, shown = done.stdout.splitlines()
    assert computed == "2 3" and set(addresses.split()) == {"127.0.0.1"} and shown == "False"


class Processes:
    """A scheduler and workers of a test."""

    def __init__(self, folder):
        self.folder, self.started = folder, []
        self.paths = []  # folders with modules of the test
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", self.address.rpartition(":")[2])

    def start(self, *words, checkout=ROOT):
        """Start ``dask WORDS`` in a checkout."""
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        environment = self.environment(checkout)
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(command, cwd=checkout, env=environment, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def environment(self, *paths):
        """Return the variables of a process of the test, which finds modules in these folders."""
        return {
            **os.environ,
            "TMPDIR": str(self.folder),
            "PYTHONPATH": os.pathsep.join(map(str, [*paths, *self.paths])),
        }

    def worker(self, n_threads=1, checkout=ROOT):
        """Start a worker."""
        words = ["--no-nanny", "--nthreads", str(n_threads), "--local-directory", str(self.folder / "dask")]
        return self.start("worker", self.address, *words, checkout=checkout)

    def run(self, *words):
        """Start run.py on these workers, and return its process."""
        return self.run_here(*words, "runner=dask", f"runner.address={self.address}")

    def run_here(self, *words):
        """Start run.py on this machine, and return its process."""
        command = [sys.executable, "run.py", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=ROOT, env=self.environment(), **pipes)

    def end(self):
        """End all that was started."""
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path):
    processes = Processes(tmp_path)
    yield processes
    processes.end()


def lines(folder):
    """Return the sorted lines of every scores.csv below a folder, by cell."""
    found = sorted(Path(folder).rglob("scores.csv"))
    return {path.parent.relative_to(folder): sorted(path.read_text().splitlines()) for path in found}


def ended(process):
    output, _ = process.communicate(timeout=START_S)
    return process.returncode, output


wait_for = partial(forked.wait_until, seconds=START_S)


def busy(pid):
    """Return True where a child of a process takes CPU time."""
    from ufs_bench.runners.workers.family import cpu_seconds, descendants

    before = {child: cpu_seconds(child) for child in descendants(pid)}
    time.sleep(2)
    return any(cpu_seconds(child) > taken for child, taken in before.items())


@needs_dask
@pytest.mark.slow
def test_a_sweep_on_two_workers_of_which_one_is_killed_gives_the_same_rows(dask, tmp_path):
    plain = subprocess.run(
        [sys.executable, "run.py", *SWEEP, "runner.n_jobs=1", f"results_dir={tmp_path}/plain"],
        cwd=ROOT, capture_output=True, text=True, timeout=START_S,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr
    first = dask.worker()
    started = dask.run(*SWEEP, f"results_dir={tmp_path}/dask", "runner.max_seconds=500")
    wait_for(lambda: lines(tmp_path / "dask"))
    first.kill()
    dask.worker(2)
    status, output = ended(started)
    assert status == 0, output
    assert lines(tmp_path / "dask") == lines(tmp_path / "plain") and len(lines(tmp_path / "dask")) == 4


@needs_dask
@pytest.mark.slow
def test_ctrl_c_ends_the_command_and_the_fits_of_its_workers_and_a_lost_scheduler_is_a_line(dask, tmp_path):
    started_worker = dask.worker(2)
    for kind, expected in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        started = dask.run(*LONG, f"results_dir={tmp_path}/a")
        wait_for(lambda: busy(started_worker.pid))
        started.send_signal(kind)
        status, output = ended(started)
        assert status == expected and "Traceback" not in output, output
        wait_for(lambda: not busy(started_worker.pid))
    started = dask.run(*LONG, f"results_dir={tmp_path}/a")
    wait_for(lambda: busy(started_worker.pid))
    dask.scheduler.kill()
    status, output = ended(started)
    assert status == 1 and output.count("the Dask scheduler is gone") == 1 and "Traceback" not in output, output


@needs_dask
@pytest.mark.slow
def test_that_there_is_no_worker_is_said_and_one_that_comes_later_does_the_work(dask, tmp_path):
    started = dask.run("method=max_variance", "dataset=digits", "protocol=smoke", f"results_dir={tmp_path}/a")
    seen = []
    for line in started.stdout:
        seen.append(line)
        if "no Dask worker is connected" in line:
            dask.worker()
            break
    status, output = ended(started)
    assert status == 0, "".join(seen) + output


@needs_dask
@pytest.mark.slow
def test_a_worker_with_other_code_is_refused_by_its_digest_and_one_with_the_same_goes_on(dask, tmp_path):
    other = tmp_path / "checkout"
    for name in ("conf", "datasets", "methods", "metrics", "runners"):  # with what is compiled, as that takes minutes
        shutil.copytree(ROOT / name, other / name)
    with open(other / "methods/baselines.py", "a") as file:
        file.write("\nOTHER = 1\n")
    wrong = dask.worker(checkout=other)
    words = ["method=max_variance", "dataset=digits", "protocol=smoke", f"results_dir={tmp_path}/a"]
    status, output = ended(dask.run(*words))
    assert status == 1 and "runs other code than this command" in output and "Traceback" not in output, output
    assert [len(rows) for rows in lines(tmp_path / "a").values()] == [1]  # the names of its columns alone
    wrong.kill()
    dask.worker()
    status, output = ended(dask.run(*words))
    assert status == 0 and [len(rows) > 1 for rows in lines(tmp_path / "a").values()] == [True], output


COSTLY = """
import numpy as np

def rank(X, what=0):
    while what == 1:
        pass
    kept = []
    while what == 2:
        kept.append(np.ones(2**20))
    return X.var(axis=0)
"""
CAPS = ["runner.max_seconds=3", "runner.max_memory=1"]


@needs_dask
@pytest.mark.slow
def test_fits_beyond_a_cap_end_with_the_status_and_the_rows_that_they_have_on_one_machine(dask, tmp_path):
    modules, conf = tmp_path / "modules", tmp_path / "conf" / "method"
    modules.mkdir()
    conf.mkdir(parents=True)
    (modules / "costly.py").write_text(COSTLY)
    (conf / "costly.yaml").write_text("{name: costly, target: costly.rank, params: {what: 0}, grid: {what: [0, 1, 2]}}")
    dask.paths.append(str(modules))
    dask.worker(2)
    words = [f"--config-dir={conf.parent}", "method=costly", "dataset=digits", "protocol=smoke", "study=s", *CAPS]
    local = dask.run_here(*words, "runner.n_jobs=2", f"results_dir={tmp_path}/local")
    assert ended(local)[0] == ended(dask.run(*words, f"results_dir={tmp_path}/dask"))[0] == 0
    assert lines(tmp_path / "dask") == lines(tmp_path / "local")
    found, expected = (load_all(tmp_path / name).trials for name in ("dask", "local"))
    assert found["status"].tolist() == expected["status"].tolist() == ["converged", "timeout", "out_of_memory"]
    for trials in (found, expected):
        errors = trials["error"].str.partition(": ended after ")[0].tolist()
        assert errors[1:] == ["beyond runner.max_seconds=3", "beyond runner.max_memory=1 GB"]
        assert 3 < trials["fit_s"][1] < 3.5 and trials["peak_mb"][2] > 1024
