"""The notes about cells that a run leaves: of a cell that is complete, and of a run that goes on.

A cell that was found complete leaves a note, so that a sweep that is run again does not load its data.  The note's name
is a digest of the composed configuration, the program, the packages and the machine.  It holds how the trials ended,
and the digests of the files that this depends on: data, results, and code from outside the checkout.  The cell is
looked at again where one of these files has changed.
"""

import functools
import hashlib
import json
import os
import socket
from contextlib import contextmanager, suppress
from pathlib import Path

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.code import ROOT, code_of
from ufs_bench.runners.errors import StoreError
from ufs_bench.runners.store.identity import versions
from ufs_bench.runners.store.names import FILE as NAMES
from ufs_bench.runners.store.row import COLUMNS, from_json, to_json
from ufs_bench.runners.workers.generators import SharedGenerator
from ufs_bench.runners.workers.machine import lives

FOLDER = ".finished"  # in results_dir
RUN = ".run.json"  # the note of a run, in the folder of the cell
PROGRAM = ("datasets", "methods", "metrics", "runners")
# The options of conf/runner that say how trials are run, and not which.
NO_MATTER = ("n_jobs", "cache", "reuse", "max_seconds", "max_memory", "arithmetic")
PLACES = ("UFS_DATA_DIR", "UFS_CACHE_DIR", "PYTHONPATH")


def note_of(config):
    """Return the path of a cell's note; None where the configuration asks for more than the trials that are missing.

    It is also None for a configuration that lacks a part or has a wrong one, as `runners.experiment.settings` reports.
    """
    try:
        if config["runner"]["redo"] or config["runner"]["plan"]:
            return None
        runner = {name: value for name, value in config["runner"].items() if name not in NO_MATTER}
        places = [os.environ.get(name) for name in PLACES], os.getcwd()
        asked = [config | {"runner": runner}, places, program(), versions()]
        name = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:32]
        return Path(config["results_dir"], FOLDER, f"{name}.json")
    except (TypeError, KeyError):
        return None


def digests_of_data(settings):
    """Return the digest of each file that a cell's data may be read from; call it before they are read."""
    from ufs_bench.datasets.load import paths_of

    return {os.path.abspath(file): digest_of(file) for file in paths_of(settings.dataset, settings.data_dir)}


def note_finished(path, settings, ends, data):
    """Note that nothing is left to do in a cell whose trials ended so, and the digests of the data that it read."""
    code = code_of(settings.method.cls)
    if not code.digest:
        return
    results = [*(settings.folder / f"{name}.csv" for name in COLUMNS), settings.folder.parent / NAMES]
    files = {os.path.abspath(file): digest_of(file) for file in results}
    files |= {str(file): digest_of(file) for file, _ in code.files}
    cell = f"{settings.method.name} on {settings.dataset['name']}"
    note = {"cell": cell, "ends": dict(ends), "files": files | data}
    try:
        # Not `replace_file`, which waits for the disk: a lost note costs little, and half a note is not read as one.
        path.parent.mkdir(exist_ok=True)
        path.write_text(to_json(note))
    except OSError:
        return


def finished(path):
    """Return the line about a cell in which nothing is left to do; None where the cell has to be looked at."""
    try:
        note = from_json(path.read_text()) if path else {}
        same = note and all(digest_of(file) == digest for file, digest in note["files"].items())
        return ends_text(note["cell"], note["ends"]) if same else None
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):  # not a whole note
        return None


def ends_text(cell, ends):
    """Return the trials of a complete cell in words: "mcfs on umist: 25 of 25 trials stored, 2 timeout"."""
    total = sum(ends.values())
    parts = [f"{cell}: {total} of {total} trial{'s' * (total > 1)} stored"]
    return ", ".join(parts + [f"{ends[status]} {status}" for status in UNSCORED if ends.get(status)])


def note_run(folder, keys, n_workers):
    """Note that this process runs a cell of trials with these keys, or, with 0 workers, that it no longer does."""
    from ufs_bench.runners.store.files import replace_file  # here, as only a run needs it

    pid = os.getpid() if n_workers else None
    note = {"pid": pid, "host": socket.gethostname(), "n_workers": n_workers, "trials": keys}
    replace_file(folder / RUN, json.dumps(note).encode())


def _inside(path, flags):
    """Open a file of a study, and no other one that a link in its place leads to."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def note_log(folder, outcome):
    """Write traceback and warnings of a trial to ``run.log``; return the lines that the user is told of at once."""
    if not outcome.log:
        return []
    row = outcome.trial
    with open(folder / "run.log", "a", encoding="utf-8", errors="backslashreplace", opener=_inside) as file:
        file.write(f"{row['trial']} {row['params']} sizes {row['sizes']}\n{outcome.log}\n")
    kind = f"{SharedGenerator.__name__}: "
    return [line.removeprefix(kind) for line in outcome.log.splitlines() if line.startswith(kind)]


@contextmanager
def noted_run(folder, keys, n_workers):
    """Note that this process runs a cell of trials with these keys, as long as the block takes."""
    note_run(folder, keys, n_workers)
    try:
        yield
    except BaseException:
        with suppress(StoreError):  # a full disk, which ended the run, takes no note either
            note_run(folder, keys, 0)
        raise
    note_run(folder, keys, 0)


def read_run(folder):
    """Return the keys and the number of workers that the note of a cell's last run has.

    The keys are None where no run has left a note; there are 0 workers where no run goes on.  A run of another machine
    is taken to go on until its own end or the next run clears the note, as its process cannot be looked at from here.
    A StoreError says that the file is damaged.
    """
    path = Path(folder) / RUN
    try:
        content = from_json(path.read_bytes())
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


def digest_of(path):
    """Return the SHA-256 of a file; None where there is none."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
