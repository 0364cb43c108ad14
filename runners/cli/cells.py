"""Runs the cells of a command one after the other, and says after the last one what became of them."""

import functools
import math
import re
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from hydra.core.hydra_config import HydraConfig

from ufs_bench.metrics.study import CAPPED, FAILED
from ufs_bench.runners.cli.boundary import lacks_room, words_of
from ufs_bench.runners.cli.choices import check_choices, check_protocol
from ufs_bench.runners.experiment.settings import Settings
from ufs_bench.runners.experiment.sweep import LISTS, cells_of, typed_words
from ufs_bench.runners.messages import ConfigError, StoreError, counted, duration
from ufs_bench.runners.papers import protocol_words
from ufs_bench.runners.place import command_on
from ufs_bench.runners.progress import log

MOST_ROWS = 3  # so many trials without scores are listed for a cell
MOST_LINES = 30  # a plan of more cells lists those that take longest
runs = []  # a list of `End` for each configuration of this command; Hydra's own sweeper goes through several


class Held(Exception):
    """Another process holds a cell, and other cells can be done first."""


@dataclass
class End:
    """The end of a cell in this command."""

    settings: Settings
    plan: object = None  # its `Plan`
    is_run: bool = False  # False where it was only looked at
    unscored: tuple | list = ()  # rows of its trials that have no scores
    error: str = ""  # why it could not be run
    is_missing: bool = False  # True where its data are not available
    is_full: bool = False  # True where a disk is, so that no other cell is begun

    @property
    def is_skipped(self):
        """True where data that are not available are no problem."""
        return self.is_missing and self.settings.missing_data == "skip"

    @property
    def dataset(self):
        """The name of the data set."""
        return self.settings.dataset["name"]

    @property
    def study(self):
        """The folder of the study."""
        return self.settings.folder.parents[1]


def ends():
    """Return the `End` of every cell so far."""
    return [end for own in runs for end in own]


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
    runs.append([])
    left, wait = cells, not is_sweep
    while left and not any(end.is_full for end in ends()):
        held = []
        for settings in left:
            place = f"cell {len(runs[-1]) + 1} of {len(cells)}: " if is_sweep else ""
            try:
                end = _run_cell(settings, words, place, wait)
            except Held:
                log.info("%s%s: another run holds it; it is looked at again at the end", place, settings)
                held.append(settings)
                continue
            if end.error:
                _say_error(end, place)
            runs[-1].append(end)
            if end.is_full:
                break
        wait = held == left  # nothing else is left to do: wait for the first of them
        left = held


def _run_cell(settings, words, place, wait):
    """Do what is asked for of a cell, and return its `End`; with `wait=False` a cell that is held raises `Held`."""
    # Imported here, as these take seconds, and --help and Tab need none of them.
    from ufs_bench.datasets import DataError, DataMissing
    from ufs_bench.runners.code import CodeChanged
    from ufs_bench.runners.experiment.cell import Cell

    end, cell = End(settings), Cell(settings)
    try:
        check_choices(settings, words)
        if before := [one.error for one in ends() if one.is_missing and one.dataset == end.dataset]:
            raise DataMissing(before[0])  # another attempt to download it would take as long and fail again
        if settings.runner.plan:
            end.plan = cell.plan(_times)
        elif place and (line := _finished(cell)):
            log.info("%s%s", place, line)
        else:
            if not any(one.is_run and one.study == end.study for one in ends()):
                log.info("%s, study %s", protocol_words(settings.protocol.name), settings.study)
            end.is_run = True
            end.unscored = cell.run(place, None if wait else _leave)
    except DataMissing as error:
        end.error, end.is_missing = str(error), True
    except (ConfigError, DataError, StoreError, CodeChanged, OSError, MemoryError) as error:
        end.error, end.is_full = words_of(error), lacks_room(error)
        if end.is_full and place:
            end.error += " The sweep ends here: the same command goes on with it."
    return end


def _say_error(end, place):
    """Print why a cell could not be run; an error of several cells is printed once."""
    is_new = end.error not in {one.error for one in ends()}
    if end.is_skipped and end.settings.runner.plan:
        return  # said at the end
    if end.is_missing or (is_new and place):
        log.info("%s%s", place, end.settings)
    if is_new and end.is_skipped:
        log.info("skipped: %s", _reason(end.error))
    elif is_new:
        log.error("error: %s", end.error)


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


def studies():
    """Return the cells of each study of a sweep in which trials were run, (data set, method), by its folder."""
    every, found = ends(), {}
    for end in every if len(every) > 1 else ():
        found.setdefault(end.study, []).append((end.dataset, end.settings.method_file["name"]))
    return {study: cells for study, cells in found.items() if any(end.is_run and end.study == study for end in every)}


def say_ends():
    """Print which cells were skipped and which have a problem; return the exit status of the command."""
    every = ends()
    skipped = Counter(end.dataset for end in every if end.is_skipped)
    for dataset, count in skipped.items():
        why = next(end.error for end in every if end.is_skipped and end.dataset == dataset)
        print(f"skipped: {_reason(why)}: {count} of {len(every)} cells")
    plans = [end.plan for end in every if end.plan]
    if plans:
        print("\n".join(plan_lines(plans)))
    if line := shipped_line(plans):
        print(line)
    if any(end.is_run for end in every):
        from ufs_bench.runners.experiment.result import in_all  # here, as it reads tables, and plans need none

        if line := in_all():
            print(line)
    capped, failed = (
        list(filter(None, (_unscored(end, statuses, words) for end in every)))
        for statuses, words in ((CAPPED, "ended at a cap"), ([FAILED], "failed"))
    )
    if len(every) > 1 and capped:
        print("\n".join(capped))
    errors = {}  # why cells could not be run -> these cells
    for end in every:
        if end.error and not end.is_skipped:
            errors.setdefault(end.error, []).append(str(end.settings))
    n_problems = len(failed) + sum(map(len, errors.values()))
    if len(every) > 1 and n_problems:
        lines = [f"{_few(cells)}: {_reason(why)}" for why, cells in errors.items()]
        print("\n".join([f"\n{n_problems} of {len(every)} cells have a problem:", *lines, *failed]), file=sys.stderr)
    if every and skipped.total() == len(every):
        print("nothing was run: no data set of this sweep could be had", file=sys.stderr)
        return 1
    return int(bool(n_problems))


def _unscored(end, statuses, words):
    """Return how many trials of a cell have these statuses, and the first of them, as a text; "" for none."""
    rows = [row for row in end.unscored if row["status"] in statuses]
    lines = [f"{end.settings}: {len(rows)} trials {words}"] if rows else []
    lines += [f"  {row['params']} sizes {row['sizes']}: {row['error']}" for row in rows[:MOST_ROWS]]
    more = len(rows) - MOST_ROWS
    return "\n".join(lines + [f"  and {more} more: {command_on('status', end.study)} lists them"] * (more > 0))


def plan_lines(plans):
    """Return a line for each cell and one for all; of many cells only those that take longest have a line."""
    lines = [plan.line() for plan in plans]
    if len(plans) > MOST_LINES:
        pending = [plan for plan in plans if plan.n_pending]
        pending.sort(key=lambda plan: (math.isnan(plan.seconds), plan.seconds), reverse=True)  # unknown ones first
        lines = [plan.line() for plan in pending[:MOST_LINES]]
        if more := len(pending) - len(lines):
            lines.append(f"and {counted(more, 'other cell')} with fits to do; dataset=NAME shows its cells")
    return lines + [total_line(plans)] * (len(plans) > 1)


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
    return f"{shipped} of {counted(pending, 'fit')} are shipped; runner.reuse=shipped takes them" if shipped else ""


def _reason(error):
    return error.splitlines()[0].rstrip(":")


def _few(cells):
    return cells[0] if len(cells) == 1 else f"{cells[0]} and {counted(len(cells) - 1, 'other cell')}"
