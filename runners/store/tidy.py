"""The tidy frame of a study: one row for every feature set that a fit selected, and for the labels that it learned.

It is made here from stored fits, and back; `reference` writes and reads it as it is shipped.  What belongs to a fit as
a whole is repeated in its rows; its trace stands in the first of them only.
"""

import math

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import DECIMALS, OF_SET
from ufs_bench.metrics.study import is_learned
from ufs_bench.runners.store.columns import COLUMNS, LISTS
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

SET = ["trial", "n_selected", "clusterer"]
OF_FIT = [name for name in TRIALS if name not in ("sizes", "ranking", "feature_sets", "shared", "labels")]


def tidy(fits, lists=True):
    """Return the tidy frame of stored fits, with `LISTS` and shared if asked, which most readers do without.

    It has the columns `columns.COLUMNS`, with study, protocol and the fields of an identity in the place of its name.
    A trial without scores has a row for every size that it was to score, with n_restarts=0.
    """
    each = [_sets_of(fit) for fit in fits]
    sets, counts = [one for own in each for one in own], [len(own) for own in each]
    found = {name: _column(FIELDS[name], [fit[name] for fit in fits]) for name in OF_FIT}
    if unknown := sorted({name for fit in fits for name in fit["facts"]} - set(REPORTED)):
        raise ValueError(f"{unknown[0]!r} is no column of the tidy frame: add it to runners/store/columns.py.")
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
