"""The parts of a trial, as workers run them: fit, evaluate, and put the rows together.  Nothing here writes."""

import functools
import hashlib
import inspect
import json
import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from metrics.evaluate import PER_RESTART, PER_SET, evaluate, evaluate_labels
from metrics.protocol import OPTIONAL, Protocol
from metrics.study import FAILED
from runners.exits import exits_as_errors
from runners.memory import peak_mb, reset_peak
from runners.method import load_class
from runners.provenance import git_sha, versions
from runners.row import Row

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
    row = {**fit.row, "eval_s": eval_s, "n_scores": len(rows), "shared": to_json(sorted(shared))}
    traces = [(trial.key, iteration, float(value)) for iteration, value in enumerate(fit.trace)]
    facts = [(trial.key, name, float(value)) for name, value in fit.facts.items()]
    return Outcome(row, rows, traces, facts, measures, fit.log)


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
        git_sha=git_sha(),
        versions=to_json(versions()),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
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

    @functools.cached_property
    def key(self):
        """Hash of data, parameters and protocol: a changed seed or file is never taken for done."""
        identity = asdict(self)
        del identity["study"], identity["is_default"]
        for name in OPTIONAL:  # they decide which trials there are, and are in `sizes` and `params`
            del identity["protocol"][name]
        return hashlib.sha256(to_json(identity).encode()).hexdigest()[:16]

    def key_under(self, name):
        """The key of the same trial where the protocol has another name, and is the same in all that decides scores."""
        return replace(self, protocol=replace(self.protocol, name=name)).key

    def selector(self):
        """The unfitted estimator, for the largest size."""
        cls = load_class(self.target)
        arguments = dict(self.params, n_features_to_select=max(self.sizes))
        if "random_state" in inspect.signature(cls).parameters:
            arguments["random_state"] = self.protocol.seed
        return cls(**arguments)


def to_json(value):
    """Compact JSON with sorted keys: the same text for the same value."""
    return json.dumps(value, sort_keys=True, separators=(", ", ": "), allow_nan=False)
