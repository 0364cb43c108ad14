"""The feature sets of a study, and how many of them differ."""

import json

import pandas as pd

CELL = ["dataset", "method"]


def feature_sets(trials):
    """Return one row per trial and size with the name of the selected set.

    Parameters
    ----------
    trials : DataFrame
        From `runners.store.load_results`.

    Returns
    -------
    DataFrame
        Columns dataset, method, trial, params, n_selected, digest; failed trials have no rows.
    """
    rows = [
        (*key, int(size), digest)
        for *key, sets in trials[[*CELL, "trial", "params", "feature_sets"]].itertuples(index=False)
        for size, digest in json.loads(sets).items()
    ]
    return pd.DataFrame(rows, columns=[*CELL, "trial", "params", "n_selected", "digest"])


def stored_features(stored, size):
    """Return the first `size` features of a decoded ranking, one list or one for each size; [] where there is none."""
    return stored.get(str(size), []) if isinstance(stored, dict) else stored[:size]


def distinct_sets(trials):
    """Count the different feature sets that the points of a grid give.

    Returns
    -------
    DataFrame
        One row per data set, method and size: n_points, n_distinct.
    """
    grouped = feature_sets(trials).groupby([*CELL, "n_selected"])["digest"]
    return grouped.agg(n_points="size", n_distinct="nunique").reset_index()
