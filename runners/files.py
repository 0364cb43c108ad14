"""The CSVs of a cell as files: lines are added durably, and a file is replaced whole or not at all."""

import csv
import io
import os
from contextlib import contextmanager, suppress

import filelock

from runners.reading import IDENTITY, StoreError, columns_of, read_frame
from runners.row import COLUMNS, LATER

NAMING = ("trials", "scores")  # files whose rows name their cell


def append_rows(path, rows):
    """Add lines durably; a failure leaves no part of them behind."""
    if not rows:
        return
    with open(path, "ab", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        data = memoryview(csv_of(rows))
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
        raise StoreError(f"cannot write {path}: {error.strerror}. The file is as it was; make room.") from error
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
    with filelock.FileLock(path.with_name(f".{path.stem}.lock")):
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
    """Refuse rows that name another study, data set or method than the folders that they are in.

    Parameters
    ----------
    path : Path
        A file whose first columns after the trial are these names.
    cell : Path
        ``results/<study>/<dataset>/<method>``.

    Raises
    ------
    StoreError
        Naming line, column, value and remedy.
    """
    folders = dict(zip(("study", "dataset", "method"), cell.resolve().parts[-3:], strict=True))
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


def frame_of_cell(path):
    """Return the rows of a file as `runners.reading.read_frame` does; raise StoreError where one is of another cell."""
    frame, folder = read_frame(path), path.parent
    if path.stem in NAMING:
        wanted = {"dataset": folder.parent.name, "method": folder.name}
        # A whole study may have been renamed since, but not a single row.
        mixed = path.stem == "trials" and frame["study"].nunique() > 1
        if mixed or any((frame[column] != name).any() for column, name in wanted.items()):
            check_places(path, folder)
    return frame


def lines_of(path):
    """Return the header and the other lines of a file, as bytes with their line ends."""
    header, *lines = path.read_bytes().splitlines(keepends=True)
    return header, lines


def key_of(line):
    return line.split(b",", 1)[0]


def header_of(name):
    return (",".join(COLUMNS[name]) + "\n").encode()


def with_later_columns(data, names):
    """Return the text of a file with the columns that an earlier version did not write."""
    there = columns_of(data, names)
    missing = names[len(there) :]
    if not missing or not data:
        return data
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))[1:]
    return csv_of([names, *(row + [LATER[name] for name in missing] for row in rows)])
