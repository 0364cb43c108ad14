"""The gain of every method over random rankings and over all features, data set by data set."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import DIGITS, check_enough
from ufs_bench.metrics.study.signed_rank import signed_rank
from ufs_bench.scripts.core.text import POINTS
from ufs_bench.scripts.ranks.field import REFERENCES

COLUMNS = ["mean", "low", "high", "above", "worse", "equivalent", "better"]


class Gains(NamedTuple):
    """Gains over one control."""

    reference: str  # the control
    points: pd.DataFrame  # data sets x methods and other controls; positive where the column is better than the control
    # One row per column of `points`, methods by their mean and controls after them: mean, low and high (its interval,
    # by `metrics.study.intervals.means_by_family`), above (share of the data sets with a gain above 0), worse,
    # equivalent and better (probabilities, by `metrics.study.signed_rank.signed_rank`)
    table: pd.DataFrame
    controls: list  # columns of `points` that are controls


def paired_gains(field, rope=1.0):
    """Compare every method with each of `REFERENCES` that has all scores; up to `rope` points are no difference."""
    check_enough(field.scores.index)
    return [_over(field, reference, rope) for reference in REFERENCES if reference in field.controls]


def _over(field, reference, rope):
    others = field.controls.drop(columns=reference)
    points = pd.concat([field.scores, others], axis=1).sub(field.controls[reference], axis=0).round(DIGITS)
    low, high = means_by_family(points, field.families)
    columns = {"mean": points.mean(), "low": low, "high": high, "above": (points > 0).mean()}
    table = pd.DataFrame(columns, index=points.columns)
    posterior = pd.DataFrame([signed_rank(points[name], rope) for name in points], index=points.columns)
    table = table.join(posterior).sort_values("mean", ascending=False, kind="stable")
    order = sorted(table.index, key=lambda name: name in others)
    return Gains(reference, points[order], table.loc[order, COLUMNS], list(others))


def above(table, low="low"):
    """Return the rows whose interval lies above 0 as it is printed.

    An end that prints as 0.0 is nearer to 0 than its noise: other resamples put it on the other side.
    """
    return list(table.index[table[low].round(POINTS) > 0])


def below(table, high="high"):
    """Return the rows whose interval lies below 0 as it is printed."""
    return list(table.index[table[high].round(POINTS) < 0])
