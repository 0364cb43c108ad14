"""The memory that fits take, by the estimates of `BaseSelector.memory`, and how many go into it together."""

import math

from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.progress import log
from ufs_bench.runners.words import counted
from ufs_bench.runners.workers.caps import MB_PER_GB
from ufs_bench.runners.workers.machine import free_mb

PROCESS_MB = 250  # taken by a worker that has imported what it needs
SELECTED_COPIES = 3  # dense copies of the selected features of a sparse X: themselves, and two in K-means
LEFT_FREE = 0.9  # share of the free memory that fits may have: other programs' needs change


def workers_within_memory(trials, shape, n_jobs, caps, n_stored=None):
    """Return the number of workers whose fits go into the free memory together: from 1 to `n_jobs`.

    It is `n_jobs` where the system does not say what is free.  `n_stored` are the entries of a sparse X.  No fit takes
    more than the `max_memory` of the caps.  A ConfigError says that a single fit needs more than there is, and no cap
    would end it.
    """
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
    most = max(int(free / here), 1)
    if most < n_jobs:
        log.info(
            "  %s in place of %d: one takes about %s, and %s may be used", counted(most, "worker"), n_jobs, gb(here),
            gb(free),
        )  # fmt: skip
    return min(most, n_jobs)


def fit_mb(trial, shape, n_stored=None):
    """Return an upper estimate of the MB of a fit beside the data; a sparse X stores `n_stored` entries."""
    if n_stored is None:
        return trial.selector().memory(*shape) / 2**20
    written_out = 8 * SELECTED_COPIES * shape[0] * max(trial.sizes)
    return max(trial.selector().memory(*shape, n_stored), written_out) / 2**20


def gb(megabytes):
    """Return megabytes as a text in GB."""
    return f"{megabytes / MB_PER_GB:.2g} GB" if megabytes < 10 * MB_PER_GB else f"{megabytes / MB_PER_GB:.0f} GB"
