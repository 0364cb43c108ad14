"""Claims of the UFSOL paper: sweeps, descent, a positive Laplacian, sensitivity, ordinal locality, orthogonality."""

from functools import cache, partial

import numpy as np
from scipy import sparse
from scipy.stats import kendalltau

from methods import UFSOL
from methods.core.graphs import laplacian, nearest_neighbors
from methods.core.ordinal_graphs import triplet_laplacian
from scripts.claims.core.claim import read_claims
from scripts.claims.core.numbers import (
    SIZE,
    descent,
    is_insensitive,
    minmax,
    random_sets,
    sensitivity,
    settles_early,
    subsample,
    sweeps_to_settle,
)

LIMIT, NEIGHBORS = 40, 5
SETTINGS = (1e-2, 1.0)  # values of beta; at 1 the released program never leaves its start
VARIANTS = ("paper", "released")
VALUES = (1e-4, 1e-2, 1.0, 1e2, 1e4)
SUBSAMPLE = 500


@cache
def fit(data, variant="paper", **settings):
    """Return a fit, which is remembered for later claims."""
    return UFSOL(SIZE, n_clusters=data.n_classes, variant=variant, random_state=0, **settings).fit(minmax(data))


def measure_iterations(data):
    for variant in VARIANTS:
        for beta in SETTINGS:
            yield f"{variant}, beta = {beta:g}", sweeps_to_settle(partial(fit, data, variant, beta=beta), LIMIT)


def measure_descent(data):
    for variant in VARIANTS:
        for beta in SETTINGS:
            model = fit(data, variant, beta=beta)
            yield f"{variant}, beta = {beta:g}", descent(model)


def measure_laplacian(data):
    """Measure the smallest eigenvalue of L, with every sample's weights scaled to [0, 1], and with those of (2)."""
    X = minmax(data)
    neighbors = nearest_neighbors(X, NEIGHBORS)
    distances = ((X[:, None, :] - X[neighbors]) ** 2).sum(axis=2)
    weights = (distances.sum(axis=1, keepdims=True) - NEIGHBORS * distances).ravel()
    places = (np.repeat(np.arange(len(X)), NEIGHBORS), neighbors.ravel())
    C = sparse.csr_array((weights, places), shape=(len(X), len(X)))
    scaled, printed = (
        np.linalg.eigvalsh(L.toarray()) for L in (triplet_laplacian(X), laplacian(sparse.csr_array((C + C.T) / 2)))
    )
    yield "scaled", {"smallest eigenvalue": scaled[0], "largest": scaled[-1]}
    yield "control: as in (2)", {"smallest eigenvalue": printed[0], "largest": printed[-1]}


def measure_sensitivity(data):
    data = subsample(data, SUBSAMPLE)
    X, y = minmax(data), data.y
    for variant in VARIANTS:
        for name in ("alpha", "beta"):
            sets = [fit(data, variant, **{name: value}, max_iter=LIMIT).subset(SIZE) for value in VALUES]
            yield f"{variant}, {name}", sensitivity(X, y, sets, SIZE)


def kept_order(X, features):
    """Return the mean rank correlation of distances to the nearest neighbours, on all features and on some."""
    neighbors = nearest_neighbors(X, NEIGHBORS)
    Z = X[:, features]
    taus = [
        kendalltau(((X[near] - X[i]) ** 2).sum(axis=1), ((Z[near] - Z[i]) ** 2).sum(axis=1)).statistic
        for i, near in enumerate(neighbors)
    ]
    return float(np.nanmean(taus))


def alikeness(X, features):
    """Return the mean absolute correlation of pairs of features, without constant ones."""
    Z = X[:, features]
    R = np.corrcoef(Z[:, Z.std(axis=0) > 0], rowvar=False)
    return float(np.abs(R[np.triu_indices(len(R), 1)]).mean())


def measure_selected(number, best):
    """Return a measurement ``number(X, features)`` of selected features, and of the `best` random set."""

    def measure(data):
        X = minmax(data)
        chance = [number(X, features) for features in random_sets(X.shape[1], SIZE)]
        for variant in VARIANTS:
            for beta in SETTINGS:
                make = partial(fit, data, variant, beta=beta)
                numbers = {
                    "selected": number(X, make().subset(SIZE)),
                    "random, mean": np.mean(chance),
                    "best of 20 random": best(chance),
                    "alpha = 0": number(X, make(alpha=0.0).subset(SIZE)),
                    "similarity": number(X, make(graph="similarity").subset(SIZE)),
                }
                yield f"{variant}, beta = {beta:g}", numbers

    return measure


HOW = {
    "ufsol_iterations": (measure_iterations, settles_early),
    "ufsol_descent": (measure_descent, lambda n: None if n["sweeps"] < 2 else n["rises"] == 0),
    "ufsol_positive": (measure_laplacian, lambda n: n["smallest eigenvalue"] > -1e-10 * n["largest"]),
    "ufsol_sensitivity": (measure_sensitivity, is_insensitive),
    "ufsol_ordinal": (
        measure_selected(kept_order, max),
        lambda n: n["selected"] > max(n["best of 20 random"], n["alpha = 0"]),
    ),
    "ufsol_orthogonal": (measure_selected(alikeness, min), lambda n: n["selected"] < n["best of 20 random"]),
}
CLAIMS = read_claims("ufsol", HOW, globals())
