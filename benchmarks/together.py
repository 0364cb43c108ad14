"""Says what a second process on the same results folder saves: a sweep of 8 cells by one process, and by two.

    python -m benchmarks.together --runs 3

One process and two take turns, each beginning with an empty folder, and each with one worker (`runner.n_jobs=1`).  Two
ratios are printed.  That of the seconds by the clock is what a user sees, and needs two free cores.  That of the CPU
seconds, those of the busier process over those of the one, tells how well the work was shared whatever else the machine
does: the rest is waiting, which is printed, too.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.core.processes import end_all
from runners.cli.boundary import guard
from runners.code import ROOT
from scripts.core.programs import parser_of
from scripts.core.text import pipes

SWEEP = ["-m", "dataset=digits,mnist500", "method=ndfs,rufs,socfs,jelsr"]  # 8 cells
# More K-means restarts than any study that is stored here has, so that nothing is taken from one.
SETTINGS = ["protocol=fair", "protocol.restarts=100", "runner.points=sample", "runner.n_jobs=1", "study=s"]
TAKEN = re.compile(r"cell \d+ of \d+: .* trials?$")  # the line of a cell that a process computes


class Process:
    """One run of the sweep, and the lines that it prints, each with its moment."""

    def __init__(self, folder):
        words = [sys.executable, "run.py", *SWEEP, *SETTINGS, f"results_dir={folder / 'results'}"]
        self._process = subprocess.Popen(
            words, cwd=ROOT, env={**os.environ, "TMPDIR": str(folder)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self._lines, self._reader = [], threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.append((time.monotonic(), line.strip()))

    def end(self):
        """Wait for its end; return its CPU seconds, how many cells it computed, and the seconds that it waited."""
        _, status, used = os.wait4(self._process.pid, 0)
        self._reader.join()
        if status:
            sys.exit(f"error: the sweep failed, {self._lines[-1][1]}")
        ends = [moment for moment, _ in self._lines[1:]] + [time.monotonic()]
        waits = [end - at for (at, line), end in zip(self._lines, ends, strict=True) if "waiting for it" in line]
        return used.ru_utime + used.ru_stime, sum(bool(TAKEN.match(line)) for _, line in self._lines), sum(waits)


def timed(folder, count):
    """Run the sweep by so many processes at once; return the seconds by the clock, and what each of them did."""
    folder.mkdir()
    started = time.monotonic()
    each = [one.end() for one in [Process(folder) for _ in range(count)]]
    return time.monotonic() - started, each


def main():
    parser = parser_of("benchmarks.together", __doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each, which take turns [3]")
    given = parser.parse_args()
    guard()
    lines, ratios = [["by", "seconds", "CPU seconds", "cells", "waited (s)"]], []
    with tempfile.TemporaryDirectory(prefix="together-") as name:
        try:
            for number in range(given.runs):
                found = [timed(Path(name, f"{number}-{count}"), count) for count in (1, 2)]
                for words, (seconds, each) in zip(("one", "two"), found, strict=True):
                    parts = [" + ".join(f"{one:.0f}" for one in part) for part in zip(*each, strict=True)]
                    lines.append([words, f"{seconds:.0f}", *parts])
                (alone, ((cpu, *_),)), (both, each) = found
                ratios.append((both / alone, max(one[0] for one in each) / cpu))
                print(" ".join(lines[-2] + lines[-1]), file=sys.stderr, flush=True)
        finally:  # also where the command is ended
            end_all(name)
    clock, cpu = np.median(ratios, axis=0)
    print(f"{pipes(lines)}\n\nTwo processes over one, medians: {clock:.2f} by the clock, {cpu:.2f} of the CPU seconds.")


if __name__ == "__main__":
    main()
