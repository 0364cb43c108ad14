"""Killed workers: a task that had not begun is run again, and no process of anybody else gets a signal."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fits import DATA, PROTOCOL, config, method_of, rows_of, statuses_of, trials_of
from frames import load_all

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.workers import pool, processes
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.scripts.core.conf import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.mark.parametrize(
    "seen, caps",
    [(False, Caps(max_seconds=60)), *(pytest.param(seen, None, marks=pytest.mark.slow) for seen in (True, False))],
)
def test_workers_that_are_killed_while_they_are_free_end_nothing(request, caps, seen):
    trials, count = trials_of(), 2 if request.config.getoption("--slow") else 1
    for _ in range(count):
        processes.start(count)
        for process in processes._idle[:count]:  # the first is taken first
            os.kill(process.pid, signal.SIGKILL)
            while seen and process.lives:  # with `seen`, its end is known before the next task
                time.sleep(0.01)
        assert statuses_of(trials, count, caps=caps) == ["converged"] * 4


def test_a_free_worker_that_was_killed_is_not_taken(monkeypatch):
    dead, other = (processes.Process("builtins.print") for _ in range(2))  # which import nothing
    monkeypatch.setattr(processes, "_idle", [dead, other])
    os.kill(dead.pid, signal.SIGKILL)
    while dead.lives:
        time.sleep(0.01)
    taken = processes.take()
    assert taken is other and taken.lives and not processes._idle
    taken.kill()


def test_cells_of_one_fit_share_one_worker_and_end_none(tmp_path, monkeypatch):
    """Each cell of a sweep asks for two workers before its fits are counted; a new one imports for seconds."""
    while len(processes._idle) > 2:  # of other tests
        processes._idle.pop().kill()
    taken, take = [], processes.take
    monkeypatch.setattr(processes, "take", lambda: taken.append(take()) or taken[-1])
    for study in "abc":
        processes.start(2)
        before = set(processes._idle)
        Cell(config(tmp_path, study, grid=(3,), n_jobs=2, max_seconds=60)).run()
        assert set(processes._idle) == before
    assert len(taken) == 3 and len(set(taken)) == 1


@pytest.mark.slow  # one that dies in its fit is tried below
def test_a_task_whose_worker_dies_before_it_begins_is_run_again(monkeypatch):
    taken, take = [], processes.take

    def take_and_kill():
        process = take()
        taken.append(process)
        if len(taken) <= 1:
            send = process.send

            def killed_after(arguments):
                os.kill(process.pid, signal.SIGSTOP)  # so that the worker cannot begin
                send(arguments)
                os.kill(process.pid, signal.SIGKILL)

            process.send = killed_after
        return process

    monkeypatch.setattr(processes, "take", take_and_kill)
    assert statuses_of(trials_of(), 2) == ["converged"] * 4 and len(taken) > 2


@pytest.mark.slow  # each worker is started twice; one alone is above
def test_a_method_that_ends_every_worker_before_it_begins_fails_in_words(tmp_path, monkeypatch):
    # A module that this process imports, and every worker dies of.
    text = f"import os\nfrom misbehaving import Misbehaving\nos.getpid() == {os.getpid()} or os.abort()"
    (tmp_path / "deadly.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    processes.close()  # workers that were started before do not know the new folder
    monkeypatch.setattr(pool, "MOST_LOST", 1)
    rows = rows_of(expand("s", DATA, method_of() | {"target": "deadly.Misbehaving"}, PROTOCOL)[:2], 2)
    processes.close()
    assert [row["status"] for row in rows] == ["failed"] * 2
    assert all("the worker process died before it began this trial, by SIGABRT" in row["error"] for row in rows)


@pytest.mark.parametrize(
    "what, words",
    [pytest.param("exit_natively", "with exit status 3", marks=pytest.mark.slow), ("segfault", "by SIGSEGV")],
)
def test_a_fit_that_ends_its_worker_fails_and_it_is_said_how(what, words):
    rows = rows_of(trials_of(what=what), 2)
    assert [row["status"] for row in rows] == ["converged", "failed", "converged", "converged"]
    assert f"the worker process died while it ran this trial, {words}" in rows[1]["error"]


def test_a_process_that_is_gone_is_not_signalled(monkeypatch):
    process = processes.Process("builtins.print")
    process._process.terminate()
    process._process.join()
    signalled = []
    monkeypatch.setattr(os, "kill", lambda *what: signalled.append(what))
    assert not process.lives
    process.kill()
    process.kill()
    assert signalled == []


def test_without_handles_of_processes_only_one_that_is_not_reaped_is_signalled(monkeypatch):
    monkeypatch.setattr(processes.family, "handle_of", lambda pid: None)
    process, other = (processes.Process("builtins.print") for _ in range(2))
    assert process.lives
    process.kill()
    assert not process.lives and process.exit_status == -signal.SIGKILL
    os.kill(other.pid, signal.SIGKILL)
    while other.lives:
        time.sleep(0.01)
    monkeypatch.setattr(os, "kill", lambda *what: pytest.fail(f"signalled {what}"))
    other.kill()


def test_a_copy_of_this_process_does_not_end_its_workers():
    processes.start(1)
    pid = os.fork()
    if pid == 0:
        processes.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert all(process.lives for process in processes._idle)


@pytest.mark.slow
def test_nineteen_rounds_of_killing_workers_at_any_moment_end_no_sweep(tmp_path):
    """A killed worker fails nothing but a fit that two of them died of."""
    rng = np.random.default_rng(0)
    words = ["-m", "method=laplacian_score,max_variance,mcfs", "dataset=digits,mnist500", "protocol=smoke"]
    command = [sys.executable, "run.py", *words, "runner.n_jobs=2", "runner.cache=false"]
    stored = []
    for number in range(20):
        results = tmp_path / str(number)
        started = subprocess.Popen(
            [*command, f"results_dir={results}"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if number:  # the first worker is not killed
            killer = threading.Thread(target=kill_a_free_worker, args=(started, rng.uniform(0, 6)))
            killer.start()
        output = started.communicate(timeout=500)[0]
        assert started.returncode == 0, output
        stored.append(load_all(results).scores)
    assert all(scores.equals(stored[0]) for scores in stored)


def kill_a_free_worker(started, wait):
    """Kill the first worker that spends no CPU time for a while, as soon as one is there after some seconds."""
    time.sleep(wait)
    while started.poll() is None:
        workers = processes.family.descendants(started.pid)
        before = {pid: processes.family.cpu_seconds(pid) for pid in workers}
        time.sleep(0.2)
        free = [pid for pid in workers if processes.family.cpu_seconds(pid) == before[pid] and is_worker(pid)]
        if free:
            os.kill(free[0], signal.SIGKILL)
            return


def is_worker(pid):
    return b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()
