"""Reads the CSVs of a cell as frames; an error about a damaged one names file, line, column, value and remedy."""

import codecs
import csv
import glob
import io
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from metrics.protocol import Protocol
from runners.row import COLUMNS, KINDS, LATER

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # a ranking of 20,000 features is longer than the module's own limit
# Python's own float() reads back exactly what was written, in every version of pandas.
CONVERTERS = {name: float for name, kind in KINDS.items() if kind is float}
CONVERTERS["is_default"] = {"True": True, "False": False}.__getitem__
RANGES = dict.fromkeys(("acc", "nmi", "acc_mean", "nmi_mean"), (0, 1)) | {"agreement": (-1, 1), "silhouette": (-1, 1)}
RANGES |= dict.fromkeys(("fit_s", "eval_s", "peak_mb"), (0, math.inf))
RANGES |= dict.fromkeys(("n_iter", "n_scores", "restart", "iteration", "seed"), (0, 2**63 - 1))
RANGES |= {"n_selected": (1, 2**63 - 1)}
NEVER_NAN = ("acc", "nmi")
CLUSTERERS = ("kmeans", "learned")
# The columns that identify a row of each file; of rows with the same ones, the last counts.
IDENTITY = {
    "trials": ["trial"],
    "scores": ["trial", "n_selected", "clusterer", "restart"],
    "traces": ["trial", "iteration"],
    "facts": ["trial", "name"],
    "measures": ["trial", "n_selected", "name"],
}


class StoreError(RuntimeError):
    """Results cannot be written or read; nothing stored earlier is lost."""


def read_frame(path, names=None):
    """Read one CSV of a cell, without the last line where a crash or a running process left that unfinished.

    Parameters
    ----------
    path : Path
        ``trials.csv``, or another of the files in `COLUMNS`, unless its columns are given.
    names : list of str, optional
        Its columns.

    Returns
    -------
    DataFrame
        Empty where there is no file.

    Raises
    ------
    StoreError
        For a file that is damaged, naming file, line, column, value and remedy.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}.") from error
    names = names or COLUMNS[path.stem]
    data = plain(data)
    data = data[: data.rfind(b"\n") + 1] or (",".join(names) + "\n").encode()
    asked, names = names, columns_of(data, names)
    try:
        with np.errstate(invalid="ignore"):  # numpy warns of a value that does not fit into its column
            frame = pd.read_csv(io.BytesIO(data), dtype=_types(names), converters=CONVERTERS, keep_default_na=False)
        fault = _fault_of_frame(frame, names)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        fault = f"{type(error).__name__}: {error}"
    if fault:
        raise StoreError(f"{path}{_place(data, names) or ': ' + fault}. {remedy(path)}")
    return frame if names == asked else frame.assign(**{name: LATER[name] for name in asked[len(names) :]})


def columns_of(data, names):
    """Return the columns that a file has; a file of an earlier version lacks some of `LATER`.

    Parameters
    ----------
    data : bytes
        Of the file.
    names : list of str
        All its columns.

    Returns
    -------
    list of str
    """
    header = data[: data.find(b"\n")].decode(errors="replace").split(",")
    early = header == names[: len(header)] and all(name in LATER for name in names[len(header) :])
    return header if early else names


def plain(data):
    """Return the bytes of a CSV as a run writes them; spreadsheets add a byte order mark and change the line ends."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def empty_frame(names):
    """Return a frame with these columns and no rows."""
    return pd.read_csv(io.StringIO(",".join(names)), dtype=_types(names), converters=CONVERTERS)


def _types(names):
    return {name: KINDS.get(name, str) for name in names if name not in CONVERTERS}


def read_cells(results_dir, study, file, names, keep=None):
    """Read one file of every cell of a study, joined in the order of data sets and methods.

    Parameters
    ----------
    results_dir : path
    study, file : str
    names : list of str
        Its columns.
    keep : callable, optional
        (rows of a cell, its trials) -> the rows that count.

    Returns
    -------
    DataFrame
        Empty where no cell has the file.

    Raises
    ------
    StoreError
        As `read_frame`.
    """
    paths = sorted(Path(results_dir).glob(f"{glob.escape(study)}/*/*/{file}"))
    frames = [read_frame(path, names) for path in paths]
    if keep is not None:
        trials = [read_frame(path.with_name("trials.csv")) for path in paths]
        frames = [keep(*pair) for pair in zip(frames, trials, strict=True)]
    return pd.concat(frames or [empty_frame(names)], ignore_index=True)


def read_rows(path):
    """Return the rows of one CSV as dictionaries of texts.

    Raises
    ------
    StoreError
        As `read_frame`, for a file that is not a table of the right columns.
    """
    data = plain(path.read_bytes())
    data = data[: data.rfind(b"\n") + 1]  # the last line may be one that is being written
    names = columns_of(data, COLUMNS[path.stem])
    try:
        rows = [row for row in csv.reader(io.StringIO(data.decode(), newline="")) if row]
        whole = rows and rows[0] == names and all(len(row) == len(names) for row in rows)
    except (ValueError, csv.Error):
        whole = False
    if not whole:
        raise StoreError(f"{path}{_place(data, names) or ' is damaged'}. {remedy(path)}")
    later = {name: LATER[name] for name in COLUMNS[path.stem][len(names) :]}
    return [dict(zip(names, row, strict=True)) | later for row in rows[1:]]


def remedy(path):
    """Say what to do about a damaged file of a cell."""
    return (
        "The file is damaged: restore it, or remove this line and run the cell again; "
        f"or move {path.parent} away to compute all of the cell anew."
    )


def _fault_of_frame(frame, names):
    """Return True where a frame that could be parsed holds a value that no run writes."""
    if list(frame.columns) != names:
        return "other columns"
    for name in names:
        values = frame[name].to_numpy()  # a Series takes ten times as long for a few rows
        if name in RANGES:
            low, high = RANGES[name]
            right = (low <= values) & (values <= high)
            right = right.all() if name in NEVER_NAN else (right | (values != values)).all()
        elif KINDS.get(name, str) is str:
            check = CHECKS.get(name)
            right = all(isinstance(text, str) and not (check and check(text)) for text in set(values.tolist()))
        else:
            right = True
        if not right:
            return f"column {name}"
    return ""


def _place(data, names):
    """Return line, column and value of the first fault, in words; "" where no single line is wrong."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return f", line {line}: bytes that are no UTF-8 text"
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            where = f", line {reader.line_num}"
            if reader.line_num == 1 and row != names:
                return f"{where}: the columns are {shortened(','.join(row))}, not {','.join(names)}"
            if row and len(row) != len(names):
                return f"{where}: {len(row)} values instead of {len(names)}"
            for name, value in zip(names, row, strict=True) if reader.line_num > 1 else ():
                if problem := fault_of(name, value):
                    return f"{where}, column {name}: {shortened(repr(value))} {problem}"
    except csv.Error as error:
        return f", line {reader.line_num}: {error}"
    return ""


def shortened(text):
    """Return the beginning of a long text."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def fault_of(name, text):
    """Say what is wrong with a value of a column; "" where nothing is."""
    kind = KINDS.get(name, str)
    if kind is bool:
        return "" if text in ("True", "False") else "must be True or False"
    if kind is str:
        return CHECKS[name](text) if name in CHECKS else ""
    try:
        value = kind(text)
    except ValueError:
        return "must be a whole number" if kind is int else "must be a number"
    low, high = RANGES.get(name, (-math.inf, math.inf))
    if value != value:
        return "must be a number" if name in NEVER_NAN else ""
    return "" if low <= value <= high else f"must be in [{low}, {high}]"


def _json_of(kind):
    def check(text):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return "is not JSON"
        return "" if isinstance(value, kind) else f"must be a JSON {' or '.join(JSON_NAMES[one] for one in kind)}"

    return check


def _check_sizes(text):
    fault = _json_of((list,))(text)
    if fault:
        return fault
    whole = [type(size) is int and size >= 1 for size in json.loads(text)]
    return "" if whole and all(whole) else "must be a JSON list of whole numbers"


def _check_protocol(text):
    try:
        Protocol.from_json(text)
    except ValueError as error:
        return f"is no protocol ({error})".rstrip(".")
    return ""


def _check_named(text):
    return "" if text else "must not be empty"


JSON_NAMES = {list: "list", dict: "mapping"}
# Column -> function that says what is wrong with a text; it sees a text once, however many rows have it.
CHECKS = {
    "clusterer": lambda text: "" if text in CLUSTERERS else f"must be one of {', '.join(CLUSTERERS)}",
    "sizes": _check_sizes,
    "protocol": _check_protocol,
    "ranking": _json_of((list, dict)),
    **dict.fromkeys(("shared", "features"), _json_of((list,))),
    **dict.fromkeys(("params", "feature_sets", "versions"), _json_of((dict,))),
    **dict.fromkeys(("labels", "n_others"), lambda text: text and _json_of((dict,))(text)),
    **dict.fromkeys(("trial", "study", "dataset", "method", "status"), _check_named),
}
