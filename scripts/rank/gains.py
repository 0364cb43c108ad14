"""The ranks of methods, and their gains over random rankings and over all features, data set by data set."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import DIGITS, MIN_DATASETS, Comparison, check_enough, compare, ranks
from ufs_bench.scripts.rank.field import REFERENCES

COLUMNS = ["mean", "n_datasets", "wins", "ties", "losses", "low", "high"]


class Gains(NamedTuple):
    """Gains over one control."""

    reference: str  # the control
    points: pd.DataFrame  # data sets x methods and other controls; positive where the column is better than the control
    table: pd.DataFrame  # as `gains_of` returns it, methods by their mean and controls after them
    controls: list  # columns of `points` that are controls


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


def paired_gains(field):
    """Compare every method with each of `REFERENCES` that has all scores."""
    check_enough(field.scores.index)
    found = []
    for reference in REFERENCES:
        if reference not in field.controls:
            continue
        others = field.controls.drop(columns=reference)
        points = pd.concat([field.scores, others], axis=1).sub(field.controls[reference], axis=0).round(DIGITS)
        table = gains_of(points, field.families).sort_values("mean", ascending=False, kind="stable")
        order = sorted(table.index, key=others.columns.__contains__)
        found.append(Gains(reference, points[order], table.loc[order], list(others)))
    return found


def gains_of(points, families):
    """Return a row with `COLUMNS` for each column of gains by data set, in which gaps are left out.

    low and high: the interval, by `metrics.study.intervals.means_by_family`; nan with fewer than `MIN_DATASETS` gains.
    """
    rows = {}
    for name, own in points.round(DIGITS).items():
        own = own.dropna()
        counts = [len(own), (own > 0).sum(), (own == 0).sum(), (own < 0).sum()]
        interval = means_by_family(own.to_frame(), families) if len(own) >= MIN_DATASETS else (np.nan, np.nan)
        rows[name] = [own.mean(), *counts, *np.ravel(interval)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
