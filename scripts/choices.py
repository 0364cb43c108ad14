"""Compares ways to choose parameters and size without labels: ``python -m scripts.choices --help``."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, KEPT, METRICS
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.losses import candidates, losses, mean_losses
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.words import counted
from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver, interval, number, with_interval
from ufs_bench.scripts.core.views import render
from ufs_bench.scripts.kept import kept_of, studies_of
from ufs_bench.scripts.ranks.choice import is_control, one_of_each_source

EVERYTHING = "all features, no choice"
HEAD = "Choice|Loss|95 % interval|Less than default|Least|Smallest size|Largest size|Cells|Without a choice".split("|")


def choices_page(found, metric, names):
    """Return the mean of losses in percent, of studies of these names, as a page of Markdown."""
    families = {name: family_of(name) for name in found["dataset"].unique()}
    columns = {name: choice.column for name, choice in BY_NAME.items()} | {ALL: EVERYTHING} | KEPT
    rows = [HEAD]
    for row in mean_losses(found, families).itertuples():
        rows.append([
            columns[row.selection], number(row.loss, 1), interval(row.low, row.high, lambda value: number(value, 1)),
            with_interval(row.gain, row.gain_low, row.gain_high),
            _share(row.wins), _share(row.smallest), _share(row.largest), str(row.cells), str(row.missing),
        ])  # fmt: skip
    return render(
        "choices.md.j2",
        what=METRICS[metric],
        names=names,
        cells=counted(len(found.groupby(["study", "dataset", "method"])), "cell"),
        datasets=counted(found["dataset"].nunique(), "data set"),
        rows=rows,
    )


def _share(fraction):
    return "" if np.isnan(fraction) else f"{fraction:.0%}"


@command("choices")
def main(options):
    """Print the loss of every choice, or write it to a file."""
    names = studies_of(options["study"])
    text = choices_text(opened(options["results_dir"], names), options["metric"], options["format"])
    deliver(text, options["output"])


def opened(results_dir, names):
    """Return `chosen_from` the studies of these names; a ValueError says which one is empty."""
    return [chosen_from(Study.find(results_dir, name).filled()) for name in names]


def chosen_from(study):
    """Return a study's name, its candidates, and what its selections keep."""
    return study.title, candidates(study.whole), kept_of(study)


def choices_text(studies, metric, form="md"):
    """Return the loss of every choice over the cells of `opened` studies as Markdown, or of every cell as CSV."""
    names = [name for name, _, _ in studies]
    found = percent(pd.concat([losses(summary, metric, kept) for _, summary, kept in studies], ignore_index=True))
    found = found[~found["method"].map({name: is_control(name) for name in found["method"].unique()}).astype(bool)]
    found = found[found["dataset"].isin(one_of_each_source(sorted(found["dataset"].unique()), found)[0])]
    if found.empty:
        raise ValueError(
            f"study={','.join(names)}: no cell has two candidates that differ in {metric}, controls aside, so "
            "there is nothing to choose. Run a method with a grid or several sizes."
        )
    return choices_page(found, metric, names) if form == "md" else found.to_csv(index=False)


if __name__ == "__main__":
    main()
