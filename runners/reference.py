"""The shipped results, results/reference: packed studies that nothing writes to, and a source of trials for every run.

``results/reference/<name>/<dataset>/<method>.tar.xz`` holds the CSVs of one cell, or ``<name>/<method>.tar.xz`` those
of all cells of a method, each in the folder of its data set.  MANIFEST.csv beside them has the file of each cell and
its checksum, and STAMPS.csv the changes of code after which a sample of fits gave the same bytes.  Studies are unpacked
into the user's cache, once, and read from there; their name on a command line is ``reference/<name>``.
"""

import contextlib
import csv
import functools
import hashlib
import os
import shutil
import tarfile
import tempfile
import time
from pathlib import Path

from datasets.load import cache_dir
from runners.code import ROOT
from runners.files import StoreError

PREFIX = "reference/"
SHIPPED = ROOT / "results" / "reference"
MANIFEST, STAMPS, PROTOCOL = "MANIFEST.csv", "STAMPS.csv", "protocol.json"
ENDING = ".tar.xz"
KEPT = 14 * 24 * 3600  # another checkout may still read what this one has no manifest of
RESTORE = "restore it, for example with `git checkout results/reference`"


def shipped_studies():
    """Return the names of the shipped studies, without ``reference/``."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}"))


def folder_of(results_dir, study):
    """Return the folder of a study's cells: inside the results, or where a shipped one is unpacked."""
    if not study.startswith(PREFIX):
        return Path(results_dir) / study
    name = study.removeprefix(PREFIX)
    return unpacked(name) / name


def unpacked(name):
    """Return a folder that holds a shipped study under its name, as folders of results do.

    Parameters
    ----------
    name : str
        Without ``reference/``.

    Returns
    -------
    Path
        In the user's cache; checked when it was unpacked.

    Raises
    ------
    StoreError
        For a study that is not shipped, and for files that are not those of its manifest.
    """
    if name not in shipped_studies():
        known = ", ".join(PREFIX + one for one in shipped_studies()) or "none"
        raise StoreError(f"there is no shipped study {PREFIX}{name}; there are: {known}.")
    source = SHIPPED / name
    digest = hashlib.sha256((source / MANIFEST).read_bytes()).hexdigest()[:16]
    folder = cache_dir() / "reference" / digest
    if (folder / name).is_dir():
        _mark_used(folder)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{digest}-", dir=folder.parent))
    try:
        for file, sha256 in sorted({(row["file"], row["sha256"]) for row in manifest(source)}):
            _unpack(source / file, sha256, made / name / Path(file).parent)
        shutil.copy(source / PROTOCOL, made / name / PROTOCOL)
        try:
            os.rename(made, folder)
        except OSError:  # another process was first
            if not (folder / name).is_dir():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    _forget_unused(folder.parent, name)
    return folder


def _mark_used(folder):
    with contextlib.suppress(OSError):  # a cache that is read-only
        os.utime(folder)


def _forget_unused(parent, name):
    """Remove the unpacked files of earlier manifests of a study that nothing has read for `KEPT` seconds."""
    for folder in parent.iterdir():
        with contextlib.suppress(OSError):  # another process removes it, too
            if (folder / name).is_dir() and time.time() - folder.stat().st_mtime > KEPT:
                shutil.rmtree(folder)


def _unpack(path, sha256, folder):
    """Unpack a file into the folder of its study, or of its data set."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}): {RESTORE}.") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StoreError(f"{path} is not the file that its manifest lists: {RESTORE}.")
    method = path.name.removesuffix(ENDING)
    with tarfile.open(path) as archive:
        for member in archive:
            dataset, _, name = member.name.rpartition("/")
            archive.extract(member.replace(name=f"{dataset}/{method}/{name}".lstrip("/")), folder, filter="data")


def manifest(folder):
    """Return the rows of a shipped study's manifest, as dictionaries of texts; none where there is no manifest."""
    return rows_of(folder / MANIFEST)


def shipped_cells(dataset, method):
    """Return the ``trials.csv`` of a cell in every shipped study that has it, with the study's name.

    Where `dataset` is None, they are those of the method on every data set.
    """
    found = {name: _datasets_of(name, method) for name in shipped_studies()}
    wanted = {name: datasets if dataset is None else {dataset} & datasets for name, datasets in found.items()}
    return [
        (name, study / one / method / "trials.csv")
        for name, datasets in wanted.items()
        if datasets
        for study in [unpacked(name) / name]
        for one in sorted(datasets)
    ]


def _datasets_of(name, method):
    path = SHIPPED / name / MANIFEST
    return _datasets(path, path.stat().st_mtime_ns).get(method, set())


@functools.lru_cache(maxsize=32)
def _datasets(path, changed):  # read once for all cells of a sweep
    found = {}
    for row in rows_of(path):
        found.setdefault(row["method"], set()).add(row["dataset"])
    return found


def shipped_costs(study):
    """Return the seconds that each cell of the shipped study of this name took, by (data set, method)."""
    return {(row["dataset"], row["method"]): float(row["cpu_s"]) for row in manifest(SHIPPED / study)}


def shipped_lacking(study):
    """Return the number of trials that each cell of a shipped study lacks of what was asked for, as above."""
    rows = manifest(SHIPPED / study)
    return {(row["dataset"], row["method"]): int(row["asked"]) - int(row["trials"]) for row in rows}


def stamped(name, dataset, method):
    """Return the changes of code after which this cell's numbers were found to be the same.

    Returns
    -------
    dict
        (code_fit, code_evaluation) of stored rows -> a set of the same of later code.
    """
    found = {}
    for row in rows_of(SHIPPED / name / STAMPS):
        if (row["dataset"], row["method"]) == (dataset, method):
            old, new = (tuple(row[f"{when}_{part}"] for part in ("fit", "evaluation")) for when in ("old", "new"))
            found.setdefault(old, set()).add(new)
    return found


def rows_of(path):
    """Return the rows of a manifest or of stamps, as dictionaries of texts; none where there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
