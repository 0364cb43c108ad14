"""The fits of a cell: ``fits.jsonl`` has a line of JSON for each, and the last line of a point counts.

The process that holds the cell's lock adds lines, and syncs them; a last line that a crash has cut off is dropped.  The
CSVs beside it are for people, and no command reads them: they go when a line is added, and are written when the run of
the cell ends.
"""

import glob
import itertools
import json
import os
from contextlib import nullcontext, suppress
from pathlib import Path

import filelock

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store.files import clear_unfinished, write_rows, writing
from ufs_bench.runners.store.row import COLUMNS, FIELDS, tables_of

FILE = "fits.jsonl"
POINT = ("params", "sizes", "nth_seed")  # by another target, as of a method whose file was moved, it is the same point


class Store:
    """One cell's folder, open for writing as a context manager; `on_wait` is called once where it has to wait."""

    def __init__(self, folder, on_wait=None):
        self.folder = Path(folder).absolute()
        self._path, self._on_wait = self.folder / FILE, on_wait
        self._tables = {name: self.folder / f"{name}.csv" for name in COLUMNS}

    def __enter__(self):
        with writing(self.folder / ".lock"):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = filelock.FileLock(self.folder / ".lock")
            try:
                self._lock.acquire(timeout=0)
            except filelock.Timeout:
                if self._on_wait:
                    self._on_wait()
                self._lock.acquire()
        try:
            check_form(self.folder)
            with writing(self._path), open(self._path, "ab+") as file:
                file.seek(0)
                file.truncate(len(_whole(file.read())))
            for path in self._tables.values():
                clear_unfinished(path)
            self._fits = _read(self._path)  # by point
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if not is_exported(self.folder):
                with suppress(StoreError) if kind else nullcontext():  # of a full disk, say, one error is enough
                    for name, rows in tables_of(self.fits()).items():
                        write_rows(self._tables[name], COLUMNS[name], rows)
        finally:
            self._lock.release()

    def fits(self):
        """Return the stored fits, dicts with the fields of `Row`."""
        return list(self._fits.values())

    def forget(self, keys):
        """Drop the trials with these keys."""
        self.append([{"gone": sorted(keys)}] if keys else [])

    def append(self, lines):
        """Store fits, durably, in the place of those of the same points; a failure leaves no part of one behind."""
        if not lines:
            return
        words = "All earlier trials are safe; {} and run the same command again to go on."
        with writing(self._path, words), open(self._path, "ab", buffering=0) as file:
            for path in reversed(self._tables.values()):  # the mark of `is_exported` first
                path.unlink(missing_ok=True)
            size = file.seek(0, os.SEEK_END)
            texts = [json.dumps(line) for line in lines]
            data = memoryview("".join(f"{text}\n" for text in texts).encode())
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    file.truncate(size)
                raise
        for text in texts:
            _add(self._fits, json.loads(text), self.folder.parts[-3])


def is_exported(folder):
    """Return True where the CSVs of a cell have all of its fits."""
    return (folder / "trials.csv").exists()  # the last one that is written


def _whole(data):
    """Return the lines of a file, without a last one that is not finished."""
    return data[: data.rfind(b"\n") + 1]


def read_fits(path):
    """Return the fits of a cell, dicts with the fields of `Row`; none where there is no file.

    Their study is what the folder is called.  A StoreError names file, line and remedy.
    """
    return list(_read(path).values())


def _read(path):
    found, (study, *cell) = {}, path.absolute().parts[-4:-1]
    try:
        lines = _whole(path.read_bytes()).splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}.") from error
    for number, line in enumerate(lines, 1):
        try:
            fit = json.loads(line)
            if "gone" not in fit:
                _check(fit, cell)
            _add(found, fit, study)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise StoreError(
                f"{path}, line {number}: {error}. Restore the file, or remove this line and run the cell again."
            ) from error
    return found


def _add(found, line, study):
    """Put a line into fits by point: a fit in the place of another one, or the keys of trials that are gone."""
    if "gone" in line:
        for point in [point for point, one in found.items() if one["trial"] in line["gone"]]:
            del found[point]
        return
    point = tuple(line[name] for name in POINT)
    found.pop(point, None)  # so that it is the last one
    found[point] = line | {"study": study}


def _check(fit, cell):
    """Raise ValueError where the fields of a line are not those of a fit of this cell, (data set, method)."""
    for name, kind in FIELDS.items():
        if not isinstance(fit.get(name), kind):
            raise ValueError(f"{name}={fit.get(name)!r:.80} must be of type {kind.__name__}")
    if [fit["dataset"], fit["method"]] != cell:
        raise ValueError(f"it is of {fit['method']} on {fit['dataset']}, and the folder is called {'/'.join(cell)}")


def cells_of(results_dir, study=None, dataset=None, method=None):
    """List the `FILE` of every cell that is asked for; none where a name cannot be a folder."""
    names = [str(name) if name else "" for name in (study, dataset, method)]
    if any(name == ".." or Path(name).name != name for name in names):
        return []
    folders = sorted(Path(results_dir).glob("/".join(glob.escape(name) or "*" for name in names)))
    for folder in folders:
        check_form(folder)
    return [folder / FILE for folder in folders if (folder / FILE).exists()]


def check_form(folder):
    """Refuse a cell that has a table of fits and no `FILE`, as those of earlier versions: a run would remove it."""
    if is_exported(folder) and not (folder / FILE).exists():
        raise StoreError(f"{folder} has a trials.csv and no {FILE}, as of an earlier version: rename or delete it.")


def load_fits(results_dir, study, dataset=None, method=None, damaged=None):
    """Return the fits of a study's cells, sorted, whatever order they were written in; all cells by default.

    A damaged cell is a StoreError; with a list `damaged` it is left out, and its error added to the list.
    """
    found = []
    for path in cells_of(results_dir, study, dataset, method):
        try:
            found += read_fits(path)
        except StoreError as error:
            if damaged is None:
                raise
            damaged.append(error)
    return in_order(found)


def in_order(fits):
    """Return fits sorted, whatever order they were written in."""
    return sorted(fits, key=lambda fit: [fit[name] for name in ("study", "dataset", "method", *POINT)])


def check_study(folder, dataset, protocol):
    """Refuse a cell whose fits would stand beside some of another protocol, or of other data of the same name.

    Only the first fit of the cells of the data set is looked at, and of another one: what reads a study looks at all.
    """
    beside = sorted(folder.parent.glob(f"*/{FILE}"))
    for path in [*beside, *itertools.islice(folder.parents[1].glob(f"*/*/{FILE}"), 1)]:
        with suppress(OSError, ValueError, KeyError, TypeError), open(path, "rb") as file:
            first = json.loads(file.readline())
            pairs = sorted(Protocol.from_json(first["protocol"]).differences(protocol).items())
            if pairs:
                words = "; ".join(f"{name}: stored {there}, asked {here}" for name, (there, here) in pairs)
                raise StoreError(
                    f"The study {folder.parents[1].name!r} holds results of another protocol ({words}). "
                    "Choose another study=NAME for this one."
                )
            if path in beside and first["data_sha"] != dataset.sha:
                raise StoreError(
                    f"{path.parent} holds trials of other data that were called {dataset.name!r}: the file, its labels "
                    "or its clusters have changed, or it is another one. Name the data or the study otherwise "
                    f"(name={dataset.name}_2, study=NAME), or remove the folder if the old data were wrong."
                )
