"""Fits stored points of a cell again, with other seeds or on permuted samples and columns, and reads what that gave.

A refit is a trial like any other, and goes through the pool.  The rows that it adds are kept in a file of their own,
under the key of the stored trial; the file is written whole after every fit.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import UNSCORED, nearest_size
from ufs_bench.runners.store.files import empty_frame, held, read_frame, replace_file, write_rows
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.reference import read_refits, refits_of
from ufs_bench.runners.store.row import from_json, subsets_of, to_json
from ufs_bench.runners.workers.caps import Caps

SEEDS, STABILITY, RESTARTS, SENSITIVE = "seeds.csv", "stability.csv", "restarts.csv", "sensitive.csv"
OF_SEEDS = "n_selected clusterer seed status acc_mean nmi_mean feature_set git_sha identity".split()
OF_STABILITY = "change repeat n_selected status features identity".split()
OF_RESTARTS = "n_selected clusterer metric n_starts n_groups n_candidates mean std group_std identity".split()
# How far a fit on an X that is moved by 1e-14 of itself is from the fit: the share of features that it keeps, at the
# size with the fewest, how far ACC moves, in points and standard errors, and the objective, as a share of itself.
OF_SENSITIVE = "kept acc_moved acc_errors objective_moved identity".split()
OF_FILE = {SEEDS: OF_SEEDS, STABILITY: OF_STABILITY, RESTARTS: OF_RESTARTS, SENSITIVE: OF_SENSITIVE}
COLUMNS = {file: ["trial", "dataset", "method", *own] for file, own in OF_FILE.items()}
IDENTITY = {  # the columns that a row of each file of a cell is known by
    SEEDS: ["trial", "n_selected", "clusterer", "seed"], STABILITY: ["change", "repeat"], RESTARTS: ["metric"],
    SENSITIVE: ["trial"],
}  # fmt: skip
KEPT, ERRORS = 0.95, 1.0  # a fit is sensitive that keeps fewer of its features, or moves by more standard errors
CHANGES = ("none", "samples", "columns", "seed")  # "none" repeats the fit unchanged


@dataclass(frozen=True)
class Point:
    """A stored trial to fit again."""

    trial: object  # a `runners.experiment.trial.Trial`, whose module most readers of refits need not import
    # Scores of its own seed, as rows (tuples) of `COLUMNS`; the other seeds are scored in the same way.
    stored: list

    @property
    def sets(self):
        """The feature sets to score, as (n_selected, clusterer), in order."""
        return sorted(row[3:5] for row in self.stored)

    def with_seed(self, seed):
        """Return the stored trial with another seed, and only the sizes that are scored."""
        sizes = tuple(size for size, clusterer in self.sets if clusterer == "kmeans")
        return replace(self.trial, seed=seed, sizes=sizes or self.trial.sizes[:1])


def read(path):
    """Return the rows of a file of refits; none where it is missing, and StoreError where it is damaged."""
    return read_frame(Path(path), COLUMNS[Path(path).name])


def load_refits(study, file):
    """Return the rows of all cells of a study, sorted, that are of the code and machine of their trial."""
    shipped = read_refits(study.own_name, file) if study.is_shipped or study.taken else None
    if study.taken and shipped is not None:
        cells = pd.MultiIndex.from_frame(shipped[["dataset", "method"]])
        shipped = shipped[cells.isin(list(study.taken))]
    paths = sorted(study.folder.glob(f"*/*/{file}")) if study.folder else []
    found = [read(path) for path in paths] + ([] if shipped is None else [shipped])
    if not found:
        return empty_frame(COLUMNS[file])
    rows = pd.concat(found, ignore_index=True)
    known = identity_names(study.trials[study.trials["trial"].isin(rows["trial"])])
    rows = rows[rows["identity"] == rows["trial"].map(known)]
    return rows.assign(features=rows["features"].map(from_json)) if file == STABILITY else rows


def identity_names(trials):
    """Return the name of the identity of each trial, by its key; their refits have the same."""
    fields = list(zip(*(trials[name] for name in Identity._fields), strict=True))  # a few, in thousands of trials
    names = {one: Identity.stored(dict(zip(Identity._fields, one, strict=True))).name for one in set(fields)}
    return dict(zip(trials["trial"], map(names.get, fields), strict=True))


def is_sensitive(kept, errors):
    """Return True where a fit on an X that rounding moves selects other features, or has another ACC."""
    return (kept < KEPT) | (errors > ERRORS)


def add_refits(study, file, rows, by="trial"):
    """Add rows to a file of refits, of the cells of a study or, as `ship_refits` does, of the shipped study."""
    new = pd.DataFrame(rows, columns=COLUMNS[file])
    for (dataset, method), own in new.groupby(["dataset", "method"]):
        if study.is_shipped:
            ship_refits(study.own_name, file, method, own, by, own[by])
        else:
            path = study.folder / dataset / method / file
            with held(path):
                _write(path, _by_identity(path, read(path)) | _by_identity(path, own))


def ship_refits(name, file, method, rows, by, values):
    """Put refits of a method into its file of a shipped study, in the place of those with `values` in column `by`."""
    from ufs_bench.runners.store.parquet import packed_refits

    path, before = refits_of(name, file) / f"{method}.parquet", read_refits(name, file, method)
    rows = rows if before is None else pd.concat([before[~before[by].isin(values)], rows])
    path.parent.mkdir(exist_ok=True)
    replace_file(path, packed_refits(rows.sort_values(COLUMNS[file], ignore_index=True)))


def default_trial(trials, target):
    """Return the stored trial of a cell at the default parameters whose size is nearest to `USUAL_SIZE`, and that size.

    The trial is None where there is none, or where code or configuration changed so that it would get another key.
    """
    nearest = {}
    usable = trials["is_default"] & (trials["nth_seed"] == 0) & ~trials["status"].isin(UNSCORED)
    for row in trials[usable].to_dict("records"):
        nearest.setdefault(nearest_size(row["sizes"]), row)
    if not nearest:
        return None, 0
    size = nearest_size(nearest)
    from ufs_bench.runners.experiment.trial import stored_trial  # here, as what reads refits needs nothing that fits

    trial = stored_trial(nearest[size], target)
    return (trial, size) if trial else (None, 0)


def refit_seeds(points, data, folder, n_seeds=5, n_jobs=1, scores=None, on_fit=None):
    """Fit every `Point` of a cell with the seeds that follow its own, and update ``seeds.csv`` in the cell's folder.

    Returns the number of fits done now: stored ones are not repeated, but one without scores is tried again.  `n_seeds`
    includes the seed of the stored trials.  There are fewer workers than `n_jobs` where their fits do not go into the
    free memory together.  `scores` says where the scores of feature sets are kept, see `run_all`.
    `on_fit` is called after every fit, with the error where it failed and "" otherwise.
    """
    path = Path(folder) / SEEDS
    with held(path):
        before = _by_identity(path, read(path))
        own = pd.DataFrame([row for point in points for row in point.stored], columns=COLUMNS[SEEDS])
        rows = before | _by_identity(path, own)
        jobs = missing(points, pd.DataFrame(rows.values(), columns=COLUMNS[SEEDS]), n_seeds)
        if rows != before:
            _write(path, rows)
        asked = {trial.key: (trial, point) for point, seed in jobs for trial in [point.with_seed(seed)]}

        def added(outcome):
            trial, point = asked[outcome.trial["trial"]]
            return _rows(outcome, point, trial.seed)

        trials = [trial for trial, _ in asked.values()]
        _refit(path, rows, added, trials, data, n_jobs, on_fit, scores=scores)
    return len(jobs)


def refit_changed(trial, size, data, folder, repeats, n_jobs=1):
    """Fit a trial `repeats` times for each change that can matter, and update ``stability.csv``.

    It keeps the feature sets of one size; for the other arguments see `refit_seeds`.  Returns the number of fits done
    now; stored ones are not repeated.
    """
    from ufs_bench.runners.experiment.trial import takes_seed  # here, as what reads refits needs nothing that fits

    path = Path(folder) / STABILITY
    with held(path):
        stored = read(path)
        here = Identity.of(trial.cls).name
        stored = stored[(stored["trial"] == trial.key) & (stored["n_selected"] == size) & (stored["identity"] == here)]
        rows = _by_identity(path, stored)
        jobs = [("none", 0), *((change, repeat) for change in CHANGES[1:] for repeat in range(1, repeats + 1))]
        seeded = takes_seed(trial.target)
        jobs = [job for job in jobs if job not in rows and (job[0] != "seed" or seeded)]
        asked = {changed.key: job for job in jobs for changed in [_changed(trial, *job)]}

        def added(outcome):
            row, (change, repeat) = outcome.trial, asked[outcome.trial["trial"]]
            features = subsets_of(row["ranking"], [size])[size]
            where = (trial.key, trial.dataset, trial.method, change, repeat, size)
            yield (*where, row["status"], to_json(sorted(features)), Identity.stored(row).name)

        _refit(path, rows, added, [_changed(trial, *job) for job in jobs], data.unscored(), n_jobs)
    return len(jobs)


def _changed(trial, change, repeat):
    """Return a trial with a change; repeated unchanged, it has the key of the stored one."""
    if change == "seed":
        return replace(trial, seed=trial.protocol.seed + repeat)
    return trial if change == "none" else replace(trial, permuted=(change, repeat))


def _refit(path, rows, added, trials, data, n_jobs, on_fit=None, **how):
    """Run trials, and write the rows of each when it ends."""
    # Here, as they take seconds to import, and commands that only read refits need no pool.
    from ufs_bench.runners.workers.data import n_stored
    from ufs_bench.runners.workers.memory import workers_within_memory
    from ufs_bench.runners.workers.pool import run_all

    n_workers = workers_within_memory(trials, data.X.shape, n_jobs, Caps(), n_stored(data.X)) if trials else 1
    for ended in run_all(trials, data, n_workers, **how):
        for outcome in ended:
            rows |= _by_identity(path, pd.DataFrame(added(outcome), columns=COLUMNS[path.name]))
            _write(path, rows)
            if on_fit is not None:
                on_fit(outcome.trial["error"])


def missing(points, stored, n_seeds):
    """List each (point, seed) that is to be fitted: those without stored scores of this code."""
    here = {point.trial.key: Identity.of(point.trial.cls).name for point in points}
    same = stored["identity"] == stored["trial"].map(here)
    done = set(stored.loc[same & ~stored["status"].isin(UNSCORED), IDENTITY[SEEDS]].itertuples(index=False, name=None))
    return [
        (point, seed)
        for point in points
        for seed in range(point.trial.protocol.seed + 1, point.trial.protocol.seed + n_seeds)
        if not done.issuperset((point.trial.key, *one, seed) for one in point.sets)
    ]


def _rows(outcome, point, seed):
    """Return the rows that one fit adds to the file, under the key of the stored trial; nan where it has no scores."""
    sets = from_json(outcome.trial["feature_sets"])
    scores, digests = {}, {(int(size), "kmeans"): digest for size, digest in sets.items()}
    for _, _, _, size, clusterer, _, acc, nmi, *_ in outcome.scores:
        scores.setdefault((size, clusterer), []).append((acc, nmi))
    for size, clusterer in point.sets:
        found = scores.get((size, clusterer), [(np.nan, np.nan)])
        acc, nmi = (float(np.mean(values)) for values in zip(*found, strict=True))
        digest = digests.get((size, clusterer), "")
        where = (point.trial.key, point.trial.dataset, point.trial.method, size, clusterer, seed)
        row = outcome.trial
        yield (*where, row["status"], acc, nmi, digest, row["git_sha"], Identity.stored(row).name)


def _by_identity(path, frame):
    """Return the rows of a frame as tuples, by the values of their `IDENTITY` columns."""
    keys = frame[IDENTITY[path.name]].itertuples(index=False, name=None)
    return dict(zip(keys, frame[COLUMNS[path.name]].itertuples(index=False, name=None), strict=True))


def _write(path, rows):
    write_rows(path, COLUMNS[path.name], [rows[key] for key in sorted(rows)])
