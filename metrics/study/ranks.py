"""Methods ranked over data sets: average ranks with their intervals, and which differences may be chance."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import scikit_posthocs
from scipy import stats

MIN_DATASETS = 6
DIGITS = 12  # scores that agree to these are tied: the same feature set, summed in another order


class Comparison(NamedTuple):
    """Which methods differ over the data sets.

    Attributes
    ----------
    friedman, friedman_p : float
        Friedman's statistic, corrected for ties, and its p; nan with two methods.
    nemenyi : DataFrame or None
        p for every pair, which keeps the error of the whole family; None with two methods.
    critical_difference : float
        Average ranks further apart than this differ, by Nemenyi at `alpha`; nan with two methods.
    wilcoxon_holm : DataFrame or None
        Signed-rank p for every pair, Holm-corrected; None where no result could be significant.
    needed : int
        Data sets that `wilcoxon_holm` needs with so many methods.
    """

    friedman: float
    friedman_p: float
    nemenyi: pd.DataFrame | None
    critical_difference: float
    wilcoxon_holm: pd.DataFrame | None
    needed: int


def ranks(scores, higher_is_better=True):
    """Rank the methods on every data set.

    Parameters
    ----------
    scores : DataFrame of shape (n_datasets, n_methods)
        Without gaps.
    higher_is_better : bool, default=True
        False for seconds or errors.

    Returns
    -------
    DataFrame
        1 is the best; methods that tie share the mean of their places, so that every row has the same sum.

    Raises
    ------
    ValueError
        For a gap.
    """
    _check_complete(scores)
    return scores.round(DIGITS).rank(axis=1, method="average", ascending=not higher_is_better)


def compare(scores, alpha=0.05):
    """Test whether the methods differ, and which pairs do.

    Parameters
    ----------
    scores : DataFrame of shape (n_datasets, n_methods)
        Without gaps; restarts are averaged already, for they are no independent data.
    alpha : float, default=0.05
        Level of the critical difference and of the bound on the number of data sets.

    Returns
    -------
    Comparison
        The tests are two-sided, so that it does not matter whether high or low scores are better.

    Raises
    ------
    ValueError
        For a gap, fewer than two methods, or fewer than `MIN_DATASETS` data sets.

    Notes
    -----
    Zero differences split their ranks between both signs, as Demšar proposes.  Nemenyi's test of a pair depends on
    the other methods in the table, Wilcoxon's does not; where they disagree the latter is the better guide.

    References
    ----------
    Demšar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    Benavoli, Corani & Mangili. Should we really use post-hoc tests based on mean-ranks? JMLR 17, 2016.
    """
    _check_complete(scores)
    n_datasets, n_methods = scores.shape
    if n_methods < 2:
        raise ValueError(f"n_methods={n_methods}: two methods at least can be compared.")
    if n_datasets < MIN_DATASETS:
        names = ", ".join(map(str, scores.index))
        raise ValueError(
            f"n_datasets={n_datasets} ({names}) must be {MIN_DATASETS} or more: with 5, the signed-rank test of a pair "
            "gives p = 2/2^5 = 0.06 at best, even when one method wins everywhere, and the chi-squared approximation "
            "of Friedman's test does not hold. Read the table itself, or run more data sets."
        )
    rounded = scores.round(DIGITS)
    needed = datasets_needed(n_methods, alpha)
    wilcoxon = _wilcoxon_holm(rounded) if n_datasets >= needed else None
    if n_methods == 2:
        return Comparison(np.nan, np.nan, None, np.nan, wilcoxon, needed)
    if (rounded.nunique(axis=1) == 1).all():
        # All tied everywhere: the statistic is 0 / 0.
        statistic, p = 0.0, 1.0
    else:
        statistic, p = (float(value) for value in stats.friedmanchisquare(*rounded.T.to_numpy()))
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(rounded)
    return Comparison(statistic, p, nemenyi, critical_difference(n_datasets, n_methods, alpha), wilcoxon, needed)


def critical_difference(n_datasets, n_methods, alpha=0.05):
    """Difference of average ranks above which Nemenyi's test tells two methods apart."""
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def datasets_needed(n_methods, alpha=0.05):
    """Data sets with which the signed-rank test of one pair can be significant after Holm's correction.

    With N of them its smallest p is 2 / 2^N, which the first step multiplies by the number of pairs.
    """
    pairs = n_methods * (n_methods - 1) // 2
    return max(MIN_DATASETS, int(np.ceil(1 + np.log2(pairs / alpha))))


def _wilcoxon_holm(scores):
    long = scores.melt(var_name="method", value_name="score")  # data sets keep their order within a method
    with np.errstate(invalid="ignore"):  # 0 / 0 of a pair that ties everywhere, whose p is 1
        return scikit_posthocs.posthoc_wilcoxon(
            long, val_col="score", group_col="method", zero_method="zsplit", p_adjust="holm"
        )


def bootstrap_average_ranks(restarts, higher_is_better=True, level=0.95, n_resamples=2000, random_state=0):
    """Intervals of the average ranks under other K-means starts.

    Parameters
    ----------
    restarts : ndarray of shape (n_datasets, n_methods, n_restarts)
        Scores.
    higher_is_better : bool, default=True
    level : float, default=0.95
    n_resamples : int, default=2000
    random_state : int, default=0

    Returns
    -------
    low, high : ndarray of shape (n_methods,)
        Percentiles over resamples.  In each, the restarts of a data set are drawn anew, the same ones for all methods,
        which share their starts; they are averaged before the methods are ranked, and the ranks averaged over the data
        sets.  The data sets stay: the interval says how far the starts matter, not what other data would give.
    """
    restarts = np.asarray(restarts, dtype=float)
    if not np.isfinite(restarts).all():
        raise ValueError("restarts has gaps: every method needs the same restarts on every data set.")
    rng = np.random.default_rng(random_state)
    n_restarts = restarts.shape[2]
    total = np.zeros((n_resamples, restarts.shape[1]))
    for scores in restarts if higher_is_better else -restarts:
        drawn = rng.integers(n_restarts, size=(n_resamples, n_restarts))
        means = scores[:, drawn].mean(axis=2).T
        total += stats.rankdata(-means.round(DIGITS), axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(total / len(restarts), [tail, 1 - tail], axis=0)
    return low, high


def _check_complete(scores):
    gaps = [f"{method} on {dataset}" for dataset, row in scores.iterrows() for method in row.index[row.isna()]]
    if gaps:
        raise ValueError(f"no rank without a score: {', '.join(gaps)}. Leave out these methods or these data sets.")
