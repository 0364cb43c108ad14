"""The process that `forked` asks to run commands, each in a fork of it: ``python fork_server.py FOLDER SOCKET``.

The folder is one for compiled modules, the socket the number of a file that it has inherited.
"""

import atexit
import gc
import importlib.util
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import types
from functools import cache
from pathlib import Path

PACKAGES = """
filelock h5py hydra hydra._internal.logging_config jinja2 joblib matplotlib.figure matplotlib.backends.backend_agg numba
omegaconf._impl pandas PIL.Image platformdirs pyarrow.pandas_compat pyarrow.parquet requests scipy.io scipy.stats
sklearn.cluster sklearn.datasets.data sklearn.feature_selection sklearn.linear_model sklearn.manifold sklearn.neighbors
statistics threadpoolctl tqdm
""".split()
ROOT = Path(__file__).resolve().parents[1]


def _accept(listening):
    """Fork for each command, until the process that started this has ended; return the connection in the fork."""
    while sys.stdin not in select.select([sys.stdin, listening], [], [])[0]:
        connection, _ = listening.accept()
        _prepared()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these forks
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            return connection
        connection.close()
    os._exit(0)


def _serve(connection):
    """Fork again, and say the number of that process and how it ended; return the request in it."""
    request = json.loads(connection.makefile().readline())
    pid = os.fork()
    if not pid:
        connection.close()
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background ignores
        return request
    connection.sendall(f"{pid}\n".encode())
    connection.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
    os._exit(0)


def _become(words, cwd, environment, files):
    """Make this process the command."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate([os.devnull, *files]):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout.reconfigure(line_buffering=False)  # also where the server was started on a terminal
    first, *arguments = words
    name = arguments.pop(0) if first in ("-m", "-c") else str(Path(first).absolute())
    beside = os.getcwd() if first in ("-m", "-c") else str(Path(name).parent)
    sys.path[0:1] = [beside, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [first, *arguments]
    status = None
    try:
        if first == "-m":
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        elif first == "-c":
            sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(name, "<string>", "exec"), vars(sys.modules["__main__"]))
        else:
            runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        status = end.code
        if not isinstance(status, int | None):
            raise  # Python prints what it is
    _end(status or 0)


@cache
def _prepared():
    """Import the packages, and do what most commands do first and what no file of the project changes.

    The first compiled function takes a third of a second, and so do the plugins of Hydra and its grammars, which learn
    by what they read.
    """
    for package in PACKAGES:
        __import__(package)
    sys.modules["numba"].njit(lambda: None)()
    plugins = importlib.import_module("hydra._internal.core_plugins")
    for plugin in pkgutil.iter_modules(plugins.__path__, f"{plugins.__name__}."):
        importlib.import_module(plugin.name)
    parser = importlib.import_module("hydra.core.override_parser.overrides_parser").OverridesParser.create()
    parser.parse_overrides(["a=b", "a.b=[1,2.0,x]", "+a.b=/x/y-z", "~a.b", "a=x,y", "a=null", "a='x y'", "a={b:1}"])
    for text in ("${a.b}_${c:d}", "${x:}/y", "${oc.env:A,null}"):
        importlib.import_module("omegaconf.grammar_parser").parse(text)
    # The first command compiles our modules for the others, also where PYTHONDONTWRITEBYTECODE is set.  All read what
    # `make test` has compiled before, and copies of the checkout read their copies of it.
    sys.dont_write_bytecode = False
    if not (ROOT / "runners" / "__pycache__").is_dir():
        sys.pycache_prefix = sys.argv[1]
    gc.freeze()  # or the first collection in every fork would copy all memory of the packages


def _end(status):
    """End this process as Python does, but leave its memory to the system as it is."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        status = 120  # as Python's is, where the last words cannot be printed
    sys.stderr.flush()
    os._exit(status & 0xFF)


if __name__ == "__main__":
    _become(**_serve(_accept(socket.socket(fileno=int(sys.argv[2])))))
