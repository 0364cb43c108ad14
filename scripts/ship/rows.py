"""Checks every row of a shipped study, by itself and against conf/; no data and no fits are needed."""

import math

import numpy as np

from ufs_bench.datasets import read_spec
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import FAILED, UNSCORED
from ufs_bench.runners.code import code_of
from ufs_bench.runners.experiment.grid import further_seeds, n_draws, sizes_to_score
from ufs_bench.runners.experiment.method import Method, load_class
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.store.row import from_json, to_json
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.ship import ELSEWHERE, REFUSED

SCORED = ("converged", "max_iter", "diverged", "collapsed")
UNREADABLE = ValueError, TypeError, KeyError, AttributeError  # what parameters of any kind may end in


class Cell:
    """The settings of the rows of a method on a data set, from conf/; a ValueError says that it does not know them."""

    def __init__(self, dataset, method, protocol):
        content = find("method", method)
        if content is None:
            raise ValueError(f"{method} is no file of conf/method.")
        self.method, self.spec, self.protocol = Method.read(content), read_spec(dataset), protocol
        cls = self.method.cls
        # Where the selections are the beginnings of one ranking; a method may choose each size by itself.
        own = getattr(cls, "subset", None) is not load_class("methods.core.base.BaseSelector").subset
        self.prefixes = not own and cls.size_in_objective is False
        self.code = code_of(cls).digest
        self.defaults = self.method.params_at({}, protocol.clusters_of(self.spec["classes"]))
        self.n_seeds = 1 + len(further_seeds(self.method, protocol))

    def sizes(self, params):
        """Return the sizes that one fit at these parameters may have: a list of tuples."""
        all_sizes = tuple(sizes_to_score(self.method, self.spec["name"], self.spec["features"], self.protocol))
        each = self.method.cls(**params).size_in_objective
        return [(size,) for size in all_sizes] if each else [all_sizes]


def faults(frame, protocol, lacking=()):
    """Yield (kind, data set, trial, words) for what is wrong with the rows of a method: a tidy frame with lists.

    `lacking` has the number of trials that the file says to lack, by data set.  The defaults and the grid of a method
    may have been others with other code: what a fit of it says of them is of elsewhere.
    """
    if frame.duplicated(["trial", "n_selected", "clusterer"]).any():
        yield REFUSED, "", "", "two rows are of the same feature set of the same fit."
    for (dataset, method), own in frame.groupby(["dataset", "method"], sort=False):
        try:
            cell = Cell(dataset, method, Protocol.from_json(protocol))
        except ValueError as error:
            yield REFUSED, dataset, "", str(error)
            continue
        fits = {}
        for row in own.to_dict("records"):  # at once, as a call for each fit took a third of the seconds
            fits.setdefault(row["trial"], []).append(row)
        for trial, rows in fits.items():
            yield from ((REFUSED, dataset, trial, words) for words in _of_fit(rows, cell))
            if words := _unlike_conf(rows[0], cell):
                yield REFUSED if rows[0]["code_fit"] == cell.code else ELSEWHERE, dataset, trial, words
        if words := _of_number(own, cell, dict(lacking).get(dataset, 0)):
            yield REFUSED, dataset, "", words


def _of_number(rows, cell, lacking):
    """Say that a cell has not all fits that its points make: the best of them would be of fewer than in other cells."""
    repeats, points = set(cell.method.cls.repeats) & set(cell.method.grid), {}
    try:
        each = [from_json(params) for params in set(rows["params"])]
        for params in each:
            points[to_json({name: params[name] for name in params if name not in repeats})] = len(cell.sizes(params))
        draws = n_draws(cell.method, cell.protocol, each)
    except UNREADABLE:
        return ""  # said of each fit
    wanted, found = sum(points.values()) * draws * cell.n_seeds, rows["trial"].nunique()
    if found >= wanted - lacking:
        return ""
    return (
        f"it has {found} of the {wanted} fits that its points have with all sizes, seeds and draws, and says that "
        f"{lacking} are lacking."
    )


def _of_fit(rows, cell):
    """Yield what is wrong with the rows of a fit."""
    row, spec = rows[0], cell.spec
    chosen = sorted((one for one in rows if one["clusterer"] == "kmeans"), key=lambda one: one["n_selected"])
    learned = [one for one in rows if one["clusterer"] == "learned"]
    if len(chosen) + len(learned) < len(rows) or not chosen or len(learned) > 1:
        yield "its rows must be kmeans, with learned once at most."
        return
    try:
        yield from _of_settings(row, tuple(one["n_selected"] for one in chosen), cell)
    except UNREADABLE as error:
        yield f"params={row['params'][:80]} cannot be read ({type(error).__name__}: {error})."
    scored = row["status"] in SCORED
    if (not scored and row["status"] not in UNSCORED) or scored == bool(row["error"]):
        yield f"status={row['status']!r} goes {'without' if scored else 'with'} an error, or is not known."
    for name, value in (("n_samples", spec["samples"]), ("n_features", spec["features"])):
        # A fit that a cap ended has not said what it was fitted on.
        if row[name] != value and (scored or row["status"] == FAILED or row[name]):
            yield f"{name}={row[name]} must be {value}, as conf/dataset says."
    if spec.get("data_sha256") and row["data_sha"] != spec["data_sha256"]:
        yield f"data_sha={row['data_sha'][:16]} must be {spec['data_sha256'][:16]}, that of conf/dataset."
    if not scored:
        if learned or any(one["n_restarts"] or one["features"] is not None for one in chosen):
            yield f"status={row['status']} goes without scores, features and labels."
        return
    for one in chosen:
        yield from _of_features(one, spec["features"], chosen[-1]["features"] if cell.prefixes else one["features"])
        yield from _of_scores(one, cell.protocol.restarts)
    for one in learned:
        n_labels = 0 if one["labels"] is None else len(one["labels"])
        if n_labels != spec["samples"]:
            yield f"it has {n_labels} labels of {spec['samples']} samples."
        yield from _of_scores(one, 1)


def _of_settings(row, sizes, cell):
    params, right = from_json(row["params"]), cell.defaults
    if unknown := sorted(set(params) ^ {*right, *cell.method.grid}):
        yield f"params has not the parameters of conf/method/{cell.method.name}.yaml: {', '.join(unknown)}."
        return
    if "n_clusters" in right and params["n_clusters"] != right["n_clusters"]:
        yield f"n_clusters={params['n_clusters']} must be {right['n_clusters']}, for {cell.spec['classes']} classes."
    if not 0 <= row["nth_seed"] < cell.n_seeds:
        yield f"nth_seed={row['nth_seed']} must be below {cell.n_seeds}, as the protocol says."
    allowed = cell.sizes(params)
    if sizes not in allowed:
        yield f"its sizes are {list(sizes)}; the protocol asks for {' or '.join(str(list(one)) for one in allowed)}."
    if stored_trial(row | {"sizes": sizes}, cell.method.target) is None:
        yield "its key is not the one that data, parameters and protocol give."


def _unlike_conf(row, cell):
    """Say how a fit that can be read is unlike the grid and the defaults of its method."""
    try:
        params = from_json(row["params"])
        for name in set(params) - {"n_clusters"}:
            allowed = [*cell.method.grid.get(name, ()), *cell.protocol.grid_values]
            allowed += [cell.method.params[name]] if name in cell.method.params else []
            is_flag = isinstance(params[name], bool)  # True == 1
            if not any(one == params[name] and isinstance(one, bool) == is_flag for one in allowed):
                return f"{name}={params[name]!r:.40} is no value of conf/method/{cell.method.name}.yaml."
        is_default = params == cell.defaults
    except UNREADABLE:
        return ""
    if row["is_default"] == is_default:
        return ""
    are = "are" if is_default else "are not"
    return f"is_default={row['is_default']}, and its parameters {are} those of conf/method."


def _of_features(one, n_features, ranking):
    """Yield what is wrong with a selected feature set, which begins `ranking`."""
    size, features = one["n_selected"], one["features"]
    if features is None or len(features) != size:
        yield f"its set of {size} has {0 if features is None else len(features)} features."
    elif features.min() < 0 or features.max() >= n_features or len(np.unique(features)) < size:
        yield f"its {size} features are not {size} different numbers from 0 to {n_features - 1}."
    elif ranking is not None and not np.array_equal(ranking[:size], features):
        yield f"its {size} features are not the first of its ranking."


def _of_scores(one, restarts):
    if one["n_restarts"] != restarts:
        yield f"n_restarts={one['n_restarts']} must be {restarts}."
    elif one["acc"] is None and math.isnan(one["acc_mean"]) and math.isnan(one["nmi_mean"]):
        return  # data without labels
    elif any(one[name] is None or len(one[name]) != restarts for name in ("acc", "nmi")):
        yield f"it must have {restarts} values of ACC and of NMI."
