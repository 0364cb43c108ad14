"""Starts for a projection W with W'W = I and few rows, where many minima lie close to some few features.

Both are scales s, for which a method finds the W that minimises its objective with ||w_j||^2 / (2 s_j) + s_j / 2 in the
place of ||w_j|| (`methods.core.reweighting`).
"""

import numpy as np

from methods.core.prox import row_norms

TRIAL_SWEEPS = 10  # sweeps of each start, after which the one with the lowest objective goes on
FACTORS = (1, 2, 8)  # features of a start, in multiples of the columns of W
OUTSIDE = 0.1  # s_j of the other features of a start, against 1: they have ten times the weight
CLOSEST = 0.3  # no s_j is below it at a restart, where the largest is about 1


def confined_scales(costs, n_columns):
    """Return scales that all but confine W to the features that cost least, for several numbers of features.

    Parameters
    ----------
    costs : ndarray of shape (n_features,)
        Cost of a column of W that holds nothing but this feature.
    n_columns : int
        Of W.

    Returns
    -------
    list of ndarray of shape (n_features,)
        1 for the 1, 2 or 8 times n_columns cheapest, .1 for the others.
    """
    cheap = np.argsort(costs, kind="stable")
    scales = []
    for size in sorted({min(factor * n_columns, len(costs)) for factor in FACTORS}):
        s = np.full(len(costs), OUTSIDE)
        s[cheap[:size]] = 1.0
        scales.append(s)
    return scales


def close_scales(W):
    """Return scales that follow the row norms of W but differ less: a feature whose row has faded may come back.

    Parameters
    ----------
    W : ndarray of shape (n_features, n_columns)

    Returns
    -------
    ndarray of shape (n_features,)
    """
    return np.hypot(row_norms(W), CLOSEST)
