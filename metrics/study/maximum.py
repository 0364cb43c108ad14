"""The maximum over a grid: the number of feature sets it is taken from, and what as many random ones would reach."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import RANDOM

CELL = ["dataset", "method"]
REACH, STEPS = 8.0, 1001  # half width of the numerical integral, in standard deviations, and its number of points
MIN_DRAWS = 2  # random rankings of a size, needed for a mean and a standard deviation


def maxima(summary, metric):
    """Return the number of candidates of every cell, and the expected best of as many random subsets of the same sizes.

    There is one row per data set and method of a summary: n_candidates, the feature sets that differ, over the grid and
    all sizes; and random_best, a fraction, nan where the study has no random rankings of one of the sizes, for random
    rankings themselves, and for a method that keeps all features.
    """
    random = summary[(summary["method"] == RANDOM) & (summary["n_restarts"] > 0)]
    draws = {key: group[f"{metric}_mean"].to_numpy() for key, group in random.groupby(["dataset", "n_selected"])}
    rows = []
    n_distinct = summary[summary["feature_set"] > 0].groupby([*CELL, "n_selected"])["feature_set"].nunique()
    for (dataset, method), own in n_distinct.groupby(CELL):
        counts = own.droplevel(CELL).to_dict()
        known = {size: draws[dataset, size] for size in counts if len(draws.get((dataset, size), ())) >= MIN_DRAWS}
        best = best_of_random(known, counts) if len(known) == len(counts) and method != RANDOM else np.nan
        rows.append((dataset, method, sum(counts.values()), best))
    return pd.DataFrame(rows, columns=[*CELL, "n_candidates", "random_best"])


def best_of_random(draws, counts):
    """Return the expected largest score of independent random subsets.

    `draws` maps a size to the scores of some random subsets of that size, at least `MIN_DRAWS`, and `counts` to the
    number of subsets among which the best is taken. The score of a random subset of a size is taken as normal, with the
    mean and the standard deviation of the draws, which extends to the best of more subsets than there are draws; what
    lies above 1 counts as 1.  With F(x) = prod_size Phi_size(x)^count, the distribution of the largest, the expectation
    is b - (integral of F from a to b) where F(a) = 0, and F(b) = 1 or b = 1.
    """
    from scipy.special import log_ndtr  # here, as only tables of a maximum need what takes a tenth of their start

    means = {size: np.mean(draws[size]) for size in counts}
    # Draws that are all the same have no spread, by which is divided below: 1e-9 of a score shows in no table.
    spreads = {size: max(np.std(draws[size], ddof=1), 1e-9) for size in counts}
    low = min(means[size] - REACH * spreads[size] for size in counts)
    high = min(max(means[size] + REACH * spreads[size] for size in counts), 1.0)
    x = np.linspace(low, high, STEPS)
    log_F = sum(count * log_ndtr((x - means[size]) / spreads[size]) for size, count in counts.items())
    return float(high - np.trapezoid(np.exp(log_F), x))
