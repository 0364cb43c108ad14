"""Finds the files of the shipped studies that differ from a commit, as git knows it."""

import subprocess

import pyarrow as pa

from runners.code import ROOT
from runners.store import reference
from scripts.verify.files import datasets_of

GIT_S = 60


def commit_of(base):
    """Return the commit that HEAD and a commit or branch have in common last; a ValueError says that git has none."""
    try:
        return _git("merge-base", "HEAD", base).decode().strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise ValueError(
            f"base={base} and HEAD have no commit in common here: fetch it (a shallow clone lacks it), "
            "or verify all with base=null."
        ) from error


def files(base):
    """Return the paths in results/reference that are not those of a commit, relative to it, those gone too."""
    inside = _inside()
    found = _git("diff", "--name-only", "--no-renames", "-z", base, "--", inside)
    found += _git("ls-files", "--others", "--exclude-standard", "-z", "--", inside)
    return sorted({path.removeprefix(f"{inside}/") for path in found.decode().split("\0") if path})


def methods(name, base):
    """Return the methods of a study whose files differ from a commit: all where its protocol does."""
    changed = {path.removeprefix(f"{name}/") for path in files(base) if path.startswith(f"{name}/")}
    there = reference.files_of(name)
    return set(there) if reference.PROTOCOL in changed else {one for one in there if f"{one}.parquet" in changed}


def gone(base):
    """Return the (study, data set, method) that were shipped at a commit and are no more."""
    found = []
    for place in files(base):
        study, _, file = place.partition("/")
        path = reference.SHIPPED / place
        if file.endswith(".parquet") and "/" not in file and (old := _old(place, base)) is not None:
            now = datasets_of(path) if path.exists() else []
            lost = set(datasets_of(pa.BufferReader(old))) - set(now)
            found += [(study, dataset, path.stem) for dataset in sorted(lost)]
    return found


def _inside():
    return reference.SHIPPED.resolve().relative_to(ROOT.resolve()).as_posix()


def _old(place, base):
    """Return the bytes that a file of results/reference had at a commit; None where it was not there."""
    try:
        return _git("show", f"{base}:{_inside()}/{place}")
    except subprocess.CalledProcessError:
        return None


def _git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, timeout=GIT_S).stdout
