"""The files that a process reads beside its modules: by an audit hook, for the code that opened them.

A file counts for the module whose code asked for it, and during a fit also for the class that is fitted.  Files that a
fit itself has written, packages, devices and compiled code do not count.  Files that compiled code opens by itself
(HDF5, for one), and those of other processes that a fit starts, are not seen.
"""

import functools
import hashlib
import importlib.util
import os
import sys
import sysconfig
import threading
import time
from contextlib import contextmanager

INSTALLED = {"site-packages", "dist-packages"}
METADATA = (".dist-info", ".egg-info")  # of a package, also of one that is installed from a checkout: read by importers
# Folders of the system and of Python, whose files come with a machine or with a version.
SYSTEM = ("/proc/", "/sys/", "/etc/", "/usr/lib/", "/usr/share/")
PYTHON = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib"))
LOADER = ("importlib._bootstrap_external", "_frozen_importlib_external")
COMPILED = (".pyc", ".nbi", ".nbc")

EARLIER = frozenset(sys.modules)  # modules whose import was not heard
_reads = {}  # name of a module or key of a class -> path -> its (size, time, number) when it was opened
STARTED = time.time_ns()
_loaded = {}  # file of a module -> its (size, time, number) when Python's loader opened it
_reloaded = set()  # files that Python's loader opened since `reloaded` was last asked
_fitting = []  # keys of the classes that are fitted
_written = set()  # paths that the fit under way has written


def is_installed(path):
    """Return True where a file is of Python or of an installed package."""
    return path.startswith(PYTHON) or any(f"{os.sep}{name}{os.sep}" in path for name in INSTALLED)


def key_of(cls):
    """Return the key of a class among the names of modules; a class that is defined anew keeps it."""
    return f"{cls.__module__}:{cls.__qualname__}"


@contextmanager
def fitting(cls):
    """Note the files that are read inside this block for a class, too."""
    _written.clear()
    _fitting.append(key_of(cls))
    try:
        yield
    finally:
        _fitting.pop()


def read_by(name):
    """Return path -> SHA-256 of the files that a module or class has read; "" for one that has changed since."""
    return {path: _digest(path, *found) for path, found in _reads.get(name, {}).items()}


def reloaded():
    """Return the files of modules that were loaded since the last call."""
    found = set(_reloaded)
    _reloaded.difference_update(found)
    return found


def is_edited(name, file):
    """Return True where the file of a module has been written since the module was imported."""
    found = _stamp(os.stat(file))
    since = name in EARLIER and STARTED < found[1] <= time.time_ns()  # a time to come says nothing
    return since or found != _loaded.get(os.path.realpath(file), found)


def digest_of(path):
    """Return the SHA-256 of a file; None where there is none."""
    try:
        return _digest(path, *_stamp(os.stat(path)))
    except OSError:
        return None


@functools.lru_cache(maxsize=1024)
def _digest(path, *stamp):
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            return found if _stamp(os.fstat(file.fileno())) == stamp else ""
    except OSError:
        return ""


def _stamp(found):
    return found.st_size, found.st_mtime_ns, found.st_ino


def _hear(event, arguments, busy=set()):  # noqa: B006  one set for all calls: a thread must not hear its own hook
    if event != "open" or threading.get_ident() in busy:
        return
    busy.add(threading.get_ident())
    try:
        _note(*arguments[:3])
    except Exception:  # an error here would be one of whoever opened the file
        return
    finally:
        busy.discard(threading.get_ident())


def _note(path, mode, flags):
    if not isinstance(path, str | bytes | os.PathLike):
        return  # a file that is open already
    path = os.path.abspath(os.fsdecode(path))
    if path.startswith(SYSTEM) or is_installed(path) or os.path.dirname(path).endswith(METADATA):
        return
    reads = mode[:1] == "r" if mode else flags & os.O_ACCMODE != os.O_WRONLY
    if not reads:
        if _fitting:
            _written.add(path)
        return
    frame = sys._getframe(2)
    by_loader = frame.f_globals.get("__name__") in LOADER
    if path.endswith(COMPILED):
        if not by_loader:
            return
        path = importlib.util.source_from_cache(path)
    if path in _written or not os.path.isfile(path) or _by_compiler(frame):
        return
    stamp = _stamp(os.stat(path))
    if by_loader:
        _reloaded.add(os.path.realpath(path))
        _loaded[os.path.realpath(path)] = stamp
    asking = _asking(frame) or _asking(sys._current_frames().get(threading.main_thread().ident))
    for name in {asking, *_fitting} - {None}:
        _reads.setdefault(name, {})[path] = stamp


def _by_compiler(frame):
    """Return True where numba looks at the source of what it compiles, which counts as a module."""
    while frame is not None and is_installed(frame.f_globals.get("__file__") or frame.f_code.co_filename):
        if frame.f_globals.get("__name__", "").startswith("numba."):
            return True
        frame = frame.f_back
    return False


def _asking(frame):
    """Return the name of the innermost module that is neither Python's nor installed; None where there is none.

    The files that a notebook reads outside fits are in its variables, and known by their values.  Code that is not of a
    module with a name, such as a file that is executed, belongs to the module that runs it.
    """
    while frame is not None:
        name, file = frame.f_globals.get("__name__"), frame.f_globals.get("__file__")
        if getattr(sys.modules.get(name), "__dict__", None) is frame.f_globals:
            if file and not is_installed(file):
                return name
            if not file and not os.path.isfile(code := frame.f_code.co_filename) and not code.startswith("<frozen"):
                return name if _fitting else None
        frame = frame.f_back
    return None


sys.addaudithook(_hear)
