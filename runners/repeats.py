"""Fits the default point of a cell again, on permuted samples, on permuted columns and with new seeds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from metrics.study import UNSCORED, USUAL_SIZE, nearest_size
from runners.files import held, write_rows
from runners.fit import fit_trial
from runners.provenance import Identity
from runners.reading import read_cells, read_frame
from runners.row import to_json
from runners.seeds import of_its_trial
from runners.trial import stored_trial, takes_seed

COLUMNS = "trial dataset method change repeat n_selected status features identity".split()
# The changes; "none" repeats the fit unchanged.
CHANGES = ("none", "samples", "columns", "seed")
FILE = "stability.csv"


def default_trial(trials, target, wanted=USUAL_SIZE):
    """Return the stored trial at the default parameters whose size is nearest to `wanted`, as a `Trial`.

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
    for row in trials[trials["is_default"] & ~trials["status"].isin(UNSCORED)].to_dict("records"):
        nearest.setdefault(nearest_size(json.loads(row["sizes"]), wanted), row)
    if not nearest:
        return None, 0
    size = nearest_size(nearest, wanted)
    trial = stored_trial(nearest[size], target)
    return (trial, size) if trial else (None, 0)


def measure(trial, size, X, folder, repeats, n_jobs=1):
    """Fit `repeats` times for each change that can matter, and write ``stability.csv``; stored fits are not repeated.

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
    with held(path):
        stored = read(path)
        here = Identity.of(trial.cls).name
        stored = stored[(stored["trial"] == trial.key) & (stored["n_selected"] == size) & (stored["identity"] == here)]
        done = set(zip(stored["change"], stored["repeat"], strict=True))
        jobs = [("none", 0), *((change, repeat) for change in CHANGES[1:] for repeat in range(1, repeats + 1))]
        seeded = takes_seed(trial.target)
        jobs = [job for job in jobs if job not in done and (job[0] != "seed" or seeded)]
        rows = Parallel(n_jobs=n_jobs)(delayed(_fit)(trial, size, X, *job) for job in jobs)
        if rows:
            write_rows(path, COLUMNS, [*stored[COLUMNS].itertuples(index=False, name=None), *rows])
    return len(rows)


def read(path):
    """Return the rows of one ``stability.csv``; none where it is missing.

    Raises
    ------
    StoreError
        For a damaged file, naming file, line, column, value and remedy.
    """
    return read_frame(Path(path), COLUMNS)


def load_stability(results_dir, study):
    """Return the rows of all cells of a study, sorted, that have the code, packages and machine of their trial."""
    return read_cells(results_dir, study, FILE, COLUMNS, of_its_trial)


def _fit(trial, size, X, change, repeat):
    """Return one row: the features selected from changed data, under their numbers in the unchanged data."""
    rng = np.random.default_rng([trial.protocol.seed, repeat])
    columns, changed = np.arange(X.shape[1]), trial
    if change == "samples":
        X = X[rng.permutation(len(X))]
    elif change == "columns":
        columns = rng.permutation(X.shape[1])
        X = np.ascontiguousarray(X[:, columns])
    elif change == "seed":
        changed = replace(trial, seed=trial.protocol.seed + repeat)
    fit = fit_trial(changed, X)
    features = sorted(columns[fit.subsets[size]].tolist()) if fit.subsets else []
    status = fit.row["status"]
    name = Identity.stored(fit.row).name
    return (trial.key, trial.dataset, trial.method, change, repeat, size, status, to_json(features), name)
