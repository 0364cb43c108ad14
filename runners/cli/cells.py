"""Runs the cells of a command one after the other, has each end noted, and says it after the last one."""

import functools
import math
import re
import sys
from collections import Counter
from contextlib import suppress

from hydra.core.hydra_config import HydraConfig

from ufs_bench.metrics.study import CAPPED, FAILED
from ufs_bench.runners.cli.boundary import lacks_room, words_of
from ufs_bench.runners.cli.choices import check_choices, check_protocol
from ufs_bench.runners.experiment.sweep import LISTS, cells_of, typed_words
from ufs_bench.runners.messages import ConfigError, StoreError, counted, duration
from ufs_bench.runners.papers import protocol_words
from ufs_bench.runners.place import command_on
from ufs_bench.runners.progress import log


class Held(Exception):
    """Another process holds a cell, and other cells can be done first."""


def run(config):
    """Run the cells that a composed configuration asks for; all of them are composed before the first is run."""
    hydra = HydraConfig.get()
    words, is_sweep = typed_words(hydra), any(config[option] is not None for option in LISTS.values())
    cells = cells_of(config, hydra)
    plan = cells[0].runner.plan
    check_protocol(cells[0].protocol)
    if config.shard is not None:
        if not is_sweep:
            raise ConfigError("shard= is a part of a sweep: add -m or experiment=NAME.")
        cells = part_of(config.shard, cells)
        log.info("shard %s: %s", config.shard, counted(len(cells), "cell"))
    if is_sweep and plan:
        log.info("a plan of %s:", counted(len(cells), "cell"))
    report.start(len(cells) if is_sweep else 0)
    left, wait = cells, not is_sweep
    while left and not report.is_full:
        held = [settings for settings in left if _run_cell(settings, words, is_sweep, wait)]
        wait = held == left  # nothing else is left to do: wait for the first of them
        left = held


def _run_cell(settings, words, is_sweep, wait):
    """Do what is asked for of a cell; one that cannot run is reported, and a sweep goes on, unless a disk is full.

    With `wait=False` a cell is left alone where another process holds it; the result is True then.
    """
    if report.is_full:
        return False
    # Imported here, as these take seconds, and --help and Tab need none of them.
    from ufs_bench.datasets import DataError, DataMissing
    from ufs_bench.runners.code import CodeChanged
    from ufs_bench.runners.experiment.cell import Cell

    dataset, place, cell = settings.dataset["name"], report.begin(settings), Cell(settings)
    try:
        check_choices(settings, words)
        if dataset in report.missing:  # another attempt to download it would take as long and fail again
            raise DataMissing(report.missing[dataset])
        if settings.runner.plan:
            report.planned(place, cell.plan(_times))
        elif is_sweep and (line := _finished(cell)):
            log.info("%s%s", place, line)
        else:
            report.begun(settings)
            report.ended(settings, cell.run(place, None if wait else _leave))
    except Held:
        report.put_aside(place, settings)
        return True
    except DataMissing as error:
        report.left_out(settings, str(error), place)
    except (ConfigError, DataError, StoreError, CodeChanged, OSError, MemoryError) as error:
        report.is_full |= lacks_room(error)
        ends = " The sweep ends here: the same command goes on with it." if report.is_full and is_sweep else ""
        report.failed(settings, f"{words_of(error)}{ends}", place)
    return False


def _finished(cell):
    """Return the line about a cell in which nothing is left to do; None where a run has to look."""
    with suppress(ValueError, StoreError, OSError):
        return cell.finished()


def _leave():
    raise Held


@functools.cache
def _times(*given):
    """Return the seconds of stored fits, which a plan reads once a method."""
    from ufs_bench.runners.experiment.plan import Times

    return Times(*given)


def part_of(shard, cells):
    """Return the cells of one part of a sweep, such as ``2/3``: every third, from the second on."""
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", shard if isinstance(shard, str) else "")
    part, n_parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= n_parts:
        raise ConfigError(f"shard={shard!r} must be K/N with 1 <= K <= N, such as shard=2/3.")
    return cells[part - 1 :: n_parts]


MOST_ROWS = 3  # so many trials without scores are listed for a cell


class Report:
    """Notes what becomes of the cells of a command, and says it after the last one."""

    def __init__(self):
        self.missing = {}  # data set -> why it is not available
        self.is_full = False  # True where a disk is, so that no other cell is begun
        self.has_started = False
        self._n_cells, self._problems, self._capped, self._plans = 0, [], [], []
        self._errors = {}  # why cells could not be run -> these cells
        self._number, self._of = 0, 0  # of the cell in its sweep, and the number of cells there
        self._skipped = Counter()  # data set -> number of cells that were left out
        self._studies, self._begun = {}, set()  # folder of a study -> its cells; those in which one was run

    def start(self, n_cells):
        """Note that a sweep of so many cells begins, or a run of a single one."""
        self.has_started, self._number, self._of = True, 0, n_cells

    def begin(self, settings):
        """Note that a cell has its turn; return its place in a sweep, such as "cell 2 of 4: "."""
        self._n_cells += 1
        self._number += 1
        names = settings.dataset["name"], settings.method_file["name"]
        self._studies.setdefault(settings.folder.parents[1], []).append(names)
        return f"cell {self._number} of {self._of}: " if self._of else ""

    def planned(self, place, plan):
        """Print the plan of a cell."""
        self._plans.append(plan)
        log.info("%s%s", place, plan.line())

    def begun(self, settings):
        """Note that a cell is run, and not only looked at; say under which protocol, once for a study."""
        folder = settings.folder.parents[1]
        if folder not in self._begun:
            log.info("%s, study %s", protocol_words(settings.protocol.name), settings.study)
        self._begun.add(folder)

    def ended(self, settings, unscored):
        """Note the rows of the trials of a cell that have no scores."""
        for statuses, words, found in (
            ((FAILED,), "trials failed", self._problems),
            (CAPPED, "trials ended at a cap", self._capped),
        ):
            if rows := [row for row in unscored if row["status"] in statuses]:
                found.append("\n".join([f"{settings}: {len(rows)} {words}", *_first(rows, settings.folder)]))

    def put_aside(self, place, settings):
        """Note that a cell will have its turn again."""
        log.info("%s%s: another run holds it; it is looked at again at the end", place, settings)
        self._n_cells -= 1
        self._number -= 1
        self._studies[settings.folder.parents[1]].pop()

    def failed(self, settings, why, place):
        """Note why a cell could not be run, and print it."""
        cells = self._errors.setdefault(why, [])
        cells.append(str(settings))
        if len(cells) == 1:  # an error of all cells is said once
            if place:
                log.info("%s%s", place, settings)
            log.error("error: %s", why)

    def left_out(self, settings, why, place):
        """Note that a data set is not available, and print it once; the cell is skipped, or else has a problem."""
        dataset, skip = settings.dataset["name"], settings.missing_data == "skip"
        reason = why.splitlines()[0].rstrip(":")
        log.info("%s%s", place, settings)
        if dataset not in self.missing:
            log.info("skipped: %s", reason) if skip else log.error("error: %s", why)
        self.missing[dataset] = why
        if skip:
            self._skipped[dataset] += 1
        else:
            self._errors.setdefault(why, []).append(str(settings))

    def studies(self):
        """Return the cells of each study of a sweep in which trials were run, (data set, method), by its folder."""
        return {place: cells for place, cells in self._studies.items() if place in self._begun and self._n_cells > 1}

    def close(self):
        """Print which cells were skipped and which have a problem; return the exit status of the command."""
        for dataset, count in self._skipped.items():
            reason = self.missing[dataset].splitlines()[0].rstrip(":")
            print(f"skipped: {reason}: {count} of {self._n_cells} cells")
        if len(self._plans) > 1:
            print(total_line(self._plans))
        if line := shipped_line(self._plans):
            print(line)
        if self._begun:
            from ufs_bench.runners.experiment.result import in_all  # here, as it reads tables, and plans need none

            if line := in_all():
                print(line)
        if self._n_cells > 1 and self._capped:
            print("\n".join(self._capped))
        n_problems = len(self._problems) + sum(map(len, self._errors.values()))
        if self._n_cells > 1 and n_problems:
            lines = [f"{_few(cells)}: {why.splitlines()[0].rstrip(':')}" for why, cells in self._errors.items()]
            count = f"{n_problems} of {self._n_cells} cells have a problem:"
            print("\n".join([f"\n{count}", *lines, *self._problems]), file=sys.stderr)
        if self._n_cells and self._skipped.total() == self._n_cells:
            print("nothing was run: no data set of this sweep could be had", file=sys.stderr)
            return 1
        return int(bool(n_problems))


def total_line(plans):
    """Return the plans of a sweep in a sentence."""
    known = [plan for plan in plans if not math.isnan(plan.seconds)]
    unknown = sum(plan.n_pending for plan in plans if math.isnan(plan.seconds))
    text = f"in all {counted(sum(plan.n_pending for plan in plans), 'fit')} in {counted(len(plans), 'cell')}"
    if known:
        seconds = sum(plan.seconds / plan.n_workers for plan in known)
        text += f", about {duration(seconds)} on {counted(known[0].n_workers, 'worker')}"
    return text + (f", and {counted(unknown, 'fit')} of unknown time" if unknown else "")


def shipped_line(plans):
    """Return how many fits of some plans need not be computed, as they are shipped; "" for none."""
    shipped, pending = (sum(getattr(plan, name) for plan in plans) for name in ("n_shipped", "n_pending"))
    return f"{shipped:,} of {counted(pending, 'fit')} are shipped; runner.reuse=shipped takes them" if shipped else ""


def _few(cells):
    return cells[0] if len(cells) == 1 else f"{cells[0]} and {counted(len(cells) - 1, 'other cell')}"


def _first(rows, folder):
    """Return the first rows of some trials of a cell with this folder, a line each."""
    lines = [f"  {row['params']} sizes {row['sizes']}: {row['error']}" for row in rows[:MOST_ROWS]]
    more = len(rows) - MOST_ROWS
    return lines + ([f"  and {more} more: {command_on('status', folder.parents[1])} lists them"] if more > 0 else [])


report = Report()  # notes how the cells of this command end
