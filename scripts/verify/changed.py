"""Finds the cells of the shipped studies that a hand-in has changed, as git knows it."""

import hashlib
import subprocess

import pyarrow as pa
import pyarrow.compute as pc

from runners.code import ROOT
from runners.store import reference
from runners.store.files import StoreError
from runners.store.parquet import about, read_table
from runners.store.row import to_json

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


def head():
    """Return the commit that is checked out."""
    return _git("rev-parse", "HEAD").decode().strip()


def cells(name, base):
    """Return the (data set, method) of a study whose rows are not those of a commit; None where its protocol is not.

    Rows from which only their traces were left out, for room, say nothing that they did not say before.
    """
    folder = reference.SHIPPED / name
    old = _old(folder / reference.PROTOCOL, base)
    if old is not None and old != (folder / reference.PROTOCOL).read_bytes():
        return None
    found = set()
    for method, path in reference.files_of(name).items():
        now, then = _now_and_then(path, base)
        for dataset, (rows, traces) in now.items():
            rows_then, traces_then = then.get(dataset, (None, None))
            if rows != rows_then or traces not in (None, traces_then):
                found.add((dataset, method))
    return found


def gone(name, base):
    """Return the (data set, method) that a study had at a commit and has no more."""
    place = (reference.SHIPPED / name).resolve()
    inside = place.relative_to(ROOT.resolve()).as_posix()
    names = _git("ls-tree", "--name-only", base, f"{inside}/").decode().split("\n")
    found = set()
    for path in (place / file.rpartition("/")[2] for file in names if file.endswith(".parquet")):
        now, then = _now_and_then(path, base)
        found |= {(dataset, path.stem) for dataset in then if dataset not in now}
    return sorted(found)


def lost_studies(base):
    """Return the names of the studies that were shipped at a commit and are no more."""
    inside = reference.SHIPPED.resolve().relative_to(ROOT.resolve()).as_posix()
    names = _git("ls-tree", "-d", "--name-only", base, f"{inside}/").decode().split()
    return sorted({name.rpartition("/")[2] for name in names} - set(reference.shipped_studies()))


def is_changed(path, base):
    """Return True where a file is not that of a commit."""
    return path.exists() and _old(path, base) != path.read_bytes()


def _now_and_then(path, base):
    """Return `_digests` of a file and of what it was at a commit: {} where it is not there, or was the same."""
    old = _old(path, base)
    if path.is_file() and path.read_bytes() == old:
        return {}, {}
    return _digests(path) if path.exists() else {}, {} if old is None else _digests(pa.BufferReader(old))


def _digests(file):
    """Return two digests of each data set in a file: of its rows and what their identities stand for, and of traces.

    Where no row has a trace, the second is None.
    """
    try:
        table, identities = read_table(file).drop_columns(["feature_set"]), about(file)["identities"]
    except StoreError:
        return {"": ("damaged", None)}
    found = {}
    for dataset in pc.unique(table["dataset"]).to_pylist():
        own = table.filter(pc.equal(table["dataset"], dataset)).combine_chunks()
        names = sorted(set(own["identity"].to_pylist()))
        text = to_json([[name, identities.get(name)] for name in names]).encode()
        traces = own.select(["trace"])
        traced = traces["trace"].null_count < len(traces)
        found[dataset] = _digest(own.drop_columns(["trace"]), text), _digest(traces) if traced else None
    return found


def _digest(table, text=b""):
    """Return a digest of a table in memory, and of more bytes."""
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return hashlib.sha256(text + buffer.getvalue().to_pybytes()).hexdigest()


def _old(path, base):
    """Return the bytes that a file had at a commit; None where it was not there."""
    try:
        return _git("show", f"{base}:{path.resolve().relative_to(ROOT.resolve()).as_posix()}")
    except subprocess.CalledProcessError:
        return None


def _git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, timeout=GIT_S).stdout
