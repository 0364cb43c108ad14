"""Says what experiments take on 1 to 1,000 cores, and where the one writer and a Dask scheduler saturate.

    python -m benchmarks.scaling fair dgufs                 how long on 1, 16, 128 and 1,000 cores, by simulation
    python -m benchmarks.scaling --tasks 0.01 0.1 1 10      the share of the workers' time that is work, by fit seconds

A simulated run has the seconds of the stored fits, as `scripts.budget` estimates them; its command stores outcomes and
sends tasks one after the other, and a scheduler hands them to workers.  No number of workers can end a run before its
longest single fit, which is the floor.  Costs are the constants below unless they are given.
"""

import functools
import heapq
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from runners.code import ROOT
from runners.errors import ConfigError
from runners.experiment.cell import Cell
from runners.experiment.plan import Times
from runners.experiment.sweep import cells_of_words
from runners.words import duration
from scripts.core.programs import parser_of
from scripts.core.text import pipes

CORES = (1, 16, 128, 1000)
BATCH = 10  # fits in a task


@dataclass(frozen=True)
class Costs:
    """Seconds that one thing takes, as `benchmarks.overhead` measures them (docs/cluster.md)."""

    commit: float = 0.027  # the command stores a list of outcomes: the wait for the disk
    row: float = 0.0004  # the command writes one outcome
    send: float = 0.0047  # the command sends a task and takes its result
    schedule: float = 0.0063  # the scheduler's work for a task
    latency: float = 0.019  # the work of a Dask worker and of the process that fits, beside the fit
    together: bool = True  # outcomes that wait for the command are stored by one commit


def simulate(cells, n_workers, n_cells, costs):
    """Return the seconds of a run of so many workers, with `n_cells` of these arrays of seconds in flight at once."""
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


def fits_of(experiment, results_dir):
    """Return the seconds of the fits of each cell that is not refused, and the number of cells of unknown seconds."""
    settings = cells_of_words(f"experiment={experiment}", f"results_dir={results_dir}")
    times = functools.cache(functools.partial(Times, results_dir))
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


def table_of_experiments(names, costs, n_cells, results_dir):
    """Return how long experiments take by cores, in Markdown, with what no number of cores ends before.

    These are the longest fit and all that the command does itself, one thing after the other.
    """
    head = ["experiment", "fits", *(f"{cores} core{'s' * (cores > 1)}" for cores in CORES)]
    lines = [[*head, "longest fit", "the command", "cells of unknown time"]]
    for name in names:
        cells, unknown = fits_of(name, results_dir)
        if not cells:
            lines.append([name, "0", *["unknown"] * (2 + len(CORES)), str(unknown)])
            continue
        # As many cells as keep the workers busy: one of a few fits occupies a few.
        seconds = [simulate(cells, cores, max(n_cells, cores // 4), costs) for cores in CORES]
        count = sum(map(len, cells))
        floors = [max(fits.max() for fits in cells), count * (costs.send + costs.row)]
        lines.append([name, str(count), *map(duration, (*seconds, *floors)), str(unknown)])
    return pipes(lines)


def table_of_tasks(seconds, costs):
    """Return the share of the workers' time that is work, by the seconds of a fit and the number of workers."""
    lines = [["fit (s)", "in a task", "commits", *(f"{cores} core{'s' * (cores > 1)}" for cores in CORES)]]
    for one in seconds:
        for together, batch in ((False, 1), (True, 1), (True, BATCH)):
            here = replace(costs, together=together, row=costs.row * batch)
            shares = []
            for cores in CORES:
                cells = [np.full(max(4 * cores // 20, 10), one * batch)] * 20
                total = sum(map(len, cells)) * one * batch
                shares.append(f"{total / cores / simulate(cells, cores, 20, here):.0%}")
            lines.append([f"{one:g}", str(batch), "of many" if together else "of one", *shares])
    return pipes(lines)


def limits(costs):
    """Say how many fits a second a command and a scheduler get through."""
    each, many = costs.commit + costs.row + costs.send, costs.row + costs.send
    batched = costs.row + costs.send / BATCH
    return (
        f"Fits a second: {1 / each:.0f} where the command stores each by a commit of its own, at most {1 / many:.0f} "
        f"where it stores many by one, {1 / batched:.0f} where a task has {BATCH} of them, too. Tasks a second of the "
        f"scheduler: {1 / costs.schedule:.0f}."
    )


def main():
    parser = parser_of("benchmarks.scaling", __doc__)
    parser.add_argument("experiments", nargs="*", help="files of conf/experiment")
    parser.add_argument("--results-dir", default=ROOT / "results", help="whose fits are known; default: %(default)s")
    parser.add_argument("--tasks", nargs="+", type=float, default=[], help="seconds of tasks")
    parser.add_argument("--cells", type=int, default=8, help="in flight, or a quarter of the cores where that is more")
    for name, value in vars(Costs()).items():
        if isinstance(value, float) and name != "together":
            parser.add_argument(f"--{name}", type=float, default=value, help="seconds [%(default)s]")
    given = parser.parse_args()
    costs = Costs(given.commit, given.row, given.send, given.schedule, given.latency)
    if given.tasks:
        print(f"{table_of_tasks(given.tasks, costs)}\n\n{limits(costs)}")
    if given.experiments:
        print(table_of_experiments(given.experiments, costs, given.cells, given.results_dir))


if __name__ == "__main__":
    main()
