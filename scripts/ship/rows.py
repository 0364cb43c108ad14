"""Checks every fit of a shipped study by itself and against conf/; no data and no fits are needed."""

from ufs_bench.datasets import DataError, read_spec
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import FAILED, POOR, UNSCORED
from ufs_bench.runners.code import code_of
from ufs_bench.runners.experiment.method import Method
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.store.row import from_json
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.ship import ELSEWHERE, REFUSED

STATUSES = ("converged", "max_iter", *POOR, *UNSCORED)
SIDES = {"n_samples": "samples", "n_features": "features"}


def faults(frame, protocol):
    """Yield (kind, data set, trial, words) for what is wrong with the rows of a method: a tidy frame with lists.

    The grid of a method may have been another with other code: what a fit of it says of that is of elsewhere.
    """
    if frame.duplicated(["trial", "n_selected", "clusterer"]).any():
        yield REFUSED, "", "", "two rows are of the same feature set of the same fit."
    rules = Protocol.from_json(protocol)
    for (dataset, method), cell in frame.groupby(["dataset", "method"], sort=False):
        content = find("method", method) or {}
        try:
            spec, known = read_spec(dataset), Method.read(content)
        except (DataError, ConfigError) as error:
            yield REFUSED, dataset, "", f"conf/ does not know it: {error}"
            continue
        code = code_of(known.cls).digest
        for trial, rows in cell.groupby("trial", sort=False):
            row = rows.iloc[0].to_dict()
            sizes = tuple(sorted(rows.loc[rows["clusterer"] == "kmeans", "n_selected"]))
            yield from ((REFUSED, dataset, trial, words) for words in _of_fit(row, sizes, spec, content, rows, rules))
            if wrong := _outside(from_json(row["params"]), known, rules):
                words = f"{wrong} is no value of conf/method/{method}.yaml."
                yield REFUSED if row["code_fit"] == code else ELSEWHERE, dataset, trial, words


def _of_fit(row, sizes, spec, content, rows, rules):
    """Yield what is wrong with the rows of a fit."""
    if stored_trial(row | {"sizes": sizes}, content["target"]) is None:
        yield "its key is not the one that data, parameters and protocol give."
    if spec.get("data_sha256") and row["data_sha"] != spec["data_sha256"]:
        yield f"data_sha={row['data_sha'][:16]} must be {spec['data_sha256'][:16]}, that of conf/dataset."
    scored = row["status"] not in UNSCORED
    if row["status"] not in STATUSES or scored == bool(row["error"]):
        yield f"status={row['status']!r} does not go with error={row['error']!r:.40}."
    for name, side in SIDES.items():
        # A fit that a cap ended has not said what it was fitted on.
        if row[name] != spec[side] and (scored or row["status"] == FAILED):
            yield f"{name}={row[name]} must be {spec[side]}, as conf/dataset says."
    for one in rows.to_dict("records"):
        wanted = (rules.restarts if one["clusterer"] == "kmeans" else 1) if scored else 0
        if one["n_restarts"] != wanted:
            yield f"status={row['status']} does not go with n_restarts={one['n_restarts']}."
        elif scored and not _is_set(one, spec):
            yield f"its {one['n_selected']} features, or its labels, are not those of a selection from these data."


def _is_set(one, spec):
    """Return True for different features of the data, as many as were asked for, or for a label of every sample."""
    if one["clusterer"] == "learned":
        return one["labels"] is not None and len(one["labels"]) == spec["samples"]
    chosen = set() if one["features"] is None else set(one["features"])
    return len(chosen) == one["n_selected"] and 0 <= min(chosen) <= max(chosen) < spec["features"]


def _outside(params, method, rules):
    """Return a parameter with a value that the grid of a method does not have, as a text; "" without one."""
    for name, value in params.items():
        allowed = [*method.grid.get(name, ()), *rules.grid_values, method.params.get(name)]
        if name != "n_clusters" and not any(one == value and (one is True) == (value is True) for one in allowed):
            return f"{name}={value!r:.40}"
    return ""
