"""Claims of the RUFS paper: rate of convergence, nu, sensitivity, outliers, joint labels, running time."""

import time
from functools import cache
from itertools import combinations

import numpy as np
from scipy.stats import linregress

from methods import NDFS, RUFS, UDFS
from scripts.claims.core.claim import read_claims
from scripts.claims.core.numbers import (
    SIZE,
    accuracy,
    is_insensitive,
    minmax,
    random_sets,
    sensitivity,
    shared,
    subsample,
)

VALUES = (1e-4, 1.0, 1e4)
POINTS = tuple((alpha, beta) for alpha in VALUES for beta in VALUES)
SIZES = (50, 150, 250)
SUBSAMPLE = 500
SEEDS = 5
VARIANTS = {
    "paper": {"max_iter": 60},
    "released": {"variant": "released", "max_iter": 11, "tol": 1e-4},  # the settings of conf/method/rufs_released.yaml
}
LONG, TAIL, ROUNDING = 400, 10, 1e-13
SHARE_OUT = 0.1


def fit(X, n_clusters, seed=0, **settings):
    return RUFS(SIZE, n_clusters=n_clusters, **{"nu": 10.0, "random_state": seed, **settings}).fit(X)


@cache
def order(data, variant, alpha, beta, nu=10.0, seed=0):
    """Return a ranking, which is remembered for later claims."""
    weights = {"alpha": alpha, "beta": beta, "nu": nu}
    return fit(minmax(data), data.n_classes, seed, **weights, **VARIANTS[variant]).ranking_


@cache
def scores(data, variant, size, points, **settings):
    """Return ACC at points (alpha, beta)."""
    sets = [order(data, variant, *point, **settings)[:size] for point in points]
    return np.array([accuracy(minmax(data), data.y, features)[0] for features in sets])


def measure_rate(data):
    """Measure how the gap to the limit shrinks in the second half of a run, before rounding."""
    X = minmax(data)
    trace = fit(X, data.n_classes, max_iter=LONG, tol=0.0).trace_
    end = trace[-1]
    n_sweeps = int(np.argmax(trace - end <= 1e-9 * abs(end)))  # after it, the gap is below the error of the limit
    gaps = (trace - end)[n_sweeps // 2 : n_sweeps]
    sweeps = np.arange(n_sweeps // 2, n_sweeps) + 1.0
    numbers = {"sweeps to 1e-9": n_sweeps, "largest ratio": np.nan, "R2, geometric": np.nan, "R2, power": np.nan}
    if len(gaps) >= TAIL and (gaps > ROUNDING * abs(end)).all():
        numbers["largest ratio"] = float((gaps[1:] / gaps[:-1]).max())
        numbers["R2, geometric"] = linregress(sweeps, np.log(gaps)).rvalue ** 2
        numbers["R2, power"] = linregress(np.log(sweeps), np.log(gaps)).rvalue ** 2
    yield "paper", numbers


def is_linear(numbers):
    if np.isnan(list(numbers.values())).any() or numbers["sweeps to 1e-9"] > LONG / 2:
        return None  # the run has not reached its limit, and gaps to its end shrink to 0 at any rate
    return numbers["largest ratio"] < 1 and numbers["R2, geometric"] > numbers["R2, power"]


def measure_nu(data):
    data, points = subsample(data, SUBSAMPLE), tuple((alpha, 1.0) for alpha in VALUES)
    for variant in VARIANTS:
        at_ten = [scores(data, variant, SIZE, points, seed=seed) for seed in range(SEEDS)]
        apart = [np.abs(one - other).mean() for one, other in combinations(at_ten, 2)]
        for nu in (1e-4, 1e4):
            there = scores(data, variant, SIZE, points, nu=nu)
            pairs = [[order(data, variant, *point, nu=value)[:SIZE] for value in (10.0, nu)] for point in points]
            numbers = {
                "mean difference of ACC": np.abs(there - at_ten[0]).mean(),
                "between two seeds": np.mean(apart),
                "at most": max(apart),
                "features shared": np.mean([shared(*pair) for pair in pairs]),
            }
            yield f"{variant}, nu = {nu:g}", numbers


def measure_sensitivity(data):
    data = subsample(data, SUBSAMPLE)
    for variant in VARIANTS:
        sets = [order(data, variant, *point)[:SIZE] for point in POINTS]
        yield variant, sensitivity(minmax(data), data.y, sets, SIZE)


def measure_size(data):
    """Measure the spread of ACC over the numbers of features, and over the parameters."""
    data = subsample(data, SUBSAMPLE)
    X, draws = minmax(data), random_sets(data.n_features, max(SIZES), 5)
    chance = np.array([[accuracy(X, data.y, draw[:size])[0] for draw in draws] for size in SIZES])
    for variant in VARIANTS:
        found = np.array([scores(data, variant, size, POINTS) for size in SIZES])
        stds = {"std over sizes": found.std(axis=0).mean(), "std over alpha, beta": found.std(axis=1).mean()}
        yield variant, {**stds, "random, over sizes": chance.std(axis=0).mean()}


def measure_robust(data):
    """Compare the features selected where a tenth of the samples are noise with those selected without these."""
    X, c = minmax(data), data.n_classes
    methods = {
        "paper": lambda Z: fit(Z, c, **VARIANTS["paper"]),
        "released": lambda Z: fit(Z, c, **VARIANTS["released"]),
        "control: NDFS": lambda Z: NDFS(SIZE, n_clusters=c, random_state=0).fit(Z),
        "control: UDFS": lambda Z: UDFS(SIZE, n_clusters=c).fit(Z),
    }
    rng = np.random.default_rng(0)
    out = rng.permutation(len(X))[: round(SHARE_OUT * len(X))]
    clean = np.setdiff1d(np.arange(len(X)), out)
    dirty = X.copy()
    dirty[out] = rng.uniform(0, 3, (len(out), X.shape[1]))
    kept, loss = {}, {}
    for name, method in methods.items():
        before, after = (method(Z).ranking_[:SIZE] for Z in (X[clean], dirty))
        kept[name] = shared(before, after)
        found = [accuracy(X[clean], data.y[clean], features)[0] for features in (before, after)]
        loss[name] = found[0] - found[1]
    rivals = [name for name in methods if name.startswith("control")]
    most, least = max(kept[rival] for rival in rivals), min(loss[rival] for rival in rivals)
    for name in methods:
        numbers = {"features kept": kept[name], "best of NDFS, UDFS": most, "ACC lost": loss[name]}
        yield name, {**numbers, "least of NDFS, UDFS": least}


def is_robust(numbers):
    return (
        numbers["features kept"] > numbers["best of NDFS, UDFS"]
        and numbers["ACC lost"] < numbers["least of NDFS, UDFS"]
    )


def measure_joint(data):
    X, c = minmax(data), data.n_classes
    settings = VARIANTS | {"control: paper, zeta = 1e3": {**VARIANTS["paper"], "zeta": 1e3}}
    for variant, changes in settings.items():
        model = fit(X, c, **changes)
        start = fit(X, c, **{**changes, "max_iter": 0})
        changed = 100 * np.mean(model.labels_ != start.labels_)
        norm = np.linalg.norm(model.indicators_.T @ model.indicators_ - np.eye(c))
        yield variant, {"labels changed, %": changed, "norm of G'G - I": norm}


def measure_seconds(data):
    X, c = minmax(data), data.n_classes
    methods = {
        "paper": lambda Z: fit(Z, c, nu=1.0),
        "released": lambda Z: fit(Z, c, nu=1.0, **VARIANTS["released"]),
        "NDFS": lambda Z: NDFS(SIZE, n_clusters=c, random_state=0).fit(Z),
        "UDFS": lambda Z: UDFS(SIZE, n_clusters=c).fit(Z),
    }
    seconds = {}
    for turn, (name, method) in enumerate(methods.items()):
        Z = X + 1e-9 * turn  # other bytes, so that no fit reuses what an earlier one has computed from these data
        started = time.process_time()
        method(Z)
        seconds[name] = time.process_time() - started
    for variant in ("paper", "released"):
        yield variant, {"CPU s": seconds[variant], "UDFS": seconds["UDFS"], "NDFS": seconds["NDFS"]}


HOW = {
    "rufs_q_linear": (measure_rate, is_linear),
    "rufs_nu": (measure_nu, lambda n: n["mean difference of ACC"] <= n["at most"]),
    "rufs_sensitivity": (measure_sensitivity, is_insensitive),
    "rufs_size": (measure_size, lambda n: n["std over sizes"] > n["std over alpha, beta"]),
    "rufs_robust": (measure_robust, is_robust),
    "rufs_joint": (measure_joint, lambda n: n["labels changed, %"] > 1),
    "rufs_seconds": (measure_seconds, lambda n: n["CPU s"] < min(n["UDFS"], n["NDFS"])),
}
CLAIMS = read_claims("rufs", HOW, globals())
