"""Commands as processes of their own, forked from one that has imported the packages of others, which takes seconds.

A forked command imports all modules of this project itself, has its own arguments, environment and working folder, and
ends as Python does.  What depends on how packages are imported, or on the first moments of a process, is tested with
`subprocess`.
"""

import atexit
import gc
import json
import os
import runpy
import select
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

PACKAGES = """
h5py hydra jinja2 joblib matplotlib.figure matplotlib.backends.backend_agg numba pandas PIL.Image requests
scipy.io scipy.stats sklearn.cluster sklearn.datasets sklearn.feature_selection sklearn.linear_model
sklearn.manifold sklearn.neighbors threadpoolctl tqdm
""".split()
READ_AT_IMPORT = ("MPL", "MKL", "NUMBA", "OMP", "OPENBLAS", "PYTHON")  # beginnings of names of variables
OWN = ("PYTHONPATH",)  # those of them that are given to a command all the same


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
        status = _server().ask({"words": words, "cwd": str(cwd), "environment": environment, "files": files}, timeout)
        texts = [Path(file).read_text() for file in files]
    return subprocess.CompletedProcess([sys.executable, *words], status, *texts)


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
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment
        )  # unbuffered, as `select` does not see what a buffer holds

    def ask(self, request, timeout):
        """Return the exit status of a command, as in `subprocess.Popen.returncode`."""
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        pid = int(self._process.stdout.readline())
        if not select.select([self._process.stdout], [], [], timeout)[0]:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
            self._process.stdout.readline()
            raise subprocess.TimeoutExpired(request["words"], timeout)
        return int(self._process.stdout.readline())

    def end(self):
        self._process.stdin.close()
        self._process.wait()


@cache
def _server():
    server = _Server()
    atexit.register(server.end)
    return server


def _serve():
    """Fork for each request, and say the number of the process and how it ended; return the request in the fork."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            return json.loads(line)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
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
    sys.path[0:1] = [beside, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [first, *arguments]
    if first == "-m":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(name, run_name="__main__")


if __name__ == "__main__":
    for package in PACKAGES:
        __import__(package)
    gc.freeze()  # or the first collection in every fork would copy all memory of the packages
    _become(**_serve())
