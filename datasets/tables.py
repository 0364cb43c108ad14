"""Readers of tables: files of text, Excel, Parquet, ARFF, LIBSVM and AnnData; a column is the label, others features.

A frame has the rows of one file. `datasets.joined` turns, labels and joins frames; `split_table` makes arrays of them.
"""

import difflib
import functools
import re
import warnings
from io import BytesIO

import numpy as np

from datasets.base import LARGEST_WHOLE, DataError
from datasets.text import (
    decimal_of,
    delimiter_of,
    has_mark,
    has_names,
    names_are_one_short,
    numbers,
    short_row,
    split,
    text_of,
)

MISSING = ("", "?", "NA", "N/A", "nan", "NaN", "NAN", "null", "NULL", "None")
SHOWN = 8  # names in an error
FEW, MOST_TEXTS = 10, 0.9  # more different texts, and more than this share of the samples, are no values of a feature
UNNAMED = "Unnamed: 0"  # what pandas calls a first column without a name


def csv_frame(path, wanted=(), header=None, missing=(), only=None, ignore_rows=()):
    """Return a table of text as a DataFrame, with numbers where a column has nothing else.

    The delimiter is the comma, semicolon, tab or bar that splits all of the first lines into equally many cells, or
    else blanks.  Between semicolons and tabs, numbers may have decimal commas.  A first line with one cell less than
    the others has no name for the first column, as R writes it; where the last cells are empty, that is not certain.

    By default the first line has names (`header`) where a `wanted` column is there, or where none of its cells is a
    number, and a cell of the lines below is.  `missing` are words besides `MISSING`.  Of a wide table, `only` are the
    names of the columns to read, besides the first one.  Rows are equally long, but for those in `ignore_rows`, which
    the caller leaves out: they count from 0 below the names.
    """
    import pandas as pd  # here, as in the readers below: it takes longer to import than all else

    text = text_of(path)
    end = 0
    for _ in range(40):  # enough lines, some of them blank; a table may have millions
        end = text.find("\n", end) + 1 or len(text)
    lines = [line for line in text[:end].splitlines() if line.strip()][:20]
    if not lines:
        raise DataError(f"{path} is empty.")
    delimiter = delimiter_of(lines)
    cells = [split(line, delimiter) for line in lines]
    guessed = header is None
    header = has_names(cells, wanted) if guessed else header
    if twice := [name for name in wanted if header and cells[0].count(name) > 1]:
        raise DataError(f"{path} has {cells[0].count(twice[0])} columns {twice[0]!r}: name one by its number, from 0.")
    if header and names_are_one_short(cells):
        if not any(line[-1] for line in cells[1:]):  # R's form, or delimiters at the end of all lines but the first
            raise DataError(
                f"{path}: the first line has {len(cells[0])} names, and the others one cell more, the last of which is "
                f"empty. Take the {delimiter!r} from their ends; or, where the first column has names of rows, begin "
                f"the first line with name{delimiter}."
            )
        text, cells[0] = f'""{delimiter or " "}' + text.lstrip(), [UNNAMED, *cells[0]]
    kept = None if only is None else (lambda name: name in only or name in (cells[0][0], UNNAMED))
    # Numbers are read to their last digit; whatever is no plain number stays a text for `numbers`.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact = {"float_precision": "round_trip"} if version < (3, 1) else {}  # since then there is no other way
    read = functools.partial(
        pd.read_csv, sep=delimiter or r"\s+", header=0 if header else None, skipinitialspace=True, usecols=kept,
        keep_default_na=False, na_values=[*MISSING, *missing], index_col=False, low_memory=False, **exact,
    )  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of cells without a name, which it leaves out
            table = read(BytesIO(text.encode()))
        if (decimal := decimal_of(cells, delimiter, _texts(table).values())) == ",":
            table = read(BytesIO(text.encode()), decimal=",")
    except pd.errors.ParserWarning as error:
        words = f"the first has {len(cells[0])} cells, and the next {len(cells[1])}"
        raise DataError(f"{path} is no table of equally long rows: {words}.") from error
    except (pd.errors.ParserError, ValueError) as error:
        raise DataError(f"{path} is no table of equally long rows: {' '.join(str(error).split())}.") from error
    n_cells = table.shape[1] if kept is None else len(cells[0])
    ignored = {row + bool(header) for row in ignore_rows}
    if table.isna().any(axis=None) and (short := short_row(text, delimiter, n_cells, ignored)):
        raise DataError(
            f"{path} is no table of equally long rows: line {short[0]} has {short[1]} of {n_cells} cells. A missing "
            "value keeps its place, as an empty cell between delimiters or as NA; ignore_rows leaves a row out."
        )
    if odd := [str(name) for name, column in _texts(table).items() if decimal == "," and has_mark(column, ".")]:
        raise DataError(
            f"{path}: {listed(odd)}: some numbers have a point, where others have a decimal comma: write 1234,5 for "
            "1.234,5 or 1,234.5."
        )
    table = as_numbers(table)
    if guessed and not header:
        _check_first(path, table, wanted)
    return table


def _texts(table):
    """Return the columns that pandas did not read as numbers, by name."""
    return {name: table[name] for name, dtype in table.dtypes.items() if dtype.kind not in "biuf"}


def _check_first(path, table, wanted):
    """Raise a DataError where the first line, taken for a sample, seems to have names: a label that no other line has.

    Names that are numbers, such as wavelengths, look like values.
    """
    for number in (one for one in wanted if one is not None):
        labels = table[column_of(path, table, number)]
        first, rest = labels.iloc[0], labels.iloc[1:].dropna()
        others = set(rest)
        if (
            labels.dtype.kind not in "biuf"
            and labels.notna().iloc[0]
            and first not in others
            and len(others) < len(rest)
        ):
            raise DataError(
                f"{path}: no line besides the first has the label {first!r}: say header=true if that is the name of "
                "the column, or header=false if it is a class of one sample."
            )


def xlsx_frame(path, wanted=(), header=True, sheet=0, missing=()):
    """Return a sheet of an Excel file, by name or number, as a DataFrame; pandas needs openpyxl for it."""
    import openpyxl  # noqa: F401  `read_source` says where it is missing
    import pandas as pd

    table = pd.read_excel(
        path, sheet_name=sheet, header=0 if header else None, keep_default_na=False,
        na_values=[*MISSING, *missing], engine="openpyxl",
    )  # fmt: skip
    return as_numbers(table)


def parquet_frame(path, wanted=()):
    """Return a Parquet file as a DataFrame."""
    import pandas as pd

    return pd.read_parquet(path)


def arff_frame(path, wanted=()):
    """Return an ARFF file as a DataFrame with columns of categories, also where these are digits; ``?`` is missing."""
    import pandas as pd
    from scipy.io import arff

    table, attributes = arff.loadarff(path)
    texts = [name for name in attributes.names() if attributes[name][0] != "numeric"]
    columns = {name: table[name] for name in attributes.names()}
    for name in texts:
        decoded = np.char.decode(columns[name].astype("S"), "utf-8").astype(object)
        columns[name] = pd.Categorical(np.where(decoded == "?", None, decoded))
    return pd.DataFrame(columns)


def as_numbers(table):
    """Return a table in which every column of numbers, or of true and false, is one of float64."""
    if all(kind.kind == "f" for kind in table.dtypes):
        return table
    return table.apply(numbers)


def split_table(path, table, y=None, ignore=(), onehot=(), nameless=""):
    """Return the features of a table as an array of float64, its labels, or None without the column `y`, and names.

    `y`, and each of `ignore` and `onehot`, is the name or number of a column.  Several in `y` make one label, such as
    ``1/3``.  A text in `onehot` becomes a feature for each of its values, in sorted order; with True every text does.
    `nameless` is what stands before the numbers of columns where these are no names.
    A DataError, with the path, is about a column that is not there, and about features that are texts.
    """
    ignored = [column_of(path, table, name) for name in ignore]
    named = columns_of(path, table, y)
    labels = labels_in(path, table, named)
    table = table.drop(columns=[*ignored, *named])
    if onehot:
        table = _encoded(path, table, onehot)
    if not len(table):
        raise DataError(f"{path} has names of columns and no samples below them.")
    kinds = zip(table.columns, table.dtypes, strict=True)
    texts = [str(name) for name, kind in kinds if kind.kind not in "biuf"]
    if texts:
        raise DataError(
            f"{path}: {listed(texts)} must be numeric; {len(texts)} of {table.shape[1]} features are not. Name them "
            "in ignore=[...], in onehot=[...] for a feature of each value, or encode them as numbers first."
            f"{_gap(table)}"
        )
    if not table.shape[1]:
        raise DataError(f"{path} has no column besides the labels.")
    named = [f"{nameless}{name}" for name in table.columns]
    return table.to_numpy(dtype=np.float64), labels, named


def _gap(table):
    """Return a sentence, after a space, on the one word among the numbers of a column; "" where no column has one."""
    import pandas as pd

    for name, column in table.items():
        texts = column.dropna().astype(str) if column.dtype.kind not in "biuf" else column[:0]
        words = texts[pd.to_numeric(texts, errors="coerce").isna()]
        if words.nunique() == 1 and len(words) < len(texts):
            return f" Where {words.iloc[0]!r} in {name} is a missing value, a text or Excel file takes missing=[...]."
    return ""


def _encoded(path, table, onehot):
    """Return a table with indicators in the place of the texts that `onehot` names; missing texts stay missing."""
    import pandas as pd

    texts = [name for name in table.columns if table[name].dtype.kind not in "biuf"]
    enough = max(FEW, MOST_TEXTS * len(table))
    if onehot is True and (names := [str(one) for one in texts if table[one].nunique() > enough]):
        raise DataError(
            f"{path}: {listed(names)}: hardly a text occurs twice, as where samples have names. Say "
            f"ignore=[{names[0]}], or onehot=[...] with the names of all that become features."
        )
    chosen = texts if onehot is True else [column_of(path, table, name) for name in onehot]
    parts = []
    for name, values in table.items():
        there = values.notna()
        levels = sorted(set(values[there]), key=str) if name in chosen else []
        parts += [(values == level).astype(np.float64).where(there).rename(f"{name}={level}") for level in levels]
        parts += [] if name in chosen else [values]
    return pd.concat(parts, axis=1) if parts else table


def labels_in(path, table, named):
    """Return the labels in columns of a table, those of several joined by strokes; None without any."""
    columns = [_plain(table[name]) for name in named]
    if len(columns) < 2:
        return columns[0] if columns else None
    rows = zip(*columns, strict=True)
    joined = [None if any(one is None or one != one for one in row) else "/".join(map(word, row)) for row in rows]
    return np.array(joined, dtype=object)


def are_names(columns):
    """Return True for columns of a DataFrame that have names, and False where they are only numbered, from 0."""
    return list(columns) != list(range(len(columns)))


def word(label):
    """Return a label or name as a text, with all its digits; a whole number without a point, as in the file."""
    whole = isinstance(label, float | np.floating) and float(label).is_integer()
    if whole and abs(label) >= LARGEST_WHOLE:
        raise DataError(f"{label:.0f}, a label or name, must be below {LARGEST_WHOLE}: put a letter before each.")
    return f"{label:.0f}" if whole else str(label).strip()


def read_libsvm(path, y=True):
    """Read a LIBSVM or SVMlight file, which begins every line with a label; `y` false leaves the labels out."""
    from sklearn.datasets import load_svmlight_file  # here, as scikit-learn takes long to import

    X, labels = load_svmlight_file(str(path))
    return X, labels if y else None


def columns_of(path, table, y):
    """List the columns that `y` names: none, one, or several."""
    return [column_of(path, table, name) for name in listed_labels(y)]


def listed_labels(y):
    """List the names or numbers in `y`: none, one, or several."""
    return list(y) if isinstance(y, list | tuple) else [] if y is None else [y]


def column_of(path, table, name):
    """Return the name of a column that is given by name or number."""
    if name in table.columns:
        return name
    number = int(name) if re.fullmatch(r"-?\d+", str(name)) else None
    if number is not None and -table.shape[1] <= number < table.shape[1]:
        return table.columns[number]
    there = [str(one) for one in table.columns]
    what = f"it has {listed(there)}"
    if all(isinstance(one, int | np.integer) for one in table.columns):
        what = f"it has no names, but the columns 0 to {len(there) - 1}, of which -1 is the last"
    close = difflib.get_close_matches(str(name), there, 1)
    raise DataError(f"{path} has no column {name!r};{f' did you mean {close[0]}?' if close else ''} {what}.")


def _plain(labels):
    """Return a column of labels as an array, with None for those that are missing among texts."""
    if labels.dtype.kind in "biuf":
        return labels.to_numpy()
    stripped = [value.strip() if isinstance(value, str) else value for value in labels]
    return np.array([None if value is None or value != value else value for value in stripped], dtype=object)


def listed(names):
    """Return names in a sentence: all of few, and the first and the last of many."""
    return ", ".join(names if len(names) <= SHOWN else [*names[: SHOWN - 1], "...", names[-1]])
