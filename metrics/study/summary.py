"""Summarises the frames of a study as one row per feature set, and those as the cells of a table."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import PER_SET
from ufs_bench.metrics.study import METRICS, UNSCORED, is_learned, nearest_size
from ufs_bench.metrics.study.frames import (
    CELL,
    ORDER,
    POINT,
    check_one_data,
    check_one_protocol,
    complete_sizes,
    params_of,
    protocol_of,
    scored_sizes,
)
from ufs_bench.metrics.study.selections import BY_NAME, LABEL_FREE, SELECTIONS

__all__ = ["SELECTIONS", "cells_of_draws", "check_one_protocol", "running_times", "select", "summarise"]
WORST = ["diverged", "collapsed", "max_iter", "converged"]  # the status of several fits is the first of these
STDS = ["acc_std", "nmi_std"]
NOTHING = {"mean": np.nan, "std": np.nan, "n_restarts": 0, "params": "", "trial": "", "status": ""}
TYPES = dict(zip(NOTHING, (float, float, int, "str", "str", "str"), strict=True)) | {"n_selected": "Int64"}
COUNTS = ["n_params", "n_points", *(f"n_{status}" for status in UNSCORED), "n_missing"]


def summarise(frame):
    """Return the summary of a tidy frame, of one study or several: its rows, checked, with all that a choice needs.

    There is one row per study, data set, method, params, n_selected and clusterer, sorted. Of what chooses without
    labels, learned labels have that of the best size of their trial. Measures that are metrics, too, also stand as
    nearest_neighbour_mean, and so on. Where a protocol has several seeds, the numbers of a point are means over those
    with scores, and its std is that of the restarts at one seed (root mean square); acc_seed_std and nmi_seed_std are
    over the seeds (ddof=1). n_seeds is how many have scores, n_asked how many there should be, and n_failed, n_timeout
    and n_out_of_memory how many ended so.

    A ValueError says that a study holds several protocols, several data sets of one name, or two versions of the same
    point: no table may mix them.
    """
    check_one_protocol(frame)
    learned = is_learned(frame)
    more = {}
    for name in filter(PER_SET.__contains__, METRICS):
        more |= {f"{name}_mean": frame[name], f"{name}_std": np.nan}
    summary = frame.assign(**more)
    if learned.any():
        trials = frame.loc[learned, "trial"]
        of_fit = frame[~learned & frame["trial"].isin(trials)].groupby("trial")[LABEL_FREE].max()
        summary.loc[learned, LABEL_FREE] = of_fit.reindex(trials).to_numpy()
    twice = summary[summary.duplicated(ORDER, keep=False)]
    if len(twice):
        row = twice.iloc[0]
        raise ValueError(
            f"study={row['study']!r} holds {row['method']} on {row['dataset']} with {row['params']} and "
            f"{row['n_selected']} features more than once, of different data. Move one of them to a study of its own."
        )
    check_one_data(frame)
    return _over_seeds(summary).sort_values(POINT, kind="stable").reset_index(drop=True)


def _over_seeds(rows):
    """Return one row per point from those of each seed."""
    scored = (rows["n_restarts"] > 0).to_numpy()
    further = rows["nth_seed"] > 0
    asked = rows["study"].map({study: protocol_of(own).seeds for study, own in rows.groupby("study")}).where(further, 1)
    counts = {f"n_{status}": (rows["status"] == status).astype(int) for status in UNSCORED}
    rows = rows.assign(n_seeds=scored.astype(int), acc_seed_std=np.nan, nmi_seed_std=np.nan, n_asked=asked, **counts)
    rows = rows.assign(unscored=~scored)
    cells = rows.groupby(CELL[:3]).ngroup()
    several = cells.isin(cells[further].unique())
    found = pd.concat([rows[~several], _merged(rows[several], [*counts])]) if several.any() else rows
    return found.drop(columns="unscored")


def _merged(rows, counts):
    """Return one row per point of cells with several seeds."""
    rows = rows.assign(n_asked=rows.groupby(CELL[:3])["n_asked"].transform("max"))
    # A fit without scores speaks for its point only where all are without.
    rows = rows.sort_values([*POINT, "unscored", "nth_seed"], kind="stable")
    rows.index = rows.groupby(POINT, sort=False).ngroup()
    with_scores = rows[~rows["unscored"]]
    groups, kept = rows.groupby(level=0), with_scores.groupby(level=0)
    found = groups.head(1).copy()
    numbers = list(rows.select_dtypes("float").columns.difference(["acc_seed_std", "nmi_seed_std"]))
    with np.errstate(over="ignore"):  # a fit that goes down without end has an objective near the largest number
        means = kept[numbers].mean()
    means[STDS] = np.sqrt((with_scores[STDS] ** 2).groupby(level=0).mean())
    means[["acc_seed_std", "nmi_seed_std"]] = kept[["acc_mean", "nmi_mean"]].std()
    found.loc[means.index, means.columns] = means
    sums = groups[["n_seeds", *counts]].sum()
    found[list(sums)] = sums
    ends = with_scores["status"].astype(pd.CategoricalDtype(WORST, ordered=True)).groupby(level=0).min().dropna()
    found.loc[ends.index, "status"] = ends.astype("str")
    return found


def select(summary, metric="acc", selection="best_over_grid", per_size=False):
    """Choose one number for every data set, method and clusterer of a summary; with `per_size`, for every size as well.

    Each of `metrics.study.METRICS` chooses for itself, as one of `SELECTIONS` does. "best_over_grid" is the labelled
    oracle; of equal means (to 10 decimals) it takes fewer features, then the params whose text comes first.
    "default_params" takes, at the default parameters, the size nearest to 100 (the smaller of two) among those of the
    protocol that were scored on the data set; a method that scores none of them, such as all features, has its own.
    "grid_median" has no size, no params and no std. "stability" and "silhouette" take the largest mean agreement or
    silhouette, without labels; of equal ones as above.

    The columns are study, dataset, method, clusterer, metric, selection, mean, std, n_selected, params, trial, status,
    n_restarts, sizes (of the protocol, as far as they were scored on the data set), and the counts n_params (grid
    points seen), n_points (scored), n_failed, n_timeout, n_out_of_memory and n_missing: feature sets of trials that
    ended so, and those without a score for any reason, so that a grid point which lacks a size of the
    others, or a seed, shows. A cell without any score has mean nan.
    """
    return Cells(summary).select(metric, selection, per_size)


class Cells:
    """The cells of a summary, counted once for all choices: `select` of this class is `select`."""

    def __init__(self, summary):
        groups = summary.groupby(CELL)
        # of, order: the number of the cell of each row, and the rows of the first of which the choice is, of equal ones
        self.summary, self.of = summary, groups.ngroup().to_numpy()
        self.order = np.lexsort([pd.factorize(summary["params"], sort=True)[0], summary["n_selected"]])
        sizes = scored_sizes(summary)
        totals = {"n_points": groups["n_seeds"].sum(), "n_params": groups["params"].nunique()}
        totals = pd.DataFrame(totals | {"n_asked": groups["n_asked"].max()})
        ends = summary.groupby(CELL[:3])[[f"n_{status}" for status in UNSCORED]].sum()
        cells = totals.reset_index().join(ends, on=CELL[:3])
        cells["sizes"] = [sizes[key] for key in zip(cells["study"], cells["dataset"], strict=True)]
        own = groups["n_selected"].unique()  # in the order of the cells, too
        self.complete = [complete_sizes(one.tolist(), sizes) for one, sizes in zip(own, cells["sizes"], strict=True)]
        wanted = cells["n_params"] * [*map(len, self.complete)] * cells["n_asked"].astype(int)
        # A trial without scores has no rows of learned labels, but counts as missing there, too.
        cells["n_missing"] = np.maximum(wanted - cells["n_points"], cells[list(ends)].sum(axis=1))
        self.cells = cells

    def select(self, metric="acc", selection="best_over_grid", per_size=False):
        """Choose as the function `select` does."""
        for name, value, options in (("metric", metric, tuple(METRICS)), ("selection", selection, tuple(SELECTIONS))):
            if value not in options:
                raise ValueError(f"{name}={value!r} must be one of {', '.join(options)}.")
        rows = self.summary[[f"{metric}_mean", f"{metric}_std", *list(NOTHING)[2:], "n_selected"]]
        rows = rows.set_axis([*NOTHING, "n_selected"], axis=1)
        of, cells, complete = self.of, self.cells, self.complete
        if per_size:
            pairs = pd.DataFrame({"cell": of, "size": rows["n_selected"].to_numpy()})
            of = pairs.groupby(["cell", "size"]).ngroup().to_numpy()
            pairs = pairs.drop_duplicates().sort_values(["cell", "size"])
            cells, complete = cells.iloc[pairs["cell"]].reset_index(drop=True), [[size] for size in pairs["size"]]
        scored, choice = rows["n_restarts"].to_numpy() > 0, BY_NAME[selection]
        if choice.name == "grid_median":
            kept = rows[scored].groupby(of[scored])
            chosen = kept.agg(mean=("mean", "median"), n_restarts=("n_restarts", "max"))
        else:
            places = self._places(choice, of, scored, rows, complete)
            chosen = rows.iloc[places].set_axis(of[places])
        chosen = chosen.reindex(index=range(len(cells)), columns=rows.columns)
        chosen = chosen.astype({name: object for name, of_type in TYPES.items() if of_type == "str"})
        chosen = chosen.fillna({name: nothing for name, nothing in NOTHING.items() if nothing == nothing})
        if per_size:
            chosen["n_selected"] = pairs["size"].to_numpy()
        chosen = chosen.astype(TYPES)
        found = pd.concat([cells, chosen], axis=1).assign(metric=metric, selection=selection)
        return found[[*CELL, "metric", "selection", *NOTHING, "n_selected", "sizes", *COUNTS]]

    def _places(self, choice, of, scored, rows, complete):
        """Return the places of the rows that are chosen, at most one for each group."""
        if choice.criterion:
            values = rows["mean"] if choice.criterion == "mean" else self.summary[choice.criterion]
            values = np.where(scored, values.to_numpy(float), np.nan).round(10)
            order = self.order[np.isfinite(values[self.order])]
            order = order[np.lexsort([-values[order], of[order]])]
        else:
            # A cell that lacks the size is missing, not shown at another one.
            size = np.array([max(own) if choice.name == "largest_size" else nearest_size(own) for own in complete])
            order = np.flatnonzero(scored & self.summary["is_default"] & (rows["n_selected"] == size[of]))
            order = order[np.argsort(of[order], kind="stable")]
        return order[np.unique(of[order], return_index=True)[1]]


def running_times(trials):
    """Return the seconds of one fit, in the columns of `select`.

    There is one row per study, data set and method: mean and std (ddof=1) of fit_s over the trials that neither failed
    nor were capped, at whatever parameters; metric "seconds", selection "all_fits".
    """
    rows = []
    for key, cell in trials.groupby(CELL[:3]):
        fits = cell[~cell["status"].isin(UNSCORED)]
        counts = {"n_params": cell["params"].nunique(), "n_points": len(fits), "n_missing": len(cell) - len(fits)}
        counts |= {f"n_{status}": int((cell["status"] == status).sum()) for status in UNSCORED}
        values = {**NOTHING, "mean": fits["fit_s"].mean(), "std": fits["fit_s"].std(), "n_selected": pd.NA, "sizes": []}
        own = dict(zip(CELL, (*key, "kmeans"), strict=True))
        rows.append({**own, "metric": "seconds", "selection": "all_fits", **values, **counts})
    return pd.DataFrame(rows, columns=[*CELL, "metric", "selection", *NOTHING, "n_selected", "sizes", *COUNTS])


def cells_of_draws(shares):
    """Return the cells of a summary of controls, each draw being a method of its own, at its default."""
    draws = params_of(shares).map(lambda params: str(params.get("draw", 0)))
    return Cells(shares.assign(method=shares["method"] + " " + draws, is_default=True))
