"""Checks of a study beside its scores: pure functions from its frames to what every result should disclose."""

import json
from collections import Counter
from itertools import pairwise
from statistics import fmean

import numpy as np
import pandas as pd
import scipy  # it imports its parts when they are first used, and `stats` takes long

from ufs_bench.metrics.study import METRICS, NOT_CHOOSING, UNSCORED
from ufs_bench.metrics.study.frames import of_kmeans, params_of
from ufs_bench.metrics.study.sets import CELL
from ufs_bench.metrics.study.summary import select

FIRST = "acc"  # the metric that `evaluators` compares the others with
OF_START = ("start_kept", "start_size", "start_among")
RARE = 1e-3  # a chance to keep so much of a start that is below this is none
MOST = 0.5  # share of a start, corrected for chance, from which on the selection is mostly that start
RISE = 1e-10  # a relative rise of the objective below this is rounding
EQUAL = 1e-6  # scores, as fractions, that differ by no more are equal: the order of additions decides on less
STILL = 0.01  # a change of the indicators up to this counts as none
STATUSES = ("max_iter", "diverged", "collapsed", *UNSCORED)


def parameter_effects(whole, n_features=None):
    """Measure how a step along one parameter of the grid, all others fixed, changes the selected set.

    `whole` is a tidy frame with its lists, `n_features` a mapping from data sets. The result has one row per data set,
    method and parameter with several values: n_values, n_steps (between neighbouring values, over all sizes and all
    settings of the others), n_changed, shared: mean share of the features that neighbouring sets have in common, and
    chance: what random sets would share (nan where unknown). A parameter with n_changed=0 is inert.
    """
    rows = []
    used = whole.loc[whole["feature_set"] > 0, [*CELL, "params", "n_selected", "feature_set", "features"]]
    for key, cell in used.groupby(CELL):
        decoded = dict(zip(cell["params"], params_of(cell), strict=True))
        names = sorted({name for point in decoded.values() for name in point})
        random = cell["n_selected"].mean() / (n_features or {}).get(key[0], np.nan)
        sets = list(zip(cell["n_selected"], cell["feature_set"], cell["features"], strict=True))
        members = {one: None if own is None else frozenset(np.asarray(own).tolist()) for _, one, own in sets}
        common = {}
        for name in names:
            values = {json.dumps(point.get(name)) for point in decoded.values()}
            if len(values) > 1:
                steps = _steps(sets, cell["params"], decoded, name)
                shared = [_shared(*step, members, common) for step in steps]
                changed = sum(first[1] != second[1] for first, second in steps)
                rows.append((*key, name, len(values), len(steps), changed, fmean(shared) if shared else np.nan, random))
    return pd.DataFrame(rows, columns=[*CELL, "parameter", "n_values", "n_steps", "n_changed", "shared", "chance"])


def _steps(sets, params, decoded, name):
    """Return the pairs of sets of every two neighbours along a parameter."""
    others, lines = {}, {}
    for text, point in decoded.items():
        others[text] = json.dumps({key: value for key, value in point.items() if key != name}, sort_keys=True)
    for text, own in zip(params, sets, strict=True):
        lines.setdefault((others[text], own[0]), []).append((decoded[text].get(name), own))
    # Text and None sort by their text, as any order will do for values without a size.
    ordered = [sorted(line, key=lambda item: (str(type(item[0])), item[0] or 0)) for line in lines.values()]
    return [(first[1], second[1]) for line in ordered for first, second in pairwise(line)]


def _shared(first, second, members, known):
    """Return the share of common features of two sets of one size; nan where one has not so many features."""
    (size, one, _), (_, other, _) = first, second
    if (size, one, other) not in known:
        both = members[one], members[other]
        whole = all(own is not None and len(own) == size for own in both)
        known[size, one, other] = len(both[0] & both[1]) / size if whole else np.nan
    return known[size, one, other]


def trivial_rankings(X):
    """Return, by name, values of the features of scaled data by which a trivial choice ranks them, smallest first."""
    variance, norm = X.var(axis=0), np.linalg.norm(X, axis=0)
    # Rounded, so that features which are equal but for the order of additions count as ties.
    variance, norm = (np.round(values / max(values.max(), np.finfo(float).tiny), 12) for values in (variance, norm))
    return {
        "largest variance": -variance,
        "smallest variance": variance,
        "largest norm": -norm,
        "smallest norm": norm,
        "first in file": np.arange(X.shape[1], dtype=float),
    }


def overlap(sets, values):
    """Return the largest share of each set, a row, that can be of the smallest values, over orders of ties."""
    size = sets.shape[1]
    limit = np.partition(values, size - 1)[size - 1]
    chosen, room = values[sets], size - (values < limit).sum()
    return ((chosen < limit).sum(axis=1) + np.minimum((chosen == limit).sum(axis=1), room)) / size


def chance(size, values):
    """Return the expected `overlap` of so many random features, up to the spread of the share of tied ones."""
    limit = np.partition(values, size - 1)[size - 1]
    below, tied = (values < limit).mean(), (values == limit).mean()
    return float(below + min(tied, 1 - (values < limit).sum() / size))


def trivial_overlaps(cell, rankings):
    """Return the overlap of one method's selections on one data set with trivial rankings.

    `cell` has its rows of a tidy frame with lists, and `rankings` are from `trivial_rankings`. The result has one row
    per ranking and size, and one for the first features of the ranking, as many as there are clusters, which show the
    start of some programs: ranking, n_selected, is_start (True for the latter), chance (the overlap of random features;
    near 1 where most values are equal, as the variances of standardised features), and median, low and high of the
    overlap over the trials.
    """
    sets, found = cell[cell["features"].notna()], {}
    looks = [(size, False, features) for size, features in zip(sets["n_selected"], sets["features"], strict=True)]
    longest = sets.drop_duplicates("trial", keep="last")  # the sizes of a trial are in order
    for params, features in zip(params_of(longest), longest["features"], strict=True):
        n_clusters = params.get("n_clusters")
        looks += [(n_clusters, True, features[:n_clusters])] if n_clusters and len(features) >= n_clusters else []
    for size, is_start, features in looks:
        found.setdefault((size, is_start, len(features)), []).append(features)
    found = {key: np.stack(sets) for key, sets in found.items()}
    rows = []
    for name, values in rankings.items():
        shares = {}
        for (size, is_start, _), sets in found.items():
            shares.setdefault((size, is_start), []).append(overlap(sets, values))
        for (size, is_start), own in shares.items():
            own = np.concatenate(own)
            rows.append((name, size, is_start, chance(size, values), float(np.median(own)), own.min(), own.max()))
    rows.sort()
    return pd.DataFrame(rows, columns=["ranking", "n_selected", "is_start", "chance", "median", "low", "high"])


def outcomes(trials):
    """Count how the fits of each cell ended, from `metrics.study.frames.fits_of`.

    There is one row per data set and method: n_trials, the shares of `STATUSES`, and n_traced, rose: the share of the
    trials with a trace whose objective rose by more than 1e-10 of itself.
    """
    rows = []
    for key, cell in trials.groupby(CELL):
        traced = cell["rise"].dropna()
        ends = Counter(cell["status"])
        shares = [ends[status] / len(cell) for status in STATUSES]
        rows.append((*key, len(cell), *shares, len(traced), float((traced > RISE).mean()) if len(traced) else np.nan))
    return pd.DataFrame(rows, columns=[*CELL, "n_trials", *STATUSES, "n_traced", "rose"])


def movements(trials):
    """Summarise how far the indicators of the fits, from `metrics.study.frames.fits_of`, are from their starts.

    There is one row per data set and method whose fits report `indicator_change`: n_fits, the smallest, median and
    largest change, and still: the share of the fits whose change is at most 0.01.
    """
    reported = trials.dropna(subset="indicator_change").assign(still=lambda own: own["indicator_change"] <= STILL)
    change = "indicator_change"
    return (
        reported.groupby(CELL)
        .agg(
            n_fits=(change, "size"), low=(change, "min"), median=(change, "median"), high=(change, "max"),
            still=("still", "mean"),
        )
        .reset_index()
        .astype({"still": float})
    )  # fmt: skip


def choices(chosen):
    """Compare the scores that each way to choose parameters and size ends with.

    `chosen` maps selections to frames from `metrics.study.summary.select`, of one study and metric. The result has one
    row per data set, method and clusterer; a column per selection, and oracle_status: how the fit ended
    that is best as judged by the labels.
    """
    keys = [*CELL, "clusterer"]
    chosen = {name: frame.set_index(keys) for name, frame in chosen.items()}
    columns = {name: frame["mean"] for name, frame in chosen.items()}
    return pd.DataFrame(columns | {"oracle_status": chosen["best_over_grid"]["status"]}).reset_index()


def objective_gaps(trials, optima):
    """Measure how far a solver ends above the optimum of its own model, which another method reaches.

    `optima` maps methods to the one that reaches the optimum of the same objective. The columns are dataset, method,
    optimum (a method), n_selected, objective, best, gap (relative to |best|). The objective is that of the largest size
    of a trial, so that only trials which share it are compared.
    """
    names = ["dataset", "method", "n_selected", "objective"]
    fits = trials[~trials["status"].isin(UNSCORED)]
    fits = fits.assign(n_selected=fits["sizes"].map(max))[names]
    best = fits.drop_duplicates(names[:3], keep="last").rename(columns={"method": "optimum", "objective": "best"})
    found = fits.assign(optimum=fits["method"].map(optima)).merge(best, on=["dataset", "optimum", "n_selected"])
    found["gap"] = (found["objective"] - found["best"]) / found["best"].abs()
    return found[["dataset", "method", "optimum", "n_selected", "objective", "best", "gap"]]


def starts(trials):
    """Compare the features of random starts with those that are selected in the end, in fits from `fits_of`.

    If a fit forgot its start, the number that stays would follow the hypergeometric distribution of two random sets of
    `start_size` out of `start_among` features. There is one row per data set and method whose fits report a random
    start: n_fits; kept and chance, the medians of the share of the start that is selected and of what two random sets
    share; low and high, of kept; probability, the largest chance of a fit to keep so many; and held: the share of the
    fits that keep more than half of what they could lose, where chance has less than 1 in 1000 to do so.
    """
    found = trials.dropna(subset=list(OF_START))
    kept, size, among = (found[name].astype(float) for name in OF_START)
    chance = size / among
    probability = scipy.stats.hypergeom.sf(kept - 1, among, size, size) if len(found) else kept
    share = kept / size
    # A start of all features cannot be left, and says nothing.
    held = (share - chance > MOST * (1 - chance)) & (probability < RARE)
    found = found.assign(share=share, chance=chance, probability=probability, held=held.astype(float))
    return (
        found.groupby(CELL)
        .agg(
            n_fits=("share", "size"), kept=("share", "median"), chance=("chance", "median"), low=("share", "min"),
            high=("share", "max"), probability=("probability", "max"), held=("held", "mean"),
        )
        .reset_index()
    )  # fmt: skip


def evaluators(summary):
    """Compare the order of the methods by each metric with that by ACC, on the feature sets of the default parameters.

    There is one row per data set of a summary and other metric, where there are three methods at least besides all
    features and random rankings: n_methods; tau: Kendall's rank correlation (tau-b) of the two orders; winner_acc and
    winner: the best method by each, or all that are equally good, as a tuple; loss: by how much less ACC the other
    metric's winners have than the best, as a fraction, on average.
    """
    summary = of_kmeans(summary[~summary["method"].isin(NOT_CHOOSING)])
    scores = {metric: select(summary, metric, "default_params").pivot(index="dataset", columns="method", values="mean")
              for metric in METRICS}  # fmt: skip
    rows = []
    for dataset, first in scores[FIRST].iterrows():
        for metric in [name for name in METRICS if name != FIRST]:
            both = pd.DataFrame({"first": first, "other": scores[metric].loc[dataset]}).dropna()
            if len(both) < 3:
                continue
            best, other = (tuple(own.index[np.isclose(own, own.max(), rtol=0, atol=EQUAL)]) for _, own in both.items())
            tau = scipy.stats.kendalltau(both["first"], both["other"]).statistic
            loss = both["first"].max() - both.loc[[*other], "first"].mean()
            rows.append((dataset, metric, len(both), tau, best, other, loss))
    return pd.DataFrame(rows, columns=["dataset", "metric", "n_methods", "tau", "winner_acc", "winner", "loss"])
