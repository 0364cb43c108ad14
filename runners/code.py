"""The code that a number rests on, as one digest: of the modules that a method's class reaches by import.

Docstrings, comments and layout do not count.  A module counts if it is of this suite, or neither Python's nor
installed; installed packages count by their versions.  A class that is in no file, as one of a notebook, has no digest,
and is fitted in every run.  What is not an import is not seen: a module that is imported by a computed name, a data
file, a variable of the environment.  After a change of these ``runner.redo=true`` computes everything anew.
"""

import ast
import csv
import functools
import hashlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ufs_bench.runners.place import SUITE as ROOT

# Packages whose versions every number has beside it.
VERSIONED = {"numpy", "scipy", "sklearn", "pandas", "joblib", "numba", "llvmlite", "threadpoolctl"}
SUITE = "ufs_bench."
LAZY = ("ufs_bench", "ufs_bench.methods")  # they import what is asked for first, and nothing else counts in them
SCALING, EVALUATION = "ufs_bench.datasets.scaling", "ufs_bench.metrics.evaluate"
DIGITS = 16  # the length of a digest; the keys of trials are as long
# Digests that the shipped results have, and those of code that gives the same bytes (tests/project/golden.py).
SAME = ROOT / "results" / "reference" / "same_code.csv"
INSTALLED = {"site-packages", "dist-packages"}  # folders that pip installs to


class CodeChanged(RuntimeError):
    """A worker process runs other code than the process that started it."""


class Code(NamedTuple):
    """The code behind a number."""

    digest: str  # "" where it is not known: such code is never taken to be the same as other code
    files: tuple = ()  # (Path, str) pairs: each file with the digest of its code
    packages: tuple = ()  # names of the installed packages that it imports, without those of `VERSIONED`
    unknown: str = ""  # why it is not known


def code_of(cls):
    """Return the code of a method's class, and of what scales its data."""
    if cls in _edited:
        return Code("", unknown=f"{_edited[cls]} was edited after it had been imported: start Python anew")
    return _of_class(cls)


@functools.cache
def _of_class(cls):
    wrapped = getattr(cls, "wrapped", cls)  # the attribute of `methods.core.plain.Plain`
    if _file(wrapped.__module__) is None and not _is_installed(wrapped.__module__):
        return Code("", unknown="it is in no file that can be imported")
    bases = [*cls.__mro__, *getattr(wrapped, "__mro__", ())]
    return _code(wrapped.__qualname__, [wrapped.__module__, *(base.__module__ for base in bases), SCALING])


@functools.cache
def code_of_evaluation():
    """Return the code that scales and evaluates."""
    return _code("", [SCALING, EVALUATION])


def prepare_import(name):
    """Let a module from outside the suite be imported as its file is now, and remember that file."""
    if not name.startswith(SUITE):
        sys.dont_write_bytecode = True  # a .pyc is taken for a file of the same size and second
        _reach(name, {}, set())


def note_edits(cls):
    """Note whether a file of a class is another than when the class was imported."""
    now = {file: _stamp(file) for file, _ in _of_class(cls).files}
    edited = [file for file, stamp in _imported.setdefault(cls, now).items() if stamp != now[file]]
    if edited:
        _edited[cls] = edited[0]


_imported = {}  # class -> the second and size of each of its files, when it was imported
_edited = {}  # class -> the first file of it that was edited since


def _stamp(file):
    with suppress(OSError):
        return file.stat().st_mtime_ns, file.stat().st_size


def _code(name, modules):
    reached, packages = {}, set()
    for module in modules:
        _reach(module, reached, packages)
    text = "".join(f"{module} {digest}\n" for module, (_, digest) in sorted(reached.items()))
    digest = hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()[:DIGITS]
    files = tuple(sorted(reached.values()))
    others = packages - VERSIONED - sys.stdlib_module_names
    return Code(_shipped().get(digest, digest), files, tuple(sorted(others)))


@functools.cache
def _shipped():
    """Return digest of code -> the digest that shipped results of the same bytes have."""
    with open(SAME, newline="", encoding="utf-8") as file:
        return {row["digest"]: row["shipped"] for row in csv.DictReader(file)}


def _reach(name, reached, packages):
    """Add a module to `reached`, as name -> (file, digest), with all that it imports; or its package to `packages`."""
    if name in reached or name in LAZY:
        return
    if not name.startswith(SUITE) and (parent := name.rpartition(".")[0]):
        _reach(parent, reached, packages)  # whose initialiser may do anything
    file = _file(name)
    if file is None:
        if _is_installed(name):
            packages.add(name.partition(".")[0])
        return
    digest, imports = _read(file, name, _stamp(file))
    reached[name] = file, digest
    for module, names in imports:
        _reach(module, reached, packages)
        for one in names:
            _reach(_home(module, one), reached, packages)


def _home(module, name):
    """Return the module that ``from module import name`` gives, or where what it gives is defined."""
    if module in LAZY:
        found = getattr(importlib.import_module(module), name, None)
        return getattr(found, "__module__", f"{module}.{name}")  # a module has none
    return f"{module}.{name}" if _is_package(module) else module


@functools.cache
def _file(name):
    """Return the source of a module that counts; None for Python's own, for an installed one, and for no module."""
    spec = None if _is_installed(name) else _spec(name)
    if spec is None or not (spec.origin or "").endswith(".py"):
        return None
    if not name.startswith(SUITE):
        with suppress(OSError):  # of a folder that nobody can write to, where nothing is edited
            Path(importlib.util.cache_from_source(spec.origin)).unlink(missing_ok=True)
    return Path(spec.origin).resolve()


@functools.cache
def _is_package(name):
    spec = None if _is_installed(name) else _spec(name)
    return spec is not None and spec.submodule_search_locations is not None


@functools.cache
def _is_installed(name):
    """Return True for a module of Python, or of an installed package other than this suite."""
    if name.startswith(SUITE):
        return False
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return True
    spec = _spec(top)
    places = [*(spec.submodule_search_locations or []), spec.origin or ""] if spec else []
    return any(INSTALLED & set(Path(place).parts) for place in places)


def _spec(name):
    try:
        return importlib.util.find_spec(name)
    except Exception:  # it imports the packages around a module, which may raise anything; their import says so
        return None


@functools.cache
def _read(file, name, _):
    """Return the digest of a module without its docstrings, and what it imports: (module, names) pairs."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return "", ()  # as its import says
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    imports = []
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            body[0] = ast.Pass()
        if isinstance(node, ast.Import):
            imports += [(one.name, ()) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):  # a relative one beyond the top, as its import says
                module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                imports.append((module, tuple(one.name for one in node.names)))
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest(), tuple(imports)


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
