"""A process with all that it has forked, as Linux tells it: what they spend together, and their end.

On other systems nothing is known of other processes: seconds and memory are nan, and nobody has forked anything.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

from runners.memory import PROC, memory_of

SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux
ROUNDS = 100  # of looking for processes to end: one that forks all the time must not hold up the caller for ever
MARK = "UFS_BENCH_WORKER"  # in the environment of a worker, and so of what it forks


def adopt_orphans():
    """Let what this process forks stay below it, also when what forked it has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid):
    """The processes below one, whether they run or wait to be reaped.

    Parameters
    ----------
    pid : int

    Returns
    -------
    list of int
    """
    found, left = [], [pid]
    while left:
        children = []
        for path in (PROC / str(left.pop()) / "task").glob("*/children"):
            with suppress(OSError):  # the thread has ended
                children += map(int, path.read_text().split())
        found += children
        left += children
    return found


def cpu_seconds(pid):
    """CPU seconds of a process and of those below it, in all threads, the ones that have ended included; or nan."""
    try:
        spent = _ticks(pid)
    except (OSError, IndexError):
        return float("nan")
    for child in descendants(pid):
        with suppress(OSError, IndexError):
            spent += _ticks(child)
    return spent / os.sysconf("SC_CLK_TCK")


def memory_mb(pid, peak=True):
    """Memory of a process and of those below it, in MB; nan where unknown.

    Parameters
    ----------
    pid : int
    peak : bool, default=True
        Of a process that has forked nothing, the largest since its mark was set anew, and not what it holds now.
    """
    children = descendants(pid)
    # Of a child only what it shares with nobody: at first all of it is its parent's, and counted there.
    return memory_of(pid, peak=peak and not children) + sum(map(_private_mb, children))


def is_stopped(pid):
    """True where a process was stopped, as by Ctrl-Z, and does not run until it is told to go on."""
    try:
        return _fields(pid)[0] in "Tt"
    except (OSError, IndexError):
        return False


def end_marked(mark):
    """End what a worker has forked, also what no longer is below it; call it when the worker has ended.

    Parameters
    ----------
    mark : str
        The value of `MARK` that the worker was started with, and nobody else.
    """
    if not hasattr(os, "pidfd_open"):
        return
    entry = f"{MARK}={mark}".encode()
    for _ in range(ROUNDS):
        if not sum([_end(int(path.name), entry) for path in PROC.glob("[0-9]*")]):
            return


def handle_of(pid):
    """A file descriptor that stands for a process and for no later one of its number; None where there is none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, an old one, or a container that forbids it
        return None


def _end(pid, entry):
    """End a process whose environment has an entry; whether there was one."""
    if entry not in _environment(pid):
        return False
    handle = handle_of(pid)
    if handle is None:
        return False
    try:
        # Asked again, as the number may have become somebody else's before the handle was there.
        if entry not in _environment(pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    except OSError:  # it ended by itself, or may not be ended by us
        return False
    finally:
        os.close(handle)


def _environment(pid):
    """The entries that a process was started with; none of one that has ended, or is not ours to read."""
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _private_mb(pid):
    """MB that no other process shares."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _ticks(pid):
    """Clock ticks that a process, and those of its children that it has waited for, spent."""
    return sum(map(int, _fields(pid)[11:15]))


def _fields(pid):
    """What /proc says of a process, from its state on: its name, which may hold anything, stands before."""
    return (PROC / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
