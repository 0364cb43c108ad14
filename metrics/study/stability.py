"""Stability of a selection from one fit to the next: two measures of the agreement of several feature sets."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.study.sets import CELL

Z = 1.959963984540054  # two-sided 95 % of the normal distribution


class Stability(NamedTuple):
    """A value with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def jaccard(sets):
    """Return the mean share of common features of all pairs of sets, of those that either has; nan for a single set."""
    sets = [frozenset(features) for features in sets]
    return float(np.mean([len(a & b) / len(a | b) for a, b in combinations(sets, 2)] or np.nan))


def nogueira(sets, n_features):
    """Return the stability of the selection of `sets` among `n_features`, corrected for chance.

        1 - mean_f s_f^2 / (k/d (1 - k/d)),      s_f^2 = M / (M - 1) p_f (1 - p_f),

    p_f being the share of the M sets that hold feature f, d the number of features and k the mean size of a set.  It is
    1 where all sets are equal, 0 on average where they are drawn at random, and nan where it is not defined: a single
    set, or sets of all features.  The interval is the asymptotic one; of few sets it is too narrow.

    Nogueira, Sechidis & Brown. On the stability of feature selection algorithms. JMLR 18(174), 2018: definition 4 and
    theorem 7.
    """
    chosen = np.zeros((len(sets), n_features))
    for row, features in zip(chosen, sets, strict=True):
        row[list(features)] = 1
    share = chosen.sum() / chosen.size
    if len(sets) < 2 or share in (0, 1):
        return Stability(np.nan, np.nan, np.nan)
    p = chosen.mean(axis=0)
    variance = len(sets) / (len(sets) - 1) * (p * (1 - p)).mean()
    by_chance = share * (1 - share)
    value = 1 - variance / by_chance
    own = chosen.mean(axis=1)
    correction = value / 2 * (2 * share * own - own - share + 1)
    parts = ((chosen @ p) / n_features - own * share + correction) / by_chance
    spread = Z * np.sqrt(4 / len(sets) ** 2 * ((parts - parts.mean()) ** 2).sum())
    return Stability(float(value), float(value - spread), float(value + spread))


def stabilities(fits, n_features):
    """Measure the agreement of the feature sets of repeated fits, from `scripts.core.refits.load_refits`.

    `n_features` maps data sets to their numbers. There is one row per data set, method and change ("samples",
    "columns", "seed"): n_selected, n_sets (with the fit on unchanged data; failed ones left out), n_distinct, jaccard,
    and nogueira with low and high, its 95 % interval.
    """
    rows = []
    for key, cell in fits[~fits["status"].isin(UNSCORED)].groupby([*CELL, "n_selected"]):
        base = cell.loc[cell["change"] == "none", "features"].tolist()
        for change, group in cell[cell["change"] != "none"].groupby("change"):
            found = base + group["features"].tolist()
            distinct = len({tuple(features) for features in found})
            measured = nogueira(found, n_features[key[0]])
            rows.append((*key[:2], change, key[2], len(found), distinct, jaccard(found), *measured))
    names = [*CELL, "change", "n_selected", "n_sets", "n_distinct", "jaccard", "nogueira", "low", "high"]
    return pd.DataFrame(rows, columns=names)
