"""The note that a run leaves in its cell while it goes, for other commands; it is read without any lock."""

import json
import os
from pathlib import Path

from runners.files import replace_file
from runners.processes import lives
from runners.reading import StoreError

FILE = ".run.json"


def note_run(folder, keys, n_workers):
    """Note that this process runs a cell, or, with 0 workers, that it no longer does.

    Parameters
    ----------
    folder : Path
        Of the cell.
    keys : list of str
        Keys of all the trials that it was asked for, stored ones too.
    n_workers : int
    """
    pid = os.getpid() if n_workers else None
    replace_file(folder / FILE, json.dumps({"pid": pid, "n_workers": n_workers, "trials": keys}).encode())


def read_run(folder):
    """Read the note of the last run of a cell.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    keys : list of str or None
        None where no run has left a note.
    n_workers : int
        0 where no run goes on, on this machine.

    Raises
    ------
    StoreError
        For a damaged file.
    """
    path = Path(folder) / FILE
    try:
        content = json.loads(path.read_bytes())
        keys, n_workers, pid = content["trials"], content["n_workers"], content["pid"]
    except FileNotFoundError:
        return None, 0
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: remove it, the next run of the cell writes it anew.") from error
    return keys, n_workers if pid is not None and lives(pid) else 0
