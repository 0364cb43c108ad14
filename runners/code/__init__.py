"""The code that a number rests on, as one digest: of the syntax trees of all modules that a class reaches by import.

Modules of the standard library do not count, nor installed packages, whose versions every number has beside it.  A
module counts as it was when this process imported it, so that a file that is edited while a sweep runs is never taken
for the code that ran.  `syntax` says what of a source counts, `loose` what a class of a notebook consists of, and
`opened` which files are read.
"""

import functools
import hashlib
import importlib
import json
import os
import sys
from typing import NamedTuple

from runners.code import opened
from runners.code.loose import has_file, texts_of
from runners.code.modules import (
    CUSTOM,
    ROOT,
    VERSIONED,
    caches,
    customized,
    edited,
    note_modules,
    reached_from,
    resolved,
    sources,
)
from runners.code.syntax import read

__all__ = ["ROOT", "VERSIONED", "customized"]
SAME = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}  # every fit has one thread
# The modules that scale and evaluate; they import all else that an evaluation runs.
SCALING, EVALUATION = ("datasets.scaling",), ("datasets.scaling", "metrics.evaluate")
# Our packages that a script of a user imports to run its methods: what they read besides is no part of a method.
RUNNING = {"benchmarks", "datasets", "metrics", "runners", "scripts", "ufs_bench", "ufs_bench_command"}
DIGITS = 16  # the length of a digest; the keys of trials are as long


class CodeChanged(RuntimeError):
    """A worker process runs other code than the process that started it."""


class Code(NamedTuple):
    """The code behind a number."""

    digest: str  # "" where something of it is not known: such code is never taken to be the same as other code
    files: tuple  # (Path, str) pairs: each file with the SHA-256 of its content
    packages: tuple  # top-level names of the other packages that it imports, without Python's own
    environment: tuple = ()  # names of the variables of the environment that it reads; None stands for any
    unknown: str = ""  # what is not known of it, or why what a module holds is not what ran, or not all of it
    modules: tuple = ()  # names of the modules that it reaches


def code_of(cls):
    """Return the code of a method's class, and of what scales its data."""
    note_modules(cls)
    families = _families(cls)
    if all(map(has_file, families)):
        return _here(_of_files(cls))
    # Not kept: what it uses from beside it, such as a function of a notebook or script, may have changed since.
    try:
        texts = list(texts_of(getattr(cls, "wrapped", cls)))
    except (OSError, TypeError, ValueError) as error:  # a ValueError of a closure that is not filled yet
        return Code("", (), (), unknown=str(error))
    # A script counts as a whole, too: it may be edited while it runs.
    modules = [base.__module__ for base in families if has_file(base) or base.__module__ in sources]
    return _here(_code(modules + list(SCALING), texts))


@functools.cache
def _of_files(cls):
    wrapped = getattr(cls, "wrapped", None)
    # Two functions of a file are two methods.
    texts = [] if wrapped is None else [f"{wrapped.__module__} = {wrapped.__qualname__!r}"]
    return _code([base.__module__ for base in _families(cls)] + list(SCALING), texts)


def _families(cls):
    """Return a class with all that it is derived from, and what it wraps."""
    wrapped = getattr(cls, "wrapped", None)  # the attribute of `methods.core.plain.Plain`
    own = () if wrapped is None else getattr(wrapped, "__mro__", (wrapped,))
    return [base for base in (*cls.__mro__, *own) if base.__module__ != "builtins"]


def _here(code):
    """Return code with the values that the variables of the environment have now."""
    if code.unknown or not code.environment:
        return code
    if None in code.environment:
        return code._replace(digest="", unknown="it reads variables of the environment by names that are computed")
    values = "".join(f"{name} {os.environ.get(name)!r}\n" for name in code.environment)
    return code._replace(digest=hashlib.sha256(f"{code.digest} {values}".encode()).hexdigest()[:DIGITS])


def code_of_evaluation():
    """Return the code that scales and evaluates."""
    return _here(_of_evaluation())


@functools.cache
def _of_evaluation():
    for name in EVALUATION:
        importlib.import_module(name)
    note_modules()
    return _code(EVALUATION)


def files_read(cls):
    """Return path -> SHA-256 of the files that a class and its modules have read; "" for one that has changed since."""
    code, found = code_of(cls), {}
    names = dict.fromkeys([*code.modules, *(base.__module__ for base in _families(cls))])
    names = [opened.key_of(cls), *(name for name in names if name.partition(".")[0] not in RUNNING)]
    for name in names:
        for path, digest in opened.read_by(name).items():
            path = resolved(path)
            if not any(path == file for file, _ in code.files) and not _only_hands_on(path):
                found[_shown(path)] = digest
                names += [one for one, (file, _) in sources.items() if path == file and one not in names]
        if name in sources and read(sources[name][1]).finds:  # any that is loaded, also by another method before
            loaded = [one for one in sources if not one.startswith("__") and one.partition(".")[0] not in RUNNING]
            loaded = [one for one in loaded if one not in names]
            found |= {_shown(sources[one][0]): hashlib.sha256(sources[one][1]).hexdigest() for one in loaded}
            names += loaded
    return found


def _shown(path):
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def _only_hands_on(path):
    """Return True for an initialiser of the checkout that only re-exports, which the import graph sees through."""
    return any(file == path and read(data).hands_on for file, data in sources.values()) and path.is_relative_to(ROOT)


def first_changed(files):
    """Return the first of these files, path -> SHA-256, that has another content now; "" where none has."""
    return next((path for path, digest in files.items() if opened.digest_of(ROOT / path) != digest), "")


def files_of(rows):
    """Return full path -> SHA-256 of the files that the methods of stored trials had read."""
    read = [json.loads(row["files_read"]) for row in rows if row["files_read"]]
    return {str(ROOT / path): digest for files in read for path, digest in files.items()}


def _code(names, texts=()):
    """Return the code that is reached from modules, and from source texts that are in no module."""
    reached, packages = reached_from(names, texts)
    digest, held = hashlib.sha256(), [sources[name] for name in reached]
    for name, (_, data) in zip(reached, held, strict=True):
        digest.update(f"{name} {read(data).digest}\n".encode())
    for text in texts:
        digest.update(read(text.encode()).digest.encode())
    all_of = [sources[name][1] for name in reached if name.partition(".")[0] not in RUNNING]
    all_of += [text.encode() for text in texts]
    variables = {name for data in all_of for name in read(data).environment} - SAME
    doubts = [f"{name} was edited after it had been imported: start Python anew" for name in reached if name in edited]
    early = [name for name in reached if name in opened.EARLIER and name not in ("__main__", *CUSTOM)]
    doubts += [
        f"{name} was imported before this suite, and may have read files: import ufs_bench or runners first"
        for name in early
        if not sources[name][0].is_relative_to(ROOT) and read(sources[name][1]).calls
    ]
    return Code(
        "" if doubts else digest.hexdigest()[:DIGITS],
        tuple((file, hashlib.sha256(data).hexdigest()) for file, data in held),
        tuple(sorted(packages - sys.stdlib_module_names)),
        tuple(sorted(variables, key=str)),
        unknown="".join(doubts[:1]),
        modules=tuple(reached),
    )


caches.extend((_of_files, _of_evaluation))
