"""Files that are replaced whole or not at all, what is said where one cannot be written, and the names of features."""

import csv
import io
import json
import os
from contextlib import contextmanager, suppress

import filelock

from ufs_bench.runners.messages import StoreError, remedy_of


@contextmanager
def writing(path, words="All that is stored is safe; {}."):
    """Raise a StoreError, which ends with `words` and what to do, where a file or folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}. {words.format(remedy_of(error))}") from error


def replace_file(path, data):
    """Write a file whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with writing(path, "The file is as it was; {}."):
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def clear_unfinished(path):
    """Remove the temporary file that a killed `replace_file` left beside a file; call it with its writers' lock."""
    for left in path.parent.glob(f"{path.name}.*.tmp"):
        with suppress(OSError):
            left.unlink()


@contextmanager
def held(path):
    """Keep other processes from writing a file, and remove the temporary file that a killed one left beside it."""
    place = path.with_name(f".{path.stem}.lock")
    with writing(place):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(place).acquire()
    with lock:
        clear_unfinished(path)
        yield


def write_rows(path, names, rows):
    """Write a CSV of these columns whole or not at all."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([names, *rows])
    replace_file(path, buffer.getvalue().encode())


FILE = "features.json"
SHOWN = 10


def store_names(folder, sha, names):
    """Keep the names of the features of a data set, or None, and the checksum of its values, which they belong to."""
    if names is not None and stored_names(folder, sha) != list(names):
        replace_file(folder / FILE, json.dumps({"data_sha": sha, "names": list(names)}, indent=0).encode())


def stored_names(folder, sha):
    """Return the names of the features of the data with this checksum; None where none are stored of these."""
    try:
        content = json.loads((folder / FILE).read_bytes())
        return content["names"] if content["data_sha"] == sha else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def size_to_show(sizes):
    """Return the size whose selection is shown where none is asked for: the least of ten or more, or the largest."""
    return min((size for size in sizes if size >= SHOWN), default=max(sizes))
