"""The number of workers whose fits go into memory together, by the estimates of `BaseSelector.memory`."""

import functools
import math
from pathlib import Path

from metrics.kmeans import load_engine
from runners import processes
from runners.family import PROC
from runners.method import ConfigError
from runners.progress import counted, log, say_compiling
from runners.workers import MB_PER_GB

GROUPS = Path("/sys/fs/cgroup")
PROCESS_MB = 250  # taken by a worker that has imported what it needs
ASKED = 3  # workers that are tried, as each may be killed before it answers
LEFT_FREE = 0.9  # share of the free memory that fits may have: other programs' needs change


def workers_within_memory(trials, shape, n_jobs, caps):
    """Return the number of workers whose fits go into the free memory together: from 1 to `n_jobs`.

    It is `n_jobs` where the system does not say what is free.  No fit takes more than the `max_memory` of the caps.
    A ConfigError says that a single fit needs more than there is, and no cap would end it, or that a worker holds more
    than the cap before it begins a fit.
    """
    _check_cap(caps, trials[0].target, shape)
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


def _check_cap(caps, target, shape):
    """Refuse a cap that every fit would end at, whatever it does."""
    if caps.max_memory is None:
        return
    load_engine(say_compiling)  # here, as a worker that compiles it holds more than one that finds it compiled
    program, data = _held_mb(target), 8 * shape[0] * shape[1] / 2**20
    if MB_PER_GB * caps.max_memory > program + data:
        return
    least = math.floor(10 * (program + data) / MB_PER_GB + 1) / 10
    raise ConfigError(
        f"runner.max_memory={caps.max_memory:g} GB is less than a worker holds before it begins a fit, {program:.0f} "
        f"MB of program and {data:.0f} MB of data: nothing was started. Set runner.max_memory={least:g} or more, or "
        "null for no cap."
    )


@functools.cache
def _held_mb(target):
    """Return the MB that a free worker holds once it has imported a method; nan where none answers."""
    for _ in range(ASKED):
        process = processes.take()
        try:
            process.send((target, None))
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


def fit_mb(trial, shape):
    """Return an upper estimate of the MB that one fit of a trial takes beside the data."""
    return trial.selector().memory(*shape) / 2**20


def gb(megabytes):
    """Return megabytes as a text in GB."""
    return f"{megabytes / MB_PER_GB:.2g} GB" if megabytes < 10 * MB_PER_GB else f"{megabytes / MB_PER_GB:.0f} GB"


def free_mb():
    """Return the MB that new processes may take, within the limits of their control groups; nan where unknown."""
    try:
        machine = int((PROC / "meminfo").read_text().split("MemAvailable:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return float("nan")
    return min([machine, *(left / 2**20 for left in _left_in_groups())])


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
        return path.read_text()
    except OSError:
        return ""
