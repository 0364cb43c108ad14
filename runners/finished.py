"""Cells in which nothing is left to do, told from small files: a sweep that is run again does not load their data.

A cell that was found complete leaves a note: what was typed for it, how its trials ended, and the size and time of
every file that this depends on, those of its results too, besides the program and conf/, of which the note has a hash.
Where all of that is as it was, the cell is complete.
"""

import functools
import hashlib
import inspect
import json
import os
from pathlib import Path

from datasets.load import paths_of
from metrics.study import UNSCORED
from runners.provenance import ROOT
from runners.row import COLUMNS

FOLDER = ".finished"  # in results_dir
PROGRAM = ("conf", "datasets", "methods", "metrics", "runners", "run.py")
NO_MATTER = ("n_jobs", "cache", "max_seconds", "max_memory")  # of conf/runner: how trials are run, not which
PLACES = ("UFS_DATA_DIR", "UFS_CACHE_DIR")


def note_finished(settings, words, ends):
    """Note that nothing is left to do in a cell.

    Parameters
    ----------
    settings : Settings
    words : list of str
        What was typed for it, such as ``["dataset=umist", "method=mcfs"]``.
    ends : Mapping
        Status -> number of trials: of all that it asks for.
    """
    path = _note_of(settings.results_dir, words)
    if path is None:
        return
    folder = settings.folder
    files = [folder / f"{name}.csv" for name in COLUMNS]
    files += [*paths_of(settings.dataset, settings.data_dir), inspect.getsourcefile(settings.method.cls)]
    note = {
        "program": _program(),
        "places": _places(),
        "cell": f"{settings.method.name} on {settings.dataset['name']}",
        "ends": dict(ends),
        "files": {os.path.abspath(file): _state(file) for file in files},
    }
    # Not `replace_file`, which waits for the disk: a note that is lost costs nothing, and half a note is none.
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(note))


def finished(results_dir, words):
    """The line about a cell in which nothing is left to do; None where it has to be looked at.

    Parameters
    ----------
    results_dir : path
    words : list of str
        As `note_finished` had them.

    Returns
    -------
    cell : str
    line : str
    """
    path = _note_of(results_dir, words)
    if path is None or not path.exists():
        return None
    try:
        note = json.loads(path.read_text())
        same = (note["program"], note["places"]) == (_program(), _places())
        if not same or any(_state(file) != state for file, state in note["files"].items()):
            return None
        return note["cell"], ends_text(note["cell"], note["ends"])
    except (ValueError, KeyError, TypeError, OSError):  # no whole note: the cell is looked at
        return None


def ends_text(cell, ends):
    """The trials of a complete cell in words: "mcfs on umist: 25 of 25 trials stored, 2 timeout"."""
    total = sum(ends.values())
    parts = [f"{cell}: {total} of {total} trial{'s' * (total > 1)} stored"]
    return ", ".join(parts + [f"{ends[status]} {status}" for status in UNSCORED if ends.get(status)])


def _note_of(results_dir, words):
    """The note of what was typed; None where it asks for something else than what is missing."""
    kept = []
    for word in words:
        name, _, _ = word.lstrip("+").partition("=")
        group, _, key = name.partition(".")
        if group == "runner" and key not in (*NO_MATTER, "points"):
            return None
        if not (group == "runner" and key in NO_MATTER):
            kept.append(word)
    name = hashlib.sha256("\n".join(sorted(kept)).encode()).hexdigest()[:32]
    return Path(results_dir, FOLDER, f"{name}.json")


@functools.cache
def _program():
    """Hash of the program and of conf/."""
    digest = hashlib.sha256()
    for place in PROGRAM:
        for path in [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.*")):
            if path.suffix in (".py", ".yaml"):
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def _places():
    return [os.environ.get(name) for name in PLACES] + [os.getcwd()]


def _state(path):
    """Size and time of a file; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
