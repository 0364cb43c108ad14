"""The processes that run tasks, and what they do with one: `runners.pool` decides which task is next."""

import functools
import os
import shutil
import signal
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import filelock
import numpy as np

from metrics.evaluate import evaluate
from metrics.kmeans import load_engine
from runners import processes
from runners.caps import Caps
from runners.code import CodeChanged, code_of_evaluation
from runners.family import cpu_seconds, descendants, is_stopped, memory_mb
from runners.fit import fit_trial
from runners.memory import memory_of
from runners.method import load_class
from runners.provenance import Identity

PREFIX = "ufs-bench-"  # of the names of folders with a copy of the data, which all workers map
LOCK = ".lock"
WATCH_S = 0.05  # seconds between two looks at fits that have a cap
LOOK_S = 1.0  # longest time between two looks, as results are stored meanwhile; beyond it, the parent was stopped


@dataclass(frozen=True)
class WorkerDied:
    """Takes the place of results where the process ended before its task did, killed for memory, say.

    Attributes
    ----------
    begun : bool
        True where the process had begun the task; a task that it had not begun is not to blame.
    how : str
        How the process ended, in words.
    """

    begun: bool
    how: str = ""


class Workers:
    """Processes that map the data from one file, or this process itself where n_jobs is 1 and no fit has a cap.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    n_jobs : int
    caps : Caps, optional
        With any cap, a task has one trial, and no worker is sent a second task before it has done the first.
    """

    def __init__(self, X, y, n_jobs, caps=None):
        self._X, self._y, self._n_jobs, self._caps = X, y, n_jobs, caps or Caps()
        self._folder = None
        self._workers = []
        self._ended = []  # (task, results) that no call of `wait` has returned yet

    def __enter__(self):
        if self._n_jobs > 1 or self._caps:
            remove_leftovers()
            self._folder = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
            self._lock = filelock.FileLock(Path(self._folder, LOCK))
            self._lock.acquire(timeout=0)
            np.save(Path(self._folder, "X.npy"), self._X)
            np.save(Path(self._folder, "y.npy"), self._y)
        return self

    def __exit__(self, *exception):
        if self._folder is None:
            return
        for worker in self._workers:
            worker.leave(self._n_jobs)
        self._lock.release()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def n_running(self):
        """Return the number of tasks that were submitted and have not come back."""
        return len(self._ended) + sum(len(worker.tasks) for worker in self._workers)

    def submit(self, task):
        """Run a task in this process, or send it to the worker that has the fewest tasks."""
        if self._folder is None:
            self._ended.append((task, _run(task, self._X, self._y)))
            return
        worker = min(self._workers, key=lambda worker: len(worker.tasks), default=None)
        if worker is None or (worker.tasks and len(self._workers) < self._n_jobs):
            worker = _Worker()
            self._workers.append(worker)
        worker.submit(task, self._folder)

    def wait(self, seconds):
        """Return the tasks that have ended, after `seconds` at most.

        Returns
        -------
        list of (task, results)
            In place of results there may be WorkerDied, or the Stopped of a fit that reached a cap.
        """
        deadline = time.monotonic() + seconds
        while True:
            for worker in [worker for worker in self._workers if worker.dead]:
                self._workers.remove(worker)
                self._ended += worker.lost()
            left = deadline - time.monotonic()
            if self._ended or not self._workers or left <= 0:
                break
            watched = [watched for worker in self._workers for watched in worker.watched]
            ready = wait(watched, min(left, WATCH_S) if self._caps else left)
            for worker in self._workers:
                if worker.connection in ready:
                    self._ended += worker.receive()
                elif not set(worker.watched).isdisjoint(ready):  # a process that it forked holds its pipe open
                    worker.end()
                elif stop := worker.stop_at(self._caps):
                    self._ended.append((worker.tasks.popleft(), stop))
        ended, self._ended = self._ended, []
        return ended


class _Worker:
    """A process, and the tasks that it has been sent."""

    def __init__(self):
        self._process = processes.take()
        self.connection = self._process.connection
        self.watched = (self.connection, self._process.sentinel)
        self.tasks, self.dead = deque(), False
        self._begun = self._how = None  # its message when the first of its tasks began; the words for how it ended
        self._peak = 0.0  # the largest MB seen during that task, where a cap is watched

    def submit(self, task, folder):
        self.tasks.append(task)
        try:
            self._process.send((task, folder))
        except OSError:  # it died since its last task
            self.end()

    def receive(self):
        """Return [(task, results)]; nothing where the message only says that a task has begun."""
        try:
            what, content = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            return []
        if what == processes.BEGUN:
            self._begun, self._peak = content, 0.0
            self._clock = Clock(content.at)
            return []
        task, self._begun = self.tasks.popleft(), None
        if what == processes.RAISED:
            raise content
        if task.is_fit:
            for fit, _ in content:
                fit.row["peak_mb"] = max(fit.row["peak_mb"], self._peak)  # the processes that the fit forked included
            if descendants(self._process.pid):  # they would disturb the next fit, and count as a part of it
                self.kill()
        return [(task, content)]

    def stop_at(self, caps):
        """End the fit if it has reached a cap; return its Stopped, or None."""
        if not caps or self._begun is None or not self.tasks[0].is_fit:
            return None
        pid = self._process.pid
        self._clock.look(is_stopped(pid))
        self._peak = max(self._peak, memory_mb(pid, peak=self._begun.reset))
        stop = caps.reached(cpu_seconds(pid) - self._begun.cpu, self._clock.seconds, self._peak)
        if stop is not None:
            self.kill()
        return stop

    def lost(self):
        """Return (task, WorkerDied) for each task that it was sent and has not done."""
        begun = self._begun is not None and self._how is not None
        return [(task, WorkerDied(begun and place == 0, self._how or "")) for place, task in enumerate(self.tasks)]

    def kill(self):
        self.dead = True
        self._process.kill()

    def end(self):
        """End a process that is about to end, or has ended, and note how it ended."""
        self.dead = True
        self._process.end()
        self._how = how_it_ended(self._process.exit_status)

    def leave(self, most):
        """Keep the process for the next cell; end it where it has work left, as after an error."""
        if self.tasks or self.dead:
            self.kill()
        else:
            processes.give_back(self._process, most)


class Clock:
    """The seconds of a fit by the clock, without those in which it was stopped.

    Ctrl-Z stops the process that reads the clock, too: of the time between two looks at most `LOOK_S` counts.
    """

    def __init__(self, started):
        self.seconds, self._looked = 0.0, started

    def look(self, stopped):
        now = time.monotonic()
        if not stopped:
            self.seconds += min(now - self._looked, LOOK_S)
        self._looked = now


def how_it_ended(status):
    """Return the exit status of a process in words."""
    if status is None:
        return "it is not known how"
    if status >= 0:
        return f"with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"by {name}{' (out of memory?)' if name == 'SIGKILL' else ''}"


def remove_leftovers():
    """Remove the copies of data that killed runs left in the temporary folder.

    The name of such a folder has the number of the process that made it, which holds a lock inside while it lives.
    Where the process is gone and the lock is free, nobody uses the copy.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if not owner.isdigit() or processes.lives(int(owner)) or not folder.is_dir():
            continue
        try:
            with filelock.FileLock(folder / LOCK, timeout=0):
                pass
        except (filelock.Timeout, OSError):
            continue
        shutil.rmtree(folder, ignore_errors=True)


def _run(task, X, y):
    """Return the results of a task's items, each with its seconds."""
    if task.is_fit:
        return [_timed(fit_trial, trial, X) for trial in task.items]
    return [_evaluated(features, X, y, task.protocol) for _, features in task.items]


def _timed(function, *args):
    started = time.perf_counter()
    return function(*args), time.perf_counter() - started


def _evaluated(features, X, y, protocol):
    """Return scores and seconds; an exception takes the place of the scores, so that it does not end other items."""
    try:
        return evaluate(features, X, y, protocol)
    except Exception as error:
        return error, 0.0


def run_in_worker(begin, task, folder):
    """Run a task and return its results; without a folder of data, the MB that this process now holds."""
    if folder is None:
        _mapped.cache_clear()
        load_class(task)
        load_engine()
        return memory_of("self", peak=False)
    X, y = _mapped(folder)
    # Before the task begins, as the seconds of a first import are not the fit's.
    code = {Identity.of(trial.cls) for trial in task.items} if task.is_fit else {code_of_evaluation().digest}
    if code != {task.identity if task.is_fit else task.identity.code_evaluation}:
        raise CodeChanged(
            "a file that the method or its evaluation rests on was edited after this command had begun: its workers "
            "run other code than it does. Nothing of it was stored; run the same command again."
        )
    begin()
    return _run(task, X, y)


@functools.lru_cache(maxsize=1)
def _mapped(folder):
    """Return X and y, read-only and shared by all workers."""
    return tuple(np.asarray(np.load(Path(folder, name), mmap_mode="r")) for name in ("X.npy", "y.npy"))
