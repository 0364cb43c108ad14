"""The notes about cells: how their trials ended, which process runs them, and its log."""

import json
import logging
import os
import socket
from contextlib import contextmanager, suppress
from pathlib import Path

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.progress import log
from ufs_bench.runners.store.row import from_json
from ufs_bench.runners.workers.machine import lives

RUN = ".run.json"  # the note of a run, in the folder of the cell


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


@contextmanager
def logged(folder):
    """Write the lines of a run to ``run.log`` of a cell, too, inside this block."""
    handler = logging.FileHandler(folder / "run.log", encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("[%(asctime)s][%(levelname)s] %(message)s"))
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()


def note_log(folder, outcome):
    """Write traceback and warnings of a trial to ``run.log``."""
    if not outcome.log:
        return
    row = outcome.trial
    with open(folder / "run.log", "a", encoding="utf-8", errors="backslashreplace", opener=_inside) as file:
        file.write(f"{row['trial']} {row['params']} sizes {row['sizes']}\n{outcome.log}\n")


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
