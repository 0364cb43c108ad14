"""How many fits go into memory at once, by the estimate that every method gives of its own: `BaseSelector.memory`."""

import math

from runners import processes
from runners.caps import MB_PER_GB
from runners.memory import free_mb
from runners.method import ConfigError
from runners.progress import counted, log

PROCESS_MB = 250  # of a worker that has imported what it needs
LEFT_FREE = 0.9  # share of the free memory that fits may have: what else runs moves, too


def workers_within_memory(trials, shape, n_jobs, caps):
    """The number of workers whose fits go into the free memory together.

    Parameters
    ----------
    trials : list of Trial
        Of one cell.
    shape : (int, int)
        Of the data.
    n_jobs : int
        As many as are asked for.
    caps : Caps
        No fit takes more than its `max_memory`.

    Returns
    -------
    int
        From 1 to `n_jobs`; `n_jobs` where the system does not say what is free.

    Raises
    ------
    ConfigError
        Where a single fit needs more than there is, and no cap would end it.
    """
    free = LEFT_FREE * free_mb()
    trial, need = max(((trial, fit_mb(trial, shape)) for trial in trials), key=lambda pair: pair[1])
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


def fit_mb(trial, shape):
    """MB that one fit of a trial is estimated to take beside the data, from above."""
    return trial.selector().memory(*shape) / 2**20


def gb(megabytes):
    """Megabytes as text, in GB."""
    return f"{megabytes / MB_PER_GB:.2g} GB" if megabytes < 10 * MB_PER_GB else f"{megabytes / MB_PER_GB:.0f} GB"
