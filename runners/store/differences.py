"""The difference of two runs of one fit, in the rows that both have in the tidy frame."""

import numpy as np
import pandas as pd

from ufs_bench.runners.store.columns import COLUMNS
from ufs_bench.runners.store.tidy import SET, rise_of

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
