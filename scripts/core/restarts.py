"""Scores of stored feature sets over more K-means starts than the tables have: which sets, and the best of them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts

ERRORS = 2.0  # standard errors of the difference to the best mean, up to which a point is a candidate
MOST = 10  # candidates at most


class Again(NamedTuple):
    """The best of some candidates, over groups of starts."""

    mean: float
    std: float  # of single starts, root mean square over the groups
    group_std: float  # of the best mean over the groups


def candidates(points, metric):
    """Return the points that may be the best of a cell under other starts by a metric, the best first.

    Of the rows of a summary of one cell and clusterer, with scores, they are those whose mean is within `ERRORS`
    standard errors of the best, each feature set once, at most `MOST`. Means of points that share their starts differ
    by less than this error says, so that rather too many are kept.
    """
    mean = points[f"{metric}_mean"].round(12)
    points = points.assign(mean=mean).sort_values(["mean", "n_selected", "params"], ascending=[False, True, True])
    points = points.drop_duplicates("feature_set")
    error = points[f"{metric}_std"].fillna(0.0) / np.sqrt(points["n_restarts"])
    near = points["mean"].iloc[0] - points["mean"] <= ERRORS * np.hypot(error, error.iloc[0])
    return points[near].head(MOST)


def best_in_groups(scores, size):
    """Take the best of several feature sets in every group of starts, as a paper does in its one group.

    `scores` has shape (n_sets, n_starts), `size` is the number of starts of a group; of what is left over after the
    last whole group nothing counts, and a ValueError says that there are fewer than two.
    """
    n_groups = scores.shape[1] // size
    if n_groups < 2:
        raise ValueError(f"restarts={scores.shape[1]} must be {2 * size} or more: two groups of the table's {size}.")
    groups = scores[:, : n_groups * size].reshape(len(scores), n_groups, size)
    best = groups.mean(axis=2).argmax(axis=0)
    chosen = groups[best, np.arange(n_groups)]
    means = chosen.mean(axis=1)
    std = np.sqrt(chosen.var(axis=1, ddof=1).mean()) if size > 1 else np.nan
    return Again(float(means.mean()), float(std), float(means.std(ddof=1)))


def score(features, X, y, protocol, n_starts):
    """Return ACC and NMI of a feature set from the first starts of a protocol, an array of shape (2, n_starts).

    The first of them are those of the tables: a start depends on the seed and its number alone.
    """
    wanted = replace(protocol, restarts=n_starts)
    selected = X[:, np.sort(features)]
    selected = selected.toarray() if issparse(selected) else np.ascontiguousarray(selected)
    how = {"starts": wanted.starts, "replicates": wanted.replicates}
    with threadpool_limits(1):
        labels = kmeans_restarts(selected, len(np.unique(y)), wanted.restarts, wanted.seed, wanted.max_iter, **how)
        return np.array(acc_nmi(y, labels, wanted.nmi))
