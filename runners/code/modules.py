"""The modules that this process has imported and that count, as they were then, and what each of them imports."""

import functools
import hashlib
import importlib
import importlib.util
import os
import sys
from pathlib import Path

from runners.code import opened
from runners.code.opened import INSTALLED, is_installed
from runners.code.syntax import read

ROOT = Path(__file__).resolve().parents[2]
# Modules whose version every number has beside it, so that their files need not count.
VERSIONED = {"numpy", "scipy", "sklearn", "pandas", "joblib", "numba", "llvmlite", "threadpoolctl"}
CUSTOM = ("sitecustomize", "usercustomize")  # Python imports these at its start, and they may change anything

sources = {}  # name of a module -> (its file, what that held when the module was imported)
caches = []  # cached functions of what rests on `sources`
_seen = set()
edited = set()  # names of modules whose file has been written since this process imported them
_roots = [ROOT]  # folders whose modules count, though they are installed


def note_modules(cls=None):
    """Keep the source of modules imported since the last call, also of an installed package that `cls` is of."""
    again = opened.reloaded()
    for name in [name for name, (file, _) in sources.items() if str(file) in again] if again else ():
        del sources[name]  # it was imported again
        _seen.discard(name)
        for cached in caches:
            cached.cache_clear()
    for one in () if cls is None else (cls, getattr(cls, "wrapped", cls)):
        file = None if one.__module__.partition(".")[0] in VERSIONED else file_of(one.__module__)
        if file is not None and not _counts(file):
            _roots.append(_root_of(file))
            _seen.clear()
    for name in set(sys.modules) - _seen:
        _seen.add(name)
        file = None if name.partition(".")[0] in VERSIONED else file_of(name)
        if file is not None and name not in sources and _counts(file):
            sources[name] = file, file.read_bytes()
            (edited.add if opened.is_edited(name, file) else edited.discard)(name)


def reached_from(names, texts=()):
    """Return the sorted names of the modules that others and source texts import, and packages that do not count."""
    reached, packages = {}, set()
    for text in texts:
        _follow(read(text.encode()), "", reached, packages)
    for name in (*names, *customized()):
        _reach(name, None, reached, packages)
    return sorted(reached), packages


def customized():
    """Return the digest of each module that Python has imported at its start, by name; empty ones are left out."""
    note_modules()
    held = {name: sources[name][1] for name in CUSTOM if name in sources}
    return {name: hashlib.sha256(data).hexdigest() for name, data in held.items() if data.strip()}


def _reach(name, wanted, reached, packages):
    """Add a module, and what it imports; from an initialiser that only re-exports, what `wanted` refers to."""
    if not _is_ours(name):
        packages.add(name.partition(".")[0])
        return
    source = read(sources[name][1])
    if wanted is not None and _hands_on(name):
        for module, names in source.imports:
            for given, own in names:
                if own == wanted or given == "*":
                    _reach_from(_absolute(module, name), given, wanted, reached, packages)
        return
    if name in reached:
        return
    reached[name] = True
    parent = name.rpartition(".")[0]
    if parent and _is_ours(parent) and not _hands_on(parent):
        _reach(parent, None, reached, packages)
    _follow(source, name, reached, packages)


def _hands_on(name):
    """Return True for an initialiser that only gives names; a user's may import for what that does to others."""
    file, data = sources[name]
    return read(data).hands_on and any(file.is_relative_to(root) for root in _roots)


def _follow(source, name, reached, packages):
    for module, names in source.imports:
        if module.startswith(".") and not name:
            continue  # of a function of a package, whose own modules count by its version
        module = _absolute(module, name)
        if not names:
            _reach(module, None, reached, packages)
        for given, own in names:
            _reach_from(module, given, own if given == "*" else given, reached, packages)


def _reach_from(module, given, wanted, reached, packages):
    """Add what ``from module import given`` gives: a module, or something in one."""
    if given != "*" and _is_ours(f"{module}.{given}"):  # a folder without an initialiser has no source of its own
        _reach(f"{module}.{given}", None, reached, packages)
    else:
        _reach(module, None if wanted == "*" else wanted, reached, packages)


def _absolute(module, name):
    """Return a module's full name; `name` is the module that a relative name starts from."""
    level = len(module) - len(module.lstrip("."))
    if not level:
        return module
    path = sources[name][0]
    parts = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [module.lstrip(".")])])


def _is_ours(name):
    """Return True where a module counts; it is imported first, so that the code that will run is what counts."""
    if name not in sys.modules and name not in sources:
        try:
            top = importlib.util.find_spec(name.partition(".")[0])
            if top is None or not _counts(Path((top.submodule_search_locations or [top.origin or ""])[0])):
                return False
            importlib.import_module(name)
        except Exception:  # a module that cannot be imported does not run; those that it imports do
            pass
        note_modules()
    return name in sources


def file_of(name):
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file or not os.path.isfile(file):
        return None
    return resolved(file)


def resolved(file):
    """Return the path of a file without links, folder by folder: thousands of modules lie in hundreds of folders."""
    if os.path.islink(file):
        return Path(file).resolve()
    folder, name = os.path.split(os.path.abspath(file))
    return _resolved(folder) / name


@functools.cache
def _resolved(folder):
    return Path(folder).resolve()


def _counts(file):
    """Return True where a file is neither Python's nor installed, or is of a package that has a method's class."""
    if any(file.is_relative_to(root) and not INSTALLED & set(file.relative_to(root).parts) for root in _roots):
        return True
    return not is_installed(str(file))


def _root_of(file):
    """Return the folder that a file's absolute imports start from; for an installed package, its own folder."""
    folder = file.parent
    while (folder / "__init__.py").exists() and folder.parent != folder:
        if INSTALLED & {folder.parent.name}:
            return folder
        folder = folder.parent
    return file if folder.name in INSTALLED else folder
