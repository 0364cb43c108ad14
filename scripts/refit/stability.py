"""Fit the default point of a cell again on permuted samples and columns, and with other seeds, for `scripts.audit`."""

from dataclasses import replace
from pathlib import Path

from ufs_bench.metrics.study import UNSCORED, nearest_size
from ufs_bench.runners.experiment.trial import stored_trial, takes_seed
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import subsets_of, to_json
from ufs_bench.runners.workers.pool import run_all
from ufs_bench.scripts.core.refits import STABILITY, add_rows, read

CHANGES = ("none", "samples", "columns", "seed")  # "none" repeats the fit unchanged


def default_trial(trials, target):
    """Return the stored trial of a cell at the default parameters whose size is nearest to `USUAL_SIZE`, and that size.

    The trial is None where there is none, or where code or configuration changed so that it would get another key.
    """
    nearest = {}
    usable = trials["is_default"] & (trials["nth_seed"] == 0) & ~trials["status"].isin(UNSCORED)
    for row in trials[usable].to_dict("records"):
        nearest.setdefault(nearest_size(row["sizes"]), row)
    size = nearest_size(nearest) if nearest else 0
    trial = stored_trial(nearest[size], target) if nearest else None
    return (trial, size) if trial else (None, 0)


def refit_changed(trial, size, data, folder, repeats, n_jobs=1):
    """Fit a trial `repeats` times for each change that can matter, and update ``stability.csv`` in the cell's folder.

    It keeps the feature sets of one size.  Returns the number of fits done now; stored ones are not repeated.
    """
    path, identity = Path(folder) / STABILITY, Identity.of(trial.cls).name
    stored = read(path)
    stored = stored[(stored["trial"] == trial.key) & (stored["n_selected"] == size) & (stored["identity"] == identity)]
    done = set(zip(stored["change"], stored["repeat"], strict=True))
    jobs = [("none", 0), *((change, repeat) for change in CHANGES[1:] for repeat in range(1, repeats + 1))]
    seeded = takes_seed(trial.target)
    asked = [(_changed(trial, *job), job) for job in jobs if job not in done and (job[0] != "seed" or seeded)]
    places = {changed.key: job for changed, job in asked}
    for ended in run_all([changed for changed, _ in asked], data.unscored(), n_jobs) if asked else ():
        for outcome in ended:
            row, job = outcome.trial, places[outcome.trial["trial"]]
            features = to_json(sorted(subsets_of(row["ranking"], [size])[size]))
            where = (trial.key, trial.dataset, trial.method, *job, size)
            add_rows(path, [(*where, row["status"], features, Identity.stored(row).name)])
    return len(asked)


def _changed(trial, change, repeat):
    """Return a trial with a change; repeated unchanged, it has the key of the stored one."""
    if change == "seed":
        return replace(trial, seed=trial.protocol.seed + repeat)
    return trial if change == "none" else replace(trial, permuted=(change, repeat))
