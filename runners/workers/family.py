"""A process and all that it has forked, as Linux reports them: what they spend, when that is too much, how they end.

Other systems do not report on other processes: seconds and memory are nan there, and no descendants are found.
"""

import ctypes
import itertools
import math
import os
import re
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
CAN_WATCH = (PROC / "self/status").exists()
SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux
ROUNDS = 100  # searches for processes to end: one that forks all the time must not keep the caller for ever
MARK = "UFS_BENCH_WORKER"  # a variable in the environment of a worker, which the processes that it forks inherit


def adopt_orphans():
    """Keep all descendants of this process below it, also when the process that forked them has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def lives(pid):
    """Return True where a process is alive."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's process
        return True
    return True


def descendants(pid):
    """List the processes below one, whether they run or wait to be reaped."""
    found, left = [], [pid]
    while left:
        children = []
        with suppress(OSError):  # the process has ended; it may do so while its folder is read
            for thread in list((PROC / str(left.pop()) / "task").iterdir()):
                children += map(int, _text(thread / "children").split())
        found += children
        left += children
    return found


def own_cpu_seconds():
    """Return the CPU seconds of this process, and of those that it forked and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def cpu_seconds(pid):
    """Return the CPU seconds of a process and of those below it, with threads that have ended; nan where unknown."""
    own = _fields(pid)
    ticks = [fields[11:15] for fields in (own, *map(_fields, descendants(pid)))]  # with those of children that ended
    return sum(map(int, itertools.chain(*ticks))) / os.sysconf("SC_CLK_TCK") if own else math.nan


def memory_mb(pid, peak=True):
    """Return the MB of a process and those below it, with `peak` the most of one that forked nothing; or nan."""
    children = descendants(pid)
    # Only a child's private memory counts: at first it shares all of its memory with its parent, where it is counted.
    return memory_of(pid, peak=peak and not children) + sum(map(_private_mb, children))


def is_stopped(pid):
    """Return True where a process was stopped, as by Ctrl-Z, and does not run until it is told to go on."""
    return _fields(pid)[:1] in (["T"], ["t"])


def end_marked(mark):
    """End all processes that an ended worker has forked, by its `MARK`, also those no longer below it."""
    if not hasattr(os, "pidfd_open"):
        return
    entry = f"{MARK}={mark}".encode()
    for _ in range(ROUNDS):
        if not sum([_end(int(path.name), entry) for path in PROC.glob("[0-9]*")]):
            return


def handle_of(pid):
    """Return a file descriptor for a process, which never stands for a later process of the same number; or None."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, an old one, or a container that forbids it
        return None


def _end(pid, entry):
    """End a process whose environment has an entry; return True where it has."""
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
    except OSError:  # it ended by itself, or belongs to another user
        return False
    finally:
        os.close(handle)


def _environment(pid):
    """Return the environment that a process was started with; empty where it has ended or belongs to another user."""
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _private_mb(pid):
    """Return the MB of a process that no other process shares; 0 where it has ended."""
    lines = _text(PROC / str(pid) / "smaps_rollup").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _fields(pid):
    """Return the fields of a process in /proc from its state on, which follow its name; none where it has ended."""
    return _text(PROC / str(pid) / "stat").rpartition(")")[2].split()  # a name may hold any character


def reset_peak():
    """Reset the high-water mark of this process's memory; return True where the system allowed it (Linux)."""
    try:
        (PROC / "self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def memory_of(pid, peak=True):
    """Return the largest memory of a process since its mark was reset, or its current one, in MB; nan where unknown."""
    return _mb_in(PROC / str(pid) / "status", "VmHWM" if peak else "VmRSS")


def peak_mb():
    """Return the high-water mark of this process's memory in MB; on systems other than Linux, since its start."""
    if CAN_WATCH:
        return memory_of("self")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def free_mb():
    """Return the MB that new processes may take, within the limits of their control groups; nan where unknown."""
    machine = _mb_in(PROC / "meminfo", "MemAvailable")
    return min([machine, *(left / 2**20 for left in _left_in_groups())])  # nan stays, as it is the first


def _mb_in(path, name):
    """Return the MB that a line of a file states, such as "VmRSS:  1024 kB"; nan where there is none."""
    found = re.search(rf"^{name}:\s*(\d+)", _text(path), re.MULTILINE)
    return int(found[1]) / 1024 if found else math.nan


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
        return path.read_text(errors="replace")
    except OSError:
        return ""
