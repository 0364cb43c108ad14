"""The feature sets of a study, and how many of them differ."""

CELL = ["dataset", "method"]


def distinct_sets(frame):
    """Count the different feature sets that the points of a grid give.

    Parameters
    ----------
    frame : DataFrame
        A tidy frame.

    Returns
    -------
    DataFrame
        One row per data set, method and size: n_points, n_distinct.
    """
    grouped = frame[frame["feature_set"] > 0].groupby([*CELL, "n_selected"])["feature_set"]
    return grouped.agg(n_points="size", n_distinct="nunique").reset_index()
