"""Chosen points of a cell fitted again with other seeds of the method; K-means starts where it always does."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from metrics.evaluate import evaluate, evaluate_labels
from metrics.study import FAILED
from runners.again import with_seed
from runners.files import held, write_rows
from runners.provenance import git_sha
from runners.reading import read_cells, read_frame
from runners.trial import Trial, feature_set_digest, fit_trial

COLUMNS = "trial dataset method n_selected clusterer seed status acc_mean nmi_mean feature_set git_sha".split()
IDENTITY = ["trial", "n_selected", "clusterer", "seed"]
FILE = "seeds.csv"


@dataclass(frozen=True)
class Point:
    """A stored trial to fit again.

    Attributes
    ----------
    trial : Trial
    stored : list of tuple
        What its own seed gave, as rows of `COLUMNS`; the same is asked of the other seeds.
    """

    trial: Trial
    stored: list

    @property
    def sets(self):
        """What is scored: (n_selected, clusterer), in order."""
        return sorted(row[3:5] for row in self.stored)


def measure(points, X, y, folder, n_seeds=5, n_jobs=1, evaluations=None, on_fit=None):
    """Fit every point with the seeds that follow its own, and keep ``seeds.csv``; nothing is done twice.

    Parameters
    ----------
    points : list of Point
        Of one cell.
    X : ndarray of shape (n_samples, n_features)
        Scaled data.
    y : ndarray of shape (n_samples,)
        Class codes.
    folder : path
        ``results/<study>/<dataset>/<method>``.
    n_seeds : int, default=5
        With that of the stored trials.
    n_jobs : int, default=1
    evaluations : Evaluations, optional
        What is known of feature sets under the protocol, and where new scores are kept.
    on_fit : callable, optional
        Called after every fit, with the error where it failed and "" otherwise.

    Returns
    -------
    int
        Number of fits done now.  What failed before is tried again.

    Raises
    ------
    StoreError
        When the disk refuses, or for a damaged file.  The file is written whole after every fit.
    """
    path = Path(folder) / FILE
    with held(path):
        rows = {_identity(row): row for row in read(path)[COLUMNS].itertuples(index=False, name=None)}
        before = dict(rows)
        rows |= {_identity(row): row for point in points for row in point.stored}
        jobs = missing(points, pd.DataFrame(rows.values(), columns=COLUMNS), n_seeds)
        if rows != before:
            _write(path, rows)
        fits = (delayed(_fit)(point, seed, X, y, evaluations) for point, seed in jobs)
        for found, error in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(fits):
            rows |= {_identity(row): row for row in found}
            _write(path, rows)
            if on_fit is not None:
                on_fit(error)
    return len(jobs)


def missing(points, stored, n_seeds):
    """What is to be fitted: (point, seed), without what is stored and did not fail."""
    done = set(stored.loc[stored["status"] != FAILED, IDENTITY].itertuples(index=False, name=None))
    return [
        (point, seed)
        for point in points
        for seed in range(point.trial.protocol.seed + 1, point.trial.protocol.seed + n_seeds)
        if not done.issuperset((point.trial.key, *one, seed) for one in point.sets)
    ]


def read(path):
    """The rows of one ``seeds.csv``; none where it is missing.

    Raises
    ------
    StoreError
        For a damaged file, naming file, line, column, value and remedy.
    """
    return read_frame(Path(path), COLUMNS)


def load_seeds(results_dir, study):
    """The rows of all cells of a study, sorted."""
    return read_cells(results_dir, study, FILE, COLUMNS)


def _fit(point, seed, X, y, evaluations):
    """The rows of one fit, and its error.  The feature sets are scored under the protocol of the stored trial."""
    trial = point.trial
    fit = fit_trial(with_seed(trial, seed), X)
    rows = []
    for size, clusterer in point.sets:
        digest, scores = "", np.full((2, 1), np.nan)
        if fit.row["status"] != FAILED and clusterer == "learned":
            scores = evaluate_labels(fit.labels[1], y, trial.protocol.nmi)
        elif fit.row["status"] != FAILED:
            digest = feature_set_digest(fit.subsets[size])
            scores = _scores(fit.subsets[size], digest, X, y, trial.protocol, evaluations)
        acc, nmi = scores[:2].mean(axis=1).tolist()
        where = (trial.key, trial.dataset, trial.method, size, clusterer, seed)
        rows.append((*where, fit.row["status"], acc, nmi, digest, git_sha()))
    return rows, fit.row["error"]


def _scores(features, digest, X, y, protocol, evaluations):
    """What is known of a feature set, or is found now and kept."""
    found = evaluations.find(digest) if evaluations is not None else None
    if found is None:
        found, _ = evaluate(features, X, y, protocol)
        if evaluations is not None:
            evaluations.add({digest: found})
    return found


def _identity(row):
    return row[0], row[3], row[4], row[5]


def _write(path, rows):
    write_rows(path, COLUMNS, [rows[key] for key in sorted(rows)])
