"""The origin of a number: the code, the packages and the machine that it belongs to."""

import functools
import hashlib
import json
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import NamedTuple

from runners.code import DIGITS, ROOT, code_of, code_of_evaluation
from runners.row import to_json

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "numba", "llvmlite")
KNOWN = {"numpy", "scipy", "sklearn", "pandas", "joblib", "numba", "llvmlite", "threadpoolctl"}  # names of modules
GIT_S = 10  # seconds after which git is taken not to answer


class Identity(NamedTuple):
    """The code, packages and machine that a stored number belongs to; its data and settings are in its trial's key.

    Attributes
    ----------
    code_fit, code_evaluation : str
        Digests of `runners.code`; a `code_fit` of "" differs from every other.
    versions : str
        `versions` as JSON.
    """

    code_fit: str
    code_evaluation: str
    versions: str

    @classmethod
    def of(cls, selector):
        """Return the identity of the numbers that a class would give now, in this process."""
        code = code_of(selector)
        return cls(code.digest, code_of_evaluation().digest, to_json(versions(code.packages)))

    @classmethod
    def stored(cls, row):
        """Return the identity that the row of a trial has."""
        return cls(row["code_fit"], row["code_evaluation"], row["versions"])

    @property
    def name(self):
        """A short name of the identity, for rows of other files than ``trials.csv``; "" where no code is known."""
        return hashlib.sha256(to_json(self).encode()).hexdigest()[:DIGITS] if self.code_fit else ""

    def same_fit(self, other):
        """Return True where fits of both identities are the same."""
        return bool(self.code_fit) and (self.code_fit, self.versions) == (other.code_fit, other.versions)

    def difference(self, other):
        """Say why numbers of the other identity do not count as numbers of this one; "" where they do."""
        if not other.code_fit:
            return "no code is stored with them"
        if self.code_fit != other.code_fit:
            return "the code of the method is another"
        if not self.code_fit:
            return "the method has no source to compare"
        if self.versions != other.versions:
            ours, theirs = json.loads(self.versions), json.loads(other.versions)
            names = sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
            return "; ".join(
                f"{name} was {theirs.get(name, 'absent')}, is {ours.get(name, 'absent')}" for name in names
            )
        return "" if self.code_evaluation == other.code_evaluation else "the code that evaluates is another"


def git_sha(selector=None):
    """Return the commit of the checkout; "unknown" outside git, and where git does not answer.

    Parameters
    ----------
    selector : type, optional
        A method's class.

    Returns
    -------
    str
        Ends with ``-dirty`` where tracked files differ from the commit, or the class rests on an untracked file.
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
    """The commit, with ``-dirty`` where tracked files differ from it, and the names of the tracked files."""
    try:
        sha = _git("rev-parse", "HEAD")
        dirty = "-dirty" if _git("status", "--porcelain", "--untracked-files=no") else ""
        return sha + dirty, frozenset(_git("ls-files").splitlines())
    except (OSError, subprocess.SubprocessError):
        return "unknown", frozenset()


@functools.cache
def versions(packages=()):
    """Return the versions of Python and of the packages that the numbers depend on, and the machine they ran on.

    Parameters
    ----------
    packages : tuple of str
        Top-level modules that a method imports; the packages that every method rests on are always included.

    Returns
    -------
    dict of str to str
    """
    found = {name: version(name) for name in PACKAGES}
    found |= {name: _version_of(name) for name in packages if name not in KNOWN}
    machine = f"{platform.system()} {platform.machine()}"
    return {"python": platform.python_version(), **found, "blas": blas(), "machine": machine}


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
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=GIT_S)
    return done.stdout.strip()
