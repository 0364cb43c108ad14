"""The feature sets of a study, and how many of them differ."""

CELL = ["dataset", "method"]


def distinct_sets(frame):
    """Return n_points and n_distinct, of the sets of a tidy frame, by data set, method and size."""
    grouped = frame[frame["feature_set"] > 0].groupby([*CELL, "n_selected"])["feature_set"]
    return grouped.agg(n_points="size", n_distinct="nunique").reset_index()
