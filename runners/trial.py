"""One trial, as a worker runs it: fit, score, and hand back rows.  It writes nothing."""

import time
import traceback
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts, load_engine
from runners.grid import to_json
from runners.provenance import git_sha, versions

FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """The rows of one trial, in the columns of `runners.store`.

    Attributes
    ----------
    trial : dict
    scores, traces : list of tuple
    log : str
        Traceback and warnings, for run.log.
    """

    trial: dict
    scores: list = field(default_factory=list)
    traces: list = field(default_factory=list)
    log: str = ""


def run_trial(trial, X, y):
    """Fit one selector and score the feature sets and the labels that it gives.

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
    load_engine()  # outside what is timed
    row = _blank_row(trial)
    _reset_peak()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says so
        try:
            started = time.perf_counter()
            selector = trial.selector().fit(X)
            row["fit_s"] = time.perf_counter() - started
            subsets = {size: selector.subset(size) for size in trial.sizes}
            started = time.perf_counter()
            scores = _score(trial, selector, subsets, X, y)
            row["eval_s"] = time.perf_counter() - started
        except Exception as error:
            return failure(trial, error, traceback.format_exc(), row)
    row.update(
        status=selector.status_,
        n_iter=selector.n_iter_,
        objective=selector.objective_,
        ranking=_ranking_json(subsets),
        peak_mb=_peak_mb(),
        n_scores=len(scores),
    )
    traces = [(trial.key, iteration, float(value)) for iteration, value in enumerate(selector.trace_)]
    log = "\n".join(sorted({f"{item.category.__name__}: {item.message}" for item in caught}))
    return Outcome(row, scores, traces, log)


def failure(trial, error, log="", row=None):
    """The outcome of a trial that raised, or whose worker died.

    Parameters
    ----------
    trial : Trial
    error : Exception
    log : str
        Traceback.
    row : dict, optional
        What is known of the trial so far.

    Returns
    -------
    Outcome
    """
    row = row or _blank_row(trial)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return Outcome({**row, "status": FAILED, "error": text[:500]}, log=log)


def _blank_row(trial):
    return {
        "trial": trial.key,
        "study": trial.study,
        "dataset": trial.dataset,
        "method": trial.method,
        "params": to_json(trial.params),
        "is_default": trial.is_default,
        "sizes": to_json(trial.sizes),
        "protocol": to_json(vars(trial.protocol)),
        "status": "",
        "error": "",
        "n_iter": 0,
        "objective": float("nan"),
        "fit_s": float("nan"),
        "eval_s": float("nan"),
        "peak_mb": float("nan"),
        "n_scores": 0,
        "ranking": "[]",
        "data_sha": trial.data_sha,
        "git_sha": git_sha(),
        "versions": to_json(versions()),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _score(trial, selector, subsets, X, y):
    protocol, rows = trial.protocol, []

    def add(size, clusterer, labels):
        for restart, (acc, nmi) in enumerate(zip(*acc_nmi(y, labels, protocol.nmi), strict=True)):
            rows.append((trial.key, trial.dataset, trial.method, size, clusterer, restart, float(acc), float(nmi)))

    n_clusters = len(np.unique(y))
    for size, features in subsets.items():
        # Sorted, so that the scores depend on the set and not on its order.
        selected = np.ascontiguousarray(X[:, np.sort(features)])
        labels = kmeans_restarts(selected, n_clusters, protocol.restarts, protocol.seed, protocol.max_iter)
        add(size, "kmeans", labels)
    if hasattr(selector, "labels_"):
        learned_from = trial.sizes[0] if selector.size_in_objective else X.shape[1]
        add(learned_from, "learned", selector.labels_[None, :])
    return rows


def _ranking_json(subsets):
    """The longest subset where the others are its beginnings; otherwise one list per size."""
    longest = max(subsets.values(), key=len)
    if all(np.array_equal(longest[: len(subset)], subset) for subset in subsets.values()):
        return to_json(longest.tolist())
    return to_json({str(size): subset.tolist() for size, subset in subsets.items()})


def _reset_peak():
    """Start the high-water mark of this process anew, where the system allows it (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_mb():
    """High-water mark of this process's memory in MB; on systems other than Linux since its start."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        import resource
        import sys

        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
