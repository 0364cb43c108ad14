"""Commands as processes of their own, forked from one that has imported the packages of others, which takes seconds.

`run` waits for the end of a command; `start` does not, so that it can be killed, or run beside another.

A forked command imports all modules of this project itself, has its own arguments, environment and working folder, and
ends as Python does, but that the objects of the packages are not freed one by one, which takes longer than many a
command.  What depends on how packages are imported, or on the first moments of a process, is tested with
`subprocess`.
"""

import atexit
import gc
import importlib.util
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PACKAGES = """
filelock h5py hydra hydra._internal.core_plugins.basic_sweeper jinja2 joblib matplotlib.figure
matplotlib.backends.backend_agg numba pandas PIL.Image platformdirs pyarrow.pandas_compat pyarrow.parquet requests
scipy.io scipy.stats sklearn.cluster sklearn.datasets sklearn.feature_selection sklearn.linear_model
sklearn.manifold sklearn.neighbors threadpoolctl tqdm
""".split()
READ_AT_IMPORT = ("MPL", "MKL", "NPY", "NUMBA", "OMP", "OPENBLAS", "PYTHON")  # beginnings of names of variables
OWN = ("PYTHONPATH",)  # those of them that are given to a command all the same
ROOT = Path(__file__).resolve().parents[1]
DIGESTS = "runners/code/syntax.py"


def run(words, cwd, environment=None, timeout=300):
    """Run ``python WORDS``, which begin with a file or with -m and a module.

    Parameters
    ----------
    words : list of str
    cwd : path
    environment : dict, optional
        By default that of this process.
    timeout : float, default=300
        Seconds.

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
        files = [str(Path(folder, name)) for name in ("stdout", "stderr")]
        request = {"words": list(map(str, words)), "cwd": str(cwd), "environment": environment, "files": files}
        status = _server().ask(request, timeout)
        texts = [Path(file).read_text() for file in files]
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
        Where the files of what it says and how it ended may lie.

    Returns
    -------
    Started
    """
    said, ended = (tempfile.NamedTemporaryFile(dir=folder, delete=False).name for _ in range(2))  # noqa: SIM115
    environment = dict(os.environ if environment is None else environment)
    request = {"words": list(map(str, words)), "cwd": str(cwd), "environment": environment, "files": [said, said]}
    return Started(_server().start(request | {"ended": ended}), Path(said), Path(ended))


class Started:
    """A command that was started, with the number of its process in `pid`."""

    def __init__(self, pid, said, ended):
        self.pid, self._said, self._ended = pid, said, ended

    @property
    def said(self):
        """All that it has printed so far, errors included."""
        return self._said.read_text()

    @property
    def returncode(self):
        """The exit status, as in `subprocess.Popen.returncode`; None while it runs."""
        text = self._ended.read_text()
        return int(text) if text.endswith("\n") else None

    def kill(self, number):
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def wait(self, timeout=120):
        """Wait for its end; return the exit status and all that it has printed."""
        deadline = time.monotonic() + timeout
        while (status := self.returncode) is None:
            if time.monotonic() > deadline:
                self.kill(9)
                raise subprocess.TimeoutExpired(str(self.pid), timeout, self.said)
            time.sleep(0.01)
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
    """The process that forks; it ends with the one that started it."""

    def __init__(self):
        environment = {name: text for name, text in os.environ.items() if name not in OWN}
        self._compiled = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._compiled.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
        )  # unbuffered, as `select` does not see what a buffer holds

    def start(self, request):
        """Return the number of the process of a command."""
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        return int(self._process.stdout.readline())

    def ask(self, request, timeout):
        """Return the exit status of a command, as in `subprocess.Popen.returncode`."""
        pid = self.start(request)
        if not select.select([self._process.stdout], [], [], timeout)[0]:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
            self._process.stdout.readline()
            raise subprocess.TimeoutExpired(request["words"], timeout)
        return int(self._process.stdout.readline())

    def end(self):
        self._process.stdin.close()
        self._process.wait()
        self._compiled.cleanup()


@cache
def _server():
    server = _Server()
    atexit.register(server.end)
    return server


def _serve():
    """Fork for each request, and say the number of the process and how it ended; return the request in the fork."""
    for line in sys.stdin:
        request = json.loads(line)
        ended = request.pop("ended", None)
        if ended and os.fork():  # the first fork stays, and waits for the command; nobody waits for it
            continue
        pid = os.fork()
        if not pid:
            if ended:
                os.setsid()
                signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background ignores
            return request
        print(pid, flush=True)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if ended:
            Path(ended).write_text(f"{status}\n")
            os._exit(0)
        print(status, flush=True)
    sys.exit()


def _become(words, cwd, environment, files):
    """Make this process the command."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate([os.devnull, *files]):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    first, *arguments = words
    name = arguments.pop(0) if first == "-m" else str(Path(first).absolute())
    beside = os.getcwd() if first == "-m" else str(Path(name).parent)
    if Path(beside, DIGESTS).is_file() and Path(beside, DIGESTS).read_bytes() == (ROOT / DIGESTS).read_bytes():
        sys.modules["runners.code.syntax"] = syntax
    sys.path[0:1] = [beside, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [first, *arguments]
    status = None
    try:
        if first == "-m":
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        status = end.code
        if not isinstance(status, int | None):
            raise  # Python prints what it is
    _end(status or 0)


def _prepared():
    """Do what most commands do first and what no file of the project changes.

    The first compiled function takes a third of a second, the digests of our sources a fifth.  Return
    `runners.code.syntax`, which keeps each digest under the whole source.
    """
    sys.modules["numba"].njit(lambda: None)()
    specification = importlib.util.spec_from_file_location("runners.code.syntax", ROOT / DIGESTS)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for pattern in ("methods/core/*.py", "metrics/*.py", "datasets/scaling.py"):
        for path in ROOT.glob(pattern):
            module.read(path.read_bytes())
    return module


def _end(status):
    """End this process as Python does, but leave its memory to the system as it is."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 0xFF)


if __name__ == "__main__":
    for package in PACKAGES:
        __import__(package)
    syntax = _prepared()
    # The first command compiles our modules for the others, also where PYTHONDONTWRITEBYTECODE is set.  All read what
    # `make test` has compiled before, and copies of the checkout read their copies of it.
    sys.dont_write_bytecode = False
    if not (ROOT / "runners" / "__pycache__").is_dir():
        sys.pycache_prefix = sys.argv[1]
    gc.freeze()  # or the first collection in every fork would copy all memory of the packages
    _become(**_serve())
