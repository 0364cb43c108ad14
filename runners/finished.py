"""Notes on cells in which nothing is left to do, so that a sweep that is run again does not load their data.

A cell that was found complete leaves a note.  Its name is a digest of the composed configuration, the program, the
packages and the machine.  It holds how the trials ended, and the digests of the files that this depends on: data,
results, and code from outside the checkout.  Where one of these files has changed, the cell is looked at again.
"""

import functools
import hashlib
import json
import os
from pathlib import Path

from metrics.study import UNSCORED
from runners.code import ROOT, code_of
from runners.provenance import versions
from runners.row import COLUMNS, to_json

FOLDER = ".finished"  # in results_dir
PROGRAM = ("datasets", "methods", "metrics", "runners")
NO_MATTER = ("n_jobs", "cache", "max_seconds", "max_memory")  # of conf/runner: how trials are run, not which
PLACES = ("UFS_DATA_DIR", "UFS_CACHE_DIR")


def note_of(config):
    """Return the path of a cell's note; None where the configuration asks for more than the trials that are missing.

    Parameters
    ----------
    config : Mapping
        The whole configuration, composed and resolved, when the cell begins.

    Returns
    -------
    Path or None
    """
    if config["runner"]["redo"] or config["runner"]["plan"]:
        return None
    runner = {name: value for name, value in config["runner"].items() if name not in NO_MATTER}
    places = [os.environ.get(name) for name in PLACES], os.getcwd()
    asked = [config | {"runner": runner}, places, program(), versions()]
    name = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:32]
    return Path(config["results_dir"], FOLDER, f"{name}.json")


def digests_of_data(settings):
    """Return the digest of each file that a cell's data may be read from; call it before they are read."""
    from datasets.load import paths_of

    return {os.path.abspath(file): _digest(file) for file in paths_of(settings.dataset, settings.data_dir)}


def note_finished(path, settings, ends, data):
    """Note that nothing is left to do in a cell; where the note cannot be written, the cell is looked at again.

    Parameters
    ----------
    path : Path
        From `note_of`.
    settings : Settings
    ends : Mapping
        Number of trials by status, over all that the cell asks for.
    data : dict
        From `digests_of_data`.
    """
    results = [settings.folder / f"{name}.csv" for name in COLUMNS]
    files = {os.path.abspath(file): _digest(file) for file in results}
    files |= {str(file): digest for file, digest in code_of(settings.method.cls).files}
    cell = f"{settings.method.name} on {settings.dataset['name']}"
    note = {"cell": cell, "ends": dict(ends), "files": files | data}
    try:
        # Not `replace_file`, which waits for the disk: a lost note costs little, and half a note is not read as one.
        path.parent.mkdir(exist_ok=True)
        path.write_text(to_json(note))
    except OSError:
        return


def finished(path):
    """Return the line about a cell in which nothing is left to do; None where the cell has to be looked at.

    Parameters
    ----------
    path : Path or None
        From `note_of`.

    Returns
    -------
    str or None
    """
    try:
        note = json.loads(path.read_text()) if path else {}
        same = note and all(_digest(file) == digest for file, digest in note["files"].items())
        return ends_text(note["cell"], note["ends"]) if same else None
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):  # not a whole note
        return None


def ends_text(cell, ends):
    """Return the trials of a complete cell in words: "mcfs on umist: 25 of 25 trials stored, 2 timeout"."""
    total = sum(ends.values())
    parts = [f"{cell}: {total} of {total} trial{'s' * (total > 1)} stored"]
    return ", ".join(parts + [f"{ends[status]} {status}" for status in UNSCORED if ends.get(status)])


@functools.cache
def program():
    """Return the digest of the program, as it was when this function was first called."""
    digest = hashlib.sha256()
    for place in PROGRAM:
        for path in sorted((ROOT / place).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


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
