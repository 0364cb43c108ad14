"""Runs the fits of a cell in joblib's worker processes (loky): one that ends its worker fails alone, the others go on.

The executor of joblib is used itself, as `joblib.Parallel` cannot have one worker, nor say while it waits that nothing
has ended.  It says that a worker died, but not which task was to blame: what was under way runs again, one at a time.
"""

import ctypes
import os
import re
import resource
import signal
import sys
from collections import deque
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from multiprocessing import resource_tracker

from joblib.externals.loky import FIRST_COMPLETED, get_reusable_executor, wait

from ufs_bench.metrics.study import TIMEOUT
from ufs_bench.runners.arithmetic import ONE_THREAD
from ufs_bench.runners.code import CodeChanged
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.workers import outside
from ufs_bench.runners.workers.caps import CapReached, Caps
from ufs_bench.runners.workers.data import opened
from ufs_bench.runners.workers.fit import failure, run_trial, stopped

TICK_S = 1.0  # seconds after which a run in which nothing ends still yields to its caller
IDLE_S = 300  # seconds after which a worker without work ends
OUT_OF_TIME = "SIGXCPU"  # the signal that ends a worker beyond its CPU seconds
QUIET = "ignore:resource_tracker"  # warnings of locks that workers left which were ended by a full disk or Ctrl-C
SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


class Workers:
    """The workers of this process: whose fits they run, how many they are, and their executor."""

    runs, count, executor = None, 0, None


def run_all(trials, data, n_jobs, caps=None, fits=()):
    """Run trials of one data set and one protocol, and yield lists of their outcomes as they come.

    A list is empty now and then.  A trial whose worker dies comes back as failed, and the others go on.  Trials are not
    scored where the `Data` have no classes.  `fits` has pairs (trial, row of its stored fit) that are only scored.
    Each process evaluates a feature set once.

    One job without caps runs in this process, unless that has imported a method from outside the suite: these have
    workers that run no other methods.  What has no file, as in a notebook, is fitted in this process.
    """
    tasks = [(trial, None) for trial in trials] + list(fits)
    if not tasks:
        return
    first, caps = tasks[0][0], caps or Caps()
    outside.note(first.target)
    if not outside.in_file(first.target) or (n_jobs == 1 and not caps and not outside.imported):
        known = {}
        yield from ([run_trial(trial, *data.arrays, caps, known, row)] for trial, row in tasks)
        return
    identity, caps = Identity.of(first.cls), replace(caps, ends_process=True)
    _end_others((first.target, identity.code_fit) if outside.is_outside(first.target) else outside.OURS)
    try:
        with data.shared(scaled=not outside.imported) as source:
            call = partial(_run_in_worker, source, identity, caps)
            for ended in _each(call, tasks, n_jobs):
                yield [_outcome(task, result, caps) for task, result in ended]
    except BaseException:
        close()
        raise


def close():
    """End all workers, whatever they run."""
    if Workers.executor is not None:
        Workers.executor.shutdown(wait=True, kill_workers=True)
    Workers.executor, Workers.count = None, 0


def _end_others(runs):
    """End the workers that were started for other methods than these."""
    if Workers.runs != runs:
        close()
    Workers.runs = runs


def _executor(n_jobs):
    """Return the executor, with as many workers as a cell has asked for since they were last ended."""
    Workers.count = max(Workers.count, n_jobs)
    if QUIET not in sys.warnoptions:  # which loky's process that cleans up behind workers takes over
        sys.warnoptions.append(QUIET)
    how = {"timeout": IDLE_S, "initializer": _begin, "initargs": (os.getpid(),), "env": ONE_THREAD}
    Workers.executor = get_reusable_executor(Workers.count, **how)
    return Workers.executor


def _each(function, tasks, n_jobs):
    """Run tasks, which are tuples of arguments, and yield lists of (task, result) as they end.

    The result is a BrokenProcessPool where a worker died each time it ran the task.
    """
    waiting = deque(tasks)
    while waiting:
        lost, error = yield from _together(function, waiting, n_jobs)
        if len(lost) == 1 and OUT_OF_TIME in str(error):  # it would take the same seconds again
            yield [(lost[0], error)]
            continue
        for task in lost:
            alone = deque([task])
            while alone:
                again, error = yield from _together(function, alone, 1)
                yield [(one, error) for one in again]


def _together(function, waiting, n_jobs):
    """Run the tasks that wait until none is left or a worker dies; return those under way then, and the error."""
    executor, running, lost, error = _executor(n_jobs), {}, [], None
    while running or (waiting and error is None):
        while waiting and len(running) < n_jobs and error is None:
            try:
                with _interrupts_blocked():
                    running[executor.submit(function, *waiting[0])] = waiting[0]
                waiting.popleft()
            except BrokenProcessPool as died:
                error = died
        ended = []
        for future in wait(running, TICK_S, FIRST_COMPLETED).done:
            task = running.pop(future)
            try:
                ended.append((task, future.result()))
            except BrokenProcessPool as died:
                error = died
                lost.append(task)
        yield ended
    return lost, error


def _outcome(task, result, caps):
    """Return what a worker has returned for a trial, or the outcome of one that its worker died of."""
    if not isinstance(result, BrokenProcessPool):
        return result
    trial, row = task
    if OUT_OF_TIME in str(result):
        words = f"beyond runner.max_seconds={caps.max_seconds:g}: its worker was ended, as compiled code did not end"
        return stopped(trial, CapReached(TIMEOUT, words), caps.hard_seconds)
    codes = re.findall(r"(\w+)\((-?\d+)\)", str(result))
    how = ", ".join(f"with exit status {code}" if name == "EXIT" else f"by {name}" for name, code in codes)
    if "SIGKILL" in how:
        how += " (out of memory?)"
    error = RuntimeError(f"the worker process died while it ran this trial, {how or 'unseen'}")
    return failure(trial, error, row)


# --- in a worker


def _begin(parent):
    """Let the system end this process with its parent, also within compiled code, and without a file of its memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the call
        os._exit(1)


def _run_in_worker(source, identity, caps, trial, row):
    """Return the outcome of a trial; refuse it where this process would run other code than its parent."""
    if Identity.of(trial.cls) != identity:  # before the fit, as the seconds of a first import are not the fit's
        raise CodeChanged(
            "a file that the method or its evaluation rests on was edited after this command had begun: its workers "
            "run other code than it does. Nothing of it was stored; run the same command again."
        )
    return run_trial(trial, *opened(source), caps, _known(source), row)


@lru_cache(maxsize=1)
def _known(_):
    """Return the scores of feature sets of the cell with this source, which this worker adds to."""
    return {}


@contextmanager
def _interrupts_blocked():
    """Start processes inside this block that never receive Ctrl-C, as the parent alone acts on it."""
    resource_tracker.ensure_running()  # its first call unblocks Ctrl-C, so it must come before these lines
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
