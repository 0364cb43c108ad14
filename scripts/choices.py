"""Compares ways to choose parameters and size without labels: ``python -m scripts.choices --help``."""

import numpy as np
import pandas as pd

from metrics.study import METRICS
from metrics.study.losses import losses, mean_losses
from runners.store.reference import PREFIX
from scripts.compare import shipped_names
from scripts.core.conf import family_of
from scripts.core.entry import command
from scripts.core.study import Study
from scripts.core.text import deliver, number, pipes
from scripts.core.words import CHOICES

HEAD = [
    "Choice",
    "Loss",
    "95 % interval",
    "Less than default",
    "Least",
    "Smallest size",
    "Largest size",
    "Cells",
    "Without a choice",
]
WHAT = """\
Points that a choice loses against the oracle, the candidate that is best by the labels. Data sets count alike; the
intervals are of a bootstrap that draws families of data sets, then data sets with all that is on them. Less than
default: how much less is lost than at the default parameters and the size nearest to 100, in pairs; where the
interval holds 0, the choice is not shown to be better than none. Least: the share of the cells in which no other
choice loses less. Smallest and largest size: how often the choice is the first or the last size of the protocol.
"default", "largest" and "median" look at nothing: a criterion that loses more is worse than not choosing. Cells whose
candidates all score alike are left out, and so are all features and random rankings."""


def choices_page(found, metric, names):
    """Return the mean losses of studies of these names, from `metrics.study.losses.losses`, as a page of Markdown."""
    families = {name: family_of(name) for name in found["dataset"].unique()}
    rows = [HEAD]
    for row in mean_losses(found, families).itertuples():
        rows.append([
            CHOICES[row.selection].column, number(100 * row.loss, 1),
            f"{number(100 * row.low, 1)} to {number(100 * row.high, 1)}",
            f"{_signed(row.gain)} ({_signed(row.gain_low)} to {_signed(row.gain_high)})",
            _share(row.wins), _share(row.smallest), _share(row.largest), str(row.cells), str(row.missing),
        ])  # fmt: skip
    datasets = found["dataset"].nunique()
    counted = f"{len(found.groupby(['study', 'dataset', 'method']))} cells on {datasets} data sets"
    title = f"# What a choice without labels loses: {METRICS[metric]}"
    return "\n\n".join([title, f"Studies: {', '.join(names)}; {counted}.", pipes(rows), WHAT]) + "\n"


def _signed(fraction):
    return "" if np.isnan(fraction) else f"{100 * fraction:+.1f}"


def _share(fraction):
    return "" if np.isnan(fraction) else f"{fraction:.0%}"


@command("choices")
def main(options):
    """Print the loss of every choice, or write it to a file."""
    given = options["study"]
    names = shipped_choices() if given == "reference" else [given] if isinstance(given, str) else given
    deliver(choices_text(options["results_dir"], names, options["metric"], options["format"]), options["output"])


def shipped_choices():
    """Return the names of the shipped studies in which there is a choice: those of the papers, and `fair`."""
    return [*shipped_names().values(), f"{PREFIX}fair"]


def choices_text(results_dir, names, metric, form="md"):
    """Return the loss of every choice over the cells of studies as Markdown, or that of every cell as CSV."""
    studies = [Study.open(results_dir, name).filled() for name in names]
    found = pd.concat([losses(study.summary, metric) for study in studies], ignore_index=True)
    if found.empty:
        raise ValueError(
            f"study={','.join(names)}: no cell has two candidates that differ in {metric}, so there is "
            "nothing to choose. Run a method with a grid or several sizes."
        )
    return choices_page(found, metric, names) if form == "md" else found.to_csv(index=False)


if __name__ == "__main__":
    main()
