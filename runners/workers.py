"""Watched processes: each runs the tasks that it is sent, and ends where a fit reaches a cap or the process dies.

`runners.pool` decides which task is next, and `runners.tasks` has what a process does with one.  Another process
watches the seconds and the memory of a fit, so that compiled code is ended, too.  No more of them are started than have
fits that go into memory together, by the estimates of `BaseSelector.memory`.
"""

import functools
import math
import signal
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait

from metrics.kmeans import load_engine
from runners import processes
from runners.family import MB_PER_GB, Caps, cpu_seconds, descendants, free_mb, is_stopped, memory_mb
from runners.method import ConfigError
from runners.progress import counted, log, say_compiling

PROCESS_MB = 250  # taken by a worker that has imported what it needs
ASKED = 3  # workers that are asked what they hold, as each may be killed before it answers
SPARSE_ENTRY = 1.5  # numbers of 8 bytes that an entry of a sparse X takes, with its column
SELECTED_COPIES = 3  # dense copies of the selected features of a sparse X: themselves, and two in K-means
LEFT_FREE = 0.9  # share of the free memory that fits may have: other programs' needs change
WATCH_S = 0.05  # seconds between two looks at fits that have a cap
LOOK_S = 1.0  # longest time between two looks, as results are stored meanwhile; beyond it, the parent was stopped


@dataclass(frozen=True)
class WorkerDied:
    """Takes the place of results where the process ended before its task did, killed for memory, say.

    A task that it had not begun is not to blame; `how` says in words how the process ended.
    """

    begun: bool
    how: str = ""


class Workers:
    """Processes that run tasks on the same data, or this process itself where n_jobs is 1 and no fit has a cap.

    With any cap, a task has one trial, and no worker is sent a second task before it has done the first.
    """

    def __init__(self, data, n_jobs, caps=None):
        self._data, self.n_jobs, self._caps = data, n_jobs, caps or Caps()
        self._workers = []
        self._ended = []  # (task, results) that no call of `wait` has returned yet

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for worker in self._workers:
            worker.leave(self.n_jobs)

    @property
    def n_running(self):
        """Return the number of tasks that were submitted and have not come back."""
        return len(self._ended) + sum(len(worker.tasks) for worker in self._workers)

    def submit(self, task):
        """Run a task in this process, or send it to the worker that has the fewest tasks."""
        if self.n_jobs == 1 and not self._caps:
            self._ended.append((task, task.run(*self._data.arrays)))
            return
        worker = min(self._workers, key=lambda worker: len(worker.tasks), default=None)
        if worker is None or (worker.tasks and len(self._workers) < self.n_jobs):
            worker = Worker(self._caps)
            self._workers.append(worker)
        worker.submit(task, self._data.source)

    def wait(self, seconds):
        """Return the tasks that have ended, after `seconds` at most, as (task, results).

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
                self._ended += worker.look(ready)
        ended, self._ended = self._ended, []
        return ended


class Worker:
    """A process, the tasks that it has been sent, and the watch over their caps."""

    def __init__(self, caps):
        self._caps = caps
        self._process = processes.take()
        self.connection = self._process.connection
        self.watched = (self.connection, self._process.sentinel)
        self.tasks, self.dead = deque(), False
        self._begun = self._how = None  # its message when the first of its tasks began; the words for how it ended
        self._peak = 0.0  # the largest MB seen during that task, where a cap is watched

    def submit(self, task, source):
        """Send a task; `source` says where the process finds the data."""
        self.tasks.append(task)
        try:
            self._process.send((task, source))
        except OSError:  # it died since its last task
            self.end()

    def look(self, ready):
        """Return [(task, results)] of a task that has ended; `ready` are the handles that have something to say."""
        if self.connection in ready:
            return self._receive()
        if not set(self.watched).isdisjoint(ready):  # a process that it forked holds its pipe open
            self.end()
        elif stop := self._stop():
            return [(self.tasks.popleft(), stop)]
        return []

    def _receive(self):
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

    def _stop(self):
        """End the fit if it has reached a cap; return its Stopped, or None."""
        if not self._caps or self._begun is None or not self.tasks[0].is_fit:
            return None
        pid = self._process.pid
        self._clock.look(is_stopped(pid))
        self._peak = max(self._peak, memory_mb(pid, peak=self._begun.reset))
        stop = self._caps.reached(cpu_seconds(pid) - self._begun.cpu, self._clock.seconds, self._peak)
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


def workers_within_memory(trials, shape, n_jobs, caps, n_stored=None):
    """Return the number of workers whose fits go into the free memory together: from 1 to `n_jobs`.

    It is `n_jobs` where the system does not say what is free.  `n_stored` are the entries of a sparse X.  No fit takes
    more than the `max_memory` of the caps.  A ConfigError says that a single fit needs more than there is, and no cap
    would end it, or that a worker holds more than the cap before it begins a fit.
    """
    check_cap(caps, trials[0].target, shape, n_stored)
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


def check_cap(caps, target, shape, n_stored=None):
    """Refuse a cap that every fit would end at, whatever it does; `n_stored` are the entries of a sparse X."""
    if caps.max_memory is None:
        return
    load_engine(say_compiling)  # here, as a worker that compiles it holds more than one that finds it compiled
    entries = shape[0] * shape[1] if n_stored is None else SPARSE_ENTRY * n_stored
    program, data = _held_mb(target), 8 * entries / 2**20
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


def fit_mb(trial, shape, n_stored=None):
    """Return an upper estimate of the MB that one fit of a trial takes beside the data.

    Of a sparse X, which stores `n_stored` entries, it is that of the selected features written out where that is more.
    """
    if n_stored is None:
        return trial.selector().memory(*shape) / 2**20
    written_out = 8 * SELECTED_COPIES * shape[0] * max(trial.sizes)
    return max(trial.selector().memory(*shape, n_stored), written_out) / 2**20


def gb(megabytes):
    """Return megabytes as a text in GB."""
    return f"{megabytes / MB_PER_GB:.2g} GB" if megabytes < 10 * MB_PER_GB else f"{megabytes / MB_PER_GB:.0f} GB"
