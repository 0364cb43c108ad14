"""Tells of a run: the lines that it prints, and the note in its cell, which other commands read without any lock."""

import json
import logging
import os
import socket
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from metrics.study import FAILED, UNSCORED
from metrics.study.summary import select, summarise
from runners.files import StoreError, replace_file
from runners.processes import lives
from runners.provenance import Identity
from runners.store import load_results

log = logging.getLogger(__name__)
RUN = ".run.json"  # the note, in the folder of the cell


def counted(number, noun):
    """Return a number with its noun: "1 trial", "2 trials"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def say_compiling():
    """Say why the first run on a machine takes a while; `metrics.kmeans.load_engine` calls it."""
    log.info("  compiling the K-means engine, once on this machine: some ten seconds")


def usage_text(usage, n_workers, seconds):
    """Return the shares of the workers' time, and how many feature sets were evaluated, as a text."""
    total = n_workers * seconds
    rest = max(total - usage.fit_s - usage.eval_s, 0.0)
    shares = ", ".join(
        f"{name} {part:.1f} s ({part / total:.0%})"
        for name, part in (("fits", usage.fit_s), ("K-means", usage.eval_s), ("waiting and overhead", rest))
    )
    return (
        f"{seconds:.1f} s on {counted(n_workers, 'worker')}: {shares}; "
        f"{usage.n_evaluated} of {counted(usage.n_sets, 'feature set')} evaluated, "
        f"{usage.n_sets - usage.n_evaluated} shared"
    )


class Progress:
    """A progress bar on a terminal, and elsewhere a plain line every so many seconds."""

    def __init__(self, total, every=10.0, noun="trial"):
        self._noun = noun
        self._bar = tqdm(total=total, unit=noun, leave=False, dynamic_ncols=True) if sys.stderr.isatty() else None
        self._total, self._every, self._count = total, every, 0
        self._started = self._last = time.perf_counter()

    def step(self, count, ends):
        """Count trials that ended, and show the statuses so far; a call with none shows that the run is alive."""
        self._count += count
        unscored = {status: ends[status] for status in UNSCORED if ends.get(status)}
        if self._bar is not None:
            if unscored:
                self._bar.set_postfix(unscored)
            self._bar.update(count)
            self._bar.refresh()
            return
        now = time.perf_counter()
        if now - self._last >= self._every and self._count < self._total:
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
    keys = {trial.key for trial in trials}
    results = load_results(folder.parents[2], *folder.parts[-3:])
    stored = results.trials[results.trials["trial"].isin(keys)]
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
    scores = results.scores[results.scores["trial"].isin(keys)]
    for line in _best_lines(summarise(stored, scores)):
        log.info("  %s", line)
    log.info("  %s", folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _best_lines(summary):
    """Return lines with the best scores, for a first look; `scripts.make_table` makes the tables."""
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
    if pd.isna(row["mean"]):
        return ""
    spread = "" if pd.isna(row["std"]) else f" ± {100 * row['std']:.1f}"
    return f"{metric.upper()} {100 * row['mean']:.1f}{spread} ({row['n_selected']} features)"


def note_run(folder, keys, n_workers):
    """Note that this process runs a cell, or, with 0 workers, that it no longer does.

    `keys` are those of all the trials that it was asked for, stored ones too.
    """
    pid = os.getpid() if n_workers else None
    note = {"pid": pid, "host": socket.gethostname(), "n_workers": n_workers, "trials": keys}
    replace_file(folder / RUN, json.dumps(note).encode())


def read_run(folder):
    """Return the keys and the number of workers that the note of a cell's last run has.

    The keys are None where no run has left a note; there are 0 workers where no run goes on.  A run of another machine
    is taken to go on until its own end or the next run clears the note, as its process cannot be looked at from here.
    A StoreError says that the file is damaged.
    """
    path = Path(folder) / RUN
    try:
        content = json.loads(path.read_bytes())
        keys, n_workers, pid = content["trials"], content["n_workers"], content["pid"]
        here = content.get("host", socket.gethostname()) == socket.gethostname()
    except FileNotFoundError:
        return None, 0
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: remove it, the next run of the cell writes it anew.") from error
    return keys, n_workers if pid is not None and (not here or lives(pid)) else 0
