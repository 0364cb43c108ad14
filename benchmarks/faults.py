"""Disturbs runs at random moments under every runner, and counts how often the rows are those of an undisturbed one.

    python -m benchmarks.faults --times 10                  every fault under every runner, so often
    python -m benchmarks.faults --times 200 --minutes 60    as many of them as begin within so many minutes
    python -m benchmarks.faults --times 5 --runners joblib two --faults parent worker
    python -m benchmarks.faults --times 200 --log faults.log    again goes on after the rounds that the log has

A round is a sweep of two cells with four fits each, in a folder and with a TMPDIR of its own.  It is disturbed once,
then the same command is run to its end.  Then all rows must be those of an undisturbed sweep, and its files the only
ones; no lock may be held, no file be left in TMPDIR, and no process run that had this TMPDIR, nor one of a Dask worker
that is gone.  The n-th round of a seed is always disturbed alike.  "disk" lets no file grow beyond a random size, as a
full disk would; "one" and "both" start four commands at once, on one cell and on both.  "worker" kills a process that
fits, under Dask perhaps the Dask worker itself, for which another one starts.
"""

import argparse
import fcntl
import itertools
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

from runners.boundary import guard
from runners.code import ROOT
from runners.family import cpu_seconds, descendants
from scripts.core.text import pipes

RUNNERS = ("joblib", "two", "dask")
SIGNALS = {"parent": signal.SIGKILL, "group": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}
FAULTS = (*SIGNALS, "worker", "disk", "cache", "one", "both")
ONE = ["-m", "method=laplacian_score", "+method.grid.n_neighbors=[3,4,5,6]", "protocol=smoke", "study=s"]
BOTH = "digits,mnist500"
LEAVE_S = 60  # in which all processes of a command must be gone
WAIT_S = 900


class Round:
    """One sweep, its folder, its TMPDIR, and what was started for it."""

    def __init__(self, folder, runner, cluster):
        self.results, self.temporary = folder / "results", folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.cluster = cluster if runner == "dask" else None
        how = ["runner=dask", f"runner.address={cluster.address}"] if self.cluster else []
        self.words = ["run.py", *ONE, f"results_dir={self.results}", "runner.n_jobs=2", *how]
        self.count = 2 if runner == "two" else 1

    def start(self, datasets=BOTH, limit=None):
        """Start one command in a process group of its own."""

        def few_bytes():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            [sys.executable, *self.words, f"dataset={datasets}"], cwd=ROOT, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            preexec_fn=few_bytes if limit else None,
        )  # fmt: skip

    def finish(self):
        """Run the command to its end, as often as the runner has it; return what is wrong, "" for nothing."""
        outputs = [(one.communicate(timeout=WAIT_S)[0], one.returncode) for one in self._all()]
        return next((f"exit {status}: {text.strip().splitlines()[-1]}" for text, status in outputs if status), "")

    def _all(self):
        return [self.start() for _ in range(self.count)]

    def disturb(self, fault, seconds):
        """Run the commands, disturbed once when they have spent a random part of so many CPU seconds."""
        if fault in ("one", "both"):
            datasets = "digits" if fault == "one" else BOTH
            for one in [self.start(datasets) for _ in range(4)]:
                one.communicate(timeout=WAIT_S)
            return
        if fault == "cache":
            self.finish()
            for path in self.results.glob(".evaluations/*.bin"):
                path.write_bytes(random.randbytes(path.stat().st_size))
            for path in [*self.results.glob(".finished/*"), *self.results.glob("s/*/*/trials.csv")]:
                path.write_bytes(b"") if path.suffix == ".json" else path.unlink()
            return
        commands = [self.start(limit=random.randint(50, 5000))] if fault == "disk" else self._all()
        if fault != "disk":
            self._wait(commands, random.uniform(0, seconds))
            self._signal(fault, commands[0])
        for one in commands:
            with suppress(subprocess.TimeoutExpired):
                one.communicate(timeout=WAIT_S)

    def _wait(self, commands, seconds):
        """Wait until the commands have spent so many CPU seconds, whatever the load, or the first of them has ended."""
        roots = {command.pid for command in commands} | (set(self.cluster.pids) if self.cluster else set())
        end = sum(map(cpu_seconds, roots)) + seconds
        while commands[0].poll() is None and sum(map(cpu_seconds, roots)) < end:
            time.sleep(0.02)

    def _signal(self, fault, command):
        with suppress(ProcessLookupError):
            if fault == "group":
                os.killpg(command.pid, signal.SIGKILL)
            elif fault == "worker" and self.cluster:
                self.cluster.kill_one()
            elif fault == "worker":
                workers = descendants(command.pid)
                if workers:
                    os.kill(random.choice(list(workers)), signal.SIGKILL)
            else:
                command.send_signal(SIGNALS[fault])

    def left(self, expected):
        """Return what is left of the commands: processes, files in TMPDIR or beside the expected ones, or locks."""
        deadline = time.monotonic() + LEAVE_S
        while _with(self.temporary) or (self.cluster and self.cluster.orphans()):
            if time.monotonic() > deadline:
                return "a process runs"
            time.sleep(0.2)
        if files := [*self.temporary.iterdir()]:
            return f"{files[0].name} is left in TMPDIR"
        if files := self.files() - expected:
            return f"{min(files)} is left"
        held = [path for path in self.results.rglob("*.lock") if _is_held(path)]
        return f"{held[0].relative_to(self.results)} is held" if held else ""

    def files(self):
        """Return the names of all files of the results, but for their digests, as some are those of the folder."""
        paths = [path for path in self.results.rglob("*") if path.is_file()]
        return {re.sub("[0-9a-f]{32}", "*", str(path.relative_to(self.results))) for path in paths}

    def rows(self):
        """Return the sorted rows of each cell."""
        paths = self.results.glob("s/*/*/scores.csv")
        return {path.parent.parent.name: sorted(path.read_bytes().splitlines()) for path in paths}


def _with(temporary):
    """Return the numbers of the processes that have this TMPDIR."""
    mark, found = f"TMPDIR={temporary}".encode(), set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes().split(b"\0"):
                found.add(int(path.parent.name))
    return found


def _is_held(path):
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


class Cluster:
    """A Dask scheduler and a worker of two threads."""

    def __init__(self, folder):
        self.address, self._folder = f"tcp://127.0.0.1:{random.Random().randint(20000, 60000)}", folder
        folder.mkdir(exist_ok=True)
        port = self.address.rpartition(":")[2]
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port)
        self._worker = self._start_worker()

    def _start_worker(self):
        words = ["--no-nanny", "--nthreads", "2", "--local-directory", str(self._folder)]
        return self._start("worker", self.address, *words)

    def _start(self, *words):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self._folder)}
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=ROOT, env=environment, **quiet)

    @property
    def pids(self):
        """Return the numbers of the scheduler and of the worker."""
        return self._scheduler.pid, self._worker.pid

    def orphans(self):
        """Return the processes that a worker has left behind."""
        known = set(self.pids) | {one for pid in self.pids for one in descendants(pid)}
        return _with(self._folder) - known

    def kill_one(self):
        """Kill the worker, or a process that it has started; a new worker takes the place of a killed one."""
        chosen = random.choice([self._worker.pid, *descendants(self._worker.pid)])
        os.kill(chosen, signal.SIGKILL)
        if chosen == self._worker.pid:
            self._worker.wait()
            self._worker = self._start_worker()

    def end(self):
        """End all of it."""
        for process in (self._scheduler, self._worker):
            process.kill()
            process.wait()


def tried(folder, runner, fault, undisturbed, seconds, cluster):
    """Return how a round ended; where something is wrong its folder stays until all rounds are over."""
    one = Round(folder, runner, cluster)
    one.disturb(fault, seconds)
    rows, files = undisturbed
    wrong = one.finish() or one.left(files) or ("" if one.rows() == rows else "other rows")
    if not wrong:
        shutil.rmtree(folder)
    return wrong or "same rows, nothing left"


def outcomes_in(path):
    """Return {number: (fault, runner, outcome)} of the rounds in a log."""
    if path is None or not path.exists():
        return {}
    found = re.findall(r"^(\d+) (\w+), (\w+): (.*)$", path.read_text(), re.MULTILINE)
    return {int(number): tuple(rest) for number, *rest in found}


def table(found, runners, faults):
    """Return how often each fault ended in which outcome, in Markdown."""
    lines = [["fault", "runner", "times", "outcome"]]
    for fault in faults:
        for runner in runners:
            if outcomes := found[fault, runner]:
                words = "; ".join(f"{words}: {count}" for words, count in outcomes.items())
                lines.append([fault, runner, str(outcomes.total()), words])
    return pipes(lines)


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=1, help="of each fault under each runner [1]")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no other round begins")
    parser.add_argument("--runners", nargs="+", choices=RUNNERS, default=RUNNERS)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="a file of the rounds tried, which are not tried again")
    given = parser.parse_args()
    guard()
    cluster, found, deadline = None, defaultdict(Counter), time.monotonic() + 60 * given.minutes
    rounds, known = itertools.product(range(given.times), given.faults, given.runners), outcomes_in(given.log)
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        try:
            undisturbed = Round(folder / "undisturbed", "joblib", None)
            if wrong := undisturbed.finish():
                sys.exit(f"error: the undisturbed sweep failed, {wrong}")
            used, expected = resource.getrusage(resource.RUSAGE_CHILDREN), (undisturbed.rows(), undisturbed.files())
            seconds = used.ru_utime + used.ru_stime
            if "dask" in given.runners:
                cluster = Cluster(folder / "cluster")
            for number, (_, fault, runner) in enumerate(rounds):
                if known.get(number, ())[:2] == (fault, runner):
                    found[fault, runner][known[number][2]] += 1
                    continue
                if time.monotonic() > deadline:
                    break
                random.seed(f"{given.seed} {number}")
                outcome = tried(folder / str(number), runner, fault, expected, seconds, cluster)
                found[fault, runner][outcome] += 1
                line = f"{number} {fault}, {runner}: {outcome}"
                print(line, file=sys.stderr, flush=True)
                if given.log:
                    with open(given.log, "a") as log:
                        log.write(f"{line}\n")
        finally:  # also where the command is ended
            print(table(found, given.runners, given.faults))
            if cluster:
                cluster.end()


if __name__ == "__main__":
    main()
