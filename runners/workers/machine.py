"""The CPU seconds and the memory of this process, and the memory that the machine has left.

Only Linux says what memory a process holds now, and what is free: elsewhere these are nan.
"""

import math
import os
import re
import resource
import sys
import time
from pathlib import Path

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
CAN_WATCH = (PROC / "self/status").exists()


def lives(pid):
    """Return True where a process is alive."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's process
        return True
    return True


def own_cpu_seconds():
    """Return the CPU seconds of this process, and of those that it forked and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def reset_peak():
    """Reset the high-water mark of this process's memory; return True where the system allowed it (Linux)."""
    try:
        (PROC / "self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_mb():
    """Return the high-water mark of this process's memory in MB; on systems other than Linux, since its start."""
    if CAN_WATCH:
        return _mb_in(PROC / "self/status", "VmHWM")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def held_mb():
    """Return the memory that this process holds now in MB; nan where unknown."""
    return _mb_in(PROC / "self/status", "VmRSS")


def address_space():
    """Return the bytes of addresses that this process has asked for, which is what RLIMIT_AS limits (Linux)."""
    return int((PROC / "self/statm").read_text().split()[0]) * resource.getpagesize()


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
