"""Compares ways to choose parameters and size without labels."""

import pandas as pd

from ufs_bench.metrics.study import ALL, METRICS
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.losses import candidates, losses, mean_losses
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.messages import counted
from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.core.text import interval, number, pipes, with_interval, wrapped
from ufs_bench.scripts.rank.choice import is_control, one_of_each_source
from ufs_bench.scripts.rank.page import page

EVERYTHING = "all features, no choice"
HEAD = "Choice|Loss|95 % interval|Less than default|Least|Smallest size|Largest size|Cells|Without a choice".split("|")
NOTE = """
Points that a choice loses against the oracle: the candidate that is best by the labels in one half of the K-means
restarts, scored in the other half, so that its score is not the luck that chose it. Data sets count alike, of copies of
a source the one with the most methods; the intervals are of a bootstrap that draws families of data sets, then data
sets with all that is on them. Less than default: how much less is lost than at the default parameters and the size
nearest to 100, in the cells that have both; where the interval holds 0, the choice is not shown to be better than none.
Least: the share of the cells in which no other choice loses less. Smallest and largest size: how often the choice is
the first or the last size of the protocol. "default", "largest" and "median" look at nothing, and "all features"
selects nothing: a criterion that loses more is worse than that. Cells whose candidates all score alike are left out,
and so are controls. Without a choice: the fit of that size failed, or ended at a limit.
"""


def choices_text(studies, metric, form="md"):
    """Return the loss of every choice over the cells of some studies as Markdown, or of every cell as CSV."""
    found = [losses(candidates(study.whole), metric) for study in studies]
    found, names = percent(pd.concat(found, ignore_index=True)), [study.title for study in studies]
    controls = [name for name in found["method"].unique() if is_control(name)]
    found = found[~found["method"].isin(controls)]
    found = found[found["dataset"].isin(one_of_each_source(sorted(found["dataset"].unique()), found)[0])]
    if found.empty:
        raise ValueError(
            f"study={','.join(names)}: no cell has two candidates that differ in {metric}, controls aside, so "
            "there is nothing to choose. Run a method with a grid or several sizes."
        )
    return choices_page(found, metric, names) if form == "md" else found.to_csv(index=False)


def choices_page(found, metric, names):
    """Return the mean of losses in percent, of studies of these names, as a page of Markdown."""
    families = {name: family_of(name) for name in found["dataset"].unique()}
    columns = {name: choice.column for name, choice in BY_NAME.items()} | {ALL: EVERYTHING}
    rows = [HEAD]
    for row in mean_losses(found, families).itertuples():
        shares = ["" if pd.isna(share) else f"{share:.0%}" for share in (row.wins, row.smallest, row.largest)]
        rows.append([
            columns[row.selection], number(row.loss, 1), interval(row.low, row.high, lambda value: number(value, 1)),
            with_interval(row.gain, row.gain_low, row.gain_high), *shares, str(row.cells), str(row.missing),
        ])  # fmt: skip
    cells = counted(len(found.groupby(["study", "dataset", "method"])), "cell")
    return page(
        f"# What a choice without labels loses: {METRICS[metric]}",
        f"Studies: {', '.join(names)}; {cells} on {counted(len(families), 'data set')}.",
        pipes(rows),
        wrapped(NOTE),
    )
