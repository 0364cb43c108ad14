"""Worker processes, each with a pipe of its own: one of them can be killed, and the others do not notice."""

import atexit
import ctypes
import os
import pkgutil
import queue
import signal
import sys
import threading
from contextlib import contextmanager
from multiprocessing import resource_tracker

from joblib.externals.loky.backend.context import get_context

from runners.memory import reset_peak

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
IN_WORKER = "runners.workers.run_in_worker"  # what the workers of a run do; not imported here, as that takes seconds
BEGUN, ENDED, RAISED = "begun", "ended", "raised"  # what a worker says of a task
SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
_idle = []  # started by earlier cells of a sweep, and free


class Process:
    """A process that runs one function on what it is sent, in the order in which it is sent.

    Parameters
    ----------
    function : str
        Dotted name of a function, which only the process itself imports, and at once.  Its first argument is a function
        that it calls when all is ready and the work itself begins; what it returns is sent back.
    """

    def __init__(self, function):
        context = get_context("loky")  # starts no second copy of the command that runs, as "spawn" would
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, os.getpid(), function), env=ONE_THREAD)
        with _interrupts_blocked():  # Ctrl-C reaches every process of a terminal; the parent alone acts on it
            self._process.start()
        theirs.close()
        self.pid = self._process.pid

    @property
    def lives(self):
        return self._process.exitcode is None

    def send(self, arguments):
        """Hand over a task; BrokenPipeError where the process is dead."""
        self.connection.send(arguments)

    def kill(self):
        """End the process at once, whatever it runs."""
        if os.name == "posix":
            os.kill(self.pid, signal.SIGKILL)  # a zombie until it is joined, so the number is nobody else's
        else:
            self._process.terminate()
        self._process.join()
        self.connection.close()


def lives(pid):
    """Whether a process goes on; False where the system cannot be asked."""
    if os.name != "posix":  # where a signal of 0 is a signal
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


def take():
    """A worker that is free, or a new one."""
    while _idle:
        process = _idle.pop()
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
    _idle.append(process)
    while len(_idle) > most:
        _idle.pop().kill()


def n_idle():
    """Number of processes that are free."""
    return len(_idle)


@atexit.register
def close():
    """End the processes that are free."""
    while _idle:
        _idle.pop().kill()


def _serve(connection, parent, function):
    _end_with(parent)
    tasks = queue.SimpleQueue()
    # A thread takes what comes, so that the sender never waits, and hears of the parent's end during a fit.
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    run = pkgutil.resolve_name(function)
    while True:
        arguments = tasks.get()
        try:
            if isinstance(arguments, Exception):
                raise arguments
            connection.send((ENDED, run(lambda: connection.send((BEGUN, reset_peak())), *arguments)))
        except Exception as error:
            connection.send((RAISED, error))


def _receive(connection, tasks):
    while True:
        try:
            arguments = connection.recv()
        except (EOFError, OSError):  # nobody is left to work for
            os._exit(1)
        except Exception as error:  # of what cannot be imported here
            arguments = error
        tasks.put(arguments)


def _end_with(parent):
    """Let the system kill this process when its parent dies, also within compiled code that stops all threads."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.name == "posix" and os.getppid() != parent:  # it died before
        os._exit(1)


@contextmanager
def _interrupts_blocked():
    """Processes started inside never hear of Ctrl-C."""
    if os.name != "posix":
        yield
        return
    resource_tracker.ensure_running()  # the first time it lifts every block of Ctrl-C, so not between these lines
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
