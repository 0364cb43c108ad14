"""Says what experiments take on 1 to 1,000 cores, and where the one writer and a Dask scheduler saturate.

    python -m benchmarks.scaling --measure                  what storing a trial costs here, and, with Dask, sending one
    python -m benchmarks.scaling fair dgufs                 hours on 1, 16, 128 and 1,000 cores, by simulation
    python -m benchmarks.scaling --tasks 0.01 0.1 1 10      the share of the workers' time that is work, by fit seconds

A simulated run has the seconds of the stored fits, as `scripts.budget` estimates them; its command stores outcomes and
sends tasks one after the other, and a scheduler hands them to workers.  No number of workers can end a run before its
longest single fit, which is the floor.  Costs are the constants below unless they are given.
"""

import argparse
import functools
import heapq
import pickle
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from runners.cell import Cell
from runners.family import cpu_seconds
from runners.fit import run_trial
from runners.method import ConfigError
from runners.plan import Times
from runners.store import Store
from runners.sweep import cells_of_words
from scripts.core.text import pipes

CORES = (1, 16, 128, 1000)
MEASURED = 200  # tasks or outcomes that a cost is the mean of


@dataclass(frozen=True)
class Costs:
    """Seconds that one thing takes; the values are those of `--measure` on a laptop's disk, rounded up."""

    commit: float = 0.010  # of the command, to store a list of outcomes: the wait for the disk
    row: float = 0.002  # of the command, to write one outcome
    send: float = 0.003  # of the command, to send a task and to take its result
    schedule: float = 0.002  # of the scheduler, for a task
    latency: float = 0.010  # from the scheduler to the beginning of a fit, and back
    together: bool = True  # outcomes that wait for the command are stored by one commit


def simulate(cells, n_workers, n_cells, costs):
    """Return the seconds of a run.

    Parameters
    ----------
    cells : list of array
        Seconds of the fits of each cell.
    n_workers : int
    n_cells : int
        Cells in flight at once.
    costs : Costs

    Returns
    -------
    float
    """
    waiting = [list(fits)[::-1] for fits in cells if len(fits)][::-1]
    active, left, free = OrderedDict(), {}, n_workers
    ended, stored = [], OrderedDict()  # heap of (time, cell); cell -> outcomes that wait to be stored
    command = scheduler = 0.0

    def fill():
        while waiting and len(left) < n_cells:
            number, fits = len(waiting), waiting.pop()
            active[number], left[number] = fits, len(fits)

    fill()
    while left:
        while free and active:
            number = next(iter(active))
            seconds = active[number].pop()
            if active[number]:
                active.move_to_end(number)  # cells take turns
            else:
                del active[number]
            free, command = free - 1, command + costs.send
            scheduler = max(scheduler, command) + costs.schedule
            heapq.heappush(ended, (scheduler + costs.latency + seconds, number))
        if not stored and ended:
            command = max(command, ended[0][0])
        while ended and ended[0][0] <= command:
            _, number = heapq.heappop(ended)
            stored[number], free = stored.get(number, 0) + 1, free + 1
        number, count = stored.popitem(last=False)
        command += costs.commit * (1 if costs.together else count) + costs.row * count
        left[number] -= count
        if not left[number]:
            del left[number]
            fill()
    return command


def fits_of(experiment):
    """Return the seconds of the fits of each cell of an experiment, and the number of cells of unknown seconds.

    A cell whose method refuses the data set counts as neither.
    """
    settings = cells_of_words(f"experiment={experiment}")
    times = functools.cache(functools.partial(Times, settings[0].results_dir))
    cells, unknown = [], 0
    for one in settings:
        with suppress(ConfigError):
            found = times(one.method.name).each(one.dataset, Cell(one).asked)
            seconds = np.array([seconds for seconds, _ in found])
            if np.isnan(seconds).any():
                unknown += 1
            else:
                cells.append(seconds)
    return cells, unknown


def table_of_experiments(names, costs, n_cells):
    """Return the hours of experiments by cores, in Markdown."""
    head = ["experiment", "fits", "floor (h)", *(f"{cores} cores (h)" for cores in CORES), "unknown cells"]
    lines = [head]
    for name in names:
        cells, unknown = fits_of(name)
        if not cells:
            lines.append([name, "0", *["unknown"] * (1 + len(CORES)), str(unknown)])
            continue
        # As many cells as keep the workers busy: one of a few fits occupies a few.
        hours = [simulate(cells, cores, max(n_cells, cores // 4), costs) / 3600 for cores in CORES]
        floor = max(fits.max() for fits in cells) / 3600
        numbers = [f"{value:.2f}" for value in (floor, *hours)]
        lines.append([name, str(sum(map(len, cells))), *numbers, str(unknown)])
    return pipes(lines)


def table_of_tasks(seconds, costs):
    """Return the share of the workers' time that is work, by the seconds of a task and the number of workers."""
    lines = [["task (s)", "commits", *(f"{cores} cores" for cores in CORES)]]
    for one in seconds:
        for together in (False, True):
            here = Costs(**vars(costs) | {"together": together})
            shares = []
            for cores in CORES:
                cells = [np.full(max(4 * cores // 20, 10), one)] * 20
                total = sum(map(len, cells)) * one
                shares.append(f"{total / cores / simulate(cells, cores, 20, here):.0%}")
            lines.append([f"{one:g}", "of many" if together else "of one", *shares])
    return pipes(lines)


def measure():
    """Print the seconds of a commit and of a row, and, where Dask is installed, the CPU seconds of a task."""
    words = ["dataset=digits", "method=max_variance", "protocol=smoke"]
    cell = Cell(cells_of_words(*words)[0])
    trial, data = cell.trials[0], cell.dataset
    outcome = run_trial(trial, data.X, data.y)
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        one, many = [], []
        for _ in range(30):
            for found, count in ((one, 1), (many, 11)):
                started = time.perf_counter()
                store.append([outcome] * count)
                found.append(time.perf_counter() - started)
    commit, ten_more = np.median(one), np.median(many)
    print(f"a commit of one trial {1000 * commit:.1f} ms, of which a row {100 * max(ten_more - commit, 0):.2f} ms")
    try:
        from distributed import Client
    except ImportError:
        print("no Dask: pip install -e '.[cluster]'")
        return
    words = {"scheduler": ["--host", "127.0.0.1", "--port", "28786"], "worker": ["tcp://127.0.0.1:28786", "--no-nanny"]}
    started = [
        subprocess.Popen([sys.executable, "-m", "dask", name, *more, "--no-dashboard"], stderr=subprocess.DEVNULL)
        for name, more in words.items()
    ]
    try:
        with Client("tcp://127.0.0.1:28786", timeout=120) as client:
            client.wait_for_workers(1)
            client.gather([client.submit(pickle.loads, pickle.dumps(-1), pure=False)])
            before = time.process_time(), cpu_seconds(started[0].pid)
            tasks = [client.submit(pickle.loads, pickle.dumps(i), pure=False) for i in range(MEASURED)]
            for task in tasks:
                task.result()
            after = time.process_time(), cpu_seconds(started[0].pid)
            own, scheduler = (1000 * (b - a) / MEASURED for a, b in zip(before, after, strict=True))
            print(f"a task of Dask: {own:.1f} CPU ms of the command, {scheduler:.1f} CPU ms of the scheduler")
    finally:
        for process in started:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="*", help="files of conf/experiment")
    parser.add_argument("--tasks", nargs="+", type=float, default=[], help="seconds of tasks")
    parser.add_argument("--cells", type=int, default=8, help="in flight, or a quarter of the cores where that is more")
    parser.add_argument("--measure", action="store_true")
    for name, value in vars(Costs()).items():
        if isinstance(value, float) and name != "together":
            parser.add_argument(f"--{name}", type=float, default=value, help="seconds [%(default)s]")
    given = parser.parse_args()
    costs = Costs(given.commit, given.row, given.send, given.schedule, given.latency)
    if given.measure:
        measure()
    if given.tasks:
        print(table_of_tasks(given.tasks, costs))
    if given.experiments:
        print(table_of_experiments(given.experiments, costs, given.cells))


if __name__ == "__main__":
    main()
