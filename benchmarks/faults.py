"""Disturbs runs at random moments under every runner, and counts how often the rows are those of an undisturbed one.

    python -m benchmarks.faults --times 200                 every fault under every runner, so often
    python -m benchmarks.faults --times 5 --runners joblib two --faults parent worker

A round is a sweep of two cells with four fits each, in a folder and with a TMPDIR of its own.  It is disturbed once,
then the same command is run to its end.  Then all rows must be those of an undisturbed sweep, no file may be left in
TMPDIR, and no process may run that had this TMPDIR.  "disk" lets no file grow beyond a random size, as a full disk
would; "one" and "both" start four commands at once, on one cell and on both.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from runners.code import ROOT
from runners.family import descendants
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

    def __init__(self, folder, runner, address):
        self.results, self.temporary = folder / "results", folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        how = {"dask": ["runner=dask", f"runner.address={address}"]}
        self.words = ["run.py", *ONE, f"results_dir={self.results}", "runner.n_jobs=2", *how.get(runner, [])]
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
        """Run the commands, disturbed once at a random moment of so many seconds."""
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
            time.sleep(random.uniform(0, seconds))
            self._signal(fault, commands[0])
        for one in commands:
            with suppress(subprocess.TimeoutExpired):
                one.communicate(timeout=WAIT_S)

    @staticmethod
    def _signal(fault, command):
        with suppress(ProcessLookupError):
            if fault == "group":
                os.killpg(command.pid, signal.SIGKILL)
            elif fault == "worker":
                workers = descendants(command.pid)
                if workers:
                    os.kill(random.choice(list(workers)), signal.SIGKILL)
            else:
                command.send_signal(SIGNALS[fault])

    def left(self):
        """Return what is left of the commands: files in TMPDIR, or processes that have it."""
        deadline, mark = time.monotonic() + LEAVE_S, f"TMPDIR={self.temporary}".encode()
        while processes := [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if _has(path, mark)]:
            if time.monotonic() > deadline:
                return f"process {processes[0]} runs"
            time.sleep(0.2)
        files = [path.name for path in self.temporary.iterdir()]
        return f"{files[0]} is left in TMPDIR" if files else ""

    def rows(self):
        """Return the sorted rows of each cell."""
        return {path.parent.parent.name: sorted(path.read_bytes().splitlines()) for path in self._files()}

    def _files(self):
        return self.results.glob("s/*/*/scores.csv")


def _has(path, mark):
    try:
        return mark in path.read_bytes().split(b"\0")
    except OSError:
        return False


def cluster(folder):
    """Start a scheduler and a worker of two threads; return their processes and the address."""
    address, processes = f"tcp://127.0.0.1:{random.randint(20000, 60000)}", []
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    for words in (
        ["scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2]],
        ["worker", address, "--no-nanny", "--nthreads", "2", "--local-directory", str(folder)],
    ):
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes.append(subprocess.Popen(command, cwd=ROOT, env=environment, **pipes))
    return processes, address


def tried(runner, fault, times, folder, expected, seconds, address):
    """Return how often a fault ended in which outcome."""
    outcomes = Counter()
    for number in range(times):
        one = Round(folder / f"{runner}-{fault}-{number}", runner, address)
        one.disturb(fault, seconds)
        wrong = one.finish() or one.left() or ("" if one.rows() == expected else "other rows")
        outcomes[wrong or "same rows, nothing left"] += 1
        shutil.rmtree(folder / f"{runner}-{fault}-{number}")
    return outcomes


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=1, help="of each fault under each runner [1]")
    parser.add_argument("--runners", nargs="+", choices=RUNNERS, default=RUNNERS)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random.seed(given.seed)
    processes, address = [], None
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        try:
            undisturbed, started = Round(folder / "undisturbed", "joblib", None), time.monotonic()
            if wrong := undisturbed.finish():
                sys.exit(f"error: the undisturbed sweep failed, {wrong}")
            seconds = time.monotonic() - started
            if "dask" in given.runners:
                processes, address = cluster(folder)
            print(pipes([["fault", "runner", "times", "outcome"]]), flush=True)
            for runner in given.runners:
                for fault in given.faults:
                    found = tried(runner, fault, given.times, folder, undisturbed.rows(), seconds, address)
                    words = "; ".join(f"{words}: {count}" for words, count in found.items())
                    print(f"| {fault} | {runner} | {given.times} | {words} |", flush=True)
        finally:
            for process in processes:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main()
