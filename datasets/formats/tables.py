"""Columns of a table by name or number, its labels, and its features.

A frame has the rows of one file. `datasets.joined` turns, labels and joins frames; `split_table` makes arrays of them.
"""

import difflib
import re

import numpy as np

from ufs_bench.datasets.base import LARGEST_WHOLE, DataError
from ufs_bench.datasets.formats.header import is_number, plain
from ufs_bench.datasets.formats.text import numbers

MISSING = ("", "?", "NA", "N/A", "nan", "NaN", "NAN", "null", "NULL", "None")
SHOWN = 8  # names in an error
FEW, MOST_TEXTS = 10, 0.9  # more different texts, and more than this share of the samples, are no values of a feature
MARKED = r"[-+]?\d[\d.]*,\d[\d.,]*|[-+]?\d{1,3}(?:\.\d{3}){2,}"  # a number with a comma, or with several points
UNNAMED = "Unnamed: 0"  # what pandas calls a first column without a name


def texts_of(table):
    """Return the columns that pandas did not read as numbers, by name."""
    odd = [j for j, dtype in enumerate(table.dtypes) if dtype.kind not in "biuf"]
    return {table.columns[j]: table.iloc[:, j] for j in odd}


def as_numbers(table):
    """Return a table in which every column of numbers, or of true and false, is one of float64."""
    import pandas as pd

    kinds = np.array([kind.kind for kind in table.dtypes])
    if (kinds == "f").all():
        return table
    right = np.isin(kinds, list("biuf"))
    found = {j: numbers(table.iloc[:, j]) for j in np.flatnonzero(~right)}
    if (kinds[right] == "f").all() and all(column.dtype.kind not in "biuf" for column in found.values()):
        return table
    values = table.iloc[:, np.flatnonzero(right)].astype(np.float64)
    if len(found) > FEW:
        values = pd.concat([values, *found.values()], axis=1)
        return values.iloc[:, np.argsort([*np.flatnonzero(right), *found])]
    for j, column in found.items():  # columns of numbers, of which there may be many thousands, stay one array
        values.insert(int(j), table.columns[j], column, allow_duplicates=True)
    return values


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
    """Return a sentence, after a space, on the words among numbers: in one row, numbers with marks, or one word."""
    import pandas as pd

    odd = {name: column for name, column in texts_of(table).items() if column.notna().any()}
    words = [column[pd.to_numeric(column, errors="coerce").isna() & column.notna()] for column in odd.values()]
    rows = {row for column in words for row in column.index}
    row = min(rows, default=None)
    whole = len(words) > 1 or row == len(table) - 1 or (isinstance(row, int) and table.loc[row].isna().any())
    if len(rows) == 1 and isinstance(row, int) and whole and len(table) > 2:
        return f" Row {row}, from 0 below the names, has the only texts: ignore_rows=[{row}] leaves it out."
    if rows and all(column.astype(str).str.fullmatch(MARKED).all() for column in words):
        return " Numbers with marks are read with decimal=',' or thousands=','."
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
    alike = [one for one in table.columns if plain(one) == plain(name)] if are_names(table.columns) else []
    if number is not None and -table.shape[1] <= number < table.shape[1]:
        named = all(is_number(str(one)) for one in table.columns if not str(one).startswith(UNNAMED))
        if (
            alike
            and named
            and isinstance(name, int)
            and table.columns[number] != UNNAMED
            and alike != [table.columns[number]]
        ):
            back = [*table.columns].index(alike[0]) - table.shape[1]
            raise DataError(
                f"{path} has a column called {name}, which is not its column number {name}, from 0. Count from the "
                f"end: {back} is the one called {name}, and {number % table.shape[1] - table.shape[1]} the other."
            )
        return table.columns[number]
    if len(alike) > 1:
        raise DataError(f"{path} has {len(alike)} columns {name!r}, which differ in blanks only: name one by number.")
    if alike:
        return alike[0]
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
    stripped = np.array([value.strip() if isinstance(value, str) else value for value in labels], dtype=object)
    stripped[labels.isna().to_numpy()] = None
    return stripped


def listed(names):
    """Return names in a sentence: all of few, and the first and the last of many."""
    return ", ".join(names if len(names) <= SHOWN else [*names[: SHOWN - 1], "...", names[-1]])
