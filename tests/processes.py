"""The processes that a test starts, found and ended by their TMPDIR, and a Dask cluster of them."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from ufs_bench.runners.code import ROOT
from ufs_bench.runners.workers.family import descendants


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


class Cluster:
    """A Dask scheduler and a worker of two threads."""

    def __init__(self, folder):
        self.address, self._folder = f"tcp://127.0.0.1:{random.Random().randint(20000, 60000)}", folder
        folder.mkdir(exist_ok=True)
        port = self.address.rpartition(":")[2]
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port)
        self._worker = self._start_worker()

    def _start_worker(self):
        words = ["--no-nanny", "--nthreads", "2", "--local-directory", str(self._folder)]
        return self._start("worker", self.address, *words)

    def _start(self, *words):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self._folder)}
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=ROOT, env=environment, **quiet)

    @property
    def pids(self):
        """Return the numbers of the scheduler and of the worker."""
        return self._scheduler.pid, self._worker.pid

    def orphans(self):
        """Return the processes that a worker has left behind."""
        known = set(self.pids) | {one for pid in self.pids for one in descendants(pid)}
        return having(self._folder) - known

    def kill_one(self):
        """Kill the worker, or a process that it has started; a new worker takes the place of a killed one."""
        chosen = random.choice([self._worker.pid, *descendants(self._worker.pid)])
        os.kill(chosen, signal.SIGKILL)
        if chosen == self._worker.pid:
            self._worker.wait()
            self._worker = self._start_worker()

    def end(self):
        """End all of it."""
        for process in (self._scheduler, self._worker):
            process.kill()
            process.wait()
