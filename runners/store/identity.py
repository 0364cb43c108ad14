"""The origin of a number: the code, the packages and the machine that it belongs to."""

import functools
import hashlib
import platform
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import NamedTuple

from ufs_bench.runners import arithmetic
from ufs_bench.runners.code import DIGITS, code_of, code_of_evaluation
from ufs_bench.runners.store.row import from_json, to_json

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "numba", "llvmlite")
# Names of a machine that are stored for people: two with one fingerprint give the same bytes under any names.
FOR_PEOPLE = ("blas", "cpu")
ARITHMETIC = "arithmetic"  # the fingerprint, among the versions
UNKNOWN = "no fingerprint of their machine's arithmetic is stored with them"


class Identity(NamedTuple):
    """The code, packages and machine that a stored number belongs to; its data and settings are in its trial's key."""

    # Digests of `runners.code`; a `code_fit` of "" differs from every other.
    code_fit: str
    code_evaluation: str
    versions: str  # `versions` as JSON: packages, and the fingerprint of the machine's arithmetic

    @classmethod
    def of(cls, selector):
        """Return the identity of the numbers that a class would give now, in this process."""
        code = code_of(selector)
        return cls(code.digest, code_of_evaluation().digest, to_json(versions(code.packages)))

    @classmethod
    def stored(cls, row):
        """Return the identity that the row of a trial has."""
        return cls(row["code_fit"], row["code_evaluation"], _deciding(row["versions"]))

    @property
    def name(self):
        """A short name of the identity, for rows of other files than ``trials.csv``; "" where no code is known."""
        return hashlib.sha256(to_json(self).encode()).hexdigest()[:DIGITS] if self.code_fit else ""

    def same_fit(self, other):
        """Return True where fits of both identities are the same."""
        return bool(self.code_fit) and (self.code_fit, self.versions) == (other.code_fit, other.versions)

    def same_arithmetic(self, other):
        """Return True where both have one fingerprint, so that their bytes can be compared."""
        ours, theirs = (from_json(one.versions).get(ARITHMETIC) for one in (self, other))
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
            return changes(from_json(self.versions), from_json(other.versions))
        return "" if self.code_evaluation == other.code_evaluation else "the code that evaluates is another"


@functools.cache
def versions(packages=()):
    """Return the versions of Python, of what all numbers rest on and of `packages`, and how the machine computes."""
    from ufs_bench.runners.store.fingerprint import as_text, fingerprint  # here, as it imports scipy

    found = {name: version(name) for name in PACKAGES}
    found |= {name: _version_of(name) for name in packages}
    machine = f"{platform.system()} {platform.machine()}"
    return {"python": platform.python_version(), **found, ARITHMETIC: as_text(fingerprint()), "machine": machine}


def changes(ours, theirs):
    """Say in words how `versions` differ from others."""
    from ufs_bench.runners.store.fingerprint import differing

    names = sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))
    words = {name: f"{name} was {theirs.get(name, 'absent')}, is {ours.get(name, 'absent')}" for name in names}
    if ARITHMETIC in words:
        there = theirs.get(ARITHMETIC)
        primitives = ", ".join(differing(ours.get(ARITHMETIC, ""), there)) if there else ""
        words[ARITHMETIC] = f"their machine gave other bytes in {primitives}" if there else UNKNOWN
    return "; ".join(words.values())


def stored_versions(text):
    """Return the versions of an identity as they are stored, with the names of the processor and of BLAS's kernel."""
    return to_json(from_json(text) | {"blas": blas(), "cpu": arithmetic.processor()})


@functools.lru_cache(maxsize=1024)  # a study has a few such texts, and thousands of rows
def _deciding(text):
    """Return stored versions without what is `FOR_PEOPLE`."""
    try:
        return to_json({name: value for name, value in from_json(text).items() if name not in FOR_PEOPLE})
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
