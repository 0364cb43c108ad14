"""Claims of the JGUFS paper: sweeps, descent, the step of S, blocks of the graph, sensitivity, few features."""

from functools import cache, partial

import numpy as np
from scipy.sparse.csgraph import connected_components

from methods import JGUFS
from methods.core.optimal_graph import adapted_graph, row_stochastic_graph, symmetric_laplacian
from scripts.claims.core.claim import read_claims
from scripts.claims.core.numbers import (
    SIZE,
    accuracy,
    descent,
    is_insensitive,
    minmax,
    random_sets,
    sensitivity,
    settles_early,
    sweeps_to_settle,
)

LIMIT, FEW = 10, 50
VALUES = (1e-3, 1e-1, 1e1, 1e3)
SIZES = (50, 100, 150, 200, 250, 300)
VARIANTS = ("paper", "released")


@cache
def fit(data, variant="paper", **settings):
    """Return a fit, which is remembered for later claims."""
    return JGUFS(SIZE, n_clusters=data.n_classes, variant=variant, random_state=0, **settings).fit(minmax(data))


def measure_iterations(data):
    for variant in VARIANTS:
        yield variant, sweeps_to_settle(partial(fit, data, variant), LIMIT)


def measure_descent(data):
    for variant in VARIANTS:
        for value in (1.0, 1e3):
            model = fit(data, variant, alpha=value, beta=value, max_iter=30)
            yield f"{variant}, alpha = beta = {value:g}", descent(model)


def measure_s_step(data):
    """Measure ||S - A||^2 + alpha tr F'L_S F where S is made with alpha/2 as in (5), and with alpha/4."""
    X = minmax(data)
    A = row_stochastic_graph(X, "heat", 5)
    model = fit(data, max_iter=LIMIT)
    F = model.indicators_
    for alpha in (1.0, 1e3):
        printed, exact, unmoved = (
            float(((S - A).power(2)).sum() + alpha * np.vdot(F, symmetric_laplacian(S) @ F))
            for S in (adapted_graph(F, A, 1 / (2 * alpha)), adapted_graph(F, A, 1 / alpha), A)
        )
        yield f"as printed, alpha = {alpha:g}", {"alpha/2": printed, "alpha/4": exact, "S = A": unmoved}


def measure_blocks(data):
    c, before = data.n_classes, connected_components(row_stochastic_graph(minmax(data), "heat", 5), directed=False)[0]
    for variant in VARIANTS:
        for alpha in (1.0, 1e3):
            graph = fit(data, variant, alpha=alpha, max_iter=30).graph_
            blocks = connected_components(graph, directed=False)[0]
            yield f"{variant}, alpha = {alpha:g}", {"clusters": c, "blocks of A": before, "blocks of S": blocks}


def is_block_diagonal(numbers):
    return None if numbers["blocks of A"] == numbers["clusters"] else numbers["blocks of S"] == numbers["clusters"]


def measure_sensitivity(data):
    X = minmax(data)
    for variant in VARIANTS:
        for name in ("alpha", "beta", "gamma"):
            sets = [fit(data, variant, **{name: value}, max_iter=30).subset(SIZE) for value in VALUES]
            yield f"{variant}, {name}", sensitivity(X, data.y, sets, SIZE)


def measure_few(data):
    X = minmax(data)
    chance = [accuracy(X, data.y, features)[0] for features in random_sets(X.shape[1], FEW)]
    for variant in VARIANTS:
        order = fit(data, variant).ranking_
        scores = [accuracy(X, data.y, order[:m])[0] for m in SIZES]
        numbers = {
            f"ACC at {FEW}": scores[0],
            "best ACC": max(scores),
            "at": SIZES[int(np.argmax(scores))],
            f"random {FEW}, mean": np.mean(chance),
            "best of 20": max(chance),
            "all features": accuracy(X, data.y, np.arange(X.shape[1]))[0],
        }
        yield variant, numbers


HOW = {
    "jgufs_iterations": (measure_iterations, settles_early),
    "jgufs_descent": (measure_descent, lambda n: n["rises"] == 0),
    "jgufs_s_step": (measure_s_step, lambda n: n["alpha/2"] <= n["alpha/4"] * (1 + 1e-10)),
    "jgufs_blocks": (measure_blocks, is_block_diagonal),
    "jgufs_sensitivity": (measure_sensitivity, is_insensitive),
    "jgufs_few": (measure_few, lambda n: n["ACC at 50"] > n["best of 20"]),
}
CLAIMS = read_claims("jgufs", HOW, globals())
