"""One cell, a method on a data set: the only reader of a whole configuration."""

import logging
import sys
import time
from collections import Counter
from dataclasses import MISSING, fields
from pathlib import Path

import pandas as pd
from joblib import cpu_count
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from tqdm import tqdm

from datasets import load_dataset, scale
from metrics.kmeans import load_engine
from metrics.summary import select, summarise
from runners.evaluations import Evaluations
from runners.grid import ConfigError, Protocol, did_you_mean, expand
from runners.pool import Usage, run_all
from runners.provenance import git_sha
from runners.store import Store, claim_study, load_results
from runners.trial import FAILED

log = logging.getLogger(__name__)

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
    method = OmegaConf.to_container(config.method, resolve=True)
    dataset = load_dataset(OmegaConf.to_container(config.dataset, resolve=True), data_dir=config.data_dir)
    scaled = scale(dataset.X, protocol.scaling)
    trials = expand(config.study, dataset, method, protocol)
    if points == "default":
        trials = [trial for trial in trials if trial.is_default]
        if not trials:
            raise ConfigError(
                f"runner.points=default, but method.grid leaves out the defaults {method['params']}: set points=grid."
            )
    too_large = [size for size in protocol.sizes_on(dataset.name) if size > dataset.n_features]
    folder = Path(config.results_dir) / config.study / dataset.name / method["name"]
    claim_study(folder.parents[1], protocol.stored())
    log.info(
        "%s on %s (%d x %d, %d classes), protocol %s: %s",
        method["name"], dataset.name, *dataset.X.shape, dataset.n_classes, protocol.name, _count(len(trials), "trial"),
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
        _summarise(config.results_dir, config.study, trials, pending, started, folder)
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
    log.info("  %s", _usage_text(usage, n_workers, time.perf_counter() - started))
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


def _usage_text(usage, n_workers, seconds):
    """Shares of the workers' time, and how many feature sets were evaluated."""
    total = n_workers * seconds
    rest = max(total - usage.fit_s - usage.eval_s, 0.0)
    shares = ", ".join(
        f"{name} {part:.1f} s ({part / total:.0%})"
        for name, part in (("fits", usage.fit_s), ("K-means", usage.eval_s), ("waiting and overhead", rest))
    )
    return (
        f"{seconds:.1f} s on {_count(n_workers, 'worker')}: {shares}; "
        f"{usage.n_evaluated} of {_count(usage.n_sets, 'feature set')} evaluated, "
        f"{usage.n_sets - usage.n_evaluated} shared"
    )


class Progress:
    """A bar on a terminal; elsewhere a plain line now and then.

    Parameters
    ----------
    total : int
        Number of trials.
    every : float, default=10
        Seconds between plain lines.
    """

    def __init__(self, total, every=10.0):
        self._bar = tqdm(total=total, unit="trial", leave=False, dynamic_ncols=True) if sys.stderr.isatty() else None
        self._total, self._every, self._count = total, every, 0
        self._started = self._last = time.perf_counter()

    def step(self, count, failed):
        """Count trials that ended; with none it only shows that the run is alive."""
        self._count += count
        if self._bar is not None:
            if failed:
                self._bar.set_postfix(failed=failed)
            self._bar.update(count)
            self._bar.refresh()
            return
        now = time.perf_counter()
        if now - self._last >= self._every and self._count < self._total:
            self._last = now
            since = now - self._started
            left = f", about {since / self._count * (self._total - self._count):.0f} s to go" if self._count else ""
            log.info("  %d of %d trials, %d failed, after %.0f s%s", self._count, self._total, failed, since, left)

    def say(self, text):
        """Print a line without tearing the bar."""
        if self._bar is not None:
            self._bar.clear()
        log.warning(text)

    def close(self):
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


def _summarise(results_dir, study, trials, pending, started, folder):
    keys = {trial.key for trial in trials}
    results = load_results(results_dir, study, trials[0].dataset, trials[0].method)
    stored = results.trials[results.trials["trial"].isin(keys)]
    counts = Counter(stored["status"])
    parts = [f"{len(stored)} of {_count(len(trials), 'trial')} stored ({len(pending)} now)"]
    parts += [
        f"{counts[status]} {status}" for status in ("failed", "max_iter", "diverged", "collapsed") if counts[status]
    ]
    log.info("  %s; %.1f s", ", ".join(parts), time.perf_counter() - started)
    others = sorted(set(stored["git_sha"]) - {git_sha()})
    if others:
        log.info(
            "  some stored trials come from other code (%s); runner.redo=true computes them again", ", ".join(others)
        )
    scores = results.scores[results.scores["trial"].isin(keys)]
    for line in _best_lines(summarise(stored, scores)):
        log.info("  %s", line)
    log.info("  %s", folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _count(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _best_lines(summary):
    """A first look at the scores; the tables are made by scripts.make_table."""
    names = {
        "best_over_grid": "best over grid and size, chosen with the labels",
        "default_params": "default parameters",
    }
    for selection, name in names.items():
        cells = {metric: select(summary, metric, selection).set_index("clusterer") for metric in ("acc", "nmi")}
        for clusterer in cells["acc"].index:
            texts = [_score_text(metric, frame.loc[clusterer]) for metric, frame in cells.items()]
            if all(texts):
                yield f"{name}, {clusterer}: {', '.join(texts)}"


def _score_text(metric, row):
    if pd.isna(row["mean"]):
        return ""
    spread = "" if pd.isna(row["std"]) else f" ± {100 * row['std']:.1f}"
    return f"{metric.upper()} {100 * row['mean']:.1f}{spread} ({row['n_selected']} features)"


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
    return Protocol(**content)
