"""Methods over the data sets of a study, by their gains and their ranks: ``python -m scripts.ranks --help``."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import SCORED
from ufs_bench.metrics.study.intervals import means_by_family, ranks_by_restart
from ufs_bench.metrics.study.ranks import Comparison, compare, ranks


class Ranking(NamedTuple):
    """The content of a table of ranks."""

    # One row per method, best first: average_rank, low and high (its interval under other K-means starts; nan where
    # there are no restarts), low_datasets and high_datasets (on other data sets), wins (ties count)
    table: pd.DataFrame
    comparison: Comparison


def rank_study(field, alpha=0.05, posthoc=None):
    """Return the `Ranking` of the methods of a field; `alpha` and `posthoc` are as in `metrics.study.ranks.compare`."""
    comparison = compare(field.scores, alpha, posthoc)
    per_dataset = ranks(field.scores)
    low, high = _by_restart(field)
    low_datasets, high_datasets = means_by_family(per_dataset, field.families)
    best = per_dataset.eq(per_dataset.min(axis=1), axis=0)
    columns = {"average_rank": per_dataset.mean(), "low": low, "high": high, "wins": best.sum()}
    columns |= {"low_datasets": low_datasets, "high_datasets": high_datasets}
    table = pd.DataFrame(columns, index=field.scores.columns)
    return Ranking(table.sort_values("average_rank", kind="stable"), comparison)


def _by_restart(field):
    """Return intervals under other K-means starts; nan where a cell is not one feature set, or has one restart."""
    unknown = np.full(field.scores.shape[1], np.nan)
    if field.metric not in SCORED:
        return unknown, unknown
    wanted = field.cells.loc[[(dataset, method) for dataset in field.scores.index for method in field.scores]]
    if (wanted["trial"] == "").any() or wanted["n_restarts"].min() < 2 or wanted["n_restarts"].nunique() > 1:
        return unknown, unknown
    rows = field.study.whole
    rows = rows[(rows["clusterer"] == field.clusterer) & (rows["n_restarts"] > 0)]
    scores = rows["nmi"] if field.metric == "nmi" else rows["acc"] / rows["n_samples"]
    point = ["dataset", "method", "params", "n_selected"]
    by_point = scores.groupby([rows[name] for name in point]).agg(lambda seeds: np.mean(np.stack(seeds), axis=0))
    values = by_point.loc[list(wanted.reset_index()[point].itertuples(index=False, name=None))]
    return ranks_by_restart(np.stack(values.to_numpy()).reshape(*field.scores.shape, -1))
