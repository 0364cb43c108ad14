"""What a comparison with a paper is evidence of: five lines that can fail, each with its permutation test.

Whether a number is near the published one says little where all methods of a table are near each other.  So each line
asks whether our row of a method fits the published row of *that* method better than it fits the other rows of the same
column.  Under "it does not" our rows of a data set could be given to the published ones in any order: the line is
computed again for random orders, drawn for each data set, the same for its ACC and NMI.  A study in which every method
is a random ranking, or another method, fails every line; one of the published values with the noise of K-means in them
passes every line (`tests/commands/test_evidence.py`).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

LINES = {
    "distance": "mean distance to the published value, in points",
    "order": "rank correlation with the published column (Kendall's tau-b)",
    "nearest": "share of cells whose nearest published row is that of their own method",
    "sign": "share of cells above or below all features, as published",
    "equivalence": "cells that agree less those that differ, as a share",
}
SMALLER_IS_BETTER = ("distance",)
AGREES, DIFFERS, INCONCLUSIVE = "agrees", "differs", "inconclusive"
REPRODUCED, NOT_REPRODUCED, TOO_FEW = "reproduced", "not reproduced", "too few cells"
LEVEL = 0.01  # of a line's test: with five papers and five lines, one false "reproduced" in four whole comparisons
CONFIDENCE = 0.95  # of each side of the equivalence test
N_PERMUTATIONS = 9999
BLOCK = 1000  # permutations at a time
MIN_ORDERS = 1 / LEVEL  # with fewer orders no line could be significant


class Line(NamedTuple):
    """One line of a paper.

    Attributes
    ----------
    value : float
        Of our rows, each held against the published row of its method.
    by_chance : float
        Mean over the permutations.
    p : float
        Share of the permutations, with the study itself among them, that are at least as good.
    verdict : {"reproduced", "not reproduced", "too few cells"}
    """

    value: float
    by_chance: float
    p: float
    verdict: str


def standard_error(ours_std, published_std, ours_n, published_n):
    """Of the difference of two means over K-means restarts.

    Parameters
    ----------
    ours_std, published_std : array-like
        Spread over single restarts; nan, for learned labels, counts as 0.
    ours_n, published_n : array-like or int
        Restarts.

    Returns
    -------
    ndarray
    """
    ours, published = (np.nan_to_num(np.asarray(std, dtype=float)) for std in (ours_std, published_std))
    return np.sqrt(ours**2 / np.maximum(ours_n, 1) + published**2 / np.maximum(published_n, 1))


def equivalence(difference, error, margin):
    """Two one-sided tests of equivalence, and their opposite.

    Parameters
    ----------
    difference, error, margin : ndarray
        Ours minus published, its standard error, and the largest difference that does not matter.

    Returns
    -------
    ndarray of str
        "agrees" where the difference is surely within the margin, "differs" where it is surely outside, each at
        `CONFIDENCE`; otherwise "inconclusive".
    """
    reach = stats.norm.ppf(CONFIDENCE) * error
    away = np.abs(difference)
    return np.select([away + reach <= margin, away - reach > margin], [AGREES, DIFFERS], INCONCLUSIVE)


def lines(cells, n_permutations=N_PERMUTATIONS, seed=0):
    """The five lines of one paper.

    Parameters
    ----------
    cells : DataFrame
        One row per data set, metric and published method, all features aside: dataset, metric, method, mean, std,
        n_restarts, published_mean, published_std, published_n, all_mean and published_all (all features, ours and the
        paper's).  Percent.  A method that lacks a number on a data set is left out there.
    n_permutations : int, default=9999
    seed : int, default=0

    Returns
    -------
    dict of str to Line
        Keys are those of `LINES`.
    """
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(LINES, 0.0)
    permuted = {name: np.zeros(n_permutations) for name in LINES}
    weights, orders = dict.fromkeys(LINES, 0), 1.0
    for _, dataset in cells.groupby("dataset", sort=True):
        wide = dataset.pivot(index="method", columns="metric")
        wide = wide[wide[["mean", "published_mean"]].notna().all(axis=1)]
        k = len(wide)
        if k < 2:
            continue
        orders *= float(np.prod(np.arange(1, k + 1)))
        permutations = rng.permuted(np.tile(np.arange(k), (n_permutations, 1)), axis=1)
        for metric in wide["mean"].columns:
            column = wide.xs(metric, axis=1, level="metric")
            for name, against in _against(column).items():
                found[name] += np.trace(against)
                permuted[name] += against[permutations, np.arange(k)].sum(axis=1)
                weights[name] += k
            ours, published = (_signs(column[name].to_numpy()) for name in ("mean", "published_mean"))
            scale = k / max(np.sqrt((ours != 0).sum() * (published != 0).sum()), 1.0)
            found["order"] += scale * (ours * published).sum()
            for start in range(0, n_permutations, BLOCK):
                some = permutations[start : start + BLOCK]
                permuted["order"][start : start + BLOCK] += scale * (
                    ours[some[:, :, None], some[:, None, :]] * published
                ).sum(axis=(1, 2))
            weights["order"] += k
    return {name: _line(name, found[name], permuted[name], weights[name], orders) for name in LINES}


def _against(column):
    """How well each of our rows fits each of the published rows: arrays [ours, published], larger is better."""
    ours, published = column["mean"].to_numpy(), column["published_mean"].to_numpy()
    difference = ours[:, None] - published
    distance = np.abs(difference)
    nearest = (distance <= distance.min(axis=1, keepdims=True) + 1e-9).astype(float)
    found = {"distance": -distance, "nearest": nearest / nearest.sum(axis=1, keepdims=True)}
    gain, published_gain = ours - column["all_mean"].to_numpy(), published - column["published_all"].to_numpy()
    if np.isfinite(gain).all() and np.isfinite(published_gain).all():
        found["sign"] = (np.sign(gain)[:, None] == np.sign(published_gain)).astype(float)
        error = standard_error(
            column["std"].to_numpy()[:, None], column["published_std"].to_numpy(),
            column["n_restarts"].to_numpy()[:, None], column["published_n"].to_numpy(),
        )  # fmt: skip
        # Half of what the paper gains, or loses, against all features: more would change what it says.
        words = equivalence(difference, error, np.abs(published_gain) / 2)
        found["equivalence"] = (words == AGREES).astype(float) - (words == DIFFERS)
    return found


def _signs(values):
    return np.sign(values[:, None] - values)


def _line(name, found, permuted, weight, orders):
    if not weight:
        return Line(np.nan, np.nan, np.nan, TOO_FEW)
    p = (1 + np.count_nonzero(permuted >= found - 1e-9)) / (1 + len(permuted))
    verdict = TOO_FEW if orders < MIN_ORDERS else REPRODUCED if p <= LEVEL else NOT_REPRODUCED
    sign = -1.0 if name in SMALLER_IS_BETTER else 1.0
    return Line(sign * found / weight, sign * permuted.mean() / weight, float(p), verdict)


def to_frame(found):
    """The lines of several papers as a table.

    Parameters
    ----------
    found : Mapping of str to dict
        Paper -> what `lines` gives.

    Returns
    -------
    DataFrame
        One row per paper and line: paper, line, value, by_chance, p, verdict.
    """
    return pd.DataFrame(
        [{"paper": paper, "line": name, **line._asdict()} for paper, own in found.items() for name, line in own.items()]
    )
