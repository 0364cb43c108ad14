"""Claims of the K-means UFS paper: sweeps, the toy of figure 1, the norm of figure 2, hardness, sensitivity."""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from methods import KMeansUFS, MaxVariance
from methods.core.linalg import principal_axes
from methods.kmeans_ufs import standardized
from methods.kmeans_ufs.admm import leading_basis
from metrics.kmeans import kmeans_restarts
from scripts.claims.core.claim import read_claims
from scripts.claims.core.numbers import accuracy, random_accuracy, shared
from scripts.claims.core.quadratic_admm import quadratic_admm

LIMIT, PATIENCE = 300, 30
SIZE = 50
SWEEPS = 300
MU0S, RHOS = (1e-6, 1e-3, 1.0, 1e3, 1e6), (1.01, 1.1, 10.0, 100.0)
TOYS, CLUSTERS, EACH = 50, 3, 10
WIDE, TIGHT = 0.6, 0.05  # std within a cluster, of centres that are 1 apart


def fit(X, n_clusters, size=SIZE, solver="admm", **settings):
    return KMeansUFS(size, n_clusters=n_clusters, solver=solver, **settings).fit(X)


def without_structure(X):
    """Return X with every feature permuted by itself: the same values, but no clusters."""
    return np.random.default_rng(0).permuted(X, axis=0)


def measure_iterations(data):
    model, empty = (fit(X, data.n_classes) for X in (data.X, without_structure(data.X)))
    yield "paper", {"sweeps": model.n_iter_, "on permuted features": empty.n_iter_}


def toy(rng, last):
    """Draw 30 samples in three clusters, which the first or `last` two of four features show clearly, two hardly."""
    angles = 2 * np.pi * np.arange(CLUSTERS) / CLUSTERS
    centers = np.repeat(np.column_stack([np.cos(angles), np.sin(angles)]) / np.sqrt(3), EACH, axis=0)
    pair = [centers + rng.normal(scale=scale, size=centers.shape) for scale in (WIDE, TIGHT)]
    return np.hstack(pair if last else pair[::-1])


def by_enumeration(X):
    """Return the pair of features on which K-means explains most, which is model (5) itself."""
    Z = standardized(X)
    return max(combinations(range(Z.shape[1]), 2), key=lambda pair: explained(Z[:, pair]))


def explained(Z):
    """Return the scatter between the clusters of the best of 20 runs of K-means."""
    found = kmeans_restarts(Z, CLUSTERS)
    return max(
        sum(Z[run == k].sum(axis=0) @ Z[run == k].sum(axis=0) / (run == k).sum() for k in range(CLUSTERS))
        for run in found
    )


def measure_toy(_):
    ways = {
        "model (5), by enumeration": by_enumeration,
        "exact": lambda X: fit(X, CLUSTERS, 2, "exact").ranking_[:2],
        "paper": lambda X: fit(X, CLUSTERS, 2).ranking_[:2],
        "control: max_variance": lambda X: MaxVariance(2).fit(X).ranking_[:2],
    }
    found = {name: [[], []] for name in ways}
    for last in (True, False):
        rng = np.random.default_rng(0)
        for _ in range(TOYS):
            X = toy(rng, last)
            for name, way in ways.items():
                found[name][last].append(set(map(int, way(X))) == ({2, 3} if last else {0, 1}))
    for name, (first, last) in found.items():
        numbers = {"found, %": 100 * np.mean(last), "where they are the first two, %": 100 * np.mean(first)}
        yield name, {**numbers, "by chance": 100 / comb(4, 2)}


@cache  # for three claims
def measure_norm(data):
    """Measure the norms of V in the quadratic and the bilinear ADMM, and the gain of the selected features."""
    Z, c = standardized(data.X), data.n_classes
    gain = (principal_axes(Z, c)[1] ** 2).sum(axis=1)
    best = np.sort(gain)[::-1][:SIZE].sum()
    norms, kept = quadratic_admm(Z, c, SIZE, SWEEPS)
    norms = np.log10(norms)
    numbers = {
        "largest log10 norm": norms.max(),
        "at sweep": int(norms.argmax()),
        "after 80": norms[80],
        f"after {SWEEPS}": norms[-1],
        "bilinear, always": np.log10(SIZE) / 2,
        "bilinear, % of optimum": -100 * fit(data.X, c).objective_ / best,
        "quadratic": 100 * gain[kept].sum() / best,
    }
    return [("quadratic ADMM", numbers)]


def measure_curve(data):
    best, model = fit(data.X, data.n_classes, solver="exact"), fit(data.X, data.n_classes)
    values = model.trace_[0], model.trace_[1], model.trace_[-1], model.trace_.min()
    names = "start, % of optimum", "first sweep", "end", "best on the way"
    numbers = {name: 100 * value / best.objective_ for name, value in zip(names, values, strict=True)}
    yield "paper", {**numbers, "features of the optimum": shared(best.subset(SIZE), model.subset(SIZE))}


def measure_hard(_):
    """Compare the closed form with all subsets."""
    rng, size, reached = np.random.default_rng(0), 4, 0
    for _ in range(TOYS):
        X = rng.normal(size=(20, 10)) @ rng.normal(size=(10, 10))
        _, loadings = principal_axes(standardized(X), CLUSTERS)
        A = loadings @ loadings.T
        best = max(np.trace(A[np.ix_(chosen, chosen)]) for chosen in combinations(range(10), size))
        reached += bool(np.isclose(-fit(X, CLUSTERS, size, "exact").objective_, best, rtol=1e-12))
    yield "problem (8)", {"problems": TOYS, "solved by sorting A_jj": reached}


@cache  # for two claims
def measure_starts(data):
    """Count the features that a second run, and one from another completion of the start, share with the first."""
    X, c = data.X, data.n_classes
    first, again = fit(X, c), fit(X, c)
    Z = standardized(X)
    rest = np.random.default_rng(0).normal(size=(X.shape[1], SIZE - c))
    start = np.linalg.qr(np.hstack([leading_basis(Z, np.arange(c)), rest]))[0]
    numbers = {
        "features, h": SIZE,
        "shared by a second run": shared(first.subset(SIZE), again.subset(SIZE)),
        "by another completion of (32)": shared(first.subset(SIZE), fit(X, c, init=start).subset(SIZE)),
        "by chance": SIZE**2 / X.shape[1],
    }
    return [("paper", numbers)]


def measure_sensitivity(data):
    X, y, c = data.X, data.y, data.n_classes
    Z = standardized(X)
    usual, std = accuracy(Z, y, fit(X, c).subset(SIZE))
    chance = random_accuracy(Z, y, SIZE)
    for name, values, small in (("mu0", MU0S, 1.0), ("rho", RHOS, 1.1)):
        for value in values:
            model = fit(X, c, **{name: value})
            numbers = {
                "value": value,
                "is small": int(value <= small),
                "change of ACC": accuracy(Z, y, model.subset(SIZE))[0] - usual,
                "std of K-means": std,
                "random": chance - usual,
                "sweeps before the last change": model.n_iter_ - PATIENCE,
            }
            yield f"{'small' if value <= small else 'large'} {name}", numbers


def is_as_said(numbers):
    """Return True where small values change nothing and large ones harm; the figure has 1 and 1.1, 1000 and 10."""
    change, std = numbers["change of ACC"], numbers["std of K-means"]
    return abs(change) <= std if numbers["is small"] else change < -std


HOW = {
    "kmeans_ufs_iterations": (measure_iterations, lambda n: n["sweeps"] <= LIMIT),
    "kmeans_ufs_curve": (measure_curve, lambda n: n["end"] > n["first sweep"] and n["end"] >= 99),
    "kmeans_ufs_toy": (measure_toy, lambda n: min(n["found, %"], n["where they are the first two, %"]) >= 95),
    "kmeans_ufs_norm": (measure_norm, lambda n: n["largest log10 norm"] > n["bilinear, always"] + 3),
    "kmeans_ufs_norm_stays": (measure_norm, lambda n: n["after 80"] > n["bilinear, always"] + 1),
    "kmeans_ufs_bilinear": (measure_norm, lambda n: n["bilinear, % of optimum"] > n["quadratic"]),
    "kmeans_ufs_hard": (measure_hard, lambda n: n["solved by sorting A_jj"] < n["problems"]),
    "kmeans_ufs_deterministic": (measure_starts, lambda n: n["shared by a second run"] == n["features, h"]),
    "kmeans_ufs_start": (measure_starts, lambda n: n["by another completion of (32)"] == n["features, h"]),
    "kmeans_ufs_penalty": (measure_sensitivity, is_as_said),
}
CLAIMS = read_claims("kmeans_ufs", HOW, globals())
