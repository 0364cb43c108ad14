"""One cell, a method on a data set: the only reader of a whole configuration."""

import time
from pathlib import Path

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from datasets import load_dataset, scale
from metrics.kmeans import load_engine
from metrics.study import FAILED
from runners.evaluations import Evaluations
from runners.grid import expand
from runners.method import ConfigError, Method
from runners.pool import Usage, run_all
from runners.progress import Progress, counted, log, say_result, usage_text
from runners.settings import read_protocol, read_runner
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
    runner, protocol = read_runner(_plain(config, "runner")), read_protocol(_plain(config, "protocol"))
    method = Method.read(_plain(config, "method"))
    dataset = load_dataset(_plain(config, "dataset"), data_dir=config.data_dir)
    scaled = scale(dataset.X, protocol.scaling)
    trials = _trials(config.study, dataset, method, protocol, runner.points)
    folder = Path(config.results_dir) / config.study / dataset.name / method.name
    claim_study(folder.parents[1], protocol)
    _announce(dataset, method, protocol, trials)
    with Store(folder, on_wait=lambda: log.info("  another run holds %s; waiting for it to end", folder)) as store:
        done = set() if runner.redo else store.done()
        pending = [trial for trial in trials if trial.key not in done]
        store.forget([trial.key for trial in pending])
        if len(pending) < len(trials):
            log.info("  %d of them stored already, %d to do", len(trials) - len(pending), len(pending))
        failed = _run_pending(runner, pending, scaled, dataset.y, store) if pending else 0
        say_result(folder, trials, len(pending), time.perf_counter() - started)
    return failed


def _plain(config, group):
    """A part of the configuration as plain containers."""
    try:
        return OmegaConf.to_container(config[group], resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"the part {group} of the configuration cannot be read: {error}") from error


def _trials(study, dataset, method, protocol, points):
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


def _run_pending(runner, pending, X, y, store):
    """Run and store trials; the number of those that failed."""
    # Here, so that the workers find it compiled and do not each do it.
    load_engine(lambda: log.info("  compiling the K-means engine, once on this machine: some ten seconds"))
    evaluations = None
    if runner.cache:
        folder = store.folder.parents[2] / ".evaluations"
        evaluations = Evaluations(X, y, pending[0].protocol, folder, ignore_stored=runner.redo)
    # A single trial is not worth starting workers for, unless it may need so much memory that the system kills it: then
    # only a worker should die, and not the sweep.
    n_workers = 1 if len(pending) == 1 and len(X) <= MANY_SAMPLES else runner.n_jobs
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
