"""The default point of a cell fitted again, on permuted samples, on permuted columns and with new seeds."""

import csv
import glob
import inspect
import io
import json
from dataclasses import replace
from pathlib import Path

import filelock
import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from metrics.protocol import Protocol
from metrics.study import FAILED, USUAL_SIZE, nearest_size
from runners.files import clear_unfinished, replace_file
from runners.method import load_class
from runners.reading import read_frame
from runners.trial import Trial, fit_trial, to_json

COLUMNS = "trial dataset method change repeat n_selected status features".split()
# What is changed; "none" is the fit as it is.
CHANGES = ("none", "samples", "columns", "seed")
FILE = "stability.csv"


def default_trial(trials, target, wanted=USUAL_SIZE):
    """The stored trial at the default parameters whose size is nearest to `wanted`, as a Trial again.

    Parameters
    ----------
    trials : DataFrame
        Of one cell.
    target : str
        The dotted name of the method's class.
    wanted : int, default=USUAL_SIZE

    Returns
    -------
    trial : Trial or None
        None where there is no such trial, or where code or configuration changed so that it would get another key.
    size : int
        Of its sizes, the nearest to `wanted`; 0 without a trial.
    """
    nearest = {}
    for row in trials[trials["is_default"] & (trials["status"] != FAILED)].to_dict("records"):
        nearest.setdefault(nearest_size(json.loads(row["sizes"]), wanted), row)
    if not nearest:
        return None, 0
    size = nearest_size(nearest, wanted)
    row = nearest[size]
    trial = Trial(
        study=row["study"],
        dataset=row["dataset"],
        method=row["method"],
        target=target,
        params=json.loads(row["params"]),
        is_default=True,
        sizes=tuple(json.loads(row["sizes"])),
        protocol=Protocol.from_json(row["protocol"]),
        data_sha=row["data_sha"],
    )
    return (trial, size) if trial.key == row["trial"] else (None, 0)


def measure(trial, size, X, folder, repeats, n_jobs=1):
    """Fit `repeats` times for each change that can matter, and write ``stability.csv``; nothing is done twice.

    Parameters
    ----------
    trial : Trial
    size : int
        Of the feature sets to keep.
    X : ndarray of shape (n_samples, n_features)
        Scaled data.
    folder : path
        ``results/<study>/<dataset>/<method>``.
    repeats : int
    n_jobs : int, default=1

    Returns
    -------
    int
        Number of fits done now.
    """
    path = Path(folder) / FILE
    with filelock.FileLock(path.with_name(".stability.lock")):
        clear_unfinished(path)
        stored = read(path)
        stored = stored[(stored["trial"] == trial.key) & (stored["n_selected"] == size)]
        done = set(zip(stored["change"], stored["repeat"], strict=True))
        jobs = [("none", 0), *((change, repeat) for change in CHANGES[1:] for repeat in range(1, repeats + 1))]
        seeded = "random_state" in inspect.signature(load_class(trial.target)).parameters
        jobs = [job for job in jobs if job not in done and (job[0] != "seed" or seeded)]
        rows = Parallel(n_jobs=n_jobs)(delayed(_fit)(trial, size, X, *job) for job in jobs)
        if rows:
            _write(path, [*stored[COLUMNS].itertuples(index=False, name=None), *rows])
    return len(rows)


def read(path):
    """The rows of one ``stability.csv``; none where it is missing.

    Raises
    ------
    StoreError
        For a damaged file, naming file, line, column, value and remedy.
    """
    return read_frame(Path(path), COLUMNS)


def load_stability(results_dir, study):
    """The rows of all cells of a study, sorted."""
    parts = [read(path) for path in sorted(Path(results_dir).glob(f"{glob.escape(study)}/*/*/{FILE}"))]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _fit(trial, size, X, change, repeat):
    """One row: the features selected from changed data, named as in the data as they are."""
    rng = np.random.default_rng([trial.protocol.seed, repeat])
    columns, changed = np.arange(X.shape[1]), trial
    if change == "samples":
        X = X[rng.permutation(len(X))]
    elif change == "columns":
        columns = rng.permutation(X.shape[1])
        X = np.ascontiguousarray(X[:, columns])
    elif change == "seed":
        changed = replace(trial, protocol=replace(trial.protocol, seed=trial.protocol.seed + repeat))
    fit = fit_trial(changed, X)
    features = sorted(columns[fit.subsets[size]].tolist()) if fit.subsets else []
    status = fit.row["status"]
    return (trial.key, trial.dataset, trial.method, change, repeat, size, status, to_json(features))


def _write(path, rows):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([COLUMNS, *rows])
    replace_file(path, buffer.getvalue().encode())
