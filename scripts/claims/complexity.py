"""The papers' complexities: CPU seconds of a sweep against n and d, the numbers of samples and features."""

import time
from unittest import mock

import numpy as np
from scipy.linalg import eigh
from scipy.stats import linregress

from methods import DGUFS, JGUFS, RUFS, UFSOL, KMeansUFS
from methods.dgufs import normalized as dgufs_normalized
from methods.dgufs import released as dgufs
from methods.jgufs import paper as jgufs_paper
from methods.jgufs import released as jgufs_released
from methods.kmeans_ufs import admm
from methods.rufs import paper as rufs_paper
from methods.rufs import released as rufs_released
from methods.ufsol import paper as ufsol_paper
from methods.ufsol import released as ufsol_released
from scripts.claims.core.claim import read_claims

CLUSTERS, SIZE = 5, 50
SAMPLES, FEATURES = (200, 400, 800, 1600), (500, 1000, 2000, 4000)
FEW_SAMPLES, FEW_FEATURES = 100, 100  # the number that stays fixed while the other grows
SWEEPS = 6
OURS = {"solver": "normalized", "n_starts": 1}
HALF = 0.5  # exponents are whole numbers
BELOW = {"alpha": 1e-2, "beta": 0.9, "init": {"mu": 1e-2}}  # from this mu on L is not zero


def blobs(n_samples, n_features):
    """Return samples of five clusters, in [0, 1]."""
    rng = np.random.default_rng(0)
    centers = rng.random((CLUSTERS, n_features))
    X = centers[np.arange(n_samples) % CLUSTERS] + rng.normal(scale=0.3, size=(n_samples, n_features))
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


def sweep_seconds(problem, make, X):
    """Return the CPU seconds of a sweep of a class: the median of a fit by ``make(X)``, without the first."""
    seconds, sweep = [], problem.sweep

    def timed(self, state):
        started = time.process_time()
        try:
            return sweep(self, state)
        finally:
            seconds.append(time.process_time() - started)

    with mock.patch.object(problem, "sweep", timed):
        make(X)
    return float(np.median(seconds[1:] or seconds))


def gradient_seconds(_, make, X):
    """Return the CPU seconds of RUFS's three gradients and its objective, the work of a step of the paper's L-BFGS."""
    model = make(X)
    L = rufs_released.local_laplacian(X, 5)
    problem = rufs_released.Problem(X, L, 1.0, 1.0, 1.0, 1e7)
    G, W, F = model.indicators_, model.coef_, model.centers_
    seconds = []
    for _ in range(SWEEPS):
        started = time.process_time()
        problem.gradients(W, G, F)
        problem.value(W, G, F)
        seconds.append(time.process_time() - started)
    return float(np.median(seconds))


def exponents(methods, claimed):
    """Return a measurement of how the seconds of a sweep grow, beside the exponents of the paper's bound."""

    def measure(_):
        shapes = {"n": [(n, FEW_FEATURES) for n in SAMPLES], "d": [(FEW_SAMPLES, d) for d in FEATURES]}
        for variant, (problem, make, seconds_of) in methods.items():
            for letter, pairs in shapes.items():
                seconds = [seconds_of(problem, make, blobs(*pair)) for pair in pairs]
                numbers = SAMPLES if letter == "n" else FEATURES
                yield f"{variant}, in {letter}", _slope(claimed[letter], numbers, seconds)
        yield "control: eigenvectors of n x n", _control(lambda A: eigh(A), 3, SAMPLES, 2)
        yield "control: a vector of d^2 numbers", _control(lambda A: A @ A[0], 2, FEATURES, 2)

    return measure


def _control(work, claimed, sizes, power):
    seconds = []
    for size in sizes:
        A = np.random.default_rng(0).random((size,) * power)
        A = (A + A.T) / 2
        started = time.process_time()
        work(A)
        seconds.append(time.process_time() - started)
    return _slope(claimed, sizes, seconds)


def _slope(claimed, sizes, seconds):
    """Return the exponent with which seconds grow, beside the claimed one."""
    line = linregress(np.log(sizes), np.log(seconds))
    return {
        "claimed": claimed,
        "measured": line.slope,
        "its standard error": line.stderr,
        "s a sweep, smallest": seconds[0],
        "largest": seconds[-1],
    }


def is_within(numbers):
    """Return True where the slope is nearer to the claimed exponent, or to a smaller one, than to the next larger."""
    return numbers["measured"] < numbers["claimed"] + HALF


def fitted(method, *size, **settings):
    """Return ``make(X)``, which fits for a few sweeps, to the last of them."""
    settings = {"n_clusters": CLUSTERS, "max_iter": SWEEPS, "tol": 0.0, "random_state": 0} | settings
    return lambda X: method(*size, **settings).fit(X)


def kmeans_ufs(X):
    return KMeansUFS(SIZE, n_clusters=CLUSTERS, solver="admm", max_iter=SWEEPS).fit(X)


METHODS = {
    "rufs": (
        {
            "paper": (rufs_paper.Problem, fitted(RUFS), sweep_seconds),
            "released, gradients": (None, fitted(RUFS, variant="released", max_iter=0), gradient_seconds),
        },
        {"n": 2, "d": 1},
    ),
    "ufsol": (
        {
            "paper": (ufsol_paper.Problem, fitted(UFSOL), sweep_seconds),
            "released": (ufsol_released.Problem, fitted(UFSOL, variant="released", beta=1e-2), sweep_seconds),
        },
        {"n": 1, "d": 3},
    ),
    "dgufs": (
        {
            "released, alpha in the grid": (dgufs.Problem, fitted(DGUFS, SIZE, alpha=10.0), sweep_seconds),
            "released, alpha below it": (dgufs.Problem, fitted(DGUFS, SIZE, **BELOW), sweep_seconds),
            "normalized": (dgufs_normalized.Problem, fitted(DGUFS, SIZE, **OURS), sweep_seconds),
        },
        {"n": 3, "d": 1},
    ),
    "jgufs": (
        {
            "paper": (jgufs_paper.Problem, fitted(JGUFS, lambda_=1e3), sweep_seconds),
            "released": (jgufs_released.Problem, fitted(JGUFS, variant="released"), sweep_seconds),
        },
        {"n": 2, "d": 3},
    ),
    "kmeans_ufs": ({"paper": (admm.Problem, kmeans_ufs, sweep_seconds)}, {"n": 1, "d": 2}),
}
HOW = {f"{paper}_complexity": (exponents(*own), is_within) for paper, own in METHODS.items()}
CLAIMS = read_claims("complexity", HOW, globals())
