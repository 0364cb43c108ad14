"""Disturbs runs at random moments under every runner, and counts how often the rows are those of an undisturbed one.

    python -m tests.faults times=10                  every fault under every runner, so often
    python -m tests.faults times=200 minutes=60      as many of them as begin within so many minutes
    python -m tests.faults times=5 runners=one faults=parent,worker seed=1
    python -m tests.faults times=200 log=faults.log  again goes on after the rounds that the log has

A round is a sweep of two cells with four fits each, in a folder and with a TMPDIR of its own.  It is disturbed once,
then the same command is run to its end, by one process.  Then all rows must be those of an undisturbed sweep, and its
files the only ones; no lock may be held, no file be left in TMPDIR, and no process run that had this TMPDIR.

Half of the moments are drawn from all CPU seconds of a command, which are mostly imports, and half from those after its
first file of rows; a command that has ended before its moment does not count.  "disk" lets no file grow beyond a random
size, as a full disk would; "cell" and "both" start four commands at once, on one cell and on both.  "worker" kills a
process that the command has started.  Where a round goes wrong its folder is put beside the log.
"""

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

from tests.processes import cpu_seconds, descendants, end_all, having
from ufs_bench.runners.cli.boundary import guard
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.store.fits import FILE
from ufs_bench.scripts.core.entry import plain_options
from ufs_bench.scripts.core.text import pipes

RUNNERS = ("one", "two")  # commands on the same folder
SIGNALS = {"parent": signal.SIGKILL, "group": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}
FAULTS = (*SIGNALS, "worker", "disk", "cache", "cell", "both")
ONE = ["-m", "method=laplacian_score", "+method.grid.n_neighbors=[3,4,5,6]", "protocol=smoke", "study=s"]
BOTH = "digits,mnist500"
GOOD = "same rows, nothing left"
LEAVE_S = 300  # in which all processes of a command must be gone
WAIT_S = 3600  # for the end of a command, on a machine that does much else
CORES = 4  # that two commands keep busy at most


class Round:
    """One sweep, its folder, its TMPDIR, and what was started for it."""

    def __init__(self, folder, runner):
        self.results, self.temporary = folder / "results", folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.words = ["run.py", *ONE, f"results_dir={self.results}"]
        self.count = 2 if runner == "two" else 1

    def start(self, datasets=BOTH, limit=None, n_jobs=2):
        """Start one command in a process group of its own."""

        def few_bytes():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        words = [*self.words, f"dataset={datasets}", f"runner.n_jobs={n_jobs}"]
        return subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            preexec_fn=few_bytes if limit else None,
        )  # fmt: skip

    def finish(self, n_jobs=1):
        """Run the command to its end; return the CPU seconds spent, and what is wrong, "" for nothing.

        The rows are the same for every number of workers, and most of a short command's seconds are their imports.
        """
        command = self.start(n_jobs=n_jobs)
        spent = self._wait([command])
        text = command.communicate(timeout=WAIT_S)[0]
        return spent, f"exit {command.returncode}: {text.strip().rpartition(chr(10))[2]}" if command.returncode else ""

    def disturb(self, fault, late, seconds):
        """Run the commands, disturbed once when they have spent so many CPU seconds; return whether it came to that.

        With `late` the seconds count from where the first file of rows is there.
        """
        if fault in ("cell", "both"):
            datasets = "digits" if fault == "cell" else BOTH
            for one in [self.start(datasets) for _ in range(4)]:
                one.communicate(timeout=WAIT_S)
            return True
        if fault == "cache":
            self.finish(n_jobs=2)
            for path in self.results.glob(".evaluations/*.bin"):
                path.write_bytes(random.randbytes(path.stat().st_size))
            for path in [*self.results.glob("s/*/*/*.csv"), *self.results.glob(f"s/*/*/{FILE}")]:
                path.unlink()
            return True
        if fault == "disk":
            command = self.start(limit=random.randint(50, 5000))
            command.communicate(timeout=WAIT_S)
            return command.returncode != 0
        commands = [self.start() for _ in range(self.count)]
        if late:
            self._wait(commands, until=lambda: any(self.results.glob(f"s/*/*/{FILE}")))
        self._wait(commands, seconds)
        struck = self._strike(fault, commands[0])
        for one in commands:
            one.communicate(timeout=WAIT_S)
        return struck

    def _wait(self, commands, seconds=math.inf, until=lambda: False):
        """Wait for so many CPU seconds of the commands, the end of the first, or a condition; return the seconds."""
        roots = {command.pid for command in commands}
        before, spent = sum(map(cpu_seconds, roots)), 0.0
        while commands[0].poll() is None and spent < seconds and not until():
            time.sleep(min(max((seconds - spent) / CORES, 0.02), 0.2))  # a look costs CPU seconds, too
            now = sum(map(cpu_seconds, roots)) - before
            spent = spent if math.isnan(now) else now
        return spent

    def _strike(self, fault, command):
        """Disturb a command; return False where it has ended by itself before."""
        with suppress(ProcessLookupError):  # it has ended just now
            while fault == "worker" and command.poll() is None:
                if workers := descendants(command.pid):
                    os.kill(random.choice(workers), signal.SIGKILL)
                    return True
                time.sleep(0.02)
            if command.poll() is None:
                os.killpg(command.pid, SIGNALS[fault]) if fault == "group" else command.send_signal(SIGNALS[fault])
                return True
        return False

    def left(self, expected):
        """Return what is left of the commands: processes, files in TMPDIR or beside the expected ones, or locks."""
        deadline = time.monotonic() + LEAVE_S
        while having(self.temporary):
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


def _is_held(path):
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


class Undisturbed:
    """A sweep that nothing disturbs: its rows, its files, and the CPU seconds from which moments are drawn."""

    def __init__(self, folder):
        one = Round(folder, "one")
        seconds, wrong = one.finish(n_jobs=2)
        if wrong:
            sys.exit(f"error: the undisturbed sweep failed, {wrong}")
        self.rows, self.files = one.rows(), one.files()
        # Guesses for the other runners and for late moments; where a moment comes too late, the next one is earlier.
        late, each = {False: seconds, True: seconds / 3}, {runner: 2 if runner == "two" else 1 for runner in RUNNERS}
        self.seconds = {(runner, when): each[runner] * late[when] for runner in RUNNERS for when in late}


def tried(folder, runner, fault, undisturbed):
    """Return how a round ended; its folder is left where something is wrong.

    A command that has ended before its moment came is not counted: another one is disturbed earlier.
    """
    try:
        while True:
            one, late = Round(folder, runner), random.random() < 0.5
            moment = random.uniform(0, undisturbed.seconds[runner, late])
            if one.disturb(fault, late, moment):
                break
            if fault != "disk":
                undisturbed.seconds[runner, late] = moment
            shutil.rmtree(folder)
        wrong = one.finish()[1] or one.left(undisturbed.files)
        wrong = wrong or ("" if one.rows() == undisturbed.rows else "other rows")
    except subprocess.TimeoutExpired:
        wrong = f"a command does not end within {WAIT_S} s"
        end_all(folder)
    if not wrong:
        shutil.rmtree(folder)
    return wrong or GOOD


def outcomes_in(path):
    """Return {number: (fault, runner, outcome)} of the rounds in a log."""
    if path is None or not Path(path).exists():
        return {}
    found = re.findall(r"^(\d+) (\w+), (\w+): (.*)$", Path(path).read_text(), re.MULTILINE)
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
    usual = {"times": 1, "minutes": 1e6, "runners": list(RUNNERS), "faults": list(FAULTS), "seed": 0, "log": None}
    given = plain_options(__doc__, usual)
    if wrong := {*given.runners, *given.faults} - {*RUNNERS, *FAULTS}:
        sys.exit(f"error: {', '.join(wrong)} must be of {', '.join([*RUNNERS, *FAULTS])}.")
    guard()
    found, deadline = defaultdict(Counter), time.monotonic() + 60 * given.minutes
    rounds, known = (
        itertools.product(range(given.times), given.faults, given.runners),
        outcomes_in(given.log),
    )
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        try:
            undisturbed = Undisturbed(folder / "undisturbed")
            for number, (_, fault, runner) in enumerate(rounds):
                if known.get(number, ())[:2] == (fault, runner):
                    found[fault, runner][known[number][2]] += 1
                    continue
                if time.monotonic() > deadline:
                    break
                random.seed(f"{given.seed} {number}")
                outcome = tried(folder / str(number), runner, fault, undisturbed)
                found[fault, runner][outcome] += 1
                line = f"{number} {fault}, {runner}: {outcome}"
                print(line, file=sys.stderr, flush=True)
                if given.log:
                    with open(given.log, "a") as log:
                        log.write(f"{line}\n")
                    if outcome != GOOD:
                        shutil.move(folder / str(number), f"{given.log}-{number}")
        finally:  # also where the command is ended
            end_all(folder)
            print(table(found, given.runners, given.faults))


if __name__ == "__main__":
    main()
