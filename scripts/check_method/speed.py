"""A method at its default parameters on a data set, beside the baselines: time, memory, objective, ACC and NMI."""

import numpy as np

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import FAILED
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.store.row import SCORES
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.scripts.check_method.contract import (
    EXCEPTIONS,
    EXCEPTIONS_ON_DATA,
    FAIL,
    KNOWN,
    OK,
    Finding,
    in_one_line,
    where_it_rises,
)
from ufs_bench.scripts.check_method.synthetic import wide_dataset

BASELINES = ("all_features", "max_variance", "laplacian_score", "random_selection")
WIDE = "wide"  # made up, with many more features than samples
DATASETS = ("digits", "mnist500", WIDE)  # which need no download
RESTARTS = 20


def open_data_set(name, data_dir=None):
    """Return a data set by name."""
    return wide_dataset() if name == WIDE else load_dataset(name, data_dir)


def measure(method, baselines, data, report):
    """Print a line for the method and for every baseline, and report whether the fit and its objective are sound."""
    size = min(100, data.n_features // 2)
    protocol = Protocol("check_method", (size,), "minmax", RESTARTS, 0, "geometric", 100)
    print(
        f"\n{data.name} ({data.n_samples} x {data.n_features}, {data.n_classes} classes): {size} features, default "
        f"parameters, {RESTARTS} K-means restarts"
    )
    print(f"  {'':26}{'ACC':>11} {'NMI':>11} {'fit s':>8} {'sweeps':>6} {'status':>10} {'peak MB':>8}  objective")
    X = scale(data.X, protocol.scaling)
    # The method runs first, so that it cannot use anything that the baselines have computed.
    outcome, problem = _show(method, data, X, protocol)
    for name in BASELINES:
        if name != method.name:
            _show(baselines[name], data, X, protocol)
    if problem:
        known = EXCEPTIONS_ON_DATA.get((method.name, f"it runs on {data.name}"))
        finding = Finding(KNOWN, known) if known else Finding(FAIL, problem, outcome.log if outcome else "")
        report.add(f"it runs on {data.name}", finding)
        return
    report.add(f"it runs on {data.name}", Finding(OK))
    for warning in outcome.log.splitlines():
        print(f"      it warns: {warning}")
    if outcome.traces:
        known = (EXCEPTIONS | EXCEPTIONS_ON_DATA).get((method.name, "objective_never_rises"))
        rise = where_it_rises(np.array([value for *_, value in outcome.traces]))
        finding = Finding(KNOWN, known) if rise and known else Finding(FAIL, rise) if rise else Finding(OK)
        report.add(f"its objective never rises on {data.name}", finding)


def _show(method, data, X, protocol):
    """Run a method, print its line, and return its outcome and its error in one line."""
    print(f"  {method.name:26}", end="", flush=True)
    outcome, problem = _run(method, data, X, protocol)
    print(problem or _line(outcome))
    if outcome and any(row[4] == "learned" for row in outcome.scores):
        print(f"  {'  its learned labels':26}{_scores(outcome, 'learned')}".rstrip())
    return outcome, problem


def _run(method, data, X, protocol):
    """Return the outcome of one trial, and its error in one line."""
    try:
        (trial,) = expand(protocol.name, data, {**method.config, "grid": {}}, protocol)
    except (ConfigError, TypeError, ValueError) as error:
        return None, in_one_line(error)
    outcome = run_trial(trial, X, data.y)
    return outcome, outcome.trial["error"] if outcome.trial["status"] == FAILED else ""


def _line(outcome):
    row, values = outcome.trial, [value for *_, value in outcome.traces]
    objective = f"{values[0]:.6g} -> {values[-1]:.6g}" if values else "-"
    return (
        f"{_scores(outcome, 'kmeans')} {row['fit_s']:8.3f} {row['n_iter']:6d} {row['status']:>10} "
        f"{row['peak_mb']:8.0f}  {objective}"
    )


def _scores(outcome, clusterer):
    places = [SCORES.index(name) for name in ("acc", "nmi")]
    runs = 100 * np.array([[row[place] for place in places] for row in outcome.scores if row[4] == clusterer])
    spread = [f"±{std:4.1f}" if len(runs) > 1 else " " * 5 for std in runs.std(axis=0, ddof=min(1, len(runs) - 1))]
    return " ".join(f"{mean:6.1f}{std}" for mean, std in zip(runs.mean(axis=0), spread, strict=True))
