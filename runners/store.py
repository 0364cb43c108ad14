"""The files of a cell: append-only CSVs, of which the trial's row, written last, is the commit mark.

A crash at any moment leaves at most rows without their mark.  They are dropped when the cell is next opened, and
ignored by `load_results` until then.  One process writes a cell at a time; the lock dies with it.
"""

import csv
import io
import json
import os
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import filelock
import pandas as pd

from metrics.protocol import Protocol
from metrics.study import FAILED
from runners.row import Row

TRIALS = [field.name for field in fields(Row)]
SCORES = "trial dataset method n_selected clusterer restart acc nmi agreement silhouette".split()
TRACES = "trial iteration objective".split()
COLUMNS = {"trials": TRIALS, "scores": SCORES, "traces": TRACES}
KINDS = {field.name: field.type for field in fields(Row)}  # column -> type; of all others it is a text
KINDS |= dict.fromkeys(("n_selected", "restart", "iteration"), int)
KINDS |= dict.fromkeys(("acc", "nmi", "agreement", "silhouette"), float)
# Python's own float() reads back exactly what was written, in every version of pandas.
CONVERTERS = {name: float for name, kind in KINDS.items() if kind is float} | {"is_default": "True".__eq__}
TYPES = {name: KINDS.get(name, str) for names in COLUMNS.values() for name in names if name not in CONVERTERS}


class StoreError(RuntimeError):
    """Results that cannot be written or read; nothing stored earlier is lost."""


class Results(NamedTuple):
    """What is stored, as three frames with the columns `TRIALS`, `SCORES` and `TRACES`."""

    trials: pd.DataFrame
    scores: pd.DataFrame
    traces: pd.DataFrame


class Store:
    """One cell's folder, open for writing; use it as a context manager.

    Parameters
    ----------
    folder : path
        ``results/<study>/<dataset>/<method>``.
    on_wait : callable, optional
        Called once, without arguments, when another process holds the cell and this one waits for it.
    """

    def __init__(self, folder, on_wait=None):
        self.folder = Path(folder)
        self._on_wait = on_wait
        self._paths = {name: self.folder / f"{name}.csv" for name in COLUMNS}

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = filelock.FileLock(self.folder / ".lock")
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            if self._on_wait:
                self._on_wait()
            self._lock.acquire()
        try:
            self._repair()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *exception):
        self._lock.release()

    def done(self):
        """Keys of the trials that are stored and did not fail."""
        return {row["trial"] for row in _read_rows(self._paths["trials"]) if row["status"] != FAILED}

    def forget(self, keys):
        """Drop the trials with these keys, with their scores and traces."""
        keys = {key.encode() for key in keys}
        for name in ("trials", "scores", "traces"):  # the commit mark goes first
            _keep_lines(self._paths[name], lambda key: key not in keys)

    def append(self, outcomes):
        """Store outcomes, durably; a failure leaves no part of one behind.

        Parameters
        ----------
        outcomes : list of Outcome

        Raises
        ------
        StoreError
            When the disk refuses, full for example.
        """
        _append(self._paths["scores"], [row for outcome in outcomes for row in outcome.scores])
        _append(self._paths["traces"], [row for outcome in outcomes for row in outcome.traces])
        _append(self._paths["trials"], [[outcome.trial[name] for name in TRIALS] for outcome in outcomes])

    def _repair(self):
        """Create what is missing, and drop what a crash left without its commit mark."""
        for name, path in self._paths.items():
            header = ",".join(COLUMNS[name]) + "\n"
            text = path.read_bytes() if path.exists() else b""
            whole = text[: text.rfind(b"\n") + 1]
            if not whole:
                replace_file(path, header.encode())
            elif not whole.startswith(header.encode()):
                raise StoreError(
                    f"{path} has other columns than this version writes ({header.strip()}). "
                    f"Move {self.folder} away, or choose another study=NAME."
                )
            elif whole != text:
                replace_file(path, whole)
        counts = {}
        for line in self._paths["scores"].read_bytes().splitlines():
            key = line.split(b",", 1)[0]
            counts[key] = counts.get(key, 0) + 1
        rows = _read_rows(self._paths["trials"])
        complete = {key for row in rows if int(row["n_scores"]) == counts.get(key := row["trial"].encode(), 0)}
        for name in ("trials", "scores", "traces"):
            _keep_lines(self._paths[name], complete.__contains__)


def load_results(results_dir, study=None, dataset=None, method=None):
    """Read the committed rows of all cells, sorted, whatever order they were written in.

    Parameters
    ----------
    results_dir : path
    study, dataset, method : str, optional
        Only these; all by default.

    Returns
    -------
    Results
        Empty frames where nothing is stored.
    """
    pattern = f"{study or '*'}/{dataset or '*'}/{method or '*'}/trials.csv"
    frames = {name: [] for name in COLUMNS}
    for path in sorted(Path(results_dir).glob(pattern)):
        # The marks are read first: what they commit is then complete in the other two files.
        trials = _read_frame(path)
        frames["trials"].append(trials)
        for name in ("scores", "traces"):
            frame = _read_frame(path.with_name(f"{name}.csv"))
            frames[name].append(frame[frame["trial"].isin(trials["trial"])])
    joined = {
        name: pd.concat(parts, ignore_index=True) if parts else _read_csv(io.StringIO(",".join(COLUMNS[name])))
        for name, parts in frames.items()
    }
    trials = joined["trials"].sort_values(["study", "dataset", "method", "params", "sizes"], kind="stable")
    order = pd.Series(range(len(trials)), index=trials["trial"])
    for name, keys in (("scores", ["n_selected", "clusterer", "restart"]), ("traces", ["iteration"])):
        frame = joined[name].assign(_order=joined[name]["trial"].map(order))
        joined[name] = frame.sort_values(["_order", *keys], kind="stable").drop(columns="_order").reset_index(drop=True)
    return Results(trials.reset_index(drop=True), joined["scores"], joined["traces"])


def claim_study(folder, protocol):
    """Tie a study's folder to one protocol, so that no table can mix two.

    Parameters
    ----------
    folder : path
        ``results/<study>``.
    protocol : Protocol

    Raises
    ------
    StoreError
        When the folder already holds results of another protocol.
    """
    path = Path(folder) / "protocol.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(path.with_name(".protocol.lock")):
        if not path.exists():
            replace_file(path, (json.dumps(protocol.stored(), sort_keys=True, indent=1) + "\n").encode())
        try:
            stored = Protocol.from_json(path.read_text())
        except ValueError as error:
            raise StoreError(
                f"{path} holds no protocol ({error}). Restore it, or choose another study=NAME."
            ) from error
    differences = sorted(stored.differences(protocol).items())
    if differences:
        words = "; ".join(f"{name}: stored {there}, asked {here}" for name, (there, here) in differences)
        raise StoreError(
            f"The study {path.parent.name!r} holds results of another protocol ({words}). "
            "Choose another study=NAME for this one."
        )


def _append(path, rows):
    if not rows:
        return
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    with open(path, "ab", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        data = memoryview(buffer.getvalue().encode())
        try:
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        except BaseException as error:
            with suppress(OSError):
                file.truncate(size)
            if not isinstance(error, OSError):
                raise
            raise StoreError(
                f"cannot write {path}: {error.strerror}. All earlier trials are safe; make room and run the same "
                "command again to go on."
            ) from error


def replace_file(path, data):
    """Write a file whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}. The file is as it was; make room.") from error


def _keep_lines(path, wanted):
    """Keep the header and the lines whose key, the first field, is wanted."""
    header, *lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if wanted(line.split(b",", 1)[0])]
    if len(kept) < len(lines):
        replace_file(path, header + b"".join(kept))


def _read_rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def _read_frame(path):
    """A CSV without the last line, where a crash or a running process left that unfinished."""
    data = path.read_bytes() if path.exists() else b""
    data = data[: data.rfind(b"\n") + 1] or (",".join(COLUMNS[path.stem]) + "\n").encode()
    return _read_csv(io.BytesIO(data))


def _read_csv(source):
    return pd.read_csv(source, dtype=TYPES, converters=CONVERTERS, keep_default_na=False)
