"""Measurements for several claims: sweeps, feature sets, accuracies, rises of an objective, sensitivity."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from datasets import scale
from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts

SETTLED = 1e-3  # an objective has settled within this share of its last value
RISE = 1e-10  # a smaller relative rise is rounding
SIZE = 100
RESTARTS, LLOYD = 20, 100
RANDOM_SETS = 20


def minmax(data):
    """Return the samples with every feature scaled to [0, 1]."""
    return scale(data.X, "minmax")


@cache
def subsample(data, size):
    """Return some of the samples, the same ones in every call."""
    chosen = np.random.default_rng(0).permutation(data.n_samples)[:size]
    return replace(data, X=data.X[chosen], y=data.y[chosen])


def settled(trace):
    """Return the first sweep from which the objective stays within `SETTLED` of its last value, relative to that."""
    far = np.flatnonzero(np.abs(trace - trace[-1]) > SETTLED * abs(trace[-1]))
    return int(far[-1]) + 1 if len(far) else 0


def rises(trace):
    """Count the sweeps that raise the objective."""
    return int(np.count_nonzero(np.diff(trace) > RISE * np.abs(trace[:-1])))


def shared(first, second):
    """Count the features that two sets have in common."""
    return len(set(map(int, first)) & set(map(int, second)))


def random_sets(n_features, size, count=RANDOM_SETS):
    """Return sets of features drawn at random, the same ones in every call."""
    rng = np.random.default_rng(0)
    return [rng.choice(n_features, size, replace=False) for _ in range(count)]


def accuracy(X, y, features):
    """Return mean ACC and its standard deviation over K-means restarts, in percent."""
    labels = kmeans_restarts(np.ascontiguousarray(X[:, np.sort(features)]), len(np.unique(y)), RESTARTS, 0, LLOYD)
    scores = 100 * acc_nmi(y, labels, "geometric")[0]
    return float(np.mean(scores)), float(np.std(scores))


def random_accuracy(X, y, size):
    """Return the mean ACC of random sets of features."""
    return float(np.mean([accuracy(X, y, features)[0] for features in random_sets(X.shape[1], size)]))


def descent(model):
    """Measure whether the objective of a fitted selector rises, and how far it falls."""
    trace = model.trace_
    return {"sweeps": model.n_iter_, "rises": rises(trace), "end / start": trace[-1] / trace[0]}


def sweeps_to_settle(make, limit):
    """Measure how fast the objective of ``make()`` settles, and compare with the paper's number of sweeps."""
    model = make()
    early = model if model.n_iter_ <= limit else make(max_iter=limit)
    trace = model.trace_
    return {
        "limit": limit,
        "start above end": abs(trace[0] - trace[-1]) / max(abs(trace[-1]), np.finfo(float).tiny),
        "within 1e-3": settled(trace),
        "our stop": model.n_iter_,
        f"of {SIZE} features, at limit": shared(model.ranking_[:SIZE], early.ranking_[:SIZE]),
        "by chance": SIZE**2 / model.n_features_in_,
        "collapsed": int(model.status_ == "collapsed"),
    }


def settles_early(numbers):
    """Return True where it settles within the limit; None for a fit that learned nothing or starts where it ends."""
    if numbers["collapsed"] or numbers["start above end"] <= SETTLED:
        return None
    return numbers["within 1e-3"] < numbers["limit"]


def sensitivity(X, y, sets: Iterable, size):
    """Measure how ACC varies over the feature sets of several settings, beside random selection."""
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
    """Return True where the worst setting is above random selection; None for noise, or one set for all settings."""
    gain, error = numbers["worst ACC"] - numbers["random ACC"], numbers["its std"] / np.sqrt(RESTARTS)
    return None if numbers["distinct sets"] == 1 or abs(gain) <= 2 * error else gain > 0
