"""The gain of a method over the best of as many random subsets as it had candidates."""

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.controls import ALL
from ufs_bench.scripts.compare.headline import random_medians
from ufs_bench.scripts.compare.verdicts import COLUMN
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.text import signed, span

HEAD = "Paper|Method|Cells|Candidates|Ours - random|Published - random|Ours - best|Published - best".split("|")


def maximum_lines(comparison, controls):
    """Return the lines of the table; none without random rankings."""
    rows = excesses(comparison, controls)
    if rows.empty:
        return []
    lines = [HEAD]
    for row in rows.itertuples():
        gains = [signed(value) for value in (row.ours, row.published, row.ours_best, row.published_best)]
        candidates = span((row.fewest, row.most), "{:.0f}")
        lines.append([PAPERS[row.paper], row.method, str(row.cells), candidates, *gains])
    return lines


def excesses(comparison, controls):
    """Return mean gains over the median random ranking, and over the best of as many, a row a paper and method."""
    rows = of_kmeans(comparison[comparison["published_method"] != ALL])
    rows = rows[rows["random_best"].notna()].merge(random_medians(controls), on=COLUMN)
    gains = rows.assign(
        ours=rows["mean"] - rows["random"],
        published=rows["published_mean"] - rows["random"],
        ours_best=rows["excess"],
        published_best=rows["published_mean"] - rows["random_best"],
    )
    means = {name: (name, "mean") for name in ("ours", "published", "ours_best", "published_best")}
    counts = {"cells": ("mean", "size"), "fewest": ("n_candidates", "min"), "most": ("n_candidates", "max")}
    return gains.groupby(["paper", "method"], sort=False).agg(**counts, **means).reset_index()
