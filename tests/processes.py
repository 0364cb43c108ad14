"""The processes that a test starts, found and ended by their TMPDIR."""

import math
import os
import signal
import time
from contextlib import suppress
from pathlib import Path


def having(folder):
    """Return the numbers of the processes whose TMPDIR is a folder, or is inside it."""
    mark, found = f"\0TMPDIR={folder}/".encode(), set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in b"\0" + path.read_bytes().replace(b"\0", b"/\0"):
                found.add(int(path.parent.name))
    return found


def end_all(folder):
    """End every process whose TMPDIR is inside a folder, such as all that was started for a round."""
    while found := having(folder):
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def descendants(pid):
    """List the processes below one, whether they run or wait to be reaped."""
    found, left = [], [pid]
    while left:
        children = []
        with suppress(OSError):  # the process has ended; it may do so while its folder is read
            for thread in list(Path(f"/proc/{left.pop()}/task").iterdir()):
                children += map(int, (thread / "children").read_text().split())
        found += children
        left += children
    return found


def cpu_seconds(pid):
    """Return the CPU seconds of a process and of those below it; nan where it has ended."""
    own = _ticks(pid)
    ticks = [own, *map(_ticks, descendants(pid))]
    return sum(map(sum, ticks)) / os.sysconf("SC_CLK_TCK") if own else math.nan


def _ticks(pid):
    """Return the ticks of a process and of its children that have ended; none where it is gone."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return list(map(int, fields[11:15]))
    return []
