"""Summarises the frames of a study as one row per feature set, and those as the cells of a table."""

import numpy as np
import pandas as pd

from metrics.measures import PER_SET
from metrics.study import METRICS, UNSCORED
from metrics.study.frames import CELL, ORDER, POINT, check_one_protocol, complete_sizes, protocol_of, scored_sizes
from metrics.study.selections import BY_NAME, LABEL_FREE, NOTHING, SELECTIONS, USED

__all__ = ["SELECTIONS", "check_one_protocol", "running_times", "select", "summarise"]
WORST = ["diverged", "collapsed", "max_iter", "converged"]  # the status of several fits is the first of these
STDS = ["acc_std", "nmi_std"]
COUNTS = ["n_params", "n_points", *(f"n_{status}" for status in UNSCORED), "n_missing"]


def summarise(frame):
    """Return the summary of a tidy frame: the same rows, checked, with all that a choice needs.

    Parameters
    ----------
    frame : DataFrame
        A tidy frame, of one study or several (docs/shipped.md has its columns).

    Returns
    -------
    DataFrame
        One row per study, data set, method, params, n_selected and clusterer, sorted.  Of what chooses without labels,
        learned labels have that of the best size of their trial.  Measures that are metrics, too, also stand as
        nearest_neighbour_mean, and so on.  Where a protocol has several seeds, the numbers of a point are means over
        those with scores, and its std is that of the restarts at one seed (root mean square); acc_seed_std and
        nmi_seed_std are over the seeds (ddof=1).  n_seeds is how many have scores, n_asked how many there should be,
        and n_failed, n_timeout and n_out_of_memory how many ended so.

    Raises
    ------
    ValueError
        When a study holds several protocols, or two versions of the same point (of different data, for example):
        no table may mix them.
    """
    check_one_protocol(frame)
    learned = frame["clusterer"] == "learned"
    more = {}
    for name in filter(PER_SET.__contains__, METRICS):
        more |= {f"{name}_mean": frame[name], f"{name}_std": np.nan}
    for name in LABEL_FREE:
        of_fit = frame.loc[~learned].groupby("trial")[name].max()
        more[name] = frame[name].where(~learned, frame["trial"].map(of_fit))
    summary = frame.assign(**more)
    twice = summary[summary.duplicated(ORDER, keep=False)]
    if len(twice):
        row = twice.iloc[0]
        raise ValueError(
            f"study={row['study']!r} holds {row['method']} on {row['dataset']} with {row['params']} and "
            f"{row['n_selected']} features more than once, of different data. Move one of them to a study of its own."
        )
    return _over_seeds(summary).sort_values(POINT, kind="stable").reset_index(drop=True)


def _over_seeds(rows):
    """Return one row per point from those of each seed."""
    scored = (rows["n_restarts"] > 0).to_numpy()
    further = rows["nth_seed"] > 0
    asked = rows["study"].map({study: protocol_of(own).seeds for study, own in rows.groupby("study")}).where(further, 1)
    counts = {f"n_{status}": (rows["status"] == status).astype(int) for status in UNSCORED}
    rows = rows.assign(n_seeds=scored.astype(int), acc_seed_std=np.nan, nmi_seed_std=np.nan, n_asked=asked, **counts)
    if not further.any():
        return rows
    rows = rows.assign(n_asked=rows.groupby(CELL[:3])["n_asked"].transform("max"))
    # A fit without scores speaks for its point only where all are without.
    rows = rows.assign(unscored=~scored).sort_values([*POINT, "unscored", "nth_seed"], kind="stable")
    with_scores = rows[~rows["unscored"]]
    groups, kept = rows.groupby(POINT, sort=False), with_scores.groupby(POINT, sort=False)
    found = groups.head(1).drop(columns="unscored").set_index(POINT)
    numbers = list(rows.select_dtypes("float").columns.difference(["acc_seed_std", "nmi_seed_std"]))
    means, spreads = kept[numbers].mean(), kept[["acc_mean", "nmi_mean"]].std()
    squares = with_scores.assign(**{name: with_scores[name] ** 2 for name in STDS}).groupby(POINT, sort=False)
    means[STDS] = np.sqrt(squares[STDS].mean())
    means[["acc_seed_std", "nmi_seed_std"]] = spreads
    found.loc[means.index, means.columns] = means
    sums = groups[["n_seeds", *counts]].sum()
    found[list(sums)] = sums
    places = with_scores["status"].map({status: place for place, status in enumerate(WORST)})  # others come last
    worst = with_scores.assign(place=places).sort_values("place", kind="stable").drop_duplicates(POINT)
    worst = worst.set_index(POINT)["status"]
    found.loc[worst.index, "status"] = worst
    return found.reset_index()[list(rows.columns.drop("unscored"))]


def select(summary, metric="acc", selection="best_over_grid", per_size=False):
    """Choose one number for every data set, method and clusterer.

    Parameters
    ----------
    summary : DataFrame
        From `summarise`.
    metric : str, default="acc"
        One of `metrics.study.METRICS`.  Each metric chooses for itself.
    selection : str, default="best_over_grid"
        One of `SELECTIONS`.  "best_over_grid" is the labelled oracle; of equal means (to 12 digits) it takes fewer
        features, then the params whose text comes first.  "default_params" takes, at the default parameters, the size
        nearest to 100 (the smaller of two) among those of the protocol that were scored on the data set; a method that
        scores none of them, such as all features, has its own.  "grid_median" has no size, no params and no std.
        "stability" and "silhouette" take the largest mean agreement or silhouette, without labels; of equal ones as
        above.
    per_size : bool, default=False
        Choose one number for every size as well.

    Returns
    -------
    DataFrame
        Columns study, dataset, method, clusterer, metric, selection, mean, std (fractions), n_selected, params, trial,
        status, n_restarts, sizes (of the protocol, as far as they were scored on the data set), and the counts n_params
        (grid points seen), n_points (scored), n_failed, n_timeout, n_out_of_memory and n_missing: feature sets of
        trials that ended so, and those without a score for any reason, so that a grid point which lacks a size of the
        others, or a seed, shows.  A cell without any score has mean nan.

    Raises
    ------
    ValueError
        For an unknown metric or selection.
    """
    for name, value, options in (("metric", metric, tuple(METRICS)), ("selection", selection, tuple(SELECTIONS))):
        if value not in options:
            raise ValueError(f"{name}={value!r} must be one of {', '.join(options)}.")
    summary = summary.rename(columns={f"{metric}_mean": "mean", f"{metric}_std": "std"})
    sizes, choice = scored_sizes(summary), BY_NAME[selection]
    used = dict.fromkeys([*NOTHING, *USED, "n_seeds", "n_asked", *([choice.criterion] if choice.criterion else ())])
    # Arrays, as a frame for each of thousands of cells takes a hundred times as long.
    columns = {name: summary[name].to_numpy() for name in used}
    unscored = summary.groupby(CELL[:3])[[f"n_{status}" for status in UNSCORED]].sum().to_dict("index")
    rows = []
    for key, places in sorted(summary.groupby(CELL).indices.items()):
        cell = {name: values[places] for name, values in columns.items()}
        own = {**dict(zip(CELL, key, strict=True)), **_counts(cell, sizes[key[:2]], unscored[key[:3]])}
        for size in np.unique(cell["n_selected"]) if per_size else [None]:
            points = cell
            if per_size:
                points = {name: values[cell["n_selected"] == size] for name, values in cell.items()}
            chosen = choice.choose(points, [size] if per_size else sizes[key[:2]])
            shown = {"n_selected": size} if per_size else {}
            rows.append({**own, **chosen, **shown, "sizes": sizes[key[:2]]})
    columns = [*CELL, *NOTHING, "n_selected", "sizes", *COUNTS]
    frame = pd.DataFrame(rows, columns=columns).astype({"n_selected": "Int64", "mean": float, "std": float})
    frame.insert(len(CELL), "metric", metric)
    frame.insert(len(CELL) + 1, "selection", selection)
    return frame


def running_times(trials):
    """Return the seconds of one fit, in the columns of `select`.

    Parameters
    ----------
    trials : DataFrame
        From `runners.store.folder.load_results`.

    Returns
    -------
    DataFrame
        One row per study, data set and method: mean and std (ddof=1) of fit_s over the trials that neither failed nor
        were capped, at whatever parameters; metric "seconds", selection "all_fits".
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


def _counts(cell, sizes, ends):
    n_params = len(set(cell["params"]))
    scored = int(cell["n_seeds"].sum())
    wanted = n_params * len(complete_sizes(cell, sizes)) * int(cell["n_asked"].max())
    # A trial without scores has no rows of learned labels, but counts as missing there, too.
    return {"n_params": n_params, "n_points": scored, **ends, "n_missing": max(wanted - scored, sum(ends.values()))}
