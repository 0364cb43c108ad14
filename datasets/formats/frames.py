"""Readers of tables: text, Excel and Parquet, each as a frame with the rows of one file."""

import functools
import warnings
from io import BytesIO

import numpy as np

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.formats.header import has_names, is_number
from ufs_bench.datasets.formats.tables import MISSING, UNNAMED, as_numbers, column_of, listed, texts_of, word
from ufs_bench.datasets.formats.text import (
    body_of,
    decimal_of,
    delimiter_of,
    exact_numbers,
    has_mark,
    have_gaps,
    names_are_one_short,
    other_mark,
    records,
    short_row,
    split,
    text_of,
    thousands_in,
)  # fmt: skip

SAMPLED = 20  # lines that tell what a table is written with


def csv_frame(path, wanted=(), header=None, missing=(), only=None, ignore_rows=(), skip_rows=0, decimal=None,
              thousands=None, max_unpacked_mb=None, option="header"):  # fmt: skip
    """Return a table of text as a DataFrame, with numbers where a column has nothing else.

    The delimiter is the comma, semicolon, tab or bar that splits all of the first lines into equally many cells, or
    else blanks.  Between semicolons and tabs, numbers may have decimal commas (`decimal`, `thousands`).  A first line
    with one cell less than the others has no name for the first column, as R writes it; where the last cells are empty,
    that is not certain.  Lines above the names that begin with ``#`` are comments, and so are the first `skip_rows`.

    By default `has_names` decides about the first line (`header`).  `missing` are words besides `MISSING`.  Of a wide
    table, `only` are the names of the columns to read, besides the first one.  Rows are equally long, but for those in
    `ignore_rows`, which the caller leaves out: they count from 0 below the names.
    """
    import pandas as pd  # here, as in the readers below: it takes longer to import than all else

    missing = [*MISSING, *missing]
    text, comment = body_of(text_of(path, max_unpacked_mb), skip_rows)
    lines = records(text, SAMPLED)
    if not lines:
        raise DataError(f"{path} is empty.")
    delimiter = delimiter_of(lines)
    if option == "header" and (mark := other_mark(lines, delimiter)):
        raise DataError(f"{path}: {mark} between cells is not read: write a comma, semicolon, tab or bar instead.")
    if delimiter is None and have_gaps(lines):
        raise DataError(f"{path}: each line has a blank cell, which blanks cannot show: write commas between cells.")
    cells = [split(line, delimiter) for line in lines]
    guessed = header is None
    text, cells, header = _headed(path, text, comment, delimiter, lines[0], cells, wanted, missing, header, option)
    kept = None if only is None else (lambda name: name in only or name in (cells[0][0], UNNAMED))
    # Whatever is no plain number stays a text for `numbers`.
    read = functools.partial(
        pd.read_csv, sep=delimiter or r"\s+", header=0 if header else None, skipinitialspace=True, usecols=kept,
        keep_default_na=False, na_values=missing, index_col=False, low_memory=False, thousands=thousands,
        **exact_numbers(),
    )  # fmt: skip
    content = text.encode()
    if thousands is not None and decimal is None:
        decimal = "," if thousands == "." else "."
    if decimal is None and (doubtful := thousands_in(text, delimiter, read)):
        name, cell, mark = doubtful
        raise DataError(
            f"{path}: {cell} in {name} may be a whole number with a mark for thousands or a fraction: say "
            f"thousands='{mark}' or decimal='{mark}'."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of cells without a name, which it leaves out
            table = read(BytesIO(content), decimal=decimal or ".")
        decimal = decimal or decimal_of(cells, delimiter, texts_of(table).values())
        if decimal == "," and texts_of(table):
            table = read(BytesIO(content), decimal=",")
    except pd.errors.ParserWarning as error:
        words = f"the first has {len(cells[0])} cells, and the next {len(cells[1])}"
        raise DataError(f"{path} is no table of equally long rows: {words}.{_title_hint(cells)}") from error
    except (pd.errors.ParserError, ValueError) as error:
        said = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise DataError(f"{path} is no table of equally long rows: {said}.{_title_hint(cells)}") from error
    n_cells = table.shape[1] if kept is None else len(cells[0])
    ignored = {row + bool(header) for row in ignore_rows}
    gaps = table.isna().any(axis=None)
    if gaps and (short := short_row(text, delimiter, n_cells, ignored)):
        raise DataError(
            f"{path} is no table of equally long rows: line {short[0]} has {short[1]} of {n_cells} cells. A missing "
            f"value keeps its place, as an empty cell between delimiters or as NA; ignore_rows leaves a row out."
            f"{_title_hint(cells)}"
        )
    if gaps and not any(line[-1] for line in cells) and kept is None and table.iloc[:, -1].isna().all():
        table = table.iloc[:, :-1]  # every line ends with a delimiter
    if odd := [str(name) for name, column in texts_of(table).items() if decimal == "," and has_mark(column, ".")]:
        raise DataError(
            f"{path}: {listed(odd)}: some numbers have a point, where others have a decimal comma: say thousands='.', "
            "or write 1234,5 for 1.234,5 or 1,234.5."
        )
    if header and table.shape[1] > 2 and is_number(str(table.columns[0])) and (again := _again(table)):
        raise DataError(f"{path}: the names are repeated in row {again[0]} below them: say ignore_rows={again}.")
    table = as_numbers(table.copy())  # a copy holds the columns of numbers as one array
    if guessed and not header:
        _check_first(path, table, wanted, option)
    return table


def _headed(path, text, comment, delimiter, first, cells, wanted, missing, header, option):
    """Return the text of a table, its first cells, and whether they begin with names, which may be in a comment.

    A DataError says that names are equal, or that the first line is a title or of another length.
    """
    if len(cells) > 1 and cells[0][-1] == "" and all(len(line) == len(cells[0]) - 1 > 0 for line in cells[1:]):
        text, cells[0] = first.rstrip()[:-1] + text[len(first) :], cells[0][:-1]  # a delimiter at its end only
    guessed = header is None
    if guessed and (names := _names_in(comment, delimiter, len(cells[0]))):
        if not has_names(path, cells, wanted, missing, option):
            text, cells = f"{comment}\n{text}", [names, *cells]
        header = True
    elif guessed:
        short = names_are_one_short(cells)
        header = has_names(path, [["", *cells[0]], *cells[1:]] if short else cells, wanted, missing, option)
    if twice := [name for name in wanted if header and cells[0].count(name) > 1]:
        raise DataError(f"{path} has {cells[0].count(twice[0])} columns {twice[0]!r}: name one by its number, from 0.")
    whole = next((place for place, line in enumerate(cells) if "" not in line), 0)
    if header and cells[0].count("") > 1 and whole:
        raise DataError(
            f"{path}: the first line names {len([*filter(None, cells[0])])} of {len(cells[0])} columns: "
            f"skip_rows={whole} leaves out what is above the names if it is a title; otherwise name the others."
        )
    if header and names_are_one_short(cells):
        if not any(line[-1] for line in cells[1:]):  # R's form, or delimiters at the end of all lines but the first
            raise DataError(
                f"{path}: the first line has {len(cells[0])} names, and the others one cell more, the last of which is "
                f"empty. Take the {delimiter!r} from their ends; or, where the first column has names of rows, begin "
                f"the first line with name{delimiter}."
            )
        text, cells[0] = f'""{delimiter or " "}' + text.lstrip(), [UNNAMED, *cells[0]]
    return text, cells, header


def _names_in(comment, delimiter, count):
    """Return the cells of a comment that has one for each column; None for any other."""
    cells = split(comment, delimiter) if comment else []
    return cells if len(cells) == count > 1 and not any(map(is_number, cells)) else None


def _again(table):
    """List the rows that repeat names that are numbers, as where files were put below each other."""
    rows = table.index[table.iloc[:, 0].astype(str).str.partition(".")[0] == str(table.columns[0])]
    return [int(row) for row in rows if list(map(word, table.loc[row])) == list(map(str, table.columns))]


def _title_hint(cells):
    """Return a sentence, after a space, where the first line has fewer cells than the last; "" otherwise."""
    return " skip_rows=N leaves out N lines above the names." if len(cells[0]) < len(cells[-1]) else ""


def _check_first(path, table, wanted, option):
    """Raise a DataError where the first line, taken for a sample, seems to have names: a label that no other line has.

    Names that are numbers, such as wavelengths, look like values.
    """
    for number in (one for one in wanted if one is not None):
        labels = table[column_of(path, table, number)]
        first, rest = labels.iloc[0], labels.iloc[1:].dropna()
        others = set(rest)
        if labels.notna().iloc[0] and first not in others and len(others) < len(rest):
            raise DataError(
                f"{path}: no line besides the first has the label {word(first)!r}: say {option}=true if that is the "
                f"name of the column, or {option}=false if it is a class of one sample."
            )


def xlsx_frame(path, wanted=(), header=None, sheet=0, missing=(), skip_rows=0, option="header"):
    """Return a sheet of an Excel file, by name or number, as a DataFrame; pandas needs openpyxl for it."""
    import openpyxl  # noqa: F401  `read_source` says where it is missing
    import pandas as pd

    missing = [*MISSING, *missing]
    with pd.ExcelFile(path, engine="openpyxl") as file:
        sheets = file.sheet_names
        if sheet not in sheets and sheet not in range(len(sheets)):
            raise DataError(f"{path} has no sheet {sheet!r}; it has {listed(sheets)}.")
        read = functools.partial(
            pd.read_excel, file, sheet_name=sheet, keep_default_na=False, na_values=missing, skiprows=skip_rows
        )
        if header is None:
            top = read(header=None, nrows=SAMPLED, dtype=object)
            cells = [["" if one != one else word(one) for one in row] for row in top.to_numpy()]
            header = not cells or has_names(path, cells, wanted, missing, option, default=True)
        table = read(header=0 if header else None)
    if header:
        table.columns = list(map(word, table.columns))
        if sum(name.startswith("Unnamed: ") for name in table.columns) > max(1, len(table.columns) / 2):
            raise DataError(
                f"{path}: the first row names {listed(list(table.columns))}: skip_rows=N leaves out N rows of a title."
            )
    for one in wanted if len(sheets) > 1 else ():
        try:
            column_of(path, table, one) if one is not None else None
        except DataError as error:
            others = [name for name in sheets if name not in (sheet, sheets[sheet] if isinstance(sheet, int) else "")]
            raise DataError(f"{error} Other sheets are {listed(others)}: sheet=NAME.") from error
    return as_numbers(table)


def parquet_frame(path, wanted=()):
    """Return a Parquet file as a DataFrame."""
    import pandas as pd

    table = pd.read_parquet(path)
    if lists := [str(name) for name, column in texts_of(table).items() if column.map(np.ndim).any()]:
        raise DataError(f"{path}: {listed(lists)}: a cell holds a list: write a column for each of its values.")
    return table


def npy_frame(path, wanted=()):
    """Return an array that NumPy saved, a vector as a column, as a DataFrame."""
    import pandas as pd

    array = np.load(path, allow_pickle=False)
    if array.ndim > 2 or array.ndim < 1:
        raise DataError(f"{path} has an array of shape {array.shape}; a table has rows and columns.")
    return pd.DataFrame(array)
