"""Small results frames, in the columns that `runners.store.folder` writes, for the tests of what reads them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import OF_SET
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.store.folder import Results, load_results
from ufs_bench.runners.store.row import FACTS, MEASURES, SCORES, TRACES, TRIALS
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


def frames(points, study="dgufs", protocol=PROTOCOL):
    """Make the trials and scores of a study.

    Parameters
    ----------
    points : list of dict
        One per trial: dataset, method, and optionally params, is_default, status, sizes, git_sha, and
        acc: {size: list over restarts}, learned: {size: value}, and any of `metrics.measures.OF_SET`: {size: value}
        (0.5 by default), trace: list, facts: {name: value}, ranking, and any of the columns in `OWN`; nmi like acc, and
        acc / 2 by default.

    Returns
    -------
    Results
    """
    trials, scores, traces, facts, measures = [], [], [], [], []
    for number, point in enumerate(points):
        key = f"{study}{number:04d}"
        acc, nmi, learned = (point.get(name, {}) for name in ("acc", "nmi", "learned"))
        failed = point.get("status") in UNSCORED
        row = dict.fromkeys(TRIALS, "") | {
            "trial": key,
            "study": study,
            "dataset": point["dataset"],
            "method": point["method"],
            "params": json.dumps(point.get("params", {}), sort_keys=True),
            "is_default": point.get("is_default", not point.get("params")),
            "sizes": json.dumps(point.get("sizes", sorted(acc))),
            "protocol": json.dumps(protocol, sort_keys=True),
            "status": point.get("status", "converged"),
            "error": "ValueError: no" if failed else "",
            "git_sha": point.get("git_sha", "0123456789abcdef-dirty"),
            "started": "2024-01-02T03:04:05+00:00",
            "ranking": json.dumps(point.get("ranking", [])),
            "data_sha": point.get("data_sha", ""),
            "versions": "{}",
            "feature_sets": "{}",
            "shared": "[]",
        }
        row |= {"n_iter": 1, "n_samples": 10_000, "n_features": 500, "nth_seed": 0} | dict.fromkeys(
            ("objective", "fit_s", "eval_s", "peak_mb"), 0.5
        )
        row |= {name: point[name] for name in OWN if name in point}
        if "trace" in point:
            row |= {"n_iter": len(point["trace"]) - 1}
            traces += [(key, iteration, value) for iteration, value in enumerate(point["trace"])]
        runs = [
            (size, "kmeans", restart, a, b)
            for size, restarts in acc.items()
            for restart, (a, b) in enumerate(zip(restarts, nmi.get(size) or np.divide(restarts, 2), strict=True))
        ]
        runs += [(size, "learned", 0, a, a / 2) for size, a in learned.items()]
        runs = [] if failed else runs
        facts += [{"trial": key, "name": name, "value": value} for name, value in point.get("facts", {}).items()]
        scores += [dict(zip(SCORES, (key, row["dataset"], row["method"], *run), strict=True)) for run in runs]
        measures += [
            (key, size, name, point.get(name, {}).get(size, 0.5)) for size in acc for name in OF_SET if not failed
        ]
        trials.append(row | {"n_scores": len(runs)})
    return Results(
        pd.DataFrame(trials, columns=TRIALS),
        pd.DataFrame(scores, columns=SCORES),
        pd.DataFrame(traces, columns=TRACES),
        pd.DataFrame(facts, columns=FACTS),
        pd.DataFrame(measures, columns=MEASURES),
    )


def store(results, folder):
    """Write frames where `runners.store.folder.load_results` finds them."""
    for (study, dataset, method), trials in results.trials.groupby(["study", "dataset", "method"]):
        cell = Path(folder) / study / dataset / method
        cell.mkdir(parents=True)
        trials.to_csv(cell / "trials.csv", index=False, na_rep="nan")
        for name, frame in results._asdict().items():
            if name == "trials":
                continue
            frame[frame["trial"].isin(trials["trial"])].to_csv(cell / f"{name}.csv", index=False, na_rep="nan")


def load_all(folder):
    """Return the stored rows of the one study in a folder of results; empty frames where there is none."""
    studies = {path.parts[-4] for path in Path(folder).glob("*/*/*/trials.csv")} or {"none"}
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
    return {row["trial"] for row in store.rows() if row["status"] != "failed"}
