"""Fits chosen points of a cell again with other seeds of the method; the starts of K-means stay the same."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from metrics.study import UNSCORED
from runners.admission import workers_within_memory
from runners.caps import Caps
from runners.files import held, write_rows
from runners.pool import run_all
from runners.provenance import Identity
from runners.reading import read_cells, read_frame
from runners.trial import Trial

COLUMNS = "trial dataset method n_selected clusterer seed status acc_mean nmi_mean feature_set git_sha identity".split()
IDENTITY = ["trial", "n_selected", "clusterer", "seed"]
FILE = "seeds.csv"


@dataclass(frozen=True)
class Point:
    """A stored trial to fit again.

    Attributes
    ----------
    trial : Trial
    stored : list of tuple
        Scores of its own seed, as rows of `COLUMNS`; the other seeds are scored in the same way.
    """

    trial: Trial
    stored: list

    @property
    def sets(self):
        """The feature sets to score, as (n_selected, clusterer), in order."""
        return sorted(row[3:5] for row in self.stored)

    def with_seed(self, seed):
        """Return the stored trial with another seed, and only the sizes that are scored."""
        sizes = tuple(size for size, clusterer in self.sets if clusterer == "kmeans")
        return replace(self.trial, seed=seed, sizes=sizes or self.trial.sizes[:1])


def measure(points, X, y, folder, n_seeds=5, n_jobs=1, evaluations=None, on_fit=None, caps=None):
    """Fit every point with the seeds that follow its own, and update ``seeds.csv``; stored fits are not repeated.

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
        Number of seeds, that of the stored trial included.
    n_jobs : int, default=1
        Number of workers, or fewer where their fits do not go into the free memory together.
    evaluations : Evaluations, optional
        Known scores of feature sets under the protocol, where new ones are kept, too.
    on_fit : callable, optional
        Called after every fit, with the error where it failed and "" otherwise.
    caps : Caps, optional
        The caps of one fit.

    Returns
    -------
    int
        Number of fits done now.  A fit without scores is tried again.

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
        trials = {trial.key: (trial, point) for point, seed in jobs for trial in [point.with_seed(seed)]}
        asked, caps = [trial for trial, _ in trials.values()], caps or Caps()
        n_workers = workers_within_memory(asked, X.shape, n_jobs, caps) if asked else 1
        for ended in run_all(asked, X, y, n_workers, evaluations, caps=caps):
            for outcome in ended:
                trial, point = trials[outcome.trial["trial"]]
                rows |= {_identity(row): row for row in _rows(outcome, point, trial.seed)}
                _write(path, rows)
                if on_fit is not None:
                    on_fit(outcome.trial["error"])
    return len(jobs)


def missing(points, stored, n_seeds):
    """List each (point, seed) that is to be fitted: those without stored scores of this code."""
    here = {point.trial.key: Identity.of(point.trial.cls).name for point in points}
    same = stored["identity"] == stored["trial"].map(here)
    done = set(stored.loc[same & ~stored["status"].isin(UNSCORED), IDENTITY].itertuples(index=False, name=None))
    return [
        (point, seed)
        for point in points
        for seed in range(point.trial.protocol.seed + 1, point.trial.protocol.seed + n_seeds)
        if not done.issuperset((point.trial.key, *one, seed) for one in point.sets)
    ]


def read(path):
    """Return the rows of one ``seeds.csv``; none where it is missing.

    Raises
    ------
    StoreError
        For a damaged file, naming file, line, column, value and remedy.
    """
    return read_frame(Path(path), COLUMNS)


def load_seeds(results_dir, study):
    """Return the rows of all cells of a study, sorted, that have the code, packages and machine of their trial."""
    return read_cells(results_dir, study, FILE, COLUMNS, of_its_trial)


def of_its_trial(rows, trials):
    """Return the rows of a cell that belong to its stored trials as they are now."""
    names = {row["trial"]: Identity.stored(row).name for row in trials.to_dict("records")}
    return rows[rows["identity"] == rows["trial"].map(names)]


def _rows(outcome, point, seed):
    """Return the rows that one fit adds to the file, under the key of the stored trial; nan where it has no scores."""
    scores, digests = {}, json.loads(outcome.trial["feature_sets"])
    for _, _, _, size, clusterer, _, acc, nmi, *_ in outcome.scores:
        scores.setdefault((size, clusterer), []).append((acc, nmi))
    for size, clusterer in point.sets:
        found = scores.get((size, clusterer), [(np.nan, np.nan)])
        acc, nmi = (float(np.mean(values)) for values in zip(*found, strict=True))
        digest = digests.get(str(size), "") if clusterer == "kmeans" else ""
        where = (point.trial.key, point.trial.dataset, point.trial.method, size, clusterer, seed)
        row = outcome.trial
        yield (*where, row["status"], acc, nmi, digest, row["git_sha"], Identity.stored(row).name)


def _identity(row):
    return row[0], row[3], row[4], row[5]


def _write(path, rows):
    write_rows(path, COLUMNS, [rows[key] for key in sorted(rows)])
