"""The CPU seconds and the memory of this process, and the memory that the machine has left.

Only Linux says what memory a process holds now, and what is free: elsewhere these are nan.
"""

import math
import os
import re
import resource
import sys
import time
from pathlib import Path

from ufs_bench.runners.messages import ConfigError, counted
from ufs_bench.runners.progress import log
from ufs_bench.runners.workers import outside

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
CAN_WATCH = (PROC / "self/status").exists()
MB_PER_GB = 1024  # `peak_mb` counts in units of 1024 * 1024 bytes


def lives(pid):
    """Return True where a process is alive."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's process
        return True
    return True


def own_cpu_seconds():
    """Return the CPU seconds of this process, and of those that it forked and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def reset_peak():
    """Reset the high-water mark of this process's memory; return True where the system allowed it (Linux)."""
    try:
        (PROC / "self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_mb():
    """Return the high-water mark of this process's memory in MB; on systems other than Linux, since its start."""
    if CAN_WATCH:
        return _mb_in(PROC / "self/status", "VmHWM")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def address_space():
    """Return the bytes of addresses that this process has asked for, which is what RLIMIT_AS limits (Linux)."""
    return int((PROC / "self/statm").read_text().split()[0]) * resource.getpagesize()


def free_mb():
    """Return the MB that new processes may take, within the limits of their control groups; nan where unknown."""
    machine = _mb_in(PROC / "meminfo", "MemAvailable")
    return min([machine, *(left / 2**20 for left in _left_in_groups())])  # nan stays, as it is the first


def _mb_in(path, name):
    """Return the MB that a line of a file states, such as "VmRSS:  1024 kB"; nan where there is none."""
    found = re.search(rf"^{name}:\s*(\d+)", _text(path), re.MULTILINE)
    return int(found[1]) / 1024 if found else math.nan


def _left_in_groups():
    """List the bytes that are left in each control group of this process that has a limit, of either version."""
    for line in _text(PROC / "self/cgroup").splitlines():
        _, controllers, inside = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = GROUPS / "memory" if controllers else GROUPS
        names = ("limit_in_bytes", "usage_in_bytes", "total_inactive_file")
        limit, usage, cached = names if controllers else ("max", "current", "inactive_file")
        folder = root / inside.lstrip("/")
        for group in [folder, *folder.parents]:
            most, used = _text(group / f"memory.{limit}").strip(), _text(group / f"memory.{usage}").strip()
            if most.isdigit() and used.isdigit():
                stat = dict(line.split() for line in _text(group / "memory.stat").splitlines())
                yield max(int(most) - int(used) + int(stat.get(cached, 0)), 0)
            if group == root:
                break


def _text(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


PROCESS_MB = 250  # taken by a worker that has imported what it needs
SELECTED_COPIES = 3  # dense copies of the selected features of a sparse X: themselves, and two in K-means
SCALED_COPIES = 2  # of the data: for K-means, and for a method that wants another scaling
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
    here = PROCESS_MB + min(need, cap) + own_data_mb(trial, shape, n_stored)
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


def own_data_mb(trial, shape, n_stored=None):
    """Return the MB of the data that a worker scales itself, beside methods from outside the suite; 0 otherwise."""
    if not (outside.imported or outside.is_outside(trial.target)):
        return 0.0
    entries = shape[0] * shape[1] if n_stored is None else 1.5 * n_stored  # the place of one takes 4 bytes
    return 8 * SCALED_COPIES * entries / 2**20


def gb(megabytes):
    """Return megabytes as a text in GB."""
    return f"{megabytes / MB_PER_GB:.2g} GB" if megabytes < 10 * MB_PER_GB else f"{megabytes / MB_PER_GB:.0f} GB"
