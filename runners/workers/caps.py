"""The caps of one fit, how a fit ends at one, and the random generators that all code shares."""

# ruff: noqa: NPY002  # the old generator of numpy is the one that is shared

import math
import random
import resource
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ufs_bench.metrics.study import OUT_OF_MEMORY, TIMEOUT
from ufs_bench.runners.workers.machine import MB_PER_GB, address_space, peak_mb

AGAIN_S = 1.0  # CPU seconds after which a fit that has caught the exception that ends it gets another one
# Compiled code that does not return to Python ends with its worker after so many times its seconds, plus so many.
HARD_TIMES, HARD_S = 1.5, 10
# A fit is taken to hang after so many times its CPU seconds, plus so many, by the clock.  The factor allows for a
# machine with ten times as many processes as cores; the seconds leave a fit with a short cap time to read its data.
HANG_TIMES, HANG_S = 10, 60


@dataclass(frozen=True)
class Caps:
    """The caps of one fit; None stands for no cap."""

    # CPU seconds of the process that fits, so that other work on the machine ends no fit.
    max_seconds: float | None = None
    # GB that a fit may take above what its process holds before it: the interpreter, packages and the data.
    max_memory: float | None = None
    ends_process: bool = False  # True in a worker, which ends where compiled code goes on beyond its seconds

    def __bool__(self):
        return self.max_seconds is not None or self.max_memory is not None

    @property
    def hard_seconds(self):
        """CPU seconds after which a worker ends whose fit has not ended at its cap."""
        return HARD_TIMES * self.max_seconds + HARD_S


class CapReached(Exception):
    """A fit was ended at a cap."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status  # "timeout" or "out_of_memory"


class _OutOfTime(BaseException):
    """Raised inside a fit by a timer.  It is no Exception, so that a method that catches these goes on with none."""


@contextmanager
def capped(caps):
    """Raise `CapReached` where what runs inside this block goes beyond the caps; only the main thread can do that."""
    if not caps:
        yield
        return
    before, began, limits = time.process_time(), time.monotonic(), _limit(caps)
    try:
        try:
            _start_timers(caps)
            yield
        finally:
            _stop_timers()
            for which, limit in limits.items():
                resource.setrlimit(which, limit)
    except _OutOfTime as reached:
        _stop_timers()
        words = f"beyond runner.max_seconds={caps.max_seconds:g}"
        if reached.args == (signal.SIGALRM,):
            words = f"it hangs, beyond {HANG_TIMES} times runner.max_seconds={caps.max_seconds:g} and {HANG_S} s"
        raise CapReached(TIMEOUT, f"{words}: {_spent(before, began)}") from None
    except MemoryError:
        if caps.max_memory is None:
            raise
        words = f"beyond runner.max_memory={caps.max_memory:g} GB: {_spent(before, began)}"
        raise CapReached(OUT_OF_MEMORY, words) from None


def _spent(before, began):
    cpu, clock = time.process_time() - before, time.monotonic() - began
    return f"ended after {cpu:.1f} s of CPU time, {clock:.1f} s by the clock and {peak_mb():.0f} MB"


def _limit(caps):
    """Set the limits of the system for this process; return those before, by their numbers."""
    new = {}
    if caps.max_memory is not None:
        new[resource.RLIMIT_AS] = address_space() + int(caps.max_memory * MB_PER_GB * 2**20)
    if caps.max_seconds is not None and caps.ends_process:
        new[resource.RLIMIT_CPU] = math.ceil(time.process_time() + caps.hard_seconds)
    before = {which: resource.getrlimit(which) for which in new}
    for which, value in new.items():
        most = [one for one in before[which] if one != resource.RLIM_INFINITY]
        resource.setrlimit(which, (min([value, *most]), before[which][1]))
    return before


def _start_timers(caps):
    """Let `_OutOfTime` be raised after the CPU seconds of a cap, and where a fit hangs."""
    if caps.max_seconds is None:
        return
    signal.signal(signal.SIGPROF, _end_fit)
    signal.setitimer(signal.ITIMER_PROF, caps.max_seconds, AGAIN_S)
    if caps.ends_process:  # elsewhere the command has an alarm of its own
        signal.signal(signal.SIGALRM, _end_fit)
        signal.setitimer(signal.ITIMER_REAL, HANG_TIMES * caps.max_seconds + HANG_S, AGAIN_S)


def _stop_timers():
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 0)
    if signal.getsignal(signal.SIGALRM) is _end_fit:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _end_fit(number, _):
    raise _OutOfTime(number)


@contextmanager
def seeded(seed):
    """Seed the generators of numpy and of Python for a fit, and put back what they were.

    A method that takes no `random_state`, or hands none on to scikit-learn, would have other numbers at every run.
    """
    before = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
