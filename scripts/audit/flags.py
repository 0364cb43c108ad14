"""The rows of the tables of an audit that stand out."""

import pandas as pd

from ufs_bench.metrics.study import POOR, is_learned

# An overlap of at least so much, corrected for chance, means that two rankings select the same features.
SAME = 0.9
HARDLY = 0.2  # share of the steps along a parameter
UNSTABLE = 0.75  # above it agreement is excellent (Nogueira et al.)
OFTEN = 0.5  # share of the fits
TRIVIAL = ("max_variance", "min_variance", "min_norm", "first_index", "all_features", "spectral_labels")
CELL = ["dataset", "method"]


def stands_out(name, frame):
    """Return True for the rows of a table of an audit, called `name`, that a reader should look at."""
    if frame.empty:
        return pd.Series(dtype=bool, index=frame.index)
    return RULES[name](frame)


def _repeated(rows):
    largest = rows.groupby(CELL)[["n_points", "n_distinct"]].transform("max")
    return (largest["n_points"] > 1) & (largest["n_distinct"] == 1)


def _inert(rows):
    return (rows["n_changed"] <= HARDLY * rows["n_steps"]) | (_beyond(rows["shared"], rows["chance"]) >= SAME)


def _trivial(rows):
    """Find overlaps with trivial rankings; a control that is one itself, such as max_variance, is left out by name."""
    return ~rows["method"].isin(TRIVIAL) & (rows["chance"] < SAME) & (_beyond(rows["median"], rows["chance"]) >= SAME)


def _ends(rows):
    ended = rows[[*POOR, "failed", "timeout", "out_of_memory"]].sum(axis=1) > 0
    return ended | (rows["max_iter"] >= OFTEN) | (rows["rose"] > 0)


def _hollow(rows):
    return ~is_learned(rows) & rows["oracle_status"].isin(POOR)


def _winners(rows):
    """Find other metrics whose best method, or all equally good ones, are not best by ACC."""
    pairs = zip(rows["winner"], rows["winner_acc"], strict=True)
    return pd.Series([set(own).isdisjoint(by_acc) for own, by_acc in pairs], rows.index)


def _beyond(share, chance):
    """Return a share corrected for chance; 0 where chance alone has all."""
    return ((share - chance) / (1 - chance)).where(chance < 1, 0.0)


def _all(rows):
    return pd.Series(True, rows.index)


RULES = {
    "distinct": _repeated,
    "parameters": _inert,
    "overlaps": _trivial,
    "outcomes": _ends,
    "movements": lambda rows: rows["still"] >= OFTEN,
    "starts": lambda rows: rows["held"] >= OFTEN,
    "scored": _all,
    "choices": _hollow,
    "evaluators": _winners,
    "gaps": _all,
    "stability": lambda rows: rows["nogueira"] < UNSTABLE,
}
