"""Claims of the UFSOL paper: sweeps, descent, a positive Laplacian, sensitivity, ordinal locality, orthogonality."""

from functools import cache, partial

import numpy as np
from scipy import sparse
from scipy.stats import kendalltau

from methods import UFSOL
from methods.core.graphs import laplacian, nearest_neighbors
from methods.core.ordinal_graphs import triplet_laplacian
from scripts.claims.core.claim import Claim
from scripts.claims.core.numbers import (
    INSENSITIVE,
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


def is_descent(numbers):
    return None if numbers["sweeps"] < 2 else numbers["rises"] == 0


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
    """Return a measurement of the selected features, of those without a graph, and of random ones.

    It is ``number(X, features)``, compared with ``best(numbers of random sets)``.
    """

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


CLAIMS = [
    Claim(
        "ufsol_iterations", "ufsol", "section 5.3, figure 3",
        "The objective mostly converges in fewer than 40 sweeps.",
        "A start that is as low as the end; and the features, whose choice may still change when the objective does "
        "not.",
        "From sweep 40 at the latest the objective is within 0.001 of its end. A start within that says nothing.",
        ("umist", "pie10p"), measure_iterations, settles_early,
        "alpha = 1. The paper has no stopping rule; its program asks that W stands still.",
    ),
    Claim(
        "ufsol_descent", "ufsol", "section 4.3",
        "No step raises the objective.",
        "A rise of more than 1e-10 of it.",
        "No sweep raises it. A fit of one sweep says nothing.",
        ("umist", "orl"), measure_descent, is_descent,
        "\"released\" takes every partition that K-means gives, as the paper does; \"paper\" only those that lower the "
        "objective.",
    ),
    Claim(
        "ufsol_positive", "ufsol", "section 4.3",
        "With the weights of each sample scaled to [0, 1] the Laplacian is positive semidefinite, and the objective "
        "bounded.",
        "The weights as (2) has them.",
        "The smallest eigenvalue is above -1e-10 times the largest.",
        ("umist", "orl", "pie10p"), measure_laplacian, lambda n: n["smallest eigenvalue"] > -1e-10 * n["largest"],
    ),
    Claim(
        "ufsol_sensitivity", "ufsol", "section 5.3, figure 2",
        "The method is not sensitive to alpha and beta over wide ranges.",
        "Random features, 20 sets; and whether the parameter changes what is selected at all.",
        INSENSITIVE,
        ("usps",), measure_sensitivity, is_insensitive,
        f"One is 1e-4, .01, 1, 100 or 1e4, the other 1; 100 features, 40 sweeps; {SUBSAMPLE} samples of USPS, drawn "
        "once.",
    ),
    Claim(
        "ufsol_ordinal", "ufsol", "section 3.1, figure 1",
        "On the selected features the neighbours of a sample are in the order of their distances on all features.",
        "20 random sets of 100 features; the same model without a graph, and with the similarity graph.",
        "Kendall's tau of the distances to the five neighbours, averaged over samples, is above the best random set's, "
        "and above that of the model without a graph.",
        ("umist", "pie10p"), measure_selected(kept_order, max),
        lambda n: n["selected"] > max(n["best of 20 random"], n["alpha = 0"]),
    ),
    Claim(
        "ufsol_orthogonal", "ufsol", "section 3.2",
        "W'W = I keeps the selected dimensions from being alike.",
        "20 random sets of 100 features; the same model without a graph, and with the similarity graph.",
        "The mean absolute correlation of two selected features is below that of every random set.",
        ("umist", "pie10p"), measure_selected(alikeness, min),
        lambda n: n["selected"] < n["best of 20 random"],
        "The columns of W are dimensions of the projection; what is selected are its rows.",
    ),
]  # fmt: skip
