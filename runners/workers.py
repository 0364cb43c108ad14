"""The processes that run tasks, and what they do with one: `runners.pool` decides which task is next."""

import functools
import os
import shutil
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path

import filelock
import numpy as np
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool

from metrics.evaluate import evaluate
from runners.trial import fit_trial

PREFIX = "ufs-bench-"  # of the folders with a copy of the data that all workers map
LOCK = ".lock"


class Workers:
    """Processes that map the data from one file, or this process itself where n_jobs is 1."""

    def __init__(self, X, y, n_jobs):
        self._X, self._y, self._n_jobs = X, y, n_jobs
        self._folder = None
        self.running = {}

    def __enter__(self):
        if self._n_jobs > 1:
            remove_leftovers()
            self._folder = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
            self._lock = filelock.FileLock(Path(self._folder, LOCK))
            self._lock.acquire(timeout=0)
            np.save(Path(self._folder, "X.npy"), self._X)
            np.save(Path(self._folder, "y.npy"), self._y)
        return self

    def __exit__(self, kind, value, trace):
        if self._folder is None:
            return
        if kind is not None:
            self._executor().shutdown(wait=False, kill_workers=True)
        self._lock.release()
        shutil.rmtree(self._folder, ignore_errors=True)

    def submit(self, task):
        if self._folder is None:
            future = Future()
            future.set_result(_run(task, self._X, self._y))
        else:
            # Noted before it is sent, so that it is not forgotten where sending fails.
            self.running[placeholder := Future()] = task
            future = self._executor().submit(_run_in_worker, task, self._folder)
            del self.running[placeholder]
        self.running[future] = task

    def wait(self, seconds):
        """(task, results) of what has ended, after `seconds` at most; BrokenProcessPool when only deaths are left."""
        done = wait(self.running, seconds, FIRST_COMPLETED).done
        whole = [future for future in done if not isinstance(future.exception(), BrokenProcessPool)]
        if done and not whole:
            raise next(iter(done)).exception()
        return [(self.running.pop(future), future.result()) for future in whole]

    def restart(self):
        """The tasks that were under way; the next one to be submitted starts new processes."""
        lost = list(self.running.values())
        self.running.clear()
        return lost

    def _executor(self):
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # The watch begins with the process, so that one whose parent dies while it starts ends, too.
        watch = {"initializer": _end_with, "initargs": (os.getpid(),)}
        return get_reusable_executor(self._n_jobs, timeout=300, env=one_thread, **watch)


def remove_leftovers():
    """Remove the copies of data that killed runs left in the temporary folder.

    The name of such a folder carries the process that made it, and a lock inside is held while that one lives: only
    where the process is gone and the lock is free, nobody uses the copy.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if not owner.isdigit() or _lives(int(owner)) or not folder.is_dir():
            continue
        try:
            with filelock.FileLock(folder / LOCK, timeout=0):
                pass
        except (filelock.Timeout, OSError):
            continue
        shutil.rmtree(folder, ignore_errors=True)


def _lives(pid):
    if os.name != "posix":  # where a signal of 0 is a signal; the lock says enough there
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


def _run(task, X, y):
    """The results of a task's items, each with its seconds."""
    if task.protocol is None:
        return [_timed(fit_trial, trial, X) for trial in task.items]
    return [_evaluated(features, X, y, task.protocol) for _, features in task.items]


def _timed(function, *args):
    started = time.perf_counter()
    return function(*args), time.perf_counter() - started


def _evaluated(features, X, y, protocol):
    """Scores and seconds; the exception in place of scores where there is one, so that it ends no other item."""
    try:
        return evaluate(features, X, y, protocol)
    except Exception as error:
        return error, 0.0


def _run_in_worker(task, folder):
    global _data_folder
    _data_folder = folder
    return _run(task, *_mapped(folder))


@functools.lru_cache(maxsize=1)
def _mapped(folder):
    """X and y, read-only and shared by all workers."""
    return tuple(np.asarray(np.load(Path(folder, name), mmap_mode="r")) for name in ("X.npy", "y.npy"))


_data_folder = None


@functools.cache
def _end_with(parent):
    """Let this worker end soon after the process that feeds it, even a killed one, instead of working on for nobody."""

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        if _data_folder is not None:
            shutil.rmtree(_data_folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
