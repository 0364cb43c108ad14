"""The parts of a trial, as workers run them: fit, evaluate, and put the rows together.  Nothing here writes."""

import traceback
import warnings
from datetime import UTC, datetime, timedelta

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from ufs_bench.metrics.centred import centred
from ufs_bench.metrics.evaluate import evaluate, evaluate_labels
from ufs_bench.metrics.measures import OF_SET, of_set
from ufs_bench.metrics.study import FAILED, UNSCORED
from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners.code import code_of
from ufs_bench.runners.messages import exits_as_errors
from ufs_bench.runners.place import git_sha
from ufs_bench.runners.store.identity import Identity, stored_versions
from ufs_bench.runners.store.row import (
    REPORTED,
    Outcome,
    Row,
    feature_set_digest,
    from_json,
    pack_labels,
    ranking_of,
    stored_scores,
    subsets_of,
    to_json,
    unpack_labels,
)
from ufs_bench.runners.workers.caps import CapReached, capped, seeded
from ufs_bench.runners.workers.machine import own_cpu_seconds, peak_mb, reset_peak

FACTS = REPORTED[:6]  # numbers that a selector may report of its fit, as NAME_
ROUNDING = 1e-6  # share of the largest score at which a score is rounding
LARGEST_KEPT = 2**28  # bytes of samples that are kept centred, with their inner products


def run_trial(trial, X, y, fitted_on=None, caps=None, known=None, row=None):
    """Fit one selector in this process, and return the `Outcome` with the scores of its feature sets and its labels.

    X is scaled, and never written to; the method is fitted on `fitted_on` where it is given.  y are class codes; an
    array without dimensions holds the number of clusters instead, for data without labels, and with None nothing is
    scored.  It reaches the scoring only.  The outcome has the status "failed" and the error where the method raised.
    `known` has the scores of other trials on these data, by the digest of the feature set, and keeps new ones.  A `row`
    that is given is that of a stored fit, which is only scored.
    """
    fit = fit_trial(trial, X if fitted_on is None else fitted_on, caps) if row is None else Outcome(row)
    row = fit.trial
    if y is None or row["status"] in UNSCORED:
        return fit
    known = {} if known is None else known
    digests, sets, shared, eval_s = from_json(row["feature_sets"]), [], [], 0.0
    try:
        for size, features in subsets_of(row["ranking"], trial.sizes).items():
            digest = digests[str(size)]
            if digest in known:
                shared.append(size)
            else:
                known[digest], seconds = evaluate_set(np.array(features), X, y, trial.protocol)
                eval_s += seconds
            scores = known[digest]
            sets.append(_scored(size, "kmeans", scores) | dict(zip(OF_SET, of_set(scores), strict=True)))
        if row["labels"]:
            size, labels = unpack_labels(row["labels"])
            sets.append(_scored(size, "learned", evaluate_labels(labels, labels_in(y)[0], trial.protocol.nmi)))
    except Exception as error:
        return failure(trial, error, row)
    return Outcome(row | {"eval_s": eval_s, "shared": to_json(sorted(shared)), "sets": sets}, fit.log)


def labels_in(y):
    """Return the labels and None, or None and the number of clusters where that takes their place."""
    return (None, int(y)) if np.ndim(y) == 0 else (y, None)


def evaluate_set(features, X, y, protocol):
    """Return the scores and seconds of a feature set; y as in `run_trial`."""
    labels, n_classes = labels_in(y)
    n_clusters = protocol.clusters_of(len(np.unique(labels)) if n_classes is None else n_classes)
    return evaluate(features, X, labels, protocol, n_clusters, _centred(X))


def _centred(X, kept=[None, None]):  # noqa: B006  it is meant to stay
    """Return `centred` samples, which small ones keep from one feature set to the next: nobody writes to X here."""
    if issparse(X) or X.nbytes > LARGEST_KEPT:
        return None
    if kept[0] is not X:
        kept[:] = X, centred(X)
    return kept[1]


def fit_trial(trial, X, caps=None):
    """Return the `Outcome` of a trial on the scaled data, without scores; the fit ends at its caps."""
    row = _blank_row(trial) | dict(zip(("n_samples", "n_features"), X.shape, strict=True))
    X = X if issparse(X) else np.asarray(X)
    if not issparse(X):  # a method that takes a sparse one makes it read-only
        X = X.view()
        X.flags.writeable = False  # a method that wrote into it would change the data of all others
    reset_peak()
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says so
        started = own_cpu_seconds()
        try:
            with exits_as_errors(), seeded(trial.random_state), capped(caps):
                selector = trial.selector().fit(X)
            row["fit_s"] = own_cpu_seconds() - started
            subsets = {size: selector.subset(size) for size in trial.sizes}
            learned = {
                "status": selector.status_,
                "n_iter": int(selector.n_iter_),
                "objective": float(selector.objective_),
                "ranking": ranking_of(list(subsets.values())),
                "peak_mb": peak_mb(),
                "feature_sets": to_json({str(size): feature_set_digest(subset) for size, subset in subsets.items()}),
                "trace": [float(value) for value in selector.trace_],
                "facts": {name: float(value) for name, value in reported(selector).items()},
            }
            if hasattr(selector, "labels_"):
                size = trial.sizes[0] if selector.size_in_objective else X.shape[1]
                learned["labels"] = pack_labels(size, selector.labels_)
        except CapReached as reached:
            return Outcome({**row, **_ended(reached, own_cpu_seconds() - started), "peak_mb": peak_mb()})
        except Exception as error:
            return Outcome({**row, **_failed(error)}, log=traceback.format_exc())
    log = "\n".join(sorted({f"{item.category.__name__}: {item.message}" for item in caught}))
    return Outcome({**row, **learned}, log)


def reported(selector):
    """Return the numbers that a fitted selector reports of its fit: `FACTS`, n_scored, and what is left of a start.

    n_scored is how many scores are above a millionth of the largest; all, where some are below 0 and 0 means nothing.
    """
    facts = {name: getattr(selector, f"{name}_") for name in FACTS if hasattr(selector, f"{name}_")}
    scores = selector.scores_
    facts["n_scored"] = len(scores) if scores.min() < 0 else np.count_nonzero(scores > ROUNDING * scores.max())
    start = getattr(selector, "start_", None)
    if start is not None:
        kept = np.intersect1d(start, selector.ranking_[: len(start)])
        facts |= {"start_kept": len(kept), "start_size": len(start), "start_among": len(selector.ranking_)}
    return facts


def _scored(size, clusterer, scores):
    acc, nmi = stored_scores(scores)
    return {"n_selected": size, "clusterer": clusterer, "acc": list(acc), "nmi": nmi}


def failure(trial, error, row=None):
    """Return the outcome of a trial whose worker died, or whose evaluation raised; `row` is what is known so far."""
    return Outcome({**(row or _blank_row(trial)), **_failed(error)}, log="".join(traceback.format_exception(error)))


def stopped(trial, reached, seconds):
    """Return the outcome of a trial whose worker was ended beyond a cap, after so many CPU seconds."""
    started = datetime.now(UTC) - timedelta(seconds=seconds)
    row = _blank_row(trial) | _ended(reached, seconds)
    return Outcome(row | {"started": started.isoformat(timespec="seconds")})


def _ended(reached, seconds):
    return {"status": reached.status, "error": str(reached), "fit_s": seconds}


def _failed(error):
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return {"status": FAILED, "error": words.encode("utf-8", "backslashreplace").decode()[:500]}


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
        git_sha=git_sha(code_of(trial.cls)),
        versions=stored_versions(versions),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        code_fit=code_fit,
        code_evaluation=code_evaluation,
        nth_seed=trial.nth_seed,
    )
    return vars(row)
