"""The code that a number rests on, as one digest: of the syntax trees of all modules that a class reaches by import.

Comments, docstrings and layout do not change the digest.  A module counts as it was when this process imported it, so
that a file that is edited while a sweep runs is never taken for the code that ran.
"""

import ast
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# Modules whose version every number has beside it, so that their files need not count.
VERSIONED = {"numpy", "scipy", "sklearn", "pandas", "joblib", "numba", "llvmlite", "threadpoolctl"}
INSTALLED = {"site-packages", "dist-packages"}
# The modules that scale and evaluate; they import all else that an evaluation runs.
SCALING, EVALUATION = ("datasets.scaling",), ("datasets.scaling", "metrics.evaluate")
DIGITS = 16  # the length of a digest; the keys of trials are as long

_sources = {}  # name of a module -> (its file, what that held when the module was imported)
_seen = set()
_roots = [ROOT]  # folders whose modules count


class CodeChanged(RuntimeError):
    """A worker process runs other code than the process that started it."""


class Code(NamedTuple):
    """The code behind a number."""

    digest: str  # "" where there is no source to take it from: such code is never taken to be the same as other code
    files: tuple  # (Path, str) pairs: each file with the SHA-256 of its content
    packages: tuple  # top-level names of the other packages that it imports, without Python's own


@functools.cache
def code_of(cls):
    """Return the code of a method's class, and of what scales its data."""
    note_modules(cls)
    wrapped = getattr(cls, "wrapped", None)  # the attribute of `methods.core.plain.Plain`
    own = () if wrapped is None else getattr(wrapped, "__mro__", (wrapped,))
    families = [base for base in (*cls.__mro__, *own) if base.__module__ != "builtins"]
    loose = [base for base in families if _file_of(base.__module__) is None]  # such as a class of a notebook
    try:
        texts = [text for base in loose for text in _sources_of(base, set())]
    except (OSError, TypeError):
        return Code("", (), ())
    if own:  # two functions of a file are two methods
        texts.append(f"{wrapped.__module__} = {wrapped.__qualname__!r}")
    return _code([base.__module__ for base in families if base not in loose] + list(SCALING), texts)


@functools.cache
def code_of_evaluation():
    """Return the code that scales and evaluates."""
    for name in EVALUATION:
        importlib.import_module(name)
    note_modules()
    return _code(EVALUATION)


def note_modules(cls=None):
    """Keep the source of the modules that were imported since the last call, before somebody edits it.

    Modules beside the file of `cls` count as well as those of the checkout.
    """
    for one in () if cls is None else (cls, getattr(cls, "wrapped", cls)):
        file = None if one.__module__.partition(".")[0] in VERSIONED else _file_of(one.__module__)
        if file is not None and (root := _root_of(file)) not in _roots:
            _roots.append(root)
            _seen.clear()
    for name in set(sys.modules) - _seen:
        _seen.add(name)
        file = _file_of(name)
        if file is not None and name not in _sources and _counts(file):
            _sources[name] = file, file.read_bytes()


def _code(names, texts=()):
    """Return the code that is reached from modules, and from source texts that are in no module."""
    reached, packages = {}, set()
    for text in texts:
        _follow(_read(text.encode()), "", reached, packages)
    for name in names:
        _reach(name, None, reached, packages)
    digest = hashlib.sha256()
    for name in sorted(reached):
        digest.update(f"{name} {_read(_sources[name][1]).digest}\n".encode())
    for text in texts:
        digest.update(_read(text.encode()).digest.encode())
    held = [_sources[name] for name in sorted(reached)]
    files = tuple((file, hashlib.sha256(data).hexdigest()) for file, data in held)
    return Code(digest.hexdigest()[:DIGITS], files, tuple(sorted(packages - sys.stdlib_module_names)))


def _reach(name, wanted, reached, packages):
    """Add a module, and what it imports; from an initialiser that only re-exports, what `wanted` refers to."""
    if not _is_ours(name):
        packages.add(name.partition(".")[0])
        return
    source = _read(_sources[name][1])
    if source.hands_on and wanted is not None:
        for module, names in source.imports:
            for given, own in names:
                if own == wanted or given == "*":
                    _reach_from(_absolute(module, name), given, wanted, reached, packages)
        return
    if name in reached:
        return
    reached[name] = True
    parent = name.rpartition(".")[0]
    if parent and _is_ours(parent) and not _read(_sources[parent][1]).hands_on:
        _reach(parent, None, reached, packages)
    _follow(source, name, reached, packages)


def _follow(source, name, reached, packages):
    for module, names in source.imports:
        module = _absolute(module, name)
        if not names:
            _reach(module, None, reached, packages)
        for given, own in names:
            _reach_from(module, given, own if given == "*" else given, reached, packages)


def _reach_from(module, given, wanted, reached, packages):
    """Add what ``from module import given`` gives: a module, or something in one."""
    if given != "*" and _is_ours(module) and _is_ours(f"{module}.{given}"):
        _reach(f"{module}.{given}", None, reached, packages)
    else:
        _reach(module, None if wanted == "*" else wanted, reached, packages)


def _absolute(module, name):
    """Return a module's full name; `name` is the module that a relative name starts from."""
    level = len(module) - len(module.lstrip("."))
    if not level:
        return module
    path = _sources[name][0]
    parts = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [module.lstrip(".")])])


def _is_ours(name):
    """Return True where a module counts; it is imported first, so that the code that will run is what counts."""
    if name not in sys.modules and name not in _sources:
        try:
            top = importlib.util.find_spec(name.partition(".")[0])
            if top is None or not _counts(Path((top.submodule_search_locations or [top.origin or ""])[0])):
                return False
            importlib.import_module(name)
        except Exception:  # a module that cannot be imported does not run
            return False
        note_modules()
    return name in _sources


def _file_of(name):
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file or not os.path.isfile(file):
        return None
    # A path is resolved folder by folder: thousands of modules lie in hundreds of folders.
    if os.path.islink(file):
        return Path(file).resolve()
    folder, name = os.path.split(os.path.abspath(file))
    return _resolved(folder) / name


@functools.cache
def _resolved(folder):
    return Path(folder).resolve()


def _counts(file):
    """Return True where a file is in the checkout, or beside the class's own file."""
    return any(file.is_relative_to(root) and not INSTALLED & set(file.relative_to(root).parts) for root in _roots)


def _root_of(file):
    """Return the folder that a file's absolute imports start from; for an installed package, its own folder."""
    folder = file.parent
    while (folder / "__init__.py").exists() and folder.parent != folder:
        if INSTALLED & {folder.parent.name}:
            return folder
        folder = folder.parent
    return file if folder.name in INSTALLED else folder


def _sources_of(what, seen):
    """Return the source of a class or function without a file, and of what it uses from beside it.

    An OSError or a TypeError says that something of it is not known.
    """
    if what in seen:
        return
    seen.add(what)
    if not isinstance(what, type):
        yield textwrap.dedent(inspect.getsource(what))
        for name, value in sorted(_used_by(what).items()):
            yield from _source_of_name(name, value, seen)
        return
    for name, value in sorted(vars(what).items()):
        function = inspect.unwrap(getattr(value, "__func__", getattr(value, "fget", value)))
        if inspect.isfunction(function):
            yield from _sources_of(function, seen)
        elif not name.startswith("__"):
            yield f"{name} = {value!r}" if isinstance(value, str | int | float | tuple | dict | None) else name


def _used_by(function):
    """Return the values that a function, and those inside it, take from around it, by name."""
    codes, names = [function.__code__], set()
    for code in codes:
        names.update(code.co_names)
        codes += [one for one in code.co_consts if inspect.iscode(one)]
    around = inspect.getclosurevars(function).nonlocals
    return {name: value for name, value in function.__globals__.items() if name in names} | around


def _source_of_name(name, value, seen):
    known = isinstance(value, type) or inspect.isroutine(value)
    if inspect.ismodule(value):
        yield f"import {value.__name__} as {name}"
    elif known and (not inspect.isfunction(value) or _file_of(value.__module__) is not None):
        if isinstance(value, type) and _file_of(value.__module__) is None and value.__module__ != "builtins":
            yield from _sources_of(value, seen)
        elif value.__module__:
            yield f"from {value.__module__} import {value.__name__} as {name}"
    elif known:
        yield from _sources_of(inspect.unwrap(value), seen)
    elif isinstance(value, str | int | float | None):
        yield f"{name} = {value!r}"
    else:
        raise TypeError(f"{name} is an object, and what it holds is not known")


class _Source(NamedTuple):
    digest: str
    imports: tuple  # (module, ((name, own name), ...)), without names for a plain import
    hands_on: bool  # only imports, so that whoever uses a name from here rests on the module that defines it


@functools.cache
def _read(data):
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):  # not Python source, such as a compiled module
        return _Source(hashlib.sha256(data).hexdigest(), (), False)
    digest, imports = hashlib.sha256(), []
    _digest(tree, digest.update)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            imports.append((module, tuple((alias.name, alias.asname or alias.name) for alias in node.names)))
    hands_on = bool(tree.body) and all(_is_import(node) for node in tree.body)
    return _Source(digest.hexdigest(), tuple(imports), hands_on)


def _is_import(node):
    if isinstance(node, ast.Assign):
        return [getattr(target, "id", "") for target in node.targets] == ["__all__"]
    return isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node)


def _is_text(node):
    """Return True where a statement is a docstring, or another text without effect."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _digest(node, update):
    """Hash a syntax tree; empty fields are left out, so that every version of Python gives the same hash."""
    if isinstance(node, ast.AST):
        update(f"{type(node).__name__}(".encode())
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.Constant) or value not in (None, []):
                update(f"{name}=".encode())
                _digest(value, update)
        update(b")")
    elif isinstance(node, list):
        update(b"[")
        for item in node:
            if not _is_text(item):
                _digest(item, update)
                update(b",")
        update(b"]")
    else:
        update(f"{type(node).__name__} {node!r}".encode())
