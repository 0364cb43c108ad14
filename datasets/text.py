"""Tables of text: their content unpacked, their delimiter, their names, and columns of numbers."""

import csv
import gzip
import io
import re
import zipfile

import numpy as np

from datasets.base import DataError, as_floats

LARGEST_TEXT = 2**28  # bytes that a packed file may unpack to
DELIMITERS = (",", ";", "\t", "|")
EXCEL = re.compile(r"""\A"?sep=[,;\t|]"?(?=\r?\n)""", re.IGNORECASE)  # tells it the delimiter
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"


def text_of(path):
    """Return the text of a file, plain, gzipped, or the one file in a zip, in UTF-8.

    A first line for Excel, such as ``sep=;``, is empty in it.
    """
    with open(path, "rb") as file:
        head = file.read(4)
    if head == ZIP:
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(path, archive)) as file:
            content = file.read(LARGEST_TEXT + 1)
    else:
        with gzip.open(path) if head.startswith(GZIP) else open(path, "rb") as file:
            content = file.read(LARGEST_TEXT + 1 if head.startswith(GZIP) else -1)
    if head.startswith((GZIP, ZIP)) and len(content) > LARGEST_TEXT:
        raise DataError(f"{path} unpacks to more than {LARGEST_TEXT} bytes; no data set here is so large.")
    try:
        return EXCEL.sub("", content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no text in UTF-8 ({error}): save it as such.") from error


def _only_member(path, archive):
    """Return the name of the one file in a zip, besides those that macOS adds."""
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(names) != 1:
        raise DataError(f"{path} holds {len(names)} files ({', '.join(names[:3])}): unpack it, and name one of them.")
    return names[0]


def delimiter_of(lines):
    """Return the delimiter of a table; None for blanks."""
    for delimiter in DELIMITERS:
        counts = {len(split(line, delimiter)) for line in lines}
        if len(counts) == 1 and counts.pop() > 1:
            # Numbers with decimal commas are split by commas, too, unless something else splits them.
            others = [one for one in (";", "\t") if delimiter == "," and all(one in line for line in lines)]
            return others[0] if others else delimiter
    for delimiter in DELIMITERS:
        if names_are_one_short([split(line, delimiter) for line in lines]):
            return delimiter
    return "," if "," in lines[0] else ";" if ";" in lines[0] else None


def names_are_one_short(cells):
    """Return True where the first line has a cell less than all others: R leaves out the name of the row names."""
    counts = {len(line) for line in cells[1:]}
    return len(counts) == 1 and len(cells[0]) == counts.pop() - 1 > 0


def split(line, delimiter):
    """Return the cells of a line, in which quotes may hold delimiters."""
    if delimiter is None:
        return line.split()
    cells = (
        next(csv.reader([line], delimiter=delimiter, skipinitialspace=True)) if '"' in line else line.split(delimiter)
    )
    return [cell.strip().strip('"') for cell in cells]


def has_names(cells, wanted):
    """Return True where the first line has names: one is `wanted`, or none is a number, as other lines have."""
    first, *others = cells
    if any(isinstance(one, str) and one in first and not _is_number(one) for one in wanted):
        return True
    return not any(map(_is_number, first)) and any(_is_number(cell) for line in others for cell in line)


def _is_number(cell):
    return re.fullmatch(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?", cell) is not None


def decimal_of(cells, delimiter, columns=()):
    """Return the decimal mark of the numbers of a table, a comma only between semicolons or tabs.

    `cells` are those of the first lines, `columns` those that pandas did not read as numbers: the first comma may be
    far down.
    """
    numbers = [cell for line in cells for cell in line if _is_number(cell)]
    if delimiter not in (";", "\t") or any("." in cell for cell in numbers):
        return "."
    commas = any("," in cell for cell in numbers) or any(has_mark(column, ",") for column in columns)
    return "," if commas else "."


def has_mark(column, mark):
    """Return True where all cells are texts of numbers, some with this decimal mark."""
    distinct = column.dropna().unique()
    return all(isinstance(cell, str) and _is_number(cell) for cell in distinct) and any(mark in c for c in distinct)


def short_row(text, delimiter, n_cells, ignored=()):
    """Return the number of the first line, from 1, with fewer cells than others, and their count; None without one.

    pandas fills such a line up with missing values.  The `ignored` may be short: they count all that are not blank.
    """
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if delimiter else map(str.split, lines)
    place = -1
    for number, cells in enumerate(rows, start=1):
        if cells in ([], [""]):
            continue
        place += 1
        if len(cells) < n_cells and place not in ignored:
            return getattr(rows, "line_num", number), len(cells)  # a quoted cell may go over several lines
    return None


def numbers(column):
    """Return a column of a table as numbers, or as it is where it is no column of numbers or of true and false."""
    if hasattr(column.dtype, "categories"):
        return column
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    there = column.dropna().map(str).str.lower()
    switches = len(there) and there.isin(["true", "false"]).all()
    try:
        values = as_floats((there == "true" if switches else there).to_numpy(dtype=object))
    except ValueError:
        return column
    return there.astype(object).mask(there.notna(), values).astype(np.float64).reindex(column.index)
