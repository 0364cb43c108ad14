"""Notes what becomes of the cells of a command, and says it after the last one."""

import math
import shutil
import sys
import threading
from collections import Counter
from contextlib import suppress

from ufs_bench.metrics.study import CAPPED, FAILED
from ufs_bench.runners.papers import protocol_words
from ufs_bench.runners.place import command_on
from ufs_bench.runners.progress import log, name_cell
from ufs_bench.runners.words import counted, duration

MOST_ROWS = 3  # so many trials without scores are listed for a cell
MOST_CELLS = 30  # so many lines a plan has; one of more cells has a line for a data set


class Report:
    """Notes what becomes of the cells of a command, and says it after the last one."""

    def __init__(self):
        self.missing = {}  # data set -> why it is not available
        self.is_summed = False  # True for a plan that has no line for each cell
        self.is_full = False  # True where a disk is, so that no other cell is begun
        self._cells, self._problems, self._capped, self._plans = [], [], [], []
        self._here = threading.local()  # has the cell whose turn it is: of several in flight, each is a thread
        self._skipped = Counter()  # data set -> number of cells that were left out
        self._studies, self._begun = {}, set()  # folder of a study -> its cells; those in which one was run
        self.refused = set()  # the folders of cells that could not be run

    def begin(self, folder, n_cells):
        """Note that the cell of a folder has its turn; return its place in a sweep, such as "cell 2 of 4: "."""
        *_, dataset, method = folder.parts
        self._here.cell, self._here.study, self._here.folder = f"{method} on {dataset}", folder.parents[1], folder
        self._cells.append(self._here.cell)
        name_cell(self._here.cell)
        if threading.current_thread() is not threading.main_thread():
            threading.current_thread().name = self._here.cell
        self._studies.setdefault(self._here.study, []).append((dataset, method))
        return f"cell {len(self._cells)} of {n_cells}: " if n_cells else ""

    def planned(self, place, plan):
        """Print the plan of the cell whose turn it is."""
        self._plans.append(plan)
        if not self.is_summed:
            log.info("%s%s", place, plan.line())

    def begun(self, protocol):
        """Note that the cell is run, and not only looked at; say under which protocol, once for a study."""
        if self._here.study not in self._begun:
            log.info("%s, study %s", protocol_words(protocol), self._here.study.name)
        self._begun.add(self._here.study)

    def ended(self, unscored):
        """Note the rows of the trials of the cell that have no scores."""
        for statuses, words, found in (
            ((FAILED,), "trials failed", self._problems),
            (CAPPED, "trials ended at a cap", self._capped),
        ):
            if rows := [row for row in unscored if row["status"] in statuses]:
                found.append("\n".join([f"{self._here.cell}: {len(rows)} {words}", *_first(rows, self._here.folder)]))

    def put_aside(self, place):
        """Note that the cell will have its turn again."""
        log.info("%s%s: another run holds it; it is looked at again at the end", place, self._here.cell)
        self._cells.remove(self._here.cell)

    def failed(self, why, place):
        """Note why the cell could not be run, and print it."""
        self._problems.append(f"{self._here.cell}: {why.splitlines()[0]}")
        self.refused.add(self._here.folder)
        if place:
            log.info("%s%s", place, self._here.cell)
        log.error("error: %s", why)

    def left_out(self, dataset, why, place, skip):
        """Note that a data set is not available, and print it once; the cell is skipped, or else has a problem."""
        if not (self.is_summed and skip):
            log.info("%s%s", place, self._here.cell)
        reason = why.splitlines()[0].rstrip(":")
        if dataset not in self.missing and not (self.is_summed and skip):  # it is said at the end
            log.info("skipped: %s", reason) if skip else log.error("error: %s", why)
        self.missing[dataset] = why
        self.refused.add(self._here.folder)
        if skip:
            self._skipped[dataset] += 1
        else:
            self._problems.append(f"{self._here.cell}: {reason}")

    def studies(self):
        """Return the cells of each study of a sweep in which trials were run, (data set, method), by its folder."""
        return {place: cells for place, cells in self._studies.items() if place in self._begun and len(self._cells) > 1}

    def close(self):
        """Print which cells were skipped and which have a problem; return the exit status of the command."""
        for dataset, count in self._skipped.items():
            reason = self.missing[dataset].splitlines()[0].rstrip(":")
            print(f"skipped: {reason}: {count} of {len(self._cells)} cells")
        if len(self._plans) > 1:
            print("\n".join([total_line(self._plans), *(by_dataset(self._plans) if self.is_summed else [])]))
        if line := shipped_line(self._plans):
            print(line)
        if self._begun:
            from ufs_bench.runners.experiment.shipped import (
                in_all,  # here, as it reads tables, and --help and Tab need none
            )

            if line := in_all():
                print(line)
        if len(self._cells) > 1 and self._capped:
            print("\n".join(self._capped))
        if len(self._cells) > 1 and self._problems:
            count = f"{len(self._problems)} of {len(self._cells)} cells have a problem:"
            print("\n".join([f"\n{count}", *self._problems]), file=sys.stderr)
        if self._cells and self._skipped.total() == len(self._cells):
            print("nothing was run: no data set of this sweep could be had", file=sys.stderr)
            return 1
        return int(bool(self._problems))


def remove_unused(folder):
    """Remove the folder of a cell where it has Hydra's own files only, and folders above that are empty without it."""
    if folder.is_dir() and {path.name for path in folder.iterdir()} <= {".hydra", "run.log"}:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # one that is not empty
            for above in folder.parents[:2]:
                above.rmdir()


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


def by_dataset(plans):
    """Return a line for each data set with fits to do, the longest first."""
    groups = {}
    for plan in plans:
        if plan.n_pending:
            groups.setdefault(plan.cell.rpartition(" on ")[2], []).append(plan)
    known = {name: sum(plan.seconds for plan in own if not math.isnan(plan.seconds)) for name, own in groups.items()}
    groups = sorted(groups.items(), key=lambda group: -known[group[0]])
    lines = [f"  {dataset}: {total_line(own).removeprefix('in all ')}" for dataset, own in groups]
    more = f"  and {counted(len(lines) - MOST_CELLS, 'data set')} more; " if len(lines) > MOST_CELLS else "  "
    said = [f"{more}dataset=NAME in the same command has a line for each cell"] if lines else []
    return lines[:MOST_CELLS] + said


def _first(rows, folder):
    """Return the first rows of some trials of a cell with this folder, a line each."""
    lines = [f"  {row['params']} sizes {row['sizes']}: {row['error']}" for row in rows[:MOST_ROWS]]
    more = len(rows) - MOST_ROWS
    return lines + ([f"  and {more} more: {command_on('status', folder.parents[1])} lists them"] if more > 0 else [])
