"""Checks every row of a shipped study, by itself and against conf/; no data and no fits are needed."""

import math

import numpy as np
import pandas as pd

from datasets import read_spec
from metrics.measures import OF_SET
from metrics.protocol import Protocol
from metrics.study import FAILED, UNSCORED
from runners.code import code_of
from runners.experiment.grid import further_seeds, n_draws, sizes_to_score
from runners.experiment.method import Method, load_class
from runners.experiment.trial import stored_trial
from runners.store.columns import COLUMNS, SUMMARY
from runners.store.row import feature_set_digest, from_json, to_json
from scripts.core.conf import find
from scripts.verify import ELSEWHERE, REFUSED

SCORED = ("converged", "max_iter", "diverged", "collapsed")
OF_ROW = ["n_selected", "clusterer", "n_restarts", *SUMMARY]
OF_ROW += [*OF_SET, "feature_set", "acc", "nmi", "features", "labels", "trace", "shared", "identity"]
OF_FIT = [column.name for column in COLUMNS if column.name not in OF_ROW] + ["code_fit", "code_evaluation", "versions"]
MEANS = 5.1e-8  # means and deviations have 7 decimals, and the order in which they are summed moves them by less


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
    trials = pd.factorize(frame["trial"])[0]
    first = np.unique(trials, return_index=True)[1][trials]  # of the rows of its fit, for each row
    for name in OF_FIT:
        values = pd.factorize(frame[name])[0]
        if (values != values[first]).any():
            yield REFUSED, "", "", f"{name} is not the same in all rows of a fit."
            return
    if frame.duplicated(["trial", "n_selected", "clusterer"]).any():
        yield REFUSED, "", "", "two rows are of the same feature set of the same fit."
    for (dataset, method), rows in frame.groupby(["dataset", "method"], sort=False):
        try:
            cell = Cell(dataset, method, Protocol.from_json(protocol))
        except ValueError as error:
            yield REFUSED, dataset, "", str(error)
            continue
        yield from ((REFUSED, dataset, "", words) for words in _faults_of_names(rows))
        points, fits = set(), {}
        for row in rows.to_dict("records"):  # at once, as a call for each fit took a third of the seconds
            fits.setdefault(row["trial"], []).append(row)
        for trial, records in fits.items():
            point = records[0]["params"], records[0]["nth_seed"], tuple(one["n_selected"] for one in records)
            if point in points:
                yield REFUSED, dataset, trial, "another fit of the cell has the same parameters, sizes and seed."
            points.add(point)
            yield from ((REFUSED, dataset, trial, words) for words in _faults_of_fit(records, cell))
            if words := _unlike_conf(records[0], cell):
                kind = REFUSED if records[0]["code_fit"] == cell.code else ELSEWHERE
                yield kind, dataset, trial, words
        if words := _fault_of_number(rows, cell, dict(lacking).get(dataset, 0)):
            yield REFUSED, dataset, "", words


def _fault_of_number(rows, cell, lacking):
    """Say that a cell has not all fits that its points make; whoever picks the best of them would gain by it."""
    repeats, points = set(cell.method.cls.repeats) & set(cell.method.grid), {}
    try:
        each = [from_json(params) for params in set(rows["params"])]
        for params in each:
            points[to_json({name: params[name] for name in params if name not in repeats})] = len(cell.sizes(params))
        draws = n_draws(cell.method, cell.protocol, each)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""  # said of each fit
    wanted, found = sum(points.values()) * draws * cell.n_seeds, rows["trial"].nunique()
    if found >= wanted - lacking:
        return ""
    return (
        f"it has {found} of the {wanted} fits that its points have with all sizes, seeds and draws, and says that "
        f"{lacking} are lacking."
    )


def _faults_of_names(rows):
    """Yield what is wrong with the numbers of the feature sets of a cell: one for each set, 0 for none."""
    number = {}
    for own, features in zip(rows["feature_set"], rows["features"], strict=True):
        digest = None if features is None else feature_set_digest(features)
        if (own == 0) != (digest is None) or number.setdefault(digest, own) != own:
            yield f"feature_set={own} is not the number of one feature set."
            return
    if len(set(number.values())) < len(number):
        yield "two feature sets have the same number."


def _faults_of_fit(rows, cell):
    row = rows[0]
    chosen, learned = ([one for one in rows if one["clusterer"] == name] for name in ("kmeans", "learned"))
    if len(chosen) + len(learned) < len(rows) or not chosen or len(learned) > 1:
        yield "its rows must be kmeans, with learned once at most."
        return
    try:
        yield from _faults_of_settings(row, tuple(sorted(one["n_selected"] for one in chosen)), cell)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        yield f"params={row['params'][:80]} cannot be read ({type(error).__name__}: {error})."
    scored = row["status"] in SCORED
    if not scored and row["status"] not in UNSCORED:
        yield f"status={row['status']!r} must be one of {', '.join((*SCORED, *UNSCORED))}."
    if scored == bool(row["error"]):
        yield f"status={row['status']} goes {'without' if scored else 'with'} an error."
    yield from _faults_of_shape(row, cell.spec, scored)
    if not scored:
        if learned or any(one["n_restarts"] or one["features"] is not None for one in chosen):
            yield f"status={row['status']} goes without scores, features and labels."
        return
    for one in chosen:
        yield from _faults_of_set(one, cell)
    longest = max(chosen, key=lambda one: one["n_selected"])["features"]
    if cell.prefixes and longest is not None:
        for one in chosen:
            if one["features"] is not None and not np.array_equal(longest[: one["n_selected"]], one["features"]):
                yield f"its {one['n_selected']} features are not the first of its ranking."
    for one in learned:
        yield from _faults_of_labels(one, chosen, cell)


def _faults_of_settings(row, sizes, cell):
    params = from_json(row["params"])
    if to_json(params) != row["params"]:
        yield "params is not the JSON that the suite writes."
    right = cell.defaults
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
            if not any(
                one == params[name] and isinstance(one, bool) == isinstance(params[name], bool) for one in allowed
            ):
                return f"{name}={params[name]!r:.40} is no value of conf/method/{cell.method.name}.yaml."
        is_default = params == cell.defaults
    except (ValueError, TypeError):
        return ""
    if row["is_default"] == is_default:
        return ""
    are = "are" if is_default else "are not"
    return f"is_default={row['is_default']}, and its parameters {are} those of conf/method."


def _faults_of_shape(row, spec, scored):
    for name, value in (("n_samples", spec["samples"]), ("n_features", spec["features"])):
        # A fit that a cap ended has not said what it was fitted on.
        if row[name] != value and (scored or row["status"] == FAILED or row[name]):
            yield f"{name}={row[name]} must be {value}, as conf/dataset says."
    if spec.get("data_sha256") and row["data_sha"] != spec["data_sha256"]:
        yield f"data_sha={row['data_sha'][:16]} must be {spec['data_sha256'][:16]}, that of conf/dataset."


def _faults_of_set(one, cell):
    """Yield what is wrong with a selected feature set and its scores."""
    size, features, d = one["n_selected"], one["features"], cell.spec["features"]
    if features is None or len(features) != size:
        yield f"its set of {size} has {0 if features is None else len(features)} features."
        return
    if features.min() < 0 or features.max() >= d or len(np.unique(features)) < size:
        yield f"its {size} features are not {size} different numbers from 0 to {d - 1}."
    if one["labels"] is not None:
        yield "selected features have no learned labels."
    yield from _faults_of_scores(one, cell.protocol.restarts)


def _faults_of_scores(one, restarts):
    acc, nmi, n = one["acc"], one["nmi"], one["n_samples"]
    if one["n_restarts"] != restarts:
        yield f"n_restarts={one['n_restarts']} must be {restarts}."
        return
    if acc is None and math.isnan(one["acc_mean"]) and math.isnan(one["nmi_mean"]):
        return  # data without labels
    if acc is None or nmi is None or len(acc) != restarts or len(nmi) != restarts:
        yield f"it must have {restarts} values of ACC and of NMI."
        return
    for name, values in (("acc", acc / n), ("nmi", np.asarray(nmi, dtype=float))):
        spread = np.std(values, ddof=1) if restarts > 1 else math.nan
        for what, value in ((f"{name}_mean", values.mean()), (f"{name}_std", spread)):
            if not (abs(one[what] - value) <= MEANS or (math.isnan(one[what]) and math.isnan(value))):
                yield f"{what}={one[what]!r} is not that of its restarts, {float(value)!r}."


def _faults_of_labels(one, chosen, cell):
    """Yield what is wrong with the labels that a fit learned."""
    labels, size = one["labels"], chosen[0]["n_selected"] if len(chosen) == 1 else cell.spec["features"]
    if one["features"] is not None or one["shared"] or not all(math.isnan(one[name]) for name in OF_SET):
        yield "learned labels have no features and no measures of a feature set."
    if one["n_selected"] not in (size, cell.spec["features"]):
        yield f"its labels are learned from {one['n_selected']} features; it must be {size}."
    if labels is None or len(labels) != cell.spec["samples"]:
        yield f"it has {0 if labels is None else len(labels)} labels of {cell.spec['samples']} samples."
    elif not np.array_equal(np.unique(labels), np.arange(labels.max() + 1)):
        yield "its labels are not the numbers from 0 on, without a gap."
    yield from _faults_of_scores(one, 1)
