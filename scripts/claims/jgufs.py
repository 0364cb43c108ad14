"""Claims of the JGUFS paper: sweeps, descent, the step of S, blocks of the graph, sensitivity, few features."""

from functools import cache, partial

import numpy as np
from scipy.sparse.csgraph import connected_components

from methods import JGUFS
from methods.core.optimal_graph import adapted_graph, row_stochastic_graph, symmetric_laplacian
from scripts.claims.core.claim import Claim
from scripts.claims.core.numbers import (
    INSENSITIVE,
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


CLAIMS = [
    Claim(
        "jgufs_iterations", "jgufs", "section 3.3, figure 2",
        "The objective typically converges in fewer than 10 sweeps.",
        "A start that is as low as the end; and the features, whose choice may still change when the objective does "
        "not.",
        "From sweep 10 at the latest the objective is within 0.001 of its end. A start within that says nothing.",
        ("umist", "coil20", "jaffe"), measure_iterations, settles_early,
        "All weights 1. The paper has no stopping rule. Ours starts from the end of a path over lambda, which is not "
        "counted.",
    ),
    Claim(
        "jgufs_descent", "jgufs", "section 2.3",
        "The updates never raise the objective.",
        "A rise of more than 1e-10 of it.",
        "No sweep out of 30 raises it.",
        ("umist", "pie10p"), measure_descent, lambda n: n["rises"] == 0,
        "\"released\" traces what its program prints, and has the updates of the paper, their two slips among them.",
    ),
    Claim(
        "jgufs_s_step", "jgufs", "equations (4) and (5)",
        "The S that (5) gives is the best one for F.",
        "The same formula with alpha/4 in the place of alpha/2; and leaving S at A.",
        "Its part of the objective is no higher than with alpha/4, to 1e-10.",
        ("umist", "pie10p"), measure_s_step, lambda n: n["alpha/2"] <= n["alpha/4"] * (1 + 1e-10),
        "At the F of ten sweeps. (4) loses a factor: tr F'L_S F is half the sum over s_ij.",
    ),
    Claim(
        "jgufs_blocks", "jgufs", "section 2.1",
        "The learned graph has as many blocks as there are clusters.",
        "The blocks of A, which the method is given.",
        "The number of connected components of S is that of the clusters. Where A has as many, nothing is said.",
        ("umist", "pie10p", "jaffe"), measure_blocks, is_block_diagonal,
        "beta = gamma = 1; the paper calls alpha \"usually\" a large number.",
    ),
    Claim(
        "jgufs_sensitivity", "jgufs", "section 3.3, figure 1",
        "The method is not sensitive to alpha, beta and gamma over a wide range.",
        "Random features, 20 sets; and whether the parameter changes what is selected at all.",
        INSENSITIVE,
        ("umist", "jaffe"), measure_sensitivity, is_insensitive,
        "One is .001, .1, 10 or 1000, the others 1, as in the paper, which shows COIL20; 100 features, 30 sweeps.",
    ),
    Claim(
        "jgufs_few", "jgufs", "section 3.3, figure 1",
        "Even few features give good clusters.",
        "Random sets of 50 features, the best of 20 among them.",
        "ACC at 50 features is above the best of 20 random sets.",
        ("umist", "coil20", "jaffe"), measure_few, lambda n: n["ACC at 50"] > n["best of 20"],
    ),
]  # fmt: skip
