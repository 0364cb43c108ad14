"""Chosen points of a cell fitted again with other seeds of the method; K-means starts where it always does."""

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
        What its own seed gave, as rows of `COLUMNS`; the same is asked of the other seeds.
    """

    trial: Trial
    stored: list

    @property
    def sets(self):
        """What is scored: (n_selected, clusterer), in order."""
        return sorted(row[3:5] for row in self.stored)

    def with_seed(self, seed):
        """The trial to run: as the stored one, with another seed and only the sizes that are scored."""
        sizes = tuple(size for size, clusterer in self.sets if clusterer == "kmeans")
        return replace(self.trial, seed=seed, sizes=sizes or self.trial.sizes[:1])


def measure(points, X, y, folder, n_seeds=5, n_jobs=1, evaluations=None, on_fit=None, caps=None):
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
        Workers, as far as their fits go into the free memory together.
    evaluations : Evaluations, optional
        What is known of feature sets under the protocol, and where new scores are kept.
    on_fit : callable, optional
        Called after every fit, with the error where it failed and "" otherwise.
    caps : Caps, optional
        What a fit may take.

    Returns
    -------
    int
        Number of fits done now.  What has no scores is tried again.

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
    """What is to be fitted: (point, seed), without what is stored of this code and has scores."""
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
    """The rows of one ``seeds.csv``; none where it is missing.

    Raises
    ------
    StoreError
        For a damaged file, naming file, line, column, value and remedy.
    """
    return read_frame(Path(path), COLUMNS)


def load_seeds(results_dir, study):
    """The rows of all cells of a study, sorted: those of the code, the packages and the machine of their trial."""
    return read_cells(results_dir, study, FILE, COLUMNS, of_its_trial)


def of_its_trial(rows, trials):
    """Those of a cell's rows that belong to its stored trials as these are."""
    names = {row["trial"]: Identity.stored(row).name for row in trials.to_dict("records")}
    return rows[rows["identity"] == rows["trial"].map(names)]


def _rows(outcome, point, seed):
    """What one fit adds to the file, under the key of the stored trial; nan where it has no scores."""
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
