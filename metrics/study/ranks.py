"""Ranks of methods over data sets: average ranks, and tests of their differences."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # it imports its parts when they are first used, and `stats` takes long

MIN_DATASETS = 6
DIGITS = 12  # decimals; scores that agree to them are ties, of the same feature set summed in another order
POSTHOC = ("nemenyi", "wilcoxon_holm")


class Comparison(NamedTuple):
    """The tests of whether methods differ over the data sets, and of which do."""

    # friedman, friedman_p: the statistic, corrected for ties, and its p; nan with two methods
    friedman: float
    friedman_p: float
    posthoc: str | None = None  # the test of `pairs`, one of `POSTHOC`
    pairs: pd.DataFrame | None = None  # p of every pair of methods, which keeps the error of the family
    critical_difference: float = np.nan  # average ranks further apart differ, by Nemenyi at `alpha`


def ranks(scores):
    """Rank the methods, columns, on every data set, rows without gaps: 1 is the best, ties share the mean place."""
    _check_complete(scores)
    return scores.round(DIGITS).rank(axis=1, method="average", ascending=False)


def compare(scores, alpha=0.05, posthoc=None):
    """Test whether the methods differ, and with `posthoc`, one of `POSTHOC`, which pairs do; return a `Comparison`.

    `scores` has data sets in rows and methods in columns, without gaps; restarts are averaged already, for they are no
    independent data. `alpha` is the level of the critical difference and of the bound on the number of data sets. The
    tests are two-sided, so that it does not matter whether high or low scores are better. A ValueError is about a gap,
    fewer than two methods, fewer than `MIN_DATASETS` data sets, or a test that cannot be: Nemenyi's of two methods,
    Wilcoxon's where no result could be significant.

    Zero differences split their ranks between both signs, as Demšar proposes (JMLR 7, 2006). Nemenyi's test of a pair
    depends on the other methods in the table, Wilcoxon's does not; where they disagree the latter is the better guide
    (Benavoli, Corani & Mangili, JMLR 17, 2016).
    """
    _check_complete(scores)
    n_datasets, n_methods = scores.shape
    if posthoc not in (None, *POSTHOC):
        raise ValueError(f"posthoc={posthoc!r} must be one of {', '.join(POSTHOC)}, or None.")
    if n_methods < 2:
        raise ValueError(f"n_methods={n_methods}: two methods at least can be compared.")
    check_enough(scores.index)
    rounded = scores.round(DIGITS)
    statistic, p = _friedman(rounded)
    if posthoc is None:
        return Comparison(statistic, p)
    pairs = list(combinations(rounded, 2))
    if posthoc == "wilcoxon_holm":
        if n_datasets < (needed := datasets_needed(n_methods, alpha)):
            raise ValueError(
                f"wilcoxon_holm: with {n_methods} methods no pair can reach {alpha:g} on {n_datasets} data sets, "
                f"whatever the scores; it takes {needed} data sets, or fewer methods."
            )
        raw = [wilcoxon(rounded[one] - rounded[other]) for one, other in pairs]
        return Comparison(statistic, p, posthoc, _square(rounded, holm(pd.Series(raw))))
    if n_methods == 2:
        raise ValueError("nemenyi needs three methods: with two, wilcoxon_holm.")
    # The difference of average ranks of a pair against the range of as many normal variables.
    average, error = rounded.rank(axis=1).mean(), _rank_error(n_datasets, n_methods)
    apart = np.array([abs(average[one] - average[other]) for one, other in pairs])
    nemenyi = scipy.stats.studentized_range.sf(np.sqrt(2) * apart / error, n_methods, np.inf)
    found = _square(rounded, nemenyi)
    return Comparison(statistic, p, posthoc, found, critical_difference(n_datasets, n_methods, alpha))


def check_enough(datasets):
    """Refuse fewer than `MIN_DATASETS` data sets with a ValueError."""
    names = list(map(str, datasets))
    if len(names) < MIN_DATASETS:
        raise ValueError(
            f"n_datasets={len(names)} ({', '.join(names)}) must be {MIN_DATASETS} or more: with 5, the signed-rank "
            "test of a pair gives p = 2/2^5 = 0.06 at best, even when one method wins everywhere, and the chi-squared "
            "approximation of Friedman's test does not hold. Read the table itself, or run more data sets."
        )


def critical_difference(n_datasets, n_methods, alpha=0.05):
    """Return the difference of average ranks above which Nemenyi's test tells two methods apart."""
    quantile = scipy.stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * _rank_error(n_datasets, n_methods))


def _rank_error(n_datasets, n_methods):
    return np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


def datasets_needed(n_methods, alpha=0.05):
    """Return the number of data sets that a signed-rank test needs to be significant after Holm's correction.

    With N of them its smallest p is 2 / 2^N, which the first step multiplies by the number of pairs.
    """
    pairs = n_methods * (n_methods - 1) // 2
    return max(MIN_DATASETS, int(np.ceil(1 + np.log2(pairs / alpha))))


def _friedman(rounded):
    if rounded.shape[1] == 2:
        return np.nan, np.nan
    if (rounded.nunique(axis=1) == 1).all():
        # All methods tie on every data set: the statistic is 0 / 0.
        return 0.0, 1.0
    return tuple(float(value) for value in scipy.stats.friedmanchisquare(*rounded.T.to_numpy()))


def wilcoxon(gains):
    """Return p of the signed-rank test that gains lie about 0; ties with 0 count half to each side."""
    return scipy.stats.wilcoxon(gains, zero_method="zsplit").pvalue if gains.any() else 1.0


def holm(p):
    """Return the p of a family of tests, corrected by Holm's steps; a gap stays one and does not count."""
    ordered = p.dropna().sort_values()
    return (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1).reindex(p.index)


def _square(scores, p):
    """Return the p of pairs, in the order of `combinations`, as a symmetric table; 1 for a method and itself."""
    found = pd.DataFrame(1.0, index=scores.columns, columns=scores.columns)
    for (one, other), value in zip(combinations(scores, 2), p, strict=True):
        found.loc[one, other] = found.loc[other, one] = value
    return found


def _check_complete(scores):
    gaps = [f"{method} on {dataset}" for dataset, row in scores.iterrows() for method in row.index[row.isna()]]
    if gaps:
        raise ValueError(f"no rank without a score: {', '.join(gaps)}. Leave out these methods or these data sets.")
