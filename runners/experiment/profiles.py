"""Seconds that a method would take on a data set, from those on a few others and how other methods differ there."""

import functools
import math

import numpy as np

from ufs_bench.runners.store import reference

STUDY = "fair"  # the shipped study with most methods on the same data sets
# The logarithm by which the seconds of another method may differ between the known data sets and still count fully;
# and the weight of one that differs by much more, so that there is an estimate where no method is alike.
LIKE, LEAST = 0.3, 1e-3


def seconds_like_others(method, known, dataset):
    """Return the estimated seconds of a fit by those known on other data and how other methods differ; or nan."""
    others = seconds_of_defaults(STUDY, reference.SHIPPED)
    known = {name: max(seconds, LEAST) for name, seconds in known.items() if name in others}
    if not known or dataset not in others:
        return math.nan
    rows = others[[not _related(method, name) for name in others.index]][[*known, dataset]].dropna()
    if rows.empty:
        return math.nan
    behind = np.log(rows[list(known)]) - np.log(list(known.values()))  # of the other methods, by data set
    level = behind.mean(axis=1)
    unlike = (behind.sub(level, axis=0) ** 2).mean(axis=1)
    weights = np.exp(-unlike / (2 * LIKE**2)) + LEAST
    return float(np.exp(np.average(np.log(rows[dataset]) - level, weights=weights)))


def _related(method, name):
    return method == name or method.startswith(f"{name}_") or name.startswith(f"{method}_")


@functools.cache
def seconds_of_defaults(study, _shipped):
    """Return the mean seconds of fits at default parameters with their evaluations, methods by data sets, with gaps."""
    if study not in reference.shipped_studies():
        return {}
    fits = reference.read(study, columns=reference.OF_FITS).drop_duplicates("trial")
    fits = fits.query("is_default and fit_s == fit_s")
    seconds = (fits["fit_s"] + fits["eval_s"].fillna(0)).clip(lower=LEAST)
    return seconds.groupby([fits["method"], fits["dataset"]]).mean().unstack()
