"""The files of a cell: append-only CSVs, of which the trial's row, written last, is the commit mark.

A crash at any moment leaves at most rows without their mark.  They are dropped when the cell is next opened, and
`load_results` ignores them until then.  One process writes a cell at a time; its lock ends with it.

Trials that are computed again are gathered in a folder of their own, and replace the stored ones when all are there: a
redo that is interrupted loses nothing, and goes on where it stopped.
"""

import glob
import json
import os
import shutil
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import filelock
import pandas as pd

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.store.files import (
    NAMING,
    StoreError,
    append_rows,
    check_places,
    clear_unfinished,
    csv_of,
    empty_frame,
    header_of,
    held,
    keep_last,
    keep_lines,
    key_of,
    lines_of,
    plain,
    read_frame,
    read_rows,
    replace_file,
    whole_lines,
    writing,
)
from ufs_bench.runners.store.reading import check_one_study, read_cells
from ufs_bench.runners.store.row import COLUMNS, IDENTITY, OTHERS, TRIALS, counts_of, to_json

REDO = ".redo"  # the folder inside a cell's own that gathers rows that will replace stored ones
REDONE = ".redone"  # the same, once it is complete
_CLAIMED = set()  # the studies, and their protocols, of which this process has seen all rows


class Results(NamedTuple):
    """The stored results, as frames with the columns `TRIALS`, `SCORES`, `TRACES`, `FACTS` and `MEASURES`."""

    trials: pd.DataFrame
    scores: pd.DataFrame
    traces: pd.DataFrame
    facts: pd.DataFrame
    measures: pd.DataFrame


class Store:
    """One cell's folder, open for writing as a context manager; `on_wait` is called once where it has to wait."""

    def __init__(self, folder, on_wait=None):
        self.folder = Path(folder)
        self._on_wait = on_wait
        self._paths = {name: self.folder / f"{name}.csv" for name in COLUMNS}

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
            self._held = _identity_of(self._lock.lock_file)
            self._replace_redone()
            self._repair()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *exception):
        self._lock.release()

    def rows(self, name="trials"):
        """Return the rows of a file, as dictionaries of texts."""
        return read_rows(self._paths[name])

    def forget(self, keys):
        """Drop the trials with these keys, with their scores and traces."""
        keys = {key.encode() for key in keys}
        for name in ("trials", *OTHERS):  # the commit mark goes first
            keep_lines(self._paths[name], lambda key: key not in keys)

    def note_default(self, params):
        """Set `is_default` in the trials with these parameters, as JSON, and in no other: a default may change."""
        rows = self.rows()
        if any((row["is_default"] == "True") != (row["params"] == params) for row in rows):
            lines = [(row | {"is_default": row["params"] == params}).values() for row in rows]
            replace_file(self._paths["trials"], header_of("trials") + csv_of(lines))

    def redo(self):
        """Return a store for trials that are computed again; `take_redone` replaces the stored ones by them."""
        return Store(self.folder / REDO)

    def take_redone(self):
        """Replace stored trials by those of `redo`, which must be closed."""
        os.replace(self.folder / REDO, self.folder / REDONE)  # a crash from here on leaves a complete set
        self._replace_redone()

    def _replace_redone(self):
        """Put complete rows in the place of older ones of the same trials; a second call changes nothing."""
        folder = self.folder / REDONE
        if not folder.is_dir():
            return
        new = {name: lines_of(folder / f"{name}.csv")[1] for name in COLUMNS}
        keys = {key_of(line) for line in new["trials"]}
        for name in (*OTHERS, "trials"):
            header, old = lines_of(self._paths[name]) if self._paths[name].exists() else (header_of(name), [])
            kept = [line for line in old if key_of(line) not in keys]
            replace_file(self._paths[name], header + b"".join([*kept, *new[name]]))
        shutil.rmtree(folder)

    def append(self, outcomes):
        """Store outcomes, durably; a failure leaves no part of one behind.

        A StoreError says that the disk refused, or that the lock was taken away, as another process may then write
        the cell.
        """
        if _identity_of(self._lock.lock_file) != self._held:
            raise StoreError(
                f"{self._lock.lock_file} was removed while this run held it, so another one may write the same cell. "
                "What is stored is safe; run the same command again when no other run of it is left."
            )
        for name in OTHERS:
            append_rows(self._paths[name], [row for outcome in outcomes for row in getattr(outcome, name)])
        append_rows(self._paths["trials"], [[outcome.trial[name] for name in TRIALS] for outcome in outcomes])

    def _repair(self):
        """Create missing files, and drop what a crash left: rows without their commit mark, and repeated rows."""
        for name, path in self._paths.items():
            clear_unfinished(path)
            text = path.read_bytes() if path.exists() else b""
            whole = plain(text)
            whole = whole[: whole.rfind(b"\n") + 1]
            if not whole:
                replace_file(path, header_of(name))
            elif not whole.startswith(header_of(name)):
                raise StoreError(
                    f"{path} has other columns than this version writes ({header_of(name).decode().strip()}). "
                    f"Move {self.folder} away, or choose another study=NAME."
                )
            elif whole != text:
                replace_file(path, whole)
            keep_last(path)
        counts = {name: Counter(map(key_of, lines_of(self._paths[name])[1])) for name in OTHERS}
        rows = read_frame(self._paths["trials"])
        complete = {
            key.encode()
            for key, row in zip(rows["trial"], rows.to_dict("records"), strict=True)
            if all(counts[name][key.encode()] == count for name, count in counts_of(row).items())
        }
        for name in COLUMNS:
            keep_lines(self._paths[name], complete.__contains__)
        folder = self.folder.parent if self.folder.name == REDO else self.folder
        for name in NAMING:
            check_places(self._paths[name], folder)


def claim_study(folder, protocol, cell=None):
    """Tie the folder of a study to one protocol, so that no table can mix two; refuse another with a StoreError.

    The second and later claims of a process for a `cell`, a folder, look at the rows of this cell alone, so that a
    sweep does not read all cells again for each.
    """
    path = Path(folder) / "protocol.json"
    with held(path):
        try:
            stored = Protocol.from_json(path.read_text()) if path.exists() else protocol
        except ValueError as error:
            raise StoreError(
                f"{path} holds no protocol ({str(error).rstrip('.')}). Restore it, or choose another study=NAME."
            ) from error
        if words := _differences(stored, protocol):
            raise StoreError(
                f"The study {path.parent.name!r} holds results of another protocol ({words}). "
                "Choose another study=NAME for this one."
            )
        text = json.dumps(protocol.stored(), sort_keys=True, indent=1) + "\n"
        names = Path(cell).parts[-2:] if cell and (path, text) in _CLAIMED else (None, None)
        for rows in cells_of(path.parents[1], path.parent.name, *names):
            check_rows(rows, protocol)
        _CLAIMED.add((path, text))
        if not path.exists():
            replace_file(path, text.encode())


def check_rows(path, protocol):
    """Refuse a ``trials.csv`` that has a row of another protocol, as a cell that was copied, or a text that was edited.

    Other faults of the file are left to whoever reads the cell.
    """
    usual, data = csv_of([[to_json(protocol.stored())]]).strip(), whole_lines(path)
    if data.count(usual) == data.count(b"\n") - 1:  # a thousandth of the time of reading the rows
        return
    for row in _readable(path):
        with suppress(ValueError):
            if words := _differences(Protocol.from_json(row["protocol"]), protocol):
                raise StoreError(
                    f"{path}, column protocol: trial {row['trial']} is of another protocol ({words}). Restore what was "
                    f"edited, move {path.parent} away, or choose another study=NAME."
                )


def _readable(path):
    try:
        return read_rows(path)
    except StoreError:
        return []


def _differences(stored, asked):
    pairs = sorted(stored.differences(asked).items())
    return "; ".join(f"{name}: stored {there}, asked {here}" for name, (there, here) in pairs)


def load_results(results_dir, study, dataset=None, method=None, damaged=None):
    """Return the committed rows of a study's cells as `Results`, sorted, whatever order they were written in.

    Data set and method are all by default; the frames are empty where nothing is stored.  The StoreError about a
    damaged file names file, line, column, value and remedy.  With a list `damaged` it is added to the list, and the
    cell is left out.
    """
    return results_of(cells_of(results_dir, study, dataset, method), Path(results_dir, str(study)), damaged)


def results_of(paths, folder, damaged=None):
    """Return the committed rows of the cells with these ``trials.csv``, of a study's folder, as `load_results` does."""
    frames = {name: [] for name in COLUMNS}
    for cells in read_cells(paths, damaged):
        for name, frame in cells.items():
            frames[name].append(frame)
    whole = {
        name: pd.concat(parts, ignore_index=True) if parts else empty_frame(COLUMNS[name])
        for name, parts in frames.items()
    }
    check_one_study(whole["trials"], folder)
    joined = {name: frame.drop_duplicates(IDENTITY[name], keep="last") for name, frame in whole.items()}
    trials = joined["trials"].sort_values(["study", "dataset", "method", "params", "sizes", "nth_seed"], kind="stable")
    order = pd.Series(range(len(trials)), index=trials["trial"])
    for name in OTHERS:
        keys = [key for key in IDENTITY[name] if key != "trial"]
        frame = joined[name].assign(_order=joined[name]["trial"].map(order))
        joined[name] = frame.sort_values(["_order", *keys], kind="stable").drop(columns="_order").reset_index(drop=True)
    return Results(trials.reset_index(drop=True), *(joined[name] for name in OTHERS))


def rows_by_trial(folder, names, keys):
    """Return the rows of some trials as dictionaries of texts, by file and trial."""
    found = {name: defaultdict(list) for name in names}
    for name in names:
        for row in read_rows(Path(folder, f"{name}.csv")):
            if row["trial"] in keys:
                found[name][row["trial"]].append(row)
    return found


def cells_of(results_dir, *names):
    """List the ``trials.csv`` of every cell that is asked for; none where a name cannot be a folder."""
    names = [str(name) if name else "" for name in names]
    if any(name == ".." or Path(name).name != name for name in names):
        return []
    pattern = "/".join(glob.escape(name) or "*" for name in names)
    return sorted(Path(results_dir).glob(f"{pattern}/trials.csv"))


def _identity_of(path):
    """Return a value that tells a file from a later one of the same name; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
