"""Tables of text: their content unpacked, their delimiter, their names, and columns of numbers."""

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import zipfile
from pathlib import Path

import numpy as np

from ufs_bench.datasets.base import DataError, as_floats
from ufs_bench.datasets.formats.header import is_number

LARGEST_TEXT = 256  # MiB that a packed file may unpack to, unless max_unpacked_mb says more
DELIMITERS = (",", ";", "\t", "|")
EXCEL = re.compile(r"""\A"?sep=[,;\t|]"?(?=\r?\n)""", re.IGNORECASE)  # tells it the delimiter
MINUS = re.compile(r"(?<!\w)\u2212(?=[\d.,])")
ZIP = b"PK\x03\x04"
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
BELOW = 3  # lines that show the delimiter where those above have other things
WHOLE = r"(?<![\w.,{0}])[-+]?[1-9]\d{{0,2}}(?:{0}\d{{3}})+(?![\w.,{0}])"  # with marks for thousands


def text_of(path, max_unpacked_mb=None):
    """Return the text of a file, plain, packed by gzip, bzip2 or xz, or the one file in a zip, in UTF-8 or UTF-16.

    A first line for Excel, such as ``sep=;``, is empty in it.
    """
    content = bytes_of(path, max_unpacked_mb)
    if content.startswith((ZIP, *OPENERS)):
        raise DataError(f"{path} is packed twice: unpack it once.")
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # Excel's "Unicode text"
    try:
        text = EXCEL.sub("", content.decode("utf-16" if wide else "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no text in UTF-8 ({error}): save it as such.") from error
    if "\0" in text:
        raise DataError(
            f"{path} has bytes that are 0, as a tar archive, or a text in UTF-16 without its mark: unpack it, or save "
            "it in UTF-8."
        )
    text = text if "\n" in text else text.replace("\r", "\n")
    return MINUS.sub("-", text) if "\u2212" in text else text


def bytes_of(path, max_unpacked_mb=None):
    """Return the content of a file, unpacked."""
    with open(path, "rb") as file:
        head = file.read(6)
    opener = next((opener for start, opener in OPENERS.items() if head.startswith(start)), None)
    limit = (max_unpacked_mb or LARGEST_TEXT) * 2**20
    if head.startswith(ZIP):
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(path, archive)) as file:
            content = file.read(limit + 1)
    elif opener:
        with opener(path) as file:
            content = file.read(limit + 1)
    else:
        return Path(path).read_bytes()
    if len(content) > limit:
        raise DataError(f"{path} unpacks to more than {limit / 2**20:g} MiB: say max_unpacked_mb=N to allow more.")
    return content


def body_of(text, skip_rows=0):
    """Return a text without its first lines and the comments that follow, and the last comment without its sign."""
    if skip_rows:
        text = "".join(text.splitlines(keepends=True)[skip_rows:])
    comment = ""
    while text.lstrip().startswith("#"):
        comment, _, text = text.lstrip().partition("\n")
    return text, comment.removeprefix("# ").rstrip()


def records(text, count):
    """Return the first lines of a text that are not blank; a quoted cell may go over several."""
    found, end, begun = [], 0, 0
    while end < len(text) and len(found) < count:
        end = text.find("\n", end) + 1 or len(text)
        line = text[begun:end]
        if line.count('"') % 2 and end < len(text) and line.count("\n") < count:
            continue
        found += [line.rstrip("\r\n")] if line.strip() else []
        begun = end
    return found


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
    for delimiter in DELIMITERS:  # below a title
        counts = {len(split(line, delimiter)) for line in lines[-BELOW:]}
        if len(lines) > BELOW and len(counts) == 1 and counts.pop() > 1:
            return delimiter
    return "," if "," in lines[0] else ";" if ";" in lines[0] else None


def other_mark(lines, delimiter):
    """Return what is between the cells of all lines and is not a delimiter here, such as ^ or ||; None otherwise."""
    if delimiter == "|" and all(line.count("|") == 2 * line.count("||") for line in lines):
        return "||"
    if delimiter is not None or any(len(line.split()) > 1 for line in lines[1:]):
        return None
    marks = re.findall(r"""[^\w\s.+\-"']""", lines[0])
    return next((mark for mark in marks if len({line.count(mark) for line in lines}) == 1), None)


def have_gaps(lines):
    """Return True where cells end at the same places in all lines, and each line has a blank at some of these."""
    ends = [{found.end() for found in re.finditer(r"\S+", line)} for line in lines]
    every = set.union(*ends)
    blank = [line[end - 1 : end].strip() == "" for line, own in zip(lines, ends, strict=True) for end in every - own]
    return len(lines) > 2 and all(every - own for own in ends) and all(blank)


def names_are_one_short(cells):
    """Return True where the first line has a cell less than all others: R leaves out the name of the row names."""
    counts = {len(line) for line in cells[1:]}
    return len(counts) == 1 and len(cells[0]) == counts.pop() - 1 > 0


def split(line, delimiter):
    """Return the cells of a line, in which quotes may hold delimiters."""
    if delimiter is None:
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    cells = next(csv.reader([line.replace("\n", " ")], delimiter=delimiter, skipinitialspace=True))
    return [cell.strip().strip('"') for cell in cells]


def decimal_of(cells, delimiter, columns=()):
    """Return the decimal mark of the numbers of a table, a comma only between semicolons or tabs.

    `cells` are those of the first lines, `columns` those that pandas did not read as numbers: the first comma may be
    far down.
    """
    numbers = [cell for line in cells for cell in line if is_number(cell)]
    if delimiter not in (";", "\t") or any("." in cell for cell in numbers):
        return "."
    commas = any("," in cell for cell in numbers) or any(has_mark(column, ",") for column in columns)
    return "," if commas else "."


def thousands_in(text, delimiter, read):
    """Return the name of a column, a cell and its mark, where the mark may be for thousands; None where none may.

    Between semicolons and tabs, this is where every mark in the table has three digits behind it, and some stand beside
    whole numbers from 100 to 999.  `read` is `pandas.read_csv` with the options of the table.
    """
    for mark in ",." if delimiter in (";", "\t") else "":
        whole = re.compile(WHOLE.format(re.escape(mark)))
        marked = re.compile(rf"\d{re.escape(mark)}|{re.escape(mark)}\d")
        if not whole.search(text) or any(marked.search(rest) for rest in whole.split(text)):
            continue
        table = read(io.StringIO(text), dtype=str, thousands=None)
        for name, column in table.items():
            cells = column.dropna().str.strip()
            found = cells[cells.str.fullmatch(whole)]
            if found.size and cells.str.fullmatch(r"[-+]?[1-9]\d\d").any():
                return name, found.iloc[0], mark
    return None


def has_mark(column, mark):
    """Return True where all cells are texts of numbers, some with this decimal mark."""
    distinct = column.dropna().unique()
    return all(isinstance(cell, str) and is_number(cell) for cell in distinct) and any(mark in c for c in distinct)


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


def exact_numbers():
    """Return what makes `pandas.read_csv` read numbers to their last digit; since pandas 3.1 it always does."""
    import pandas as pd

    version = tuple(map(int, pd.__version__.split(".")[:2]))
    return {"float_precision": "round_trip"} if version < (3, 1) else {}
