"""What several claims measure: sweeps, feature sets, accuracies, rises of an objective, sensitivity."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from datasets import scale
from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts

SETTLED = 1e-3  # of its last value
RISE = 1e-10  # relative, beyond rounding
SIZE = 100
RESTARTS, LLOYD = 20, 100
RANDOM_SETS = 20


def minmax(data):
    """The samples with every feature in [0, 1]."""
    return scale(data.X, "minmax")


@cache
def subsample(data, size):
    """Some of the samples, drawn once."""
    chosen = np.random.default_rng(0).permutation(data.n_samples)[:size]
    return replace(data, X=data.X[chosen], y=data.y[chosen])


def settled(trace):
    """The first sweep from which the objective stays within `SETTLED` of its last value, relative to that."""
    far = np.flatnonzero(np.abs(trace - trace[-1]) > SETTLED * abs(trace[-1]))
    return int(far[-1]) + 1 if len(far) else 0


def rises(trace):
    """How many sweeps raise the objective."""
    return int(np.count_nonzero(np.diff(trace) > RISE * np.abs(trace[:-1])))


def shared(first, second):
    """How many features two sets have in common."""
    return len(set(map(int, first)) & set(map(int, second)))


def random_sets(n_features, size, count=RANDOM_SETS):
    """Sets of features drawn at random, always the same ones."""
    rng = np.random.default_rng(0)
    return [rng.choice(n_features, size, replace=False) for _ in range(count)]


def accuracy(X, y, features):
    """Mean ACC and its standard deviation over K-means restarts, in percent."""
    labels = kmeans_restarts(np.ascontiguousarray(X[:, np.sort(features)]), len(np.unique(y)), RESTARTS, 0, LLOYD)
    scores = 100 * acc_nmi(y, labels, "geometric")[0]
    return float(np.mean(scores)), float(np.std(scores))


def random_accuracy(X, y, size):
    """Mean ACC of random sets of features."""
    return float(np.mean([accuracy(X, y, features)[0] for features in random_sets(X.shape[1], size)]))


def sweeps_to_settle(make, limit, size=SIZE):
    """How fast an objective comes to rest, and what is selected where a paper would have stopped.

    Parameters
    ----------
    make : callable
        ``make(**changes)`` is a fitted selector.
    limit : int
        The paper's number of sweeps.
    size : int
        Of the feature sets that are compared.

    Returns
    -------
    dict
    """
    model = make()
    early = model if model.n_iter_ <= limit else make(max_iter=limit)
    trace = model.trace_
    return {
        "limit": limit,
        "start above end": abs(trace[0] - trace[-1]) / max(abs(trace[-1]), np.finfo(float).tiny),
        "within 1e-3": settled(trace),
        "our stop": model.n_iter_,
        f"of {size} features, at limit": shared(model.ranking_[:size], early.ranking_[:size]),
        "by chance": size**2 / model.n_features_in_,
        "collapsed": int(model.status_ == "collapsed"),
    }


def settles_early(numbers):
    """Within the limit; a fit that learned nothing, or that starts where it ends, says nothing."""
    if numbers["collapsed"] or numbers["start above end"] <= SETTLED:
        return None
    return numbers["within 1e-3"] < numbers["limit"]


def sensitivity(X, y, sets: Iterable, size):
    """How ACC varies over settings, beside random selection.

    Parameters
    ----------
    X, y : ndarray
    sets : iterable of ndarray
        The features that each setting selects.
    size : int

    Returns
    -------
    dict
    """
    distinct = {tuple(np.sort(features)) for features in sets}
    scores = [accuracy(X, y, np.array(features)) for features in distinct]
    means = [mean for mean, _ in scores]
    best = int(np.argmax(means))
    return {
        "distinct sets": len(distinct),
        "worst ACC": min(means),
        "best ACC": max(means),
        "its std": scores[best][1],
        "random ACC": random_accuracy(X, y, size),
    }


INSENSITIVE = (
    "The worst point is above random selection. Where all points select the same, nothing is said, nor where the two "
    f"are within two standard errors of a mean over the {RESTARTS} runs of K-means, the std at the best point."
)


def is_insensitive(numbers):
    """The worst setting is above random selection; one set for all settings says nothing, nor does noise."""
    gain, error = numbers["worst ACC"] - numbers["random ACC"], numbers["its std"] / np.sqrt(RESTARTS)
    return None if numbers["distinct sets"] == 1 or abs(gain) <= 2 * error else gain > 0
