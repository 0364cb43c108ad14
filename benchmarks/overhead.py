"""Measures what a fit costs beside its own work: under joblib and Dask, at a cap, and when it is stored.

    python -m benchmarks.overhead

A fit only sleeps here.  So the CPU time of all processes (command, scheduler, Dask worker, and those that fit) is what
it costs beside its work, and other work on the machine hardly changes it.  Runs of joblib and Dask, each with two
workers, take turns; numbers are medians of the runs.  A cap of a second ends fits that compute for ever.  The last line
has the costs that `benchmarks.scaling` takes: those of storing by the clock, as the disk is waited for.
"""

import itertools
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.core.processes import Cluster
from runners.cli.boundary import guard
from runners.experiment.cell import Cell
from runners.experiment.grid import expand
from runners.experiment.sweep import cells_of_words
from runners.store.folder import Store
from runners.workers.family import cpu_seconds
from runners.workers.fit import run_trial
from runners.workers.pool import run_all
from runners.workers.tasks import Data
from scripts.core.programs import parser_of
from scripts.core.text import pipes

FITS = {0.01: 30, 1.0: 4}  # seconds of a fit: fits in a run
CAPPED = 4  # fits
APPENDS = 30
N_WORKERS = 2  # those of `Cluster`
LONG = 1000  # seconds of a cap that no fit reaches: fits are watched, and one at a time is sent


def pause(X, seconds=0.01, number=0):
    """Return the variances after so many seconds in which nothing is computed; below 0, compute for ever."""
    while seconds < 0:
        pass
    time.sleep(seconds)
    return X.var(axis=0)


class Side:
    """One way to run fits: on this machine, or on a Dask cluster."""

    def __init__(self, folder, cluster, on_dask):
        self._cluster, self._on_dask = cluster, on_dask
        dask = ["runner=dask", f"runner.address={cluster.address}"] if on_dask else []
        how = [*dask, f"runner.n_jobs={N_WORKERS}", f"results_dir={folder}"]
        words = ["dataset=digits", "method=max_variance", "protocol=smoke", *how]
        self.plain, self.capped, self.short = (
            cells_of_words(*words, f"runner.max_seconds={cap}")[0] for cap in ("null", LONG, 1)
        )

    def run(self, settings, seconds, count):
        """Run fits of so many seconds; return outcomes, and the CPU seconds of each part."""
        grid = {"seconds": [seconds], "number": list(range(count))}
        method = {"name": "pause", "target": f"{__spec__.name}.pause", "params": {}, "grid": grid}
        settings = replace(settings, names=settings.names._replace(method=method))
        dataset = Cell(settings).dataset
        trials, workers = expand("overhead", dataset, settings.method, settings.protocol), None
        if self._on_dask:
            from runners.workers.dask.cluster import DaskWorkers  # here, as it is an extra

            workers = DaskWorkers(settings, dataset)
        before = self._cpu()
        data, caps = Data(dataset.X, None), settings.runner.caps
        outcomes = list(itertools.chain.from_iterable(run_all(trials, data, N_WORKERS, caps=caps, workers=workers)))
        return outcomes, self._cpu() - before

    def _cpu(self):
        """Return the CPU seconds so far of this command and its processes, of the scheduler, and of the Dask worker."""
        own, dask = cpu_seconds(os.getpid()), [cpu_seconds(pid) for pid in self._cluster.pids]
        return np.array([own - sum(dask), *(dask if self._on_dask else ())])


def overheads(sides, runs):
    """Return the table of what a fit costs beside its work, and the CPU seconds of each part of Dask."""
    lines, parts = [["fit", *(f"{name} (CPU ms)" for name in sides)]], None
    for seconds, count in FITS.items():
        for words in ("no limit", "limit"):
            found = {name: [] for name in sides}
            for name, side in [*sides.items()] * (1 + runs):
                _, cpu = side.run(side.plain if words == "no limit" else side.capped, seconds, count)
                found[name].append(cpu / count)
            middle = {name: np.median(rows[1:], axis=0) for name, rows in found.items()}  # the first starts processes
            lines.append([f"{seconds:g} s, {words}", *(f"{1000 * one.sum():.0f}" for one in middle.values())])
            print(lines[-1], file=sys.stderr, flush=True)
            if parts is None and words == "limit":
                parts = middle["Dask"]
    return pipes(lines), parts


def at_cap(sides):
    """Return the table of the CPU seconds by which fits exceed a cap of a second."""
    lines = [["runner", "fits ended", "median (s)", "most (s)"]]
    for name, side in sides.items():
        outcomes, _ = side.run(side.short, -1, CAPPED)
        beyond = [outcome.trial["fit_s"] - 1 for outcome in outcomes if outcome.trial["status"] == "timeout"]
        lines.append([name, str(len(beyond)), f"{np.median(beyond):.2f}", f"{max(beyond):.2f}"])
    return pipes(lines)


def storing(settings):
    """Return the seconds by the clock of storing one outcome, and of another one with it."""
    cell = Cell(settings)
    outcome = run_trial(cell.trials[0], cell.dataset.X, cell.dataset.y)
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        seconds = {1: [], 11: []}
        for _ in range(APPENDS):
            for count, found in seconds.items():
                started = time.perf_counter()
                store.append([outcome] * count)
                found.append(time.perf_counter() - started)
    one, many = (np.median(found) for found in seconds.values())
    return one, max(many - one, 0) / 10


def main():
    parser = parser_of("benchmarks.overhead", __doc__)
    parser.add_argument("--runs", type=int, default=3, help="that take turns [3]")
    given = parser.parse_args()
    guard()
    with tempfile.TemporaryDirectory(prefix="overhead-") as name:
        folder = Path(name)
        cluster = Cluster(folder)
        try:
            sides = {"joblib": Side(folder, cluster, on_dask=False), "Dask": Side(folder, cluster, on_dask=True)}
            table, (send, schedule, latency) = overheads(sides, given.runs)
            print(f"{table}\n\n{at_cap(sides)}\n", flush=True)
        finally:
            cluster.end()
        commit, row = storing(sides["joblib"].plain)
    costs = {"commit": commit - row, "row": row, "send": send, "schedule": schedule, "latency": latency}
    print(" ".join(f"--{name} {value:.4f}" for name, value in costs.items()))


if __name__ == "__main__":
    main()
