"""The memory that fits take, by the estimates of `BaseSelector.memory`, and how many go into it together."""

import math

from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.progress import log, say_compiling
from ufs_bench.runners.words import counted
from ufs_bench.runners.workers import processes
from ufs_bench.runners.workers.caps import MB_PER_GB
from ufs_bench.runners.workers.family import free_mb

PROCESS_MB = 250  # taken by a worker that has imported what it needs
ASKED = 3  # workers that are asked what they hold, as each may be killed before it answers
SPARSE_ENTRY = 1.5  # numbers of 8 bytes that an entry of a sparse X takes, with its column
SELECTED_COPIES = 3  # dense copies of the selected features of a sparse X: themselves, and two in K-means
LEFT_FREE = 0.9  # share of the free memory that fits may have: other programs' needs change
SPARE_MB = 32  # of the cap that is advised: what a worker imports in its first fits comes to what it holds
_held = {}  # dotted name of a method -> MB


def workers_within_memory(trials, shape, n_jobs, caps, n_stored=None):
    """Return the number of workers whose fits go into the free memory together: from 1 to `n_jobs`.

    It is `n_jobs` where the system does not say what is free.  `n_stored` are the entries of a sparse X.  No fit takes
    more than the `max_memory` of the caps.  A ConfigError says that a single fit needs more than there is, and no cap
    would end it, or that a worker holds more than the cap before it begins a fit.
    """
    check_cap(caps, trials[0], shape, n_stored)
    free = LEFT_FREE * free_mb()
    trial, need = max(((trial, fit_mb(trial, shape, n_stored)) for trial in trials), key=lambda pair: pair[1])
    cap = math.inf if caps.max_memory is None else MB_PER_GB * caps.max_memory
    if math.isnan(free):
        return n_jobs
    if min(need, cap) > free:
        raise ConfigError(
            f"one fit of {trial.method} on {trial.dataset} ({shape[0]} x {shape[1]}) needs about {gb(need)}, and "
            f"{gb(free)} may be used: nothing was started. Take another method or fewer samples, or free memory. This "
            f"is an estimate from above: with runner.max_memory={math.floor(10 * free / MB_PER_GB) / 10:g} it is tried "
            "all the same, and ended where it takes more."
        )
    here = PROCESS_MB + min(need, cap)
    most = max(int((free + PROCESS_MB * processes.n_idle()) / here), 1)
    if most < n_jobs:
        log.info(
            "  %s in place of %d: one takes about %s, and %s may be used", counted(most, "worker"), n_jobs, gb(here),
            gb(free),
        )  # fmt: skip
    return min(most, n_jobs)


def check_cap(caps, trial, shape, n_stored=None):
    """Refuse a cap that every fit would end at, whatever it does; `n_stored` are the entries of a sparse X."""
    if caps.max_memory is None:
        return
    load_engine(say_compiling)  # here, as a worker that compiles it holds more than one that finds it compiled
    entries = shape[0] * shape[1] if n_stored is None else SPARSE_ENTRY * n_stored
    if trial.target not in _held:
        _held[trial.target] = _held_mb(trial)
    program, data = _held[trial.target], 8 * entries / 2**20
    if MB_PER_GB * caps.max_memory > program + data:
        return
    least = math.floor(10 * (program + data + SPARE_MB) / MB_PER_GB + 1) / 10
    raise ConfigError(
        f"runner.max_memory={caps.max_memory:g} GB is less than a worker holds before it begins a fit, {program:.0f} "
        f"MB of program and {data:.0f} MB of data: nothing was started. Set runner.max_memory={least:g} or more, or "
        "null for no cap."
    )


def _held_mb(trial):
    """Return the MB that a free worker holds once it has imported a trial's method; nan where none answers."""
    for _ in range(ASKED):
        process = processes.take()
        try:
            process.send((trial, None))
            what, content = process.connection.recv()
        except (EOFError, OSError):  # the worker was killed
            process.end()
            continue
        if what == processes.RAISED:
            process.kill()
            raise content
        processes.give_back(process, processes.n_idle() + 1)
        return content
    return math.nan


def fit_mb(trial, shape, n_stored=None):
    """Return an upper estimate of the MB of a fit beside the data; a sparse X stores `n_stored` entries."""
    if n_stored is None:
        return trial.selector().memory(*shape) / 2**20
    written_out = 8 * SELECTED_COPIES * shape[0] * max(trial.sizes)
    return max(trial.selector().memory(*shape, n_stored), written_out) / 2**20


def gb(megabytes):
    """Return megabytes as a text in GB."""
    return f"{megabytes / MB_PER_GB:.2g} GB" if megabytes < 10 * MB_PER_GB else f"{megabytes / MB_PER_GB:.0f} GB"
