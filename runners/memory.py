"""Memory, as Linux reports it: that of a process, and that of the machine as far as this process may use it."""

from pathlib import Path

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
CAN_WATCH = (PROC / "self/status").exists()


def reset_peak():
    """Reset the high-water mark of this process's memory; return True where the system allowed it (Linux)."""
    try:
        (PROC / "self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def memory_of(pid, peak=True):
    """Return the largest memory of a process since its mark was reset, or its current one, in MB; nan where unknown.

    Parameters
    ----------
    pid : int or str
    peak : bool, default=True
    """
    try:
        status = (PROC / str(pid) / "status").read_text()
        return int(status.split("VmHWM:" if peak else "VmRSS:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return float("nan")


def peak_mb():
    """Return the high-water mark of this process's memory in MB; on systems other than Linux, since its start."""
    if CAN_WATCH:
        return memory_of("self")
    import resource
    import sys

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def free_mb():
    """Return the MB that new processes may take: the machine's free memory, within the limits of its control groups.

    Returns
    -------
    float
        nan where the system does not say.
    """
    try:
        machine = int((PROC / "meminfo").read_text().split("MemAvailable:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return float("nan")
    return min([machine, *(left / 2**20 for left in _left_in_groups())])


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
        return path.read_text()
    except OSError:
        return ""
