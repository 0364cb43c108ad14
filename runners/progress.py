"""Prints how a run and a sweep go: lines, the bar of a cell, and on a terminal the one bar of a sweep.

Much is imported where it is used: run.py needs `Report` at once, and the rest takes seconds.
"""

import logging
import math
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from metrics.study import CAPPED, FAILED, UNSCORED
from runners.provenance import Identity

log = logging.getLogger(__name__)
_sweep_bar = None  # the bar of tqdm, while a sweep shows one
LINE_S = 10  # seconds between two lines about the trials of a cell
MOST_ROWS = 3  # so many trials without scores are listed for a cell


def counted(number, noun):
    """Return a number with its noun: "1 trial", "2 trials"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds):
    """Return seconds as a text: "unknown", "40 s", "12 min", "3.4 h"."""
    if math.isnan(seconds):
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Console(logging.StreamHandler):
    """Prints log records; beside the bar of a sweep only warnings and errors, above it.

    What is not printed is in ``run.log`` of the cell all the same.
    """

    def emit(self, record):
        """Print a record, unless the bar stands for it."""
        if _sweep_bar is None:
            super().emit(record)
        elif record.levelno >= logging.WARNING:
            _sweep_bar.write(self.format(record), file=sys.stderr)


def show_bar(n_cells):
    """Show a bar of the cells of a sweep, where standard output and standard error are a terminal's."""
    global _sweep_bar
    if sys.stdout.isatty() and sys.stderr.isatty():
        from tqdm import tqdm  # here, as --help and Tab need none

        _sweep_bar = tqdm(total=n_cells, unit="cell", dynamic_ncols=True, leave=False)


def name_cell(cell):
    """Name the cell that has its turn."""
    if _sweep_bar is not None:
        _sweep_bar.set_description(cell, refresh=False)
        _sweep_bar.set_postfix_str("")


def show_trials(done, total, unscored):
    """Show how far the cell is: "3 of 25 trials", where `total` is a text, and how many fits have no scores."""
    if _sweep_bar is not None:
        words = [f"{done} of {total}", *(f"{count} {status}" for status, count in unscored.items())]
        _sweep_bar.set_postfix_str(", ".join(words))


def end_cell():
    """Count a cell that is done with."""
    if _sweep_bar is not None:
        _sweep_bar.update()
        _sweep_bar.refresh()  # also within the tenth of a second in which tqdm draws once


def hide_bar():
    """Take the bar away."""
    global _sweep_bar
    if _sweep_bar is not None:
        _sweep_bar.close()
        _sweep_bar = None


class Report:
    """Notes what becomes of the cells of a command, and says it after the last one."""

    def __init__(self):
        self.missing = {}  # data set -> why it is not available
        self._cells, self._problems, self._capped, self._plans = [], [], [], []
        self._here = threading.local()  # has the cell whose turn it is: of several in flight, each is a thread
        self._skipped = Counter()  # data set -> number of cells that were left out
        self._studies, self._begun = {}, set()  # folder of a study -> its cells; those in which one was run

    def begin(self, folder, n_cells):
        """Note that the cell of a folder has its turn; return its place in a sweep, such as "cell 2 of 4: "."""
        *_, dataset, method = folder.parts
        self._here.cell, self._here.study = f"{method} on {dataset}", folder.parents[1]
        self._cells.append(self._here.cell)
        name_cell(self._here.cell)
        if threading.current_thread() is not threading.main_thread():
            threading.current_thread().name = self._here.cell
        self._studies.setdefault(self._here.study, []).append((dataset, method))
        return f"cell {len(self._cells)} of {n_cells}: " if n_cells else ""

    def planned(self, place, plan):
        """Print the plan of the cell whose turn it is."""
        self._plans.append(plan)
        log.info("%s%s", place, plan.line())

    def begun(self):
        """Note that the cell is run, and not only looked at."""
        self._begun.add(self._here.study)

    def ended(self, unscored):
        """Note the rows of the trials of the cell that have no scores."""
        for statuses, words, found in (
            ((FAILED,), "trials failed", self._problems),
            (CAPPED, "trials ended at a cap", self._capped),
        ):
            if rows := [row for row in unscored if row["status"] in statuses]:
                found.append("\n".join([f"{self._here.cell}: {len(rows)} {words}", *_first(rows)]))

    def put_aside(self, place):
        """Note that the cell will have its turn again."""
        log.info("%s%s: another run holds it; it is looked at again at the end", place, self._here.cell)
        self._cells.remove(self._here.cell)

    def failed(self, why, place):
        """Note why the cell could not be run, and print it."""
        self._problems.append(f"{self._here.cell}: {why.splitlines()[0]}")
        if place:
            log.info("%s%s", place, self._here.cell)
        log.error("error: %s", why)

    def left_out(self, dataset, why, place, skip):
        """Note that a data set is not available, and print it once; the cell is skipped, or else has a problem."""
        log.info("%s%s", place, self._here.cell)
        reason = why.splitlines()[0].rstrip(":")
        if dataset not in self.missing:
            log.info("skipped: %s", reason) if skip else log.error("error: %s", why)
        self.missing[dataset] = why
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
            print(total_line(self._plans))
        if len(self._cells) > 1 and self._capped:
            print("\n".join(self._capped))
        if len(self._cells) > 1 and self._problems:
            count = f"{len(self._problems)} of {len(self._cells)} cells have a problem:"
            print("\n".join([f"\n{count}", *self._problems]), file=sys.stderr)
        if self._cells and self._skipped.total() == len(self._cells):
            print("nothing was run: no data set of this sweep could be had", file=sys.stderr)
            return 1
        return int(bool(self._problems))


def total_line(plans):
    """Return the plans of a sweep in a sentence."""
    known = [plan for plan in plans if not math.isnan(plan.seconds)]
    unknown = sum(plan.n_pending for plan in plans if math.isnan(plan.seconds))
    text = f"in all {counted(sum(plan.n_pending for plan in plans), 'fit')} in {counted(len(plans), 'cell')}"
    if known:
        seconds = sum(plan.seconds / plan.n_workers for plan in known)
        text += f", about {duration(seconds)} on {counted(known[0].n_workers, 'worker')}"
    return text + (f", and {counted(unknown, 'fit')} of unknown time" if unknown else "")


def _first(rows):
    """Return the first rows of some trials, a line each."""
    lines = [f"  {row['params']} sizes {row['sizes']}: {row['error']}" for row in rows[:MOST_ROWS]]
    more = len(rows) - MOST_ROWS
    return lines + ([f"  and {more} more: python -m scripts.status lists them"] if more > 0 else [])


def say_compiling():
    """Say why the first run on a machine takes a while; `metrics.kmeans.load_engine` calls it."""
    log.info("  compiling the K-means engine, once on this machine: some ten seconds")


class Progress:
    """A progress bar on a terminal, or a part of that of a sweep, and elsewhere a plain line every so many seconds."""

    def __init__(self, total, noun="trial"):
        from tqdm import tqdm

        self._noun, own = noun, sys.stderr.isatty() and _sweep_bar is None
        self._bar = tqdm(total=total, unit=noun, leave=False, dynamic_ncols=True) if own else None
        self._total, self._count = total, 0
        self._started = self._last = time.perf_counter()

    def step(self, count, ends):
        """Count trials that ended, and show the statuses so far; a call with none shows that the run is alive."""
        self._count += count
        unscored = {status: ends[status] for status in UNSCORED if ends.get(status)}
        show_trials(self._count, counted(self._total, self._noun), unscored)
        if self._bar is not None:
            if unscored:
                self._bar.set_postfix(unscored)
            self._bar.update(count)
            self._bar.refresh()
            return
        now = time.perf_counter()
        if now - self._last >= LINE_S and self._count < self._total:
            self._last = now
            since = now - self._started
            left = f", about {since / self._count * (self._total - self._count):.0f} s to go" if self._count else ""
            words = ", ".join(f"{count} {status}" for status, count in ({FAILED: 0} | unscored).items())
            log.info(
                "  %d of %s, %s, after %.0f s%s",
                self._count, counted(self._total, self._noun), words, since, left,
            )  # fmt: skip

    def say(self, text):
        """Print a line without tearing the bar."""
        if self._bar is not None:
            self._bar.clear()
        log.warning(text)

    def close(self):
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


def say_result(folder, trials, n_pending, seconds):
    """Print how a cell went: the trials that are stored, those of them that are new, and a first look at its scores."""
    from metrics.study.frames import fits_of
    from metrics.study.summary import summarise
    from runners.store import load_results
    from runners.tidy import tidy

    keys = {trial.key for trial in trials}
    frame = tidy(load_results(folder.parents[2], *folder.parts[-3:]), lists=False)
    frame = frame[frame["trial"].isin(keys)]
    stored = fits_of(frame)
    counts = Counter(stored["status"])
    parts = [f"{len(stored)} of {counted(len(trials), 'trial')} stored ({n_pending} now)"]
    parts += [
        f"{counts[status]} {status}" for status in (*UNSCORED, "max_iter", "diverged", "collapsed") if counts[status]
    ]
    log.info("  %s; %.1f s", ", ".join(parts), seconds)
    here = Identity.of(trials[0].cls)
    others = Counter(here.difference(Identity.stored(row)) for row in stored.to_dict("records"))
    if others := {why: count for why, count in others.items() if why}:
        words = ", ".join(f"{why}: {count}" for why, count in others.items())
        log.info("  kept though they are of other code or packages (%s); runner.changed=redo runs them again", words)
    for line in _best_lines(summarise(frame)):
        log.info("  %s", line)
    log.info("  %s", folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _best_lines(summary):
    """Return lines with the best scores, for a first look; `scripts.make_table` makes the tables."""
    from metrics.study.summary import select

    names = {
        "best_over_grid": "best over grid and size, chosen with the labels",
        "default_params": "default parameters",
    }
    for selection, name in names.items():
        cells = {metric: select(summary, metric, selection).set_index("clusterer") for metric in ("acc", "nmi")}
        for clusterer in cells["acc"].index:
            texts = [_score_text(metric, frame.loc[clusterer]) for metric, frame in cells.items()]
            if all(texts):
                yield f"{name}, {clusterer}: {', '.join(texts)}"
    scored = summary[summary["agreement"].notna()]
    if len(scored) and scored["acc_mean"].isna().all():
        best = scored.loc[scored["agreement"].idxmax()]
        yield (
            f"no labels: the clusters of the restarts agree most with {best['n_selected']} features (adjusted Rand "
            f"index {best['agreement']:.2f}), where their silhouette is {best['silhouette']:.2f}"
        )


def _score_text(metric, row):
    if math.isnan(row["mean"]):
        return ""
    spread = "" if math.isnan(row["std"]) else f" ± {100 * row['std']:.1f}"
    return f"{metric.upper()} {100 * row['mean']:.1f}{spread} ({row['n_selected']} features)"
