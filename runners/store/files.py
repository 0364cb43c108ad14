"""The CSVs of a cell as files: read with every value checked, added to durably, and replaced whole or not at all."""

import codecs
import csv
import functools
import io
import os
import sys
from contextlib import contextmanager, suppress

import filelock

from ufs_bench.runners.errors import StoreError, remedy_of
from ufs_bench.runners.store.row import COLUMNS, IDENTITY, KINDS, NEVER_NAN, RANGES, fault_of
from ufs_bench.runners.words import shown

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # a ranking of 20,000 features is longer than the module's own limit
# Python's own float() reads back exactly what was written, in every version of pandas.
CONVERTERS = {name: float for name, kind in KINDS.items() if kind is float}
CONVERTERS["is_default"] = {"True": True, "False": False}.__getitem__
NAMING = ("trials", "scores")  # files whose rows name their cell


def read_frame(path, names=None):
    """Return one CSV of a cell as a frame, without a last line that a crash or a running process left unfinished.

    The frame is empty where there is no file.  A StoreError about a damaged one names file, line, column, value and
    remedy.  `names` are its columns, where it is none of the files in `COLUMNS`.
    """
    names = names or COLUMNS[path.stem]
    if not (data := whole_lines(path)):
        return empty_frame(names)
    frame, fault = checked(data, names)
    if fault:
        raise StoreError(f"{path}{_place(data, names) or ': ' + fault}. {remedy(path)}")
    return frame


def whole_lines(path):
    """Return the lines of a CSV as bytes, without a last one that is unfinished; nothing where there is no file."""
    try:
        data = plain(path.read_bytes())
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}.") from error
    return data[: data.rfind(b"\n") + 1]


def checked(data, names):
    """Return the frame of a CSV with these columns, and what is wrong with it: "" where nothing is."""
    import numpy as np  # here, as in `_parsed`, because the locks and names of this module need neither

    try:
        with np.errstate(invalid="ignore"):  # numpy warns of a value that does not fit into its column
            frame = _parsed(io.BytesIO(data), names)
        return frame, _fault_of_frame(frame, names)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        return None, f"{type(error).__name__}: {error}"


def plain(data):
    """Return the bytes of a CSV as a run writes them; spreadsheets add a byte order mark and change the line ends."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def empty_frame(names):
    """Return a frame with these columns and no rows."""
    return _empty(tuple(names)).copy()


@functools.cache  # as most cells of a sweep that has just begun have no file yet
def _empty(names):
    return _parsed(io.StringIO(",".join(names)), names)


def _parsed(source, names):
    import pandas as pd

    types = {name: KINDS.get(name, str) for name in names if name not in CONVERTERS}
    return pd.read_csv(source, dtype=types, converters=CONVERTERS, keep_default_na=False)


def of_other_data(cell, rows, sha):
    """Return how many rows of a cell are of other data, or, where it has none, of one beside it; and which that is."""
    if rows:
        return sum(row["data_sha"] != sha for row in rows), cell
    for path in sorted(cell.parent.glob("*/trials.csv")):
        with suppress(OSError, ValueError, csv.Error, StoreError):
            with open(path, newline="") as file:
                first = next(csv.DictReader(file), {}).get("data_sha")
            if first not in (None, sha):
                return sum(row["data_sha"] != sha for row in read_rows(path)), path.parent
    return 0, cell


def read_rows(path):
    """Return the rows of one CSV as dictionaries of texts, checked for the right columns alone."""
    data = plain(path.read_bytes())
    data = data[: data.rfind(b"\n") + 1]  # the last line may be one that is being written
    names = COLUMNS[path.stem]
    try:
        rows = [row for row in csv.reader(io.StringIO(data.decode(), newline="")) if row]
        whole = rows and rows[0] == names and all(len(row) == len(names) for row in rows)
    except (ValueError, csv.Error):
        whole = False
    if not whole:
        raise StoreError(f"{path}{_place(data, names) or ' is damaged'}. {remedy(path)}")
    return [dict(zip(names, row, strict=True)) for row in rows[1:]]


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
    # Data without labels have no score by labels at all; a single one that is missing is damage.
    labelled = not set(NEVER_NAN) <= set(names) or frame[list(NEVER_NAN)].notna().to_numpy().any()
    for name in names:
        values = frame[name].to_numpy()  # a Series takes ten times as long for a few rows
        if name in RANGES:
            low, high = RANGES[name]
            right = (low <= values) & (values <= high)
            right = right.all() if name in NEVER_NAN and labelled else (right | (values != values)).all()
        elif KINDS.get(name, str) is str:
            right = all(isinstance(text, str) and not fault_of(name, text) for text in set(values.tolist()))
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
    reader, unscored = csv.reader(io.StringIO(text, newline="")), ""
    try:
        for row in reader:
            where = f", line {reader.line_num}"
            if reader.line_num == 1 and row != names:
                return f"{where}: the columns are {','.join(row):.80}, not {','.join(names)}"
            if row and len(row) != len(names):
                return f"{where}: {len(row)} values instead of {len(names)}"
            for name, value in zip(names, row, strict=True) if reader.line_num > 1 else ():
                if problem := fault_of(name, value):
                    found = f"{where}, column {name}: {shown(value)} {problem}"
                    if name not in NEVER_NAN or value != "nan":
                        return found
                    unscored = unscored or found  # as in every line of data without labels: look for another fault
    except csv.Error as error:
        return f", line {reader.line_num}: {error}"
    return unscored


def append_rows(path, rows):
    """Add lines durably; a failure leaves no part of them behind."""
    if not rows:
        return
    words = "All earlier trials are safe; {} and run the same command again to go on."
    with writing(path, words), open(path, "ab", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        data = memoryview(csv_of(rows))
        try:
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                file.truncate(size)
            raise


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
    replace_file(path, csv_of([names, *rows]))


def csv_of(rows):
    """Return rows as the bytes of a CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


def keep_lines(path, wanted):
    """Keep the header and the lines whose key, the first field, is wanted."""
    header, lines = lines_of(path)
    kept = [line for line in lines if wanted(key_of(line))]
    if len(kept) < len(lines):
        replace_file(path, header + b"".join(kept))


def keep_last(path):
    """Keep the last of the lines that have the same key."""
    header, lines = lines_of(path)
    names = COLUMNS[path.stem]
    # Fields are counted from the end where the key is nearer to it: a name before it may hold a comma.
    places = [names.index(name) - (len(names) if names.index(name) else 0) for name in IDENTITY[path.stem]]
    last = {}
    for line in lines:
        fields = line.rstrip(b"\r\n").split(b",") if len(places) > 1 else [key_of(line)]
        row = tuple(fields[place] for place in places if -len(fields) <= place < len(fields))
        last.pop(row, None)
        last[row] = line
    if len(last) < len(lines):
        replace_file(path, header + b"".join(last.values()))


def check_places(path, cell):
    """Refuse rows that name another study, data set or method than the folders of the cell that they are in."""
    folders = dict(zip(("study", "dataset", "method"), cell.absolute().parts[-3:], strict=True))
    wanted = {column: folders[column] for column in COLUMNS[path.stem] if column in folders}
    usual = f",{','.join(wanted.values())},".encode()  # tried first, as it takes a tenth of the time
    for number, line in enumerate(lines_of(path)[1], 2):
        if line.startswith(usual, len(key_of(line))):
            continue
        row = dict(zip(COLUMNS[path.stem], next(csv.reader([line.decode()])), strict=False))
        for column, folder in wanted.items():
            if row[column] != folder:
                raise StoreError(
                    f"{path}, line {number}, column {column}: {row[column]!r:.80} must be {folder!r}, as the folder is "
                    "called. Restore what was edited, or remove this line and run the cell again; where the folder was "
                    "renamed, give it its name back."
                )


def lines_of(path):
    """Return the header and the other lines of a file, as bytes with their line ends."""
    header, *lines = path.read_bytes().splitlines(keepends=True)
    return header, lines


def key_of(line):
    return line.split(b",", 1)[0]


def header_of(name):
    return csv_of([COLUMNS[name]])
