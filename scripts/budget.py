"""Hours of one worker that the experiments take, by method and data set, from the fits that are stored or shipped.

    python run.py experiment=dgufs runner.points=sample        first: a few fits of every cell, kept for the whole run
    python -m scripts.budget dgufs kmeans_ufs                  what all of it takes
    python -m scripts.budget dgufs --check                     of cells that are complete: was the sample right?
    python -m scripts.budget dgufs --max-seconds 60            with runner.max_seconds=60, and how many fits that ends

A trial counts with the seconds of its own fit and evaluations where these are stored.  Where only other points of the
grid are stored, their seconds are scaled by what this point takes beside them on the two most similar data sets that
have both.  Where the method has no fit on the data set, its mean on the nearest one is scaled by (n/n')^1.5 (d/d')^1.5,
which "measured" counts as 0.  Shipped fits count where none is stored at the same parameters, as seconds are of the
CPU.  Fits that a cap ended count with what they took.  What an experiment shares with one before it
counts there alone (`store.elsewhere`).  Data sets that are not on this machine, which a sweep skips, are left out and
named.
"""

import functools
import math
import sys
from argparse import ArgumentTypeError

import numpy as np
import pandas as pd

from datasets.load import at_hand
from runners.code import ROOT
from runners.errors import ConfigError
from runners.experiment.cell import Cell
from runners.experiment.grid import diagonal
from runners.experiment.plan import Times
from runners.experiment.sweep import cells_of_words
from runners.words import counted
from scripts.core.programs import parser_of
from scripts.core.text import pipes


def _seconds(text):
    seconds = float(text)
    if not seconds > 0:
        raise ArgumentTypeError(f"{text} must be above 0")
    return seconds


def budget(experiment, results_dir, all_data=False, max_seconds=math.inf, before=None):
    """Estimate the worker-hours of every cell of an experiment, and list the data sets and cells that are left out.

    The columns are experiment, method, dataset, fits, the number of them "taken" from those before, the shares
    "measured" and "ended" by `max_seconds`, hours; and "sampled", hours estimated from the sample of
    `diagonal` alone, nan where not all of it is stored.  With `all_data`, data sets that are not on this
    machine count, too.  `before` has the trials of other experiments that run before, whose results are taken; this
    experiment's are added.  A cell is left out where its method refuses the data set.
    """
    before = set() if before is None else before
    cells = cells_of_words(f"experiment={experiment}", f"results_dir={results_dir}")
    names = {settings.dataset["name"]: settings.data_dir for settings in cells}
    absent = [] if all_data else [name for name, folder in names.items() if not at_hand(name, folder)]
    times = functools.cache(functools.partial(Times, results_dir, max_seconds=max_seconds))
    rows, refused = [], []
    for settings in cells:
        if settings.dataset["name"] in absent:
            continue
        try:
            trials, known = Cell(settings).asked, times(settings.method.name)
        except ConfigError:
            refused.append(f"{settings.method.name} on {settings.dataset['name']}")
            continue
        keys = [trial.key_under("any") for trial in trials]
        taken = [key in before for key in keys]
        dataset, shape = settings.dataset["name"], (settings.dataset["samples"], settings.dataset["features"])
        stored = [known.measured(dataset, trial.params) for trial in trials]
        seconds = [
            0.0 if elsewhere else known.of(dataset, shape, trial.params)[0]
            for trial, elsewhere in zip(trials, taken, strict=True)
        ]
        before.update(keys)
        sample = [known.measured(dataset, trial.params) for trial in diagonal(trials)]
        rows.append({
            "experiment": experiment,
            "method": settings.method.name,
            "dataset": dataset,
            "fits": len(trials),
            "taken": sum(taken),
            "measured": float(np.mean([not math.isnan(value) for value in stored])),
            "ended": known.ended(dataset),
            "hours": sum(seconds) / 3600,
            "sampled": np.mean(sample) * len(trials) / 3600,
        })  # fmt: skip
    return pd.DataFrame(rows), absent, refused


def table(frame):
    """Return a frame in Markdown, numbers with two decimals; empty where there is none."""
    body = [["" if cell != cell else f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in frame.to_numpy()]  # fmt: skip
    return pipes([list(frame.columns), *body])


def main():
    parser = parser_of("scripts.budget", __doc__)
    parser.add_argument("experiments", nargs="+", help="files of conf/experiment")
    parser.add_argument("--results-dir", default=ROOT / "results", help="whose fits are known; default: %(default)s")
    parser.add_argument("--check", action="store_true", help="hold the sample against the cells that are complete")
    parser.add_argument("--all-data", action="store_true", help="with the data sets that are not on this machine")
    parser.add_argument("--max-seconds", type=_seconds, default=math.inf, help="what a fit would be ended at [never]")
    given = parser.parse_args()
    if wrong := [name for name in given.experiments if "=" in name]:
        parser.error(f"{wrong[0]} is no experiment: words are names of conf/experiment, such as dgufs, or --options")
    before = None if given.check else set()
    found = [budget(name, given.results_dir, given.all_data, given.max_seconds, before) for name in given.experiments]
    frames, absent, refused = zip(*found, strict=True)
    cells = pd.concat(frames)
    if cells.empty:
        sys.exit("None of the data sets is on this machine: --all-data counts them nevertheless.")
    if given.check:
        cells = cells[(cells["measured"] == 1) & cells["sampled"].notna()]
        found = cells.groupby(["experiment", "method"], sort=False)[["hours", "sampled"]].sum()
        found.loc[("all", "all"), :] = found.sum()
        found["ratio"] = found["sampled"] / found["hours"]
        print(table(found.reset_index()))
        return
    hours = cells.pivot_table(index=["experiment", "method"], columns="dataset", values="hours", sort=False)
    hours["all"] = hours.sum(axis=1)
    print(table(hours.reset_index()))
    for name, left_out, without in zip(given.experiments, absent, refused, strict=True):
        part = cells[cells["experiment"] == name]
        unknown = part["hours"].isna()
        known = part[part["ended"].notna()]  # without fits on a data set, it is not known how many would end
        ended = (known["ended"] * known["fits"]).sum() / max(known["fits"].sum(), 1)
        print(
            f"{name}: {part['hours'].sum():.1f} worker-hours for {counted(part['fits'].sum(), 'fit')}, of which "
            f"{(part['measured'] * part['fits']).sum() / part['fits'].sum():.0%} are measured"
            + (f"; {part['taken'].sum()} of them are taken from those above" if part["taken"].any() else "")
            + (f"; {ended:.1%} of them end at {given.max_seconds:g} s" if given.max_seconds < math.inf else "")
            + (f"; {unknown.sum()} cells are of unknown time" if unknown.any() else "")
            + (f"; left out, as they are not on this machine: {', '.join(left_out)}" if left_out else "")
            + (f"; left out, as the method refuses the data set: {', '.join(without)}" if without else "")
        )


if __name__ == "__main__":
    main()
