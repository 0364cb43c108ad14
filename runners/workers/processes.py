"""Worker processes, each with a pipe of its own: one of them can be killed, and the others do not notice."""

import atexit
import ctypes
import os
import pkgutil
import queue
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from os import _exit  # the original, as a fit that runs in this process may replace `os._exit`
from pathlib import Path

import filelock
from joblib.externals.loky.backend.context import get_context

from ufs_bench.runners.arithmetic import ONE_THREAD
from ufs_bench.runners.workers import family
from ufs_bench.runners.workers.family import reset_peak

IN_WORKER = (
    "runners.workers.tasks.run_in_worker"  # the function that workers run; not imported here, as that takes seconds
)
BEGUN, ENDED, RAISED = "begun", "ended", "raised"  # the messages of a worker about a task
COPY, LOCK = "ufs-bench-", ".lock"  # the names of folders with a copy of the data begin so; the lock inside
SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
LEAVE_S = 1.0  # seconds for a process whose pipe has closed to end by itself, so that its exit status is known
_idle = []  # free processes, which earlier cells of a sweep started; the last one at work is first


@dataclass(frozen=True)
class Begun:
    """The message of a worker that a task begins."""

    at: float  # seconds of the clock that all processes share
    cpu: float  # its CPU seconds so far; nan where the system does not say
    reset: bool  # True where the high-water mark of its memory counts from here


class Process:
    """A process that calls one function on each task it is sent, in the order of sending.

    The function is given by its dotted name, and only the process itself imports it, at its start.  Its first
    argument is a function that it calls when all is ready and the work itself begins; its result is sent back.
    """

    def __init__(self, function):
        context = get_context("loky")  # "spawn" would start a second copy of the running command
        self.connection, theirs = context.Pipe()
        self._mark = f"{os.getpid()}-{secrets.token_hex(16)}"
        environment = {**ONE_THREAD, family.MARK: self._mark}
        self._process = context.Process(target=_serve, args=(theirs, os.getpid(), function), env=environment)
        with _interrupts_blocked():  # Ctrl-C reaches every process of a terminal; the parent alone acts on it
            self._process.start()
        theirs.close()
        self.pid = self._process.pid
        self._handle = family.handle_of(self.pid)

    @property
    def sentinel(self):
        """The object that `multiprocessing.connection.wait` finds ready when the process has ended."""
        # A child that the process forked may hold the pipe of multiprocessing's own sentinel open.
        return self._process.sentinel if self._handle is None else self._handle

    @property
    def lives(self):
        return self._process.exitcode is None and not wait([self.sentinel], 0)

    @property
    def exit_status(self):
        """The exit status as in `multiprocessing.Process.exitcode`: below 0 for a signal; None where unknown."""
        return self._process.exitcode

    def send(self, arguments):
        """Hand over a task; raise BrokenPipeError where the process is dead."""
        self.connection.send(arguments)

    def kill(self):
        """End the process at once, whatever it runs, and all that it has forked."""
        if self.connection.closed:
            return
        if self._handle is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        elif self._process.exitcode is None:  # once it has ended, its number may be another process's
            os.kill(self.pid, signal.SIGKILL)
        self._process.join()
        family.end_marked(self._mark)
        self.connection.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def end(self):
        """Kill a process whose pipe has closed, once it has had time to end by itself."""
        wait([self.sentinel], LEAVE_S)
        self.kill()


def take():
    """Return a worker that is free, which has imported what it needs if one has, or a new one."""
    while _idle:
        process = _idle.pop(0)
        if process.lives:
            return process
        process.kill()
    return Process(IN_WORKER)


def start(count):
    """Start workers before there is work for them: they import what they need while the caller does the same."""
    while len(_idle) < count:
        _idle.append(Process(IN_WORKER))


def give_back(process, most):
    """Keep a free process for the next cell, but no more than `most` of them."""
    _idle.insert(0, process)
    while len(_idle) > most:
        _idle.pop().kill()


def n_idle():
    """Return the number of processes that are free."""
    return len(_idle)


@atexit.register
def close():
    """End the processes that are free."""
    while _idle:
        _idle.pop().kill()


def remove_leftovers():
    """Remove the copies of data that killed runs left in the temporary folder.

    The name of such a folder has the number of the process that made it, which holds a lock inside while it lives.
    Nobody uses the copy where the process is gone and the lock is free.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{COPY}*-*"):
        owner = folder.name.removeprefix(COPY).split("-")[0]
        if not owner.isdigit() or family.lives(int(owner)) or not folder.is_dir():
            continue
        try:
            with filelock.FileLock(folder / LOCK, timeout=0):
                pass
        except (filelock.Timeout, OSError):
            continue
        shutil.rmtree(folder, ignore_errors=True)


os.register_at_fork(after_in_child=_idle.clear)  # the workers belong to the parent, and not to a forked copy of it


def _serve(connection, parent, function):
    _end_with(parent)
    family.adopt_orphans()
    _let_go_in_children(connection)
    tasks = queue.SimpleQueue()
    # A thread receives the tasks, so that the sender never waits, and that the parent's end is noticed during a fit.
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    run = pkgutil.resolve_name(function)
    while True:
        arguments = tasks.get()
        try:
            if isinstance(arguments, Exception):
                raise arguments
            connection.send((ENDED, run(lambda: connection.send((BEGUN, _begun())), *arguments)))
        except Exception as error:
            connection.send((RAISED, error))


def _begun():
    return Begun(time.monotonic(), family.cpu_seconds(os.getpid()), reset_peak())


def _receive(connection, tasks):
    while True:
        try:
            arguments = connection.recv()
        except (EOFError, OSError):  # nobody is left to work for
            _exit(1)
        except Exception as error:  # such as a module that cannot be imported here
            arguments = error
        tasks.put(arguments)


def _end_with(parent):
    """Let the system kill this process when its parent dies, also within compiled code that stops all threads."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the call
        _exit(1)


def _let_go_in_children(connection):
    """Keep the children of a fit from holding the pipe to the parent open, and from outliving this process."""
    worker, by_main = os.getpid(), []

    def before():
        by_main[:] = [threading.current_thread() is threading.main_thread()]

    def in_child():
        connection.close()
        # The signal comes when the thread that forked ends, and a thread other than the main one may end early.
        if by_main[0] and sys.platform == "linux" and os.getppid() == worker:
            ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    os.register_at_fork(before=before, after_in_child=in_child)


@contextmanager
def _interrupts_blocked():
    """Start processes inside this block that never receive Ctrl-C."""
    resource_tracker.ensure_running()  # its first call unblocks Ctrl-C, so it must come before these lines
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
