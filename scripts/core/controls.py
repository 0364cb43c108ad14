"""The controls of a study: random rankings, of which it has several draws, all features, and the largest variance."""

import functools

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.frames import of_kmeans, percent
from ufs_bench.metrics.study.seeds import SCORES
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import cells_of_draws
from ufs_bench.scripts.core.conf import unique_names

CONTROLS = {RANDOM: "random rankings", ALL: "all features", "max_variance": "max variance"}
COLUMNS = "dataset metric control draw trial n_selected clusterer mean std n_restarts group_error".split()


@functools.lru_cache(maxsize=16)  # of the studies of one command
def _cells_of(study):
    """Return the cells of the controls of a study, each draw being a method of its own, at its default; or None."""
    part = study.part(CONTROLS, study.frame["dataset"].unique())
    return None if part.frame.empty else cells_of_draws(part.shares)


def control_scores(study, selection="best_over_grid", metrics=SCORES):
    """Return mean and std of the controls of a study, in percent, with one row per draw."""
    cells = _cells_of(study)
    if cells is None:
        return pd.DataFrame(columns=COLUMNS).astype({"draw": int, "mean": float, "std": float, "n_restarts": int})
    chosen = percent(pd.concat([cells.select(metric, selection) for metric in metrics], ignore_index=True))
    names = chosen["method"].str.split(" ", expand=True)
    chosen = chosen.assign(control=names[0], draw=names[1].astype(int), group_error=np.nan)
    return chosen.loc[chosen["mean"].notna(), COLUMNS]


def random_scores(study, metric, selection):
    """Return the mean of random rankings over their draws, and the number of these in a column size, by data set."""
    scores = control_scores(study, selection, [metric])
    return scores[scores["control"] == RANDOM].groupby("dataset")["mean"].agg(["mean", "size"])


def with_mean_of_draws(chosen, study, metric, selection, per_size=False):
    """Return chosen numbers, in percent, in which random rankings have the mean over their draws.

    One draw alone is arbitrary. The labelled oracle keeps its best, as it takes the best of every grid. The std is that
    of one draw and one restart.
    """
    if BY_NAME[selection].oracle or RANDOM not in set(chosen["method"]):
        return chosen
    each = of_kmeans(percent(_cells_of(study).select(metric, selection, per_size))).dropna(subset="mean")
    keys = ["dataset", "n_selected"] if per_size else ["dataset"]
    groups = each[each["method"].str.startswith(f"{RANDOM} ")].assign(square=each["std"] ** 2).groupby(keys)
    squares = groups["square"].mean() + groups["mean"].var().fillna(0.0)
    found = pd.DataFrame({"mean": groups["mean"].mean(), "std": np.sqrt(squares)})
    # A cell that lacks the size of the others stays missing.
    own = (chosen["method"] == RANDOM) & (chosen["clusterer"] == "kmeans") & chosen["mean"].notna()
    chosen = chosen.copy()
    chosen.loc[own, list(found)] = chosen.loc[own, keys].join(found, on=keys)[list(found)]
    return chosen


def name_of_draws(selection, study=None, datasets=()):
    """Return the name of random rankings by a selection: their best or their mean, of how many where a study is given.

    That number is a range where data sets have different ones.
    """
    what = "best" if BY_NAME[selection].oracle else "mean"
    if study is None:
        return f"Random ({what})"
    fits = study.trials[(study.trials["method"] == RANDOM) & study.trials["dataset"].isin(datasets)]
    counts = fits.groupby("dataset")["params"].nunique()
    least, most = counts.min(), counts.max()
    return f"Random ({what} of {least})" if least == most else f"Random ({what} of {least} to {most})"


def names_of(methods, selection):
    """Return the printed names of methods, that of random rankings as `name_of_draws` has it."""
    names = unique_names("method", methods)
    return names | {RANDOM: name_of_draws(selection)} if RANDOM in names else names
