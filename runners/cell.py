"""One cell, a method on a data set, from its settings to its stored results."""

import time
from collections import Counter

from datasets import load_dataset, scale
from metrics.kmeans import load_engine
from metrics.study import UNSCORED
from runners.admission import workers_within_memory
from runners.evaluations import Evaluations
from runners.grid import expand
from runners.method import ConfigError
from runners.pool import Usage, run_all
from runners.progress import Progress, counted, log, say_result, usage_text
from runners.provenance import git_sha
from runners.running import note_run
from runners.store import Store, claim_study

MANY_SAMPLES = 2000  # from which an (n_samples, n_samples) array takes more than 32 MB


def run_cell(settings):
    """Load, expand, drop what is stored, run the rest, and say how it went.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of dict
        Rows of the trials that were run now and have no scores.

    Raises
    ------
    ConfigError, DataError, StoreError
        Before any fit, with a message that names the value and the remedy.
    """
    started = time.perf_counter()
    runner, protocol, method, folder = settings.runner, settings.protocol, settings.method, settings.folder
    dataset = load_dataset(settings.dataset, data_dir=settings.data_dir)
    scaled = scale(dataset.X, protocol.scaling)
    trials = wanted_trials(settings.study, dataset, method, protocol, runner.points)
    claim_study(folder.parents[1], protocol)
    _announce(dataset, method, protocol, trials)
    with Store(folder, on_wait=lambda: log.info("  another run holds %s; waiting for it to end", folder)) as store:
        if runner.redo:
            with store.redo() as again:
                if cut_off := again.done(git_sha()):
                    log.info("  going on with a redo that was cut off; remove %s to begin anew", again.folder)
                pending, unscored = _run_missing(runner, trials, cut_off, scaled, dataset.y, again, folder)
            store.take_redone()
        else:
            done = store.done(retry=runner.retry)
            pending, unscored = _run_missing(runner, trials, done, scaled, dataset.y, store, folder)
        say_result(folder, trials, len(pending), time.perf_counter() - started)
    return unscored


def wanted_trials(study, dataset, method, protocol, points):
    """The trials that a cell asks for, as `runners.grid.expand` lists them: all, or those at the default parameters."""
    trials = expand(study, dataset, method, protocol)
    if points == "grid":
        return trials
    if not any(trial.is_default for trial in trials):
        raise ConfigError(
            f"runner.points=default, but method.grid leaves out the defaults {method.params}: set points=grid."
        )
    return [trial for trial in trials if trial.is_default]


def _announce(dataset, method, protocol, trials):
    log.info(
        "%s on %s (%d x %d, %d classes), protocol %s: %s",
        method.name, dataset.name, *dataset.X.shape, dataset.n_classes, protocol.name, counted(len(trials), "trial"),
    )  # fmt: skip
    too_large = [size for size in protocol.sizes_on(dataset.name) if size > dataset.n_features]
    if too_large and trials[0].sizes != (dataset.n_features,):
        log.info("  sizes %s are above n_features=%d and are left out", too_large, dataset.n_features)


def _run_missing(runner, trials, done, X, y, store, folder):
    """Run and store the trials that are not done; these, and the rows of those without scores."""
    pending = [trial for trial in trials if trial.key not in done]
    if pending:
        n_workers = workers_within_memory(pending, X.shape, runner.n_jobs, runner.caps)
    store.forget([trial.key for trial in pending])
    if len(pending) < len(trials):
        log.info("  %d of them stored already, %d to do", len(trials) - len(pending), len(pending))
    if not pending:
        return pending, []
    keys = [trial.key for trial in trials]
    note_run(folder, keys, n_workers)
    try:
        return pending, _run_pending(runner, pending, X, y, n_workers, store, folder)
    finally:
        note_run(folder, keys, 0)


def _run_pending(runner, pending, X, y, n_workers, store, folder):
    """Run and store trials; the rows of those without scores."""
    # Here, so that the workers find it compiled and do not each do it.
    load_engine(lambda: log.info("  compiling the K-means engine, once on this machine: some ten seconds"))
    evaluations = None
    if runner.cache:
        kept = folder.parents[2] / ".evaluations"
        evaluations = Evaluations(X, y, pending[0].protocol, kept, ignore_stored=runner.redo)
    # A single trial is not worth starting workers for, unless it may need so much memory that the system kills it: then
    # only a worker should die, and not the sweep.
    n_workers = 1 if len(pending) == 1 and len(X) <= MANY_SAMPLES else n_workers
    usage, started = Usage(), time.perf_counter()
    outcomes = run_all(pending, X, y, n_workers, evaluations, usage, runner.caps)
    unscored = _store_all(outcomes, len(pending), store, folder)
    log.info("  %s", usage_text(usage, n_workers, time.perf_counter() - started))
    return unscored


def _store_all(outcomes, total, store, folder):
    unscored, ends = [], Counter()
    progress = Progress(total)
    try:
        for ended in outcomes:
            store.append(ended)
            for outcome in ended:
                row = outcome.trial
                ends[row["status"]] += 1
                if row["status"] in UNSCORED:
                    unscored.append(row)
                    progress.say(f"  {row['status']}: {row['params']} sizes {row['sizes']}: {row['error']}")
                if outcome.log:
                    with open(folder / "run.log", "a") as file:
                        file.write(f"{row['trial']} {row['params']} sizes {row['sizes']}\n{outcome.log}\n")
            progress.step(len(ended), ends)
    finally:
        progress.close()
    return unscored
