"""The origin of a number: the code, the packages and the machine that it belongs to; and cells that are complete.

A cell that was found complete leaves a note, so that a sweep that is run again does not load its data.  The note's name
is a digest of the composed configuration, the program, the packages and the machine.  It holds how the trials ended,
and the digests of the files that this depends on: data, results, and code from outside the checkout.  Where one of
these files has changed, the cell is looked at again.
"""

import functools
import hashlib
import json
import os
import platform
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import NamedTuple

from metrics.study import UNSCORED
from runners import arithmetic
from runners.code import DIGITS, ROOT, VERSIONED, code_of, code_of_evaluation, customized, first_changed
from runners.family import lives
from runners.row import COLUMNS, to_json

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "numba", "llvmlite")
GIT_S = 10  # seconds after which git is taken not to answer
FOLDER = ".finished"  # in results_dir
RUN = ".run.json"  # the note of a run, in the folder of the cell
PROGRAM = ("datasets", "methods", "metrics", "runners")
# The options of conf/runner that say how trials are run, and not which.
NO_MATTER = ("n_jobs", "cache", "max_seconds", "max_memory", "engine", "address", "cells", "arithmetic")
PLACES = ("UFS_DATA_DIR", "UFS_CACHE_DIR", "PYTHONPATH")
# What is stored of a machine for people: two with one fingerprint give the same bytes, whatever they are called.
FOR_PEOPLE = ("blas", "cpu")
ARITHMETIC = "arithmetic"  # the fingerprint, among the versions
UNKNOWN = "no fingerprint of their machine's arithmetic is stored with them"


class Identity(NamedTuple):
    """The code, packages and machine that a stored number belongs to; its data and settings are in its trial's key."""

    # Digests of `runners.code`; a `code_fit` of "" differs from every other.
    code_fit: str
    code_evaluation: str
    versions: str  # `versions` as JSON: packages, and the fingerprint of the machine's arithmetic
    files_read: str = ""  # of a stored number: the files that its method had read, as in `runners.row.Row`

    @classmethod
    def of(cls, selector):
        """Return the identity of the numbers that a class would give now, in this process."""
        code = code_of(selector)
        return cls(code.digest, code_of_evaluation().digest, to_json(versions(code.packages)))

    @classmethod
    def stored(cls, row):
        """Return the identity that the row of a trial has."""
        return cls(row["code_fit"], row["code_evaluation"], _deciding(row["versions"]), row.get("files_read") or "")

    @property
    def name(self):
        """A short name of the identity, for rows of other files than ``trials.csv``; "" where no code is known."""
        known = self.code_fit and not self.files_read  # other files do not say what the files held
        return hashlib.sha256(to_json(self[:3]).encode()).hexdigest()[:DIGITS] if known else ""

    @property
    def changed_file(self):
        """The first of the files that the method had read whose content is another now; "" where there is none."""
        return first_changed(json.loads(self.files_read)) if self.files_read else ""

    def same_fit(self, other):
        """Return True where fits of both identities are the same."""
        same = bool(self.code_fit) and (self.code_fit, self.versions) == (other.code_fit, other.versions)
        return same and not other.changed_file

    def same_arithmetic(self, other):
        """Return True where both have one fingerprint, so that their bytes can be compared."""
        ours, theirs = (json.loads(one.versions).get(ARITHMETIC) for one in (self, other))
        return ours is not None and ours == theirs

    def difference(self, other):
        """Say why numbers of the other identity do not count as numbers of this one; "" where they do."""
        if not other.code_fit:
            return "no code is stored with them"
        if self.code_fit != other.code_fit:
            return "the code of the method is another"
        if not self.code_fit:
            return "not all that the method consists of is known"
        if self.versions != other.versions:
            return changes(json.loads(self.versions), json.loads(other.versions))
        if changed := other.changed_file:
            return f"{changed}, which the method had read, is another"
        return "" if self.code_evaluation == other.code_evaluation else "the code that evaluates is another"


def git_sha(selector=None):
    """Return the commit of the checkout; "unknown" outside git, and where git does not answer.

    It ends with ``-dirty`` where tracked files differ from the commit, or a method's class rests on an untracked file.
    """
    sha, tracked = _checkout()
    if selector is None or "-" in sha or sha == "unknown":
        return sha
    code = code_of(selector)
    clean = bool(code.digest) and all(
        file.is_relative_to(ROOT) and file.relative_to(ROOT).as_posix() in tracked for file, _ in code.files
    )
    return sha if clean else f"{sha}-dirty"


@functools.cache
def _checkout():
    """Return the commit, with ``-dirty`` where tracked files differ from it, and the names of the tracked files."""
    try:
        sha = _git("rev-parse", "HEAD")
        dirty = "-dirty" if _git("status", "--porcelain", "--untracked-files=no") else ""
        return sha + dirty, frozenset(_git("ls-files").splitlines())
    except (OSError, subprocess.SubprocessError):
        return "unknown", frozenset()


@functools.cache
def versions(packages=()):
    """Return the versions of Python and of the packages that the numbers depend on, and how their machine computes.

    `packages` are top-level modules that a method imports, besides those that every method rests on.
    """
    from runners.fingerprint import as_text, fingerprint  # here, as it imports scipy

    found = {name: version(name) for name in PACKAGES}
    found |= {name: _version_of(name) for name in packages if name not in VERSIONED}
    machine = f"{platform.system()} {platform.machine()}"
    return {"python": platform.python_version(), **found, ARITHMETIC: as_text(fingerprint()), "machine": machine}


def changes(ours, theirs):
    """Say in words how `versions` differ from others."""
    from runners.fingerprint import differing

    names = sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
    words = {name: f"{name} was {theirs.get(name, 'absent')}, is {ours.get(name, 'absent')}" for name in names}
    if ARITHMETIC in words:
        there = theirs.get(ARITHMETIC)
        primitives = ", ".join(differing(ours.get(ARITHMETIC, ""), there)) if there else ""
        words[ARITHMETIC] = f"their machine gave other bytes in {primitives}" if there else UNKNOWN
    return "; ".join(words.values())


def stored_versions(text):
    """Return the versions of an identity as they are stored, with the names of the processor and of BLAS's kernel."""
    return to_json(json.loads(text) | {"blas": blas(), "cpu": arithmetic.processor()})


@functools.lru_cache(maxsize=1024)  # a study has a few such texts, and thousands of rows
def _deciding(text):
    """Return stored versions without what is `FOR_PEOPLE`."""
    try:
        return to_json({name: value for name, value in json.loads(text).items() if name not in FOR_PEOPLE})
    except (ValueError, AttributeError):  # no such JSON: it is as it is, and is another identity
        return text


@functools.cache
def blas():
    """Return the BLAS libraries of numpy and scipy, each with the kernel that it chose for this processor."""
    import scipy.linalg  # noqa: F401  it brings a library of its own
    from threadpoolctl import threadpool_info

    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    names = {" ".join([lib["internal_api"], str(lib["version"]), lib.get("architecture") or ""]) for lib in libraries}
    return ", ".join(sorted(names))


def _version_of(module):
    try:
        return version(module)
    except PackageNotFoundError:
        names = packages_distributions().get(module, ())
        return ", ".join(sorted(version(name) for name in names)) or "unknown"


def _git(*arguments):
    # A repository around an installed copy is not that of this code.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(ROOT.parent)}
    words, kept = ["git", *arguments], {"capture_output": True, "text": True, "check": True, "timeout": GIT_S}
    return subprocess.run(words, cwd=ROOT, env=environment, **kept).stdout.strip()


def note_of(config):
    """Return the path of a cell's note; None where the configuration asks for more than the trials that are missing.

    The whole configuration is given, composed and resolved, when the cell begins.  It is also None for one that lacks a
    part or has a wrong one, as `runners.settings` reports.
    """
    try:
        if config["runner"]["redo"] or config["runner"]["plan"]:
            return None
        runner = {name: value for name, value in config["runner"].items() if name not in NO_MATTER}
        places = [os.environ.get(name) for name in PLACES], os.getcwd()
        asked = [config | {"runner": runner}, places, program(), sorted(customized().items()), versions()]
        name = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:32]
        return Path(config["results_dir"], FOLDER, f"{name}.json")
    except (TypeError, KeyError):
        return None


def digests_of_data(settings):
    """Return the digest of each file that a cell's data may be read from; call it before they are read."""
    from datasets.load import paths_of

    return {os.path.abspath(file): _digest(file) for file in paths_of(settings.dataset, settings.data_dir)}


def note_finished(path, settings, ends, data):
    """Note that nothing is left to do in a cell; where the note cannot be written, the cell is looked at again.

    `ends` has the number of trials by status, `data` is from `digests_of_data`, with the files that it read.
    """
    code = code_of(settings.method.cls)
    if not code.digest:
        return
    results = [settings.folder / f"{name}.csv" for name in COLUMNS]
    files = {os.path.abspath(file): _digest(file) for file in results}
    files |= {str(file): digest for file, digest in code.files}
    cell = f"{settings.method.name} on {settings.dataset['name']}"
    environment = {name: _variable(name) for name in code.environment}
    note = {"cell": cell, "ends": dict(ends), "files": files | data, "environment": environment}
    try:
        # Not `replace_file`, which waits for the disk: a lost note costs little, and half a note is not read as one.
        path.parent.mkdir(exist_ok=True)
        path.write_text(to_json(note))
    except OSError:
        return


def finished(path):
    """Return the line about a cell in which nothing is left to do; None where the cell has to be looked at."""
    try:
        note = json.loads(path.read_text()) if path else {}
        same = note and all(_digest(file) == digest for file, digest in note["files"].items())
        same = same and all(_variable(name) == digest for name, digest in note["environment"].items())
        return ends_text(note["cell"], note["ends"]) if same else None
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):  # not a whole note
        return None


def ends_text(cell, ends):
    """Return the trials of a complete cell in words: "mcfs on umist: 25 of 25 trials stored, 2 timeout"."""
    total = sum(ends.values())
    parts = [f"{cell}: {total} of {total} trial{'s' * (total > 1)} stored"]
    return ", ".join(parts + [f"{ends[status]} {status}" for status in UNSCORED if ends.get(status)])


def note_run(folder, keys, n_workers):
    """Note that this process runs a cell, or, with 0 workers, that it no longer does.

    `keys` are those of all the trials that it was asked for, stored ones too.
    """
    from runners.files import replace_file  # here, as only a run needs it

    pid = os.getpid() if n_workers else None
    note = {"pid": pid, "host": socket.gethostname(), "n_workers": n_workers, "trials": keys}
    replace_file(folder / RUN, json.dumps(note).encode())


def read_run(folder):
    """Return the keys and the number of workers that the note of a cell's last run has.

    The keys are None where no run has left a note; there are 0 workers where no run goes on.  A run of another machine
    is taken to go on until its own end or the next run clears the note, as its process cannot be looked at from here.
    A StoreError says that the file is damaged.
    """
    from runners.files import StoreError

    path = Path(folder) / RUN
    try:
        content = json.loads(path.read_bytes())
        keys, n_workers, pid = content["trials"], content["n_workers"], content["pid"]
        here = content.get("host", socket.gethostname()) == socket.gethostname()
    except FileNotFoundError:
        return None, 0
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: remove it, the next run of the cell writes it anew.") from error
    return keys, n_workers if pid is not None and (not here or lives(pid)) else 0


@functools.cache
def program():
    """Return the digest of the program, as it was when this function was first called."""
    digest = hashlib.sha256()
    for place in PROGRAM:
        for path in sorted((ROOT / place).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def _variable(name):
    """Return the digest of a variable of the environment, whose value may be secret; None where it is not set."""
    value = os.environ.get(name)
    return None if value is None else hashlib.sha256(value.encode()).hexdigest()


def _digest(path):
    """Return the digest of a file, None where there is none; a file that several cells use is read once."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return _digest_of(str(path), found.st_size, found.st_mtime_ns, found.st_ino)


@functools.lru_cache(maxsize=256)
def _digest_of(path, _size, _modified, _number):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
