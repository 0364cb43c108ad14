"""Commands as processes of their own, forked from one that has imported the packages of others, which takes seconds.

`run` waits for the end of a command; `start` does not, so that it can be killed, or run beside another.

A forked command imports all modules of this project itself, has its own arguments, environment and working folder, and
ends as Python does, but that the objects of the packages are not freed one by one, which takes longer than many a
command.  What depends on how packages are imported, or on the first moments of a process, is tested with
`subprocess`.

The workers of pytest-xdist have one server (tests/conftest.py), `fork_server.py`.
"""

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

READ_AT_IMPORT = ("MPL", "MKL", "NPY", "NUMBA", "OMP", "OPENBLAS", "PYTHON")  # beginnings of names of variables
OWN = ("PYTHONPATH",)  # those of them that are given to a command all the same
SERVER = Path(__file__).with_name("fork_server.py")


def run(words, cwd, environment=None, timeout=300, stdout=None):
    """Run ``python WORDS``, which begin with a file, with -m and a module, or with -c and a program.

    Parameters
    ----------
    words : list of str
    cwd : path
    environment : dict, optional
        By default that of this process.
    timeout : float, default=300
        Seconds.
    stdout : path, optional
        A file that takes the standard output, which is not returned then.

    Returns
    -------
    subprocess.CompletedProcess
        With texts, as of `subprocess.run`.
    """
    environment = dict(os.environ if environment is None else environment)
    if _of_packages(environment) != _of_packages(os.environ) or _runs_at_start(environment):
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(stdout or Path(folder, "stdout")), Path(folder, "stderr")]
        status, _ = Started(words, cwd, environment, files).wait(timeout)
        texts = ["" if stdout else files[0].read_text(), files[1].read_text()]
    return subprocess.CompletedProcess([sys.executable, *words], status, *texts)


def printed(words, cwd, environment=None):
    """Return what a command prints, which must succeed; the parameters are those of `run`."""
    done = run(words, cwd, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def said(command):
    """Run ``[sys.executable, *WORDS]`` here, print all it says on the standard error, and return its exit status."""
    done = run(command[1:], Path.cwd())
    print(done.stdout + done.stderr, file=sys.stderr)
    return done.returncode


def start(words, cwd, folder, environment=None):
    """Start ``python WORDS``, as the first process of a group of its own, and do not wait for its end.

    Parameters
    ----------
    words, cwd, environment
        As for `run`, but for the variables that are read at the start of Python or of a package.
    folder : path
        Where the file of what it says may lie.

    Returns
    -------
    Started
    """
    said = Path(tempfile.NamedTemporaryFile(dir=folder, delete=False).name)  # noqa: SIM115
    return Started(words, cwd, dict(os.environ if environment is None else environment), [said, said])


class Started:
    """A command that was started, with the number of its process in `pid`."""

    def __init__(self, words, cwd, environment, files):
        """Ask the server for it; of the files the first takes the standard output, the second the errors."""
        self._said, self._status, self._socket = files[1], None, socket.socket(socket.AF_UNIX)
        self._socket.connect(_joined[0] if _joined else address())
        self._file = self._socket.makefile("rwb", buffering=0)  # as `select` does not see what a buffer holds
        request = {"words": list(map(str, words)), "cwd": cwd, "environment": environment, "files": files}
        self._file.write(json.dumps(request, default=str).encode() + b"\n")
        self.pid = int(self._file.readline())

    @property
    def said(self):
        """All that it has printed so far, errors included."""
        return self._said.read_text()

    @property
    def returncode(self):
        """The exit status, as in `subprocess.Popen.returncode`; None while it runs."""
        return self._ended(0)

    def _ended(self, seconds):
        """Return the exit status, for which it waits so long."""
        if self._status is None and select.select([self._socket], [], [], seconds)[0]:
            self._status = int(self._file.readline())
            self._file.close()
            self._socket.close()
        return self._status

    def kill(self, number):
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def wait(self, timeout=120):
        """Wait for its end; return the exit status and all that it has printed."""
        if (status := self._ended(timeout)) is None:
            self.kill(9)
            raise subprocess.TimeoutExpired(str(self.pid), timeout, self.said)
        return status, self.said


def wait_until(holds, seconds=120, started=None):
    """Wait until a function of no argument returns something true, at the longest for as long as a command runs."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline and (started is None or started.returncode is None), started and started.said
        time.sleep(0.02)
    return found


def runs(pid):
    """Return True where there is a process of this number that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _of_packages(environment):
    return {name: text for name, text in environment.items() if name.startswith(READ_AT_IMPORT) and name not in OWN}


def _runs_at_start(environment):
    """Return True where Python itself would run a file at its start, which a fork is past."""
    files = [Path(folder, "sitecustomize.py") for folder in environment.get("PYTHONPATH", "").split(os.pathsep)]
    return any(file.is_file() and file.stat().st_size for file in files)


class _Server:
    """The process that forks; it imports nothing before it is asked, and ends with the one that started it."""

    def __init__(self):
        environment = {name: text for name, text in os.environ.items() if name not in OWN}
        self._folder = tempfile.TemporaryDirectory()
        self.address = str(Path(self._folder.name, "socket"))
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.address)
            listening.listen()
            self._process = subprocess.Popen(
                [sys.executable, SERVER, self._folder.name, str(listening.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                env=environment,
            )

    def end(self):
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


@cache
def address():
    """Start a server and return the address of its socket."""
    server = _Server()
    atexit.register(server.end)
    return server.address


def join(place):
    """Let the server at an address run the commands of this process, which otherwise starts one of its own."""
    _joined.append(place)


_joined = []
