"""Watched processes: each runs the tasks that it is sent, and ends where a fit reaches a cap or the process dies.

`pool` decides which task is next, and `tasks` has what a process does with one.  Another process watches the seconds
and the memory of a fit, so that compiled code is ended, too.
"""

import signal
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait

from ufs_bench.runners.workers import processes
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.family import cpu_seconds, descendants, is_stopped, memory_mb

WATCH_S = 0.05  # seconds between two looks at fits that have a cap
LOOK_S = 1.0  # longest time between two looks, as results are stored meanwhile; beyond it, the parent was stopped


@dataclass(frozen=True)
class WorkerDied:
    """The result of a task whose process ended before it did; one that was not begun is not to blame."""

    begun: bool
    how: str = ""


class Workers:
    """Processes that run tasks on the same data, or this process itself where n_jobs is 1 and no fit has a cap.

    A task has one trial where there is any cap, and no worker is sent a second one before it has done the first.
    At the end up to `kept` processes that are free stay for a next cell, which may need more than this one.
    """

    def __init__(self, data, n_jobs, caps=None, kept=None):
        self._data, self.n_jobs, self._caps = data, n_jobs, caps or Caps()
        self._kept = n_jobs if kept is None else kept
        self._workers = []
        self._ended = []  # (task, results) that no call of `wait` has returned yet

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for worker in self._workers:
            worker.leave(self._kept)

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
        """Return the tasks that have ended, after `seconds` at most, as (task, results, WorkerDied or Stopped)."""
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
