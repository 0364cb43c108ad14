"""Methods over the data sets of a study, by their gains and their ranks: ``python -m scripts.rank --help``."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import Comparison, compare, ranks


class Ranking(NamedTuple):
    """The content of a table of ranks."""

    # One row per method, best first: average_rank, low and high (its interval on other data sets), wins (ties count)
    table: pd.DataFrame
    comparison: Comparison


def rank_study(field, alpha=0.05, posthoc=None):
    """Return the `Ranking` of the methods of a field; `alpha` and `posthoc` are as in `metrics.study.ranks.compare`."""
    comparison = compare(field.scores, alpha, posthoc)
    per_dataset = ranks(field.scores)
    low, high = means_by_family(per_dataset, field.families)
    best = per_dataset.eq(per_dataset.min(axis=1), axis=0)
    columns = {"average_rank": per_dataset.mean(), "low": low, "high": high, "wins": best.sum()}
    table = pd.DataFrame(columns, index=field.scores.columns)
    return Ranking(table.sort_values("average_rank", kind="stable"), comparison)
