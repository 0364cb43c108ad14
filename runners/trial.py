"""The parts of a trial, as workers run them: fit, evaluate, and put the rows together.  Nothing here writes."""

import base64
import functools
import hashlib
import json
import time
import traceback
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from metrics.evaluate import PER_RESTART, PER_SET, evaluate, evaluate_labels
from metrics.protocol import OPTIONAL, Protocol
from metrics.study import FAILED
from runners.exits import exits_as_errors
from runners.memory import peak_mb, reset_peak
from runners.method import load_class, parameters_of
from runners.provenance import Identity, git_sha
from runners.row import Row, to_json

DIGEST = 16  # bytes that name a feature set
FACTS = ("indicator_change",)  # what a selector may report of its fit, as NAME_; kept in facts.csv


@dataclass(frozen=True)
class Outcome:
    """The rows of one trial, in the columns of `runners.store`.

    Attributes
    ----------
    trial : dict
        The fields of `runners.row.Row`.
    scores, traces, facts, measures : list of tuple
    log : str
        Traceback and warnings, for run.log.
    """

    trial: dict
    scores: list = field(default_factory=list)
    traces: list = field(default_factory=list)
    facts: list = field(default_factory=list)
    measures: list = field(default_factory=list)
    log: str = ""


@dataclass(frozen=True)
class Fit:
    """A fitted trial that has not been scored.

    Attributes
    ----------
    row : dict
        The fields of `runners.row.Row`, as far as they are known; its status is "failed" where the method raised.
    subsets : dict
        Size -> selected features, best first.
    trace : ndarray
        Objective after every sweep.
    labels : (size, ndarray of shape (n_samples,)) or None
        Learned labels, and the number of features that they were learned from.
    facts : dict of str to float
        Those of `FACTS` that the selector reports.
    log : str
    """

    row: dict
    subsets: dict = field(default_factory=dict)
    trace: np.ndarray = field(default_factory=lambda: np.empty(0))
    labels: tuple | None = None
    facts: dict = field(default_factory=dict)
    log: str = ""


def run_trial(trial, X, y):
    """Fit one selector and score the feature sets and the labels that it gives, in this process.

    Parameters
    ----------
    trial : Trial
    X : ndarray of shape (n_samples, n_features)
        Scaled data; never written to.
    y : ndarray of shape (n_samples,)
        Class codes.  They reach the scoring only.

    Returns
    -------
    Outcome
        With status "failed" and the error when the method raised.
    """
    fit = fit_trial(trial, X)
    evaluated = {size: evaluate(features, X, y, trial.protocol) for size, features in fit.subsets.items()}
    scores = {size: scores for size, (scores, _) in evaluated.items()}
    return score(trial, fit, y, scores, sum(seconds for _, seconds in evaluated.values()))


def fit_trial(trial, X):
    """Fit the selector of a trial.

    Parameters
    ----------
    trial : Trial
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    Fit
    """
    row = _blank_row(trial)
    reset_peak()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says so
        try:
            started = time.perf_counter()
            with exits_as_errors():
                selector = trial.selector().fit(X)
            row["fit_s"] = time.perf_counter() - started
            subsets = {size: selector.subset(size) for size in trial.sizes}
        except Exception as error:
            return Fit({**row, **_failed(error)}, log=traceback.format_exc())
    row.update(
        status=selector.status_,
        n_iter=selector.n_iter_,
        objective=selector.objective_,
        ranking=_ranking_json(subsets),
        peak_mb=peak_mb(),
        feature_sets=to_json({str(size): feature_set_digest(subset) for size, subset in subsets.items()}),
    )
    labels = None
    if hasattr(selector, "labels_"):
        labels = (trial.sizes[0] if selector.size_in_objective else X.shape[1], selector.labels_)
    log = "\n".join(sorted({f"{item.category.__name__}: {item.message}" for item in caught}))
    facts = {name: getattr(selector, f"{name}_") for name in FACTS if hasattr(selector, f"{name}_")}
    return Fit(row, subsets, selector.trace_, labels, facts, log)


def score(trial, fit, y, scores, eval_s, shared=()):
    """Put the rows of a trial together.

    Parameters
    ----------
    trial : Trial
    fit : Fit
    y : ndarray of shape (n_samples,)
    scores : dict
        Size -> ndarray of shape (N_MEASURES, n_restarts), for every size of the fit.
    eval_s : float
        Seconds that this trial's own evaluations took.
    shared : sequence of int
        Sizes whose scores come from an evaluation done for another trial.

    Returns
    -------
    Outcome
    """
    if fit.row["status"] == FAILED:
        return Outcome(fit.row, log=fit.log)
    rows, measures = [], []

    def add(size, clusterer, values):
        for restart, measured in enumerate(values[: len(PER_RESTART)].T.tolist()):
            rows.append((trial.key, trial.dataset, trial.method, size, clusterer, restart, *measured))

    for size in fit.subsets:
        add(size, "kmeans", scores[size])
        once = scores[size][len(PER_RESTART) :, 0].tolist()
        measures += [(trial.key, size, name, value) for name, value in zip(PER_SET, once, strict=True)]
    if fit.labels is not None:
        size, labels = fit.labels
        add(size, "learned", evaluate_labels(labels, y, trial.protocol.nmi))
    traces = [(trial.key, iteration, float(value)) for iteration, value in enumerate(fit.trace)]
    facts = [(trial.key, name, float(value)) for name, value in fit.facts.items()]
    row = {
        **fit.row,
        "eval_s": eval_s,
        "n_scores": len(rows),
        "shared": to_json(sorted(shared)),
        "labels": _pack(*fit.labels) if fit.labels is not None else "",
        "n_others": to_json({"traces": len(traces), "facts": len(facts), "measures": len(measures)}),
    }
    return Outcome(row, rows, traces, facts, measures, fit.log)


def stored_fit(trial, row, traces, facts):
    """The fit of a trial from its stored rows, to be scored again.

    Parameters
    ----------
    trial : Trial
    row : dict
        Of ``trials.csv``, as text.
    traces, facts : list of dict
        The trial's rows of these files, as text.

    Returns
    -------
    Fit
    """
    ranking = json.loads(row["ranking"])
    each = ranking if isinstance(ranking, dict) else {str(size): ranking[:size] for size in trial.sizes}
    subsets = {int(size): np.array(subset, dtype=np.intp) for size, subset in each.items()}
    trace = np.array([float(one["objective"]) for one in traces])
    labels = _unpack(row["labels"]) if row["labels"] else None
    kept = row | {"code_evaluation": Identity.of(trial.cls).code_evaluation}
    return Fit(kept, subsets, trace, labels, {one["name"]: float(one["value"]) for one in facts})


def _pack(size, labels):
    """Learned labels as JSON: their codes in the order of their names, compressed, and the size that they go with."""
    _, codes = np.unique(labels, return_inverse=True)
    data = zlib.compress(codes.astype("<i4").tobytes(), 9)
    return to_json({"n_selected": int(size), "packed": base64.b64encode(data).decode()})


def _unpack(text):
    content = json.loads(text)
    return content["n_selected"], np.frombuffer(zlib.decompress(base64.b64decode(content["packed"])), "<i4")


def failure(trial, error, row=None):
    """The outcome of a trial whose worker died, or whose evaluation raised.

    Parameters
    ----------
    trial : Trial
    error : Exception
    row : dict, optional
        What is known of the trial so far.

    Returns
    -------
    Outcome
    """
    return Outcome({**(row or _blank_row(trial)), **_failed(error)}, log="".join(traceback.format_exception(error)))


def stopped(trial, stop):
    """The outcome of a trial whose fit was ended at a cap.

    Parameters
    ----------
    trial : Trial
    stop : runners.caps.Stopped

    Returns
    -------
    Outcome
    """
    started = datetime.now(UTC) - timedelta(seconds=stop.fit_s)
    return Outcome({**_blank_row(trial), **vars(stop), "started": started.isoformat(timespec="seconds")})


def _failed(error):
    return {"status": FAILED, "error": " ".join(f"{type(error).__name__}: {error}".split())[:500]}


def _blank_row(trial):
    code_fit, code_evaluation, versions = Identity.of(trial.cls)
    row = Row(
        trial=trial.key,
        study=trial.study,
        dataset=trial.dataset,
        method=trial.method,
        params=to_json(trial.params),
        is_default=trial.is_default,
        sizes=to_json(trial.sizes),
        protocol=to_json(trial.protocol.stored()),
        data_sha=trial.data_sha,
        git_sha=git_sha(trial.cls),
        versions=versions,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        code_fit=code_fit,
        code_evaluation=code_evaluation,
    )
    return vars(row)


def feature_set_digest(features):
    """Name of a set of features, whatever their order.

    Parameters
    ----------
    features : array-like of int

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    indices = np.sort(np.asarray(features, dtype="<i8"))
    return hashlib.sha256(indices.tobytes()).hexdigest()[: 2 * DIGEST]


def _ranking_json(subsets):
    """The longest subset where the others are its beginnings; otherwise one list per size."""
    longest = max(subsets.values(), key=len)
    if all(np.array_equal(longest[: len(subset)], subset) for subset in subsets.values()):
        return to_json(longest.tolist())
    return to_json({str(size): subset.tolist() for size, subset in subsets.items()})


@dataclass(frozen=True)
class Trial:
    """One fit and its scoring: all that a worker needs to know besides the data.

    Attributes
    ----------
    params : Mapping
        Constructor arguments, without the size and the seed.
    sizes : tuple of int
        Sizes to score; one only where the size is part of the model.
    is_default : bool
        Whether `params` are the method's defaults.
    seed : int, optional
        Of the method's random part, where it is not that of the protocol; K-means starts where it always does.
    """

    study: str
    dataset: str
    method: str
    target: str
    params: Mapping
    is_default: bool
    sizes: tuple[int, ...]
    protocol: Protocol
    data_sha: str
    seed: int | None = None

    @functools.cached_property
    def key(self):
        """Hash of data, parameters and protocol: a changed seed or file is never taken for done."""
        identity = {
            name: getattr(self, name) for name in ("dataset", "method", "target", "params", "sizes", "data_sha")
        }
        if self.seed is not None:  # all trials were without, before there were others
            identity["seed"] = self.seed
        # The optional ones decide which trials there are, and are in `sizes` and `params`.
        identity["protocol"] = {name: value for name, value in vars(self.protocol).items() if name not in OPTIONAL}
        return hashlib.sha256(to_json(identity).encode()).hexdigest()[:16]

    def key_under(self, name):
        """The key of the same trial where the protocol has another name, and is the same in all that decides scores."""
        return replace(self, protocol=replace(self.protocol, name=name)).key

    @property
    def cls(self):
        """The class of the method."""
        return load_class(self.target)

    def selector(self, cls=None):
        """The unfitted estimator, for the largest size; `cls` is the class of the method, where it is at hand."""
        cls = self.cls if cls is None else cls
        arguments = dict(self.params, n_features_to_select=max(self.sizes))
        if "random_state" in parameters_of(cls):
            arguments["random_state"] = self.protocol.seed if self.seed is None else self.seed
        return cls(**arguments)
