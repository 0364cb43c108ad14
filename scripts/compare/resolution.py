"""The resolution of a comparison with a paper, and how near it comes: one row a paper, in Markdown."""

import pandas as pd

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.experiment.trial import has_random_part
from ufs_bench.scripts.compare.columns import columns_of
from ufs_bench.scripts.compare.evidence import effect, noise_of_half, spread
from ufs_bench.scripts.compare.headline import weighed
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.text import number

FEW = 3  # data sets; of two a resample is one of them, or both
HEAD = "Paper|Cells|Data sets|Methods|Distance|Nearer than chance|Spread|Half pass".split("|")


def resolution(comparison):
    """Describe the cells that the lines of every paper rest on: their effect, spread, and spread over seeds."""
    rows = []
    for paper, cells in weighed(comparison).items():
        if cells.empty:
            continue
        columns = columns_of(cells)
        has_seed = cells["method"].map(lambda method: has_random_part(find("method", method)))
        seeded = of_kmeans(cells[has_seed])
        rows.append({
            "paper": paper, "cells": len(cells), "datasets": cells["dataset"].nunique(),
            "methods": len(columns.methods), **effect(columns)._asdict(), "spread": spread(columns),
            "half": noise_of_half(columns), "seeded": len(seeded), "known": seeded["seed_std"].notna().sum(),
            "median_seeds": seeded["seed_std"].median(), "most_seeds": seeded["seed_std"].max(),
        })  # fmt: skip
    return pd.DataFrame(rows)


def resolution_lines(rows):
    """Return the lines of the table of `resolution`."""
    lines = [HEAD]
    for row in rows.itertuples():
        lines.append([
            PAPERS[row.paper], str(row.cells), str(row.datasets), str(row.methods),
            in_interval(row.datasets, row.distance, row.distance_low, row.distance_high, 1),
            in_interval(row.datasets, row.gain, row.gain_low, row.gain_high, 2), f"{row.spread:.2f}", f"{row.half:.1f}",
        ])  # fmt: skip
    return lines


def in_interval(n_datasets, value, low, high, decimals):
    """Return a number with its interval over data sets, which is left out of few."""
    if n_datasets < FEW:
        return number(value, decimals)
    return "{} ({} to {})".format(*(number(one, decimals) for one in (value, low, high)))
