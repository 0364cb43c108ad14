"""One cell, a method on a data set: the only reader of a whole configuration."""

import time
from dataclasses import MISSING, fields
from pathlib import Path

from joblib import cpu_count
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from datasets import load_dataset, scale
from metrics.kmeans import load_engine
from metrics.protocol import Protocol
from metrics.study import FAILED
from runners.evaluations import Evaluations
from runners.grid import expand
from runners.method import ConfigError, Method, did_you_mean
from runners.pool import Usage, run_all
from runners.progress import Progress, counted, log, say_result, usage_text
from runners.store import Store, claim_study

MANY_SAMPLES = 2000  # from which an (n_samples, n_samples) array takes more than 32 MB


def run_cell(config):
    """Load, expand, drop what is stored, run the rest, and say how it went.

    Parameters
    ----------
    config : DictConfig
        What `run.py` composes from conf/.

    Returns
    -------
    int
        Number of failed trials.

    Raises
    ------
    ConfigError, DataError, StoreError
        Before any fit, with a message that names the value and the remedy.
    """
    started = time.perf_counter()
    n_jobs, redo, points = _runner_settings(config.runner)
    protocol = _protocol(config.protocol)
    method = Method.read(OmegaConf.to_container(config.method, resolve=True))
    dataset = load_dataset(OmegaConf.to_container(config.dataset, resolve=True), data_dir=config.data_dir)
    scaled = scale(dataset.X, protocol.scaling)
    trials = expand(config.study, dataset, method, protocol)
    if points == "default":
        trials = [trial for trial in trials if trial.is_default]
        if not trials:
            raise ConfigError(
                f"runner.points=default, but method.grid leaves out the defaults {method.params}: set points=grid."
            )
    too_large = [size for size in protocol.sizes_on(dataset.name) if size > dataset.n_features]
    folder = Path(config.results_dir) / config.study / dataset.name / method.name
    claim_study(folder.parents[1], protocol)
    log.info(
        "%s on %s (%d x %d, %d classes), protocol %s: %s",
        method.name, dataset.name, *dataset.X.shape, dataset.n_classes, protocol.name, counted(len(trials), "trial"),
    )  # fmt: skip
    if too_large and trials[0].sizes != (dataset.n_features,):
        log.info("  sizes %s are above n_features=%d and are left out", too_large, dataset.n_features)

    def waiting():
        log.info("  another run holds %s; waiting for it to end", folder)

    with Store(folder, on_wait=waiting) as store:
        done = set() if redo else store.done()
        pending = [trial for trial in trials if trial.key not in done]
        store.forget([trial.key for trial in pending])
        if len(pending) < len(trials):
            log.info("  %d of them stored already, %d to do", len(trials) - len(pending), len(pending))
        failed = _run_pending(config, pending, scaled, dataset.y, n_jobs, store) if pending else 0
        say_result(folder, trials, len(pending), time.perf_counter() - started)
    return failed


def _run_pending(config, pending, X, y, n_jobs, store):
    """Run and store trials; the number of those that failed."""
    # Here, so that the workers find it compiled and do not each do it.
    load_engine(lambda: log.info("  compiling the K-means engine, once on this machine: some ten seconds"))
    evaluations = None
    if config.runner.cache:
        folder = Path(config.results_dir) / ".evaluations"
        evaluations = Evaluations(X, y, pending[0].protocol, folder, ignore_stored=config.runner.redo)
    # A single trial is not worth starting workers for, unless it may need so much memory that the system kills it: then
    # only a worker should die, and not the sweep.
    n_workers = 1 if len(pending) == 1 and len(X) <= MANY_SAMPLES else n_jobs
    usage, started = Usage(), time.perf_counter()
    failed = _store_all(run_all(pending, X, y, n_workers, evaluations, usage), len(pending), store)
    log.info("  %s", usage_text(usage, n_workers, time.perf_counter() - started))
    return failed


def _store_all(outcomes, total, store):
    failed = 0
    progress = Progress(total)
    try:
        for ended in outcomes:
            store.append(ended)
            for outcome in ended:
                row = outcome.trial
                if row["status"] == FAILED:
                    failed += 1
                    progress.say(f"  failed: {row['params']} sizes {row['sizes']}: {row['error']}")
                if outcome.log:
                    with open(store.folder / "run.log", "a") as file:
                        file.write(f"{row['trial']} {row['params']} sizes {row['sizes']}\n{outcome.log}\n")
            progress.step(len(ended), failed)
    finally:
        progress.close()
    return failed


def _runner_settings(runner):
    n_jobs = runner.n_jobs
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0 or n_jobs < -1:
        raise ConfigError(f"runner.n_jobs={n_jobs!r} must be 1 or more, or -1 for every core.")
    for name in ("redo", "cache"):
        if not isinstance(runner[name], bool):
            raise ConfigError(f"runner.{name}={runner[name]!r} must be true or false.")
    if runner.points not in ("grid", "default"):
        raise ConfigError(f"runner.points={runner.points!r} must be grid or default.")
    return (cpu_count() if n_jobs == -1 else n_jobs), runner.redo, runner.points


def _protocol(node):
    try:
        content = OmegaConf.to_container(node, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"the protocol cannot be read: {error}") from error
    known = {item.name: item.default is item.default_factory is MISSING for item in fields(Protocol)}
    for name in content:
        if name not in known:
            options = ", ".join(known)
            raise ConfigError(
                f"protocol.{name} is not a field of a protocol; it has: {options}.{did_you_mean(name, known)}"
            )
    lacking = [name for name, needed in known.items() if needed and name not in content]
    if lacking:
        raise ConfigError(f"the protocol lacks {', '.join(lacking)}.")
    try:
        return Protocol(**content)
    except ValueError as error:
        raise ConfigError(str(error)) from error
