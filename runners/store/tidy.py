"""The tidy frame of a study: one row for every feature set that a fit selected, and for the labels that it learned.

It is made here from stored fits, and back; `reference` writes and reads it as it is shipped.  What belongs to a fit as
a whole is repeated in its rows; its trace stands in the first of them only.  docs/shipped.md prints the columns.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import DECIMALS, OF_SET
from ufs_bench.metrics.study import is_learned
from ufs_bench.runners.store.row import (
    FIELDS,
    REPORTED,
    TRIALS,
    feature_set_digest,
    from_json,
    pack_labels,
    ranking_of,
    subsets_of,
    to_json,
    unpack_labels,
)


class Column(NamedTuple):
    """A column of the shipped files."""

    name: str
    type: str  # of Arrow; "[]" after it: a list for each row
    unit: str
    words: str


TEXT = """\
dataset | string | | data set, a file of conf/dataset
method | string | | method, a file of conf/method
params | string | JSON | parameters of the fit
is_default | bool | | whether these are the default parameters
nth_seed | int32 || the fit's seed is that of the protocol and so much more; the starts of K-means do not change with it
n_selected | int32 | features | size of the feature set; for learned labels, how many they were learned from
clusterer | string | | kmeans: K-means on the selected features; learned: the labels of the method itself
status | string | | converged, max_iter, diverged or collapsed; without scores: failed, timeout, out_of_memory
error | string | | why there are no scores
n_samples | int32 | | number of samples of the data set
n_features | int32 | | number of features of the data set
n_restarts | int32 | | number of K-means restarts; 0 where there are no scores
acc_mean | float32 | share | clustering accuracy, mean over the restarts
acc_std | float32 | share | its standard deviation (ddof=1)
nmi_mean | float32 | share | normalised mutual information, mean over the restarts
nmi_std | float32 | share | its standard deviation (ddof=1)
agreement | float32 | -1 to 1 | adjusted Rand index of the restarts with each other, mean
silhouette | float32 | -1 to 1 | simplified silhouette of a typical restart, on the selected features
silhouette_all | float32 | -1 to 1 | the same clusters, on all features
replication | float32 | -1 to 1 | how well clusters of half of the samples return in the other half
prediction_strength | float32 | share | the same of the weakest cluster
reconstruction | float32 | share | variance of all features that the selected ones recover
nearest_neighbour | float32 | share | leave-one-out accuracy of the nearest neighbour
feature_set | int32 | | number of the set: the same in rows of a cell with the same features; 0: none
acc | int32[] | samples | samples that the best match of clusters and classes has right, in every restart
nmi | int32[] | 1/10000 | normalised mutual information of every restart
features | int32[] | | the selected features, numbered from 0, best first
labels | int32[] | | learned labels of the samples, in rows with clusterer=learned
n_iter | int64 | | sweeps of the fit
objective | float64 | | objective at the end of the fit
rise | float64 | | largest rise of the objective from one sweep to the next, as a share of itself; 0: none
trace | float64[] | | objective after every sweep, in the first row of the fit, to 7 digits
indicator_change | float64 | 0 to 1 | how far the learned indicators end from their start
n_filled | float64 | features | cae: features that are not those of its slots, but fill up the selection
n_exchanged | float64 | features | cae: features that exchanges after the annealing brought in
annealed_residual | float64 | | cae: share of the variance that is left after the annealing
residual | float64 | | cae: the same of the selected features
residual_bound | float64 | | cae: the least that any features of this number could leave
n_scored | float64 | features | features whose score is above a millionth of the largest; others are rounding
start_kept | float64 | features | features of a random start that are selected in the end
start_size | float64 | features | features of the random start
start_among | float64 | features | features that it was drawn from
fit_s | float32 | s | processor seconds of the fit, also of one that a cap ended
eval_s | float32 | s | processor seconds of the fit's own evaluations, all sizes together
peak_mb | float32 | MB | largest memory of the process during the fit
shared | bool | | whether the scores come from an evaluation that was done for another fit
trial | string | | key of the fit: a hash of data, parameters and protocol
data_sha | string | | SHA-256 of the data
git_sha | string | | commit of the code that fitted
started | string | UTC | when the fit began
identity | string | | code, packages and machine: a name in the metadata of the file
"""
COLUMNS = [Column(*(part.strip() for part in line.split("|"))) for line in TEXT.splitlines()]
LISTS = tuple(column.name for column in COLUMNS if column.type.endswith("[]"))
SUMMARY = ["acc_mean", "acc_std", "nmi_mean", "nmi_std"]  # of the restarts, to `metrics.measures.DECIMALS`
SET = ["trial", "n_selected", "clusterer"]
OF_FIT = [name for name in TRIALS if name not in ("sizes", "ranking", "feature_sets", "shared", "labels")]


def tidy(fits, lists=True):
    """Return the tidy frame of stored fits, with `LISTS` and shared if asked, which most readers do without.

    It has the columns `COLUMNS`, with study, protocol and the fields of an identity in the place of its name.
    A trial without scores has a row for every size that it was to score, with n_restarts=0.
    """
    each = [_sets_of(fit) for fit in fits]
    sets, counts = [one for own in each for one in own], [len(own) for own in each]
    found = {name: _column(FIELDS[name], [fit[name] for fit in fits]) for name in OF_FIT}
    if unknown := sorted({name for fit in fits for name in fit["facts"]} - set(REPORTED)):
        raise ValueError(f"{unknown[0]!r} is no column of the tidy frame: add it to runners/store/tidy.py.")
    found |= {name: _column(float, [fit["facts"].get(name, math.nan) for fit in fits]) for name in REPORTED}
    found["rise"] = _column(float, [rise_of(fit["trace"]) for fit in fits])
    found = {name: np.repeat(values, counts) for name, values in found.items()}
    found["n_selected"] = _column(int, [one["n_selected"] for one in sets])
    found["clusterer"] = _column(str, [one["clusterer"] for one in sets])
    found["n_restarts"] = _column(int, [len(one["acc"]) for one in sets])
    for name in ("acc", "nmi"):
        summaries = [_mean_and_std(one[name]) for one in sets]
        for place, what in enumerate(("mean", "std")):
            found[f"{name}_{what}"] = np.round(_column(float, [own[place] for own in summaries]), DECIMALS)
    found |= {name: _column(float, [one.get(name, math.nan) for one in sets]) for name in OF_SET}
    named = [
        None if is_learned(one) else digests.get(str(one["n_selected"]))
        for fit, own in zip(fits, each, strict=True)
        for digests in [from_json(fit["feature_sets"])]
        for one in own
    ]
    found["feature_set"] = pd.factorize(_column(object, named))[0] + 1
    if lists:
        of_set = [_lists(fit, one, one is own[0]) for fit, own in zip(fits, each, strict=True) for one in own]
        found |= {name: _column(object, [one[name] for one in of_set]) for name in LISTS}
        found["shared"] = _column(bool, [one["shared"] for one in of_set])
    return pd.DataFrame(found)


def _sets_of(fit):
    """Return the scored sets of a fit, and one without scores for each other size that it was to score, sorted."""
    found = {(one["n_selected"], one["clusterer"]): one for one in fit["sets"]}
    for size in from_json(fit["sizes"]):
        found.setdefault((size, "kmeans"), {"n_selected": size, "clusterer": "kmeans", "acc": [], "nmi": []})
    return [found[key] for key in sorted(found)]


def _column(kind, values):
    """Return values as an array, texts and lists as objects."""
    return np.array(values, dtype=kind) if kind in (int, float, bool) else pd.Series(values, dtype=object).to_numpy()


def _mean_and_std(values):
    """Return the mean of the scores of restarts, and their standard deviation (ddof=1); nan where there is none."""
    n = len(values)
    mean = math.fsum(values) / n if n else math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else math.nan


def rise_of(trace):
    """Return the largest rise of the objective from one sweep to the next as a share of itself; nan without a trace."""
    values = np.asarray(trace, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.nanmax(np.append(np.diff(values) / np.abs(values[:-1]), 0.0)) if len(values) else math.nan


def _lists(fit, one, is_first):
    """Return the lists of one set of a fit; its trace in the first."""
    size, learned = one["n_selected"], is_learned(one)
    acc, features = np.array(one["acc"]), [] if learned else subsets_of(fit["ranking"], [size])[size]
    return {
        "acc": None if np.isnan(acc).all() else np.rint(acc * fit["n_samples"]).astype(np.int32),
        "nmi": np.array(one["nmi"]) if one["nmi"] else None,
        "features": np.array(features, dtype=np.int32) if features else None,
        "labels": unpack_labels(fit["labels"])[1] if learned and fit["labels"] else None,
        "trace": _rounded(fit["trace"]) if is_first and fit["trace"] else None,
        "shared": not learned and size in from_json(fit["shared"]),
    }


def _rounded(values):
    """Return numbers with the 24 bits of a float32, but the range of a float64; they keep their order, or are equal."""
    bits = np.asarray(values, dtype=float).view(np.int64)
    return ((bits + (1 << 28)) & -(1 << 29)).view(float)


def fit_of(rows):
    """Return a fit as it is stored, from its rows of the tidy frame."""
    rows = rows.to_dict("records")
    row, chosen = rows[0], [one for one in rows if not is_learned(one)]
    selected = {one["n_selected"]: one["features"] for one in chosen if one["features"] is not None}
    learned = [pack_labels(one["n_selected"], one["labels"]) for one in rows if one["labels"] is not None]
    sets = []
    for one in rows:
        scores = dict.fromkeys(("acc", "nmi"), [math.nan] * one["n_restarts"])
        if one["acc"] is not None:
            scores = {"acc": (one["acc"] / one["n_samples"]).tolist(), "nmi": one["nmi"].tolist()}
        measures = {} if is_learned(one) else {name: one[name] for name in OF_SET}
        if one["n_restarts"]:
            sets.append({"n_selected": one["n_selected"], "clusterer": one["clusterer"]} | scores | measures)
    return {name: row[name] for name in OF_FIT} | {
        "sizes": to_json([one["n_selected"] for one in chosen]),
        "ranking": ranking_of(list(selected.values())) if selected else "[]",
        "feature_sets": to_json({str(size): feature_set_digest(own) for size, own in selected.items()}),
        "shared": to_json(sorted(one["n_selected"] for one in chosen if one["shared"])),
        "labels": learned[0] if learned else "",
        "sets": sets,
        "trace": [] if row["trace"] is None else row["trace"].tolist(),
        "facts": {name: row[name] for name in REPORTED if row[name] == row[name]},
    }


# What differs between two runs of one trial, or says the same as another column.
RUN = ("git_sha", "fit_s", "eval_s", "peak_mb", "started", "shared", "identity", "feature_set")


def differing(stored, now):
    """Return the columns of the tidy frame in which the rows of a fit differ, besides those of `RUN`."""
    if stored[SET[1:]].to_numpy().tolist() != now[SET[1:]].to_numpy().tolist():
        return ["n_selected"]
    names = [column.name for column in COLUMNS if column.name not in RUN]
    # A fit that was taken from a shipped study has the rise of its shipped trace, which is rounded to 24 bits.
    rounded = [rise_of(trace) for trace in now["trace"].dropna()]  # the first row of a fit has it
    if stored["trace"].isna().all():  # not shipped; with older files, nor is its rise
        names = [name for name in names if name != "trace" and (name != "rise" or stored["rise"].notna().any())]
    stored = stored.assign(rise=stored["rise"].where(~stored["rise"].isin(rounded), now["rise"]))
    return [name for name in names if not all(map(_equal, stored[name], now[name]))]


def _equal(stored, now):
    if isinstance(stored, np.ndarray) and isinstance(now, np.ndarray):
        return np.array_equal(stored, now, equal_nan=stored.dtype.kind == "f")
    if isinstance(stored, np.ndarray) or isinstance(now, np.ndarray):
        return False
    return stored == now or (pd.isna(stored) and pd.isna(now))


def distance(stored, now):
    """Return how far the rows of a fit are from stored ones, in the order of size and clusterer: fields of `Again`."""
    moved, errors, kept = [0.0], [0.0], [1.0]
    for own, there in zip(stored.to_dict("records"), now.to_dict("records"), strict=False):
        if own["features"] is not None and there["features"] is not None:
            kept.append(len(np.intersect1d(own["features"], there["features"])) / own["n_selected"])
        if (own["acc"] is None) != (there["acc"] is None) or own["n_restarts"] != there["n_restarts"]:
            return {"objective": np.inf, "selected": 0.0, "acc": np.inf, "errors": np.inf}
        if own["acc"] is not None:
            moved.append(abs(own["acc_mean"] - there["acc_mean"]))
            errors.append(moved[-1] / _standard_error(own))
    return {
        "objective": _share(stored["objective"].iloc[0], now["objective"].iloc[0]),
        "selected": min(kept),
        "acc": 100 * max(moved),
        "errors": max(errors),
    }


def _standard_error(row):
    """Return the standard error of a mean ACC, one sample at least: over restarts, or over samples of one labelling."""
    mean, n = row["acc_mean"], row["n_samples"]
    own = np.sqrt(mean * (1 - mean) / n) if row["n_restarts"] == 1 else row["acc_std"] / np.sqrt(row["n_restarts"])
    return max(own, 1 / n)


def _share(stored, now):
    if np.isnan(stored) or np.isnan(now):
        return 0.0 if np.isnan(stored) and np.isnan(now) else np.inf
    return abs(now - stored) / max(abs(stored), np.finfo(float).tiny)
