"""Small studies of made-up fits, for the tests of what reads them."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import OF_SET
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.store.fits import FILE, Store, load_fits
from ufs_bench.runners.store.row import COLUMNS, FIELDS, Row, tables_of
from ufs_bench.scripts.core.study import Study

PROTOCOL = {
    "name": "dgufs",
    "sizes": [50, 100, 150, 200, 250, 300],
    "scaling": "unit_features",
    "scaling_for": {"dgufs": "none", "spectral_labels": "none"},
    "restarts": 2,
    "seed": 0,
    "nmi": "max",
    "max_iter": 100,
}
SIZES = PROTOCOL["sizes"]
# A study of the paper, of which most cells are missing.
SMALL = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}},
    {"dataset": "umist", "method": "laplacian_score", "acc": {size: [0.44, 0.46] for size in SIZES}},
    {
        "dataset": "umist",
        "method": "mcfs",
        "acc": {size: [size / 1000, 0.3] for size in SIZES},
        "ranking": list(range(300)),
    },
    {"dataset": "umist", "method": "dgufs", "acc": {50: [0.2, 0.3]}, "status": "collapsed", "trace": [3, 2, 1.5, 1.4]},
    {"dataset": "umist", "method": "dgufs", "params": {"alpha": 1}, "acc": {50: [0.1, 0.1]}, "learned": {50: 0.9}},
    {"dataset": "pie10p", "method": "mcfs", "acc": {size: [0.31, 0.33] for size in SIZES}},
]


OWN = "objective fit_s n_iter feature_sets started nth_seed".split()


class Tables(NamedTuple):
    """The rows of the CSVs of some fits."""

    trials: pd.DataFrame
    scores: pd.DataFrame
    traces: pd.DataFrame
    facts: pd.DataFrame
    measures: pd.DataFrame


def frames(points, study="dgufs", protocol=PROTOCOL):
    """Make the fits of a study.

    Parameters
    ----------
    points : list of dict
        One per trial: dataset, method, and optionally params, is_default, status, sizes, git_sha, and
        acc: {size: list over restarts}, learned: {size: value}, and any of `metrics.measures.OF_SET`: {size: value}
        (0.5 by default), trace: list, facts: {name: value}, ranking, and any of the columns in `OWN`; nmi like acc, and
        acc / 2 by default.

    Returns
    -------
    list of dict
        With the fields of `runners.store.row.Row`.
    """
    fits = []
    for number, point in enumerate(points):
        acc, nmi, learned = (point.get(name, {}) for name in ("acc", "nmi", "learned"))
        failed, trace = point.get("status") in UNSCORED, point.get("trace", [])
        sets = [
            {"n_selected": size, "clusterer": "kmeans", "acc": restarts}
            | {"nmi": nmi.get(size) or np.divide(restarts, 2).tolist()}
            | {name: float(point.get(name, {}).get(size, 0.5)) for name in OF_SET}
            for size, restarts in acc.items()
        ]
        sets += [
            {"n_selected": size, "clusterer": "learned", "acc": [a], "nmi": [a / 2]} for size, a in learned.items()
        ]
        row = Row(
            trial=f"{study}{number:04d}",
            study=study,
            dataset=point["dataset"],
            method=point["method"],
            params=json.dumps(point.get("params", {}), sort_keys=True),
            is_default=point.get("is_default", not point.get("params")),
            sizes=json.dumps(point.get("sizes", sorted(acc))),
            protocol=json.dumps(protocol, sort_keys=True),
            status=point.get("status", "converged"),
            error="ValueError: no" if failed else "",
            git_sha=point.get("git_sha", "0123456789abcdef-dirty"),
            started="2024-01-02T03:04:05+00:00",
            ranking=json.dumps(point.get("ranking", [])),
            data_sha=point.get("data_sha", ""),
            n_iter=len(trace) - 1 if trace else 1,
            n_samples=10_000,
            n_features=500,
            trace=[float(value) for value in trace],
            facts={name: float(value) for name, value in point.get("facts", {}).items()},
            sets=[] if failed else sets,
            **dict.fromkeys(("objective", "fit_s", "eval_s", "peak_mb"), 0.5),
        )
        fits.append(vars(row) | {name: FIELDS[name](point[name]) for name in OWN if name in point})
    return fits


def store(fits, folder):
    """Write fits where `runners.store.fits.load_fits` finds them."""
    for fit in fits:
        cell = Path(folder, fit["study"], fit["dataset"], fit["method"])
        cell.mkdir(parents=True, exist_ok=True)
        with open(cell / FILE, "a") as file:
            file.write(f"{json.dumps(fit)}\n")


def change(folder, **fields):
    """Give all fits of a cell other values of some fields."""
    with Store(folder) as cell:
        cell.append([fit | fields for fit in cell.fits()])


def load_results(*given):
    """Return the stored fits of a study as the tables that a run exports."""
    found = tables_of(load_fits(*given))
    return Tables(**{name: pd.DataFrame(rows, columns=COLUMNS[name]) for name, rows in found.items()})


def load_all(folder):
    """Return the tables of the one study in a folder of results; without rows where there is none."""
    studies = {path.parts[-4] for path in Path(folder).glob(f"*/*/*/{FILE}")} or {"none"}
    (study,) = studies
    return load_results(folder, study)


def study_of(points, name="dgufs", protocol=PROTOCOL, **places):
    """Make a study that is not stored.

    Parameters
    ----------
    points, name, protocol
        As for `frames`.
    **places
        results_dir and data_dir.

    Returns
    -------
    Study
    """
    return Study.of(name, frames(points, name, protocol), **places)


def done(store):
    """Return the keys of the trials of an open store that did not fail."""
    return {fit["trial"] for fit in store.fits() if fit["status"] != "failed"}
