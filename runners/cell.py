"""One cell, a method on a data set, from its settings to its stored results."""

import time
from collections import Counter
from types import SimpleNamespace

import numpy as np

from datasets import load_dataset, scale
from metrics.kmeans import load_engine
from metrics.study import UNSCORED
from runners.admission import workers_within_memory
from runners.elsewhere import found_elsewhere, outcomes_of
from runners.evaluations import Evaluations
from runners.finished import ends_text, note_finished
from runners.grid import diagonal, expand
from runners.method import ConfigError
from runners.pool import Usage, run_all
from runners.progress import Progress, counted, log, say_compiling, say_result, usage_text
from runners.provenance import git_sha
from runners.running import note_run
from runners.store import Store, claim_study

MANY_SAMPLES = 2000  # from which an (n_samples, n_samples) array takes more than 32 MB


def run_cell(settings, place="", words=None):
    """Load, expand, drop what is stored, run the rest, and say how it went.

    Parameters
    ----------
    settings : Settings
    place : str, default=""
        Of the cell in a sweep, such as "cell 2 of 4: ".  There a cell in which nothing is left to do takes one line.
    words : list of str, optional
        What was typed for the cell, so that the same sweep need not look at it again (`runners.finished`).

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
    trials = wanted_trials(settings.study, dataset, method, protocol, runner.points)
    keys = {trial.key for trial in trials}
    claim_study(folder.parents[1], protocol)
    with Store(folder, on_wait=lambda: log.info("  another run holds %s; waiting for it to end", folder)) as store:
        done = store.done(retry=runner.retry)
        if place and not runner.redo and keys <= done:
            pending, unscored = [], []
        else:
            _announce(dataset, method, protocol, trials, place)
            pending, unscored = _run_missing(settings, trials, dataset, done, store)
        ends = Counter(status for key, status in store.ends().items() if key in keys)
    if pending or not place:
        say_result(folder, trials, len(pending), time.perf_counter() - started)
    else:
        log.info("%s%s", place, ends_text(f"{method.name} on {dataset.name}", ends))
    if words is not None and ends.total() == len(trials) and not set(runner.retry) & set(ends):
        note_finished(settings, words, ends)
    return unscored


def wanted_trials(study, dataset, method, protocol, points):
    """The trials that a cell asks for: all that `runners.grid.expand` lists, those at the default, or a sample."""
    trials = expand(study, dataset, method, protocol)
    if points == "grid":
        return trials
    if points == "sample":
        return diagonal(trials)
    if not any(trial.is_default for trial in trials):
        raise ConfigError(
            f"runner.points=default, but method.grid leaves out the defaults {method.params}: set points=grid."
        )
    return [trial for trial in trials if trial.is_default]


def asked_trials(settings):
    """The trials of a cell whose data need not be here: what they are depends on the shape alone.

    Without the checksum of the data their keys are not those that are stored.
    """
    spec = settings.dataset
    X = np.broadcast_to(0.0, (spec["samples"], spec["features"]))
    data = SimpleNamespace(
        name=spec["name"], X=X, n_features=X.shape[1], n_classes=spec["classes"], sha=spec.get("data_sha256") or ""
    )
    return wanted_trials(settings.study, data, settings.method, settings.protocol, settings.runner.points)


def _announce(dataset, method, protocol, trials, place):
    log.info(
        "%s%s on %s (%d x %d, %d classes), protocol %s: %s",
        place, method.name, dataset.name, *dataset.X.shape, dataset.n_classes, protocol.name,
        counted(len(trials), "trial"),
    )  # fmt: skip
    too_large = [size for size in protocol.sizes_on(dataset.name) if size > dataset.n_features]
    if too_large and trials[0].sizes != (dataset.n_features,):
        log.info("  sizes %s are above n_features=%d and are left out", too_large, dataset.n_features)


def _run_missing(settings, trials, dataset, done, store):
    """Run and store what is not done, or all of it where it is to be done again.

    Returns
    -------
    pending : list of Trial
        What was run now.
    unscored : list of dict
        The rows of those without scores.
    """
    if not settings.runner.redo:
        return _run_into(store, settings, trials, dataset, done)
    with store.redo() as again:
        if cut_off := again.done(git_sha()):
            log.info("  going on with a redo that was cut off; remove %s to begin anew", again.folder)
        ran = _run_into(again, settings, trials, dataset, cut_off)
    store.take_redone()
    return ran


def _run_into(store, settings, trials, dataset, done):
    runner, folder = settings.runner, settings.folder
    # The sample first: what is left is then known from fits all over the grid.
    sample = {trial.key for trial in diagonal(trials)}
    pending = sorted((trial for trial in trials if trial.key not in done), key=lambda trial: trial.key not in sample)
    if not pending:
        log.info("  %d of them stored already, 0 to do", len(trials))
        return pending, []
    taken = [outcomes_of(cell, there) for cell, there in found_elsewhere(settings, pending).items()]
    known = {outcome.trial["trial"] for outcomes in taken for outcome in outcomes}
    rest = [trial for trial in pending if trial.key not in known]
    n_workers = workers_within_memory(rest, dataset.X.shape, runner.n_jobs, runner.caps) if rest else 0
    store.forget([trial.key for trial in pending])
    if len(pending) < len(trials):
        log.info("  %d of them stored already, %d to do", len(trials) - len(pending), len(pending))
    if known:
        log.info("  %d of them taken from other studies, which have the same fits and scores by this code", len(known))
        _store_all(taken, len(known), store, folder)
    if not rest:
        return rest, []
    pending = rest
    keys = [trial.key for trial in trials]
    note_run(folder, keys, n_workers)
    try:
        X = scale(dataset.X, settings.protocol.scaling)
        return pending, _run_pending(runner, pending, X, dataset.y, n_workers, store, folder)
    finally:
        note_run(folder, keys, 0)


def _run_pending(runner, pending, X, y, n_workers, store, folder):
    """Run and store trials; the rows of those without scores."""
    # Here, so that the workers find it compiled and do not each do it.
    load_engine(say_compiling)
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
