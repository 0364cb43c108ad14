"""Reads ARFF files: the attributes here, the rows by pandas.

scipy reads neither texts nor sparse rows; the package liac-arff, of 2020, does, in Python alone.
"""

import csv
import re
import warnings
from io import StringIO

import numpy as np

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.formats.header import is_number
from ufs_bench.datasets.formats.tables import listed
from ufs_bench.datasets.formats.text import exact_numbers, text_of

NAME = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s'"{]\S*"""
ATTRIBUTE = re.compile(rf"\s*@attribute\s+({NAME})\s*(.*)", re.IGNORECASE)
DATA = re.compile(r"^[ \t]*@data\b.*$", re.IGNORECASE | re.MULTILINE)
PAIR = re.compile(rf"(\d+)\s+({NAME})\s*(?:,|$)")
NUMERIC = ("numeric", "real", "integer")


def arff_frame(path, wanted=(), max_unpacked_mb=None):
    """Return an ARFF file as a DataFrame: numbers, also where all values of a category are, categories, and texts.

    ``?`` is missing.  Of a sparse row, what is not stated is 0, or the first value of a category.
    """
    import pandas as pd

    text = text_of(path, max_unpacked_mb)
    if not (start := DATA.search(text)):
        raise DataError(f"{path} has no line @data, below which the rows of an ARFF file are.")
    kinds = _attributes(path, text[: start.start()])
    lines = [line for line in text[start.end() :].splitlines() if line.strip() and not line.lstrip().startswith("%")]
    if not kinds or not lines:
        raise DataError(f"{path} has {len(kinds)} attributes and {len(lines)} rows.")
    table = _sparse(path, kinds, lines) if lines[0].lstrip().startswith("{") else _dense(path, kinds, lines)
    columns = {}
    for name, kind in kinds.items():
        column = table[name]
        column = column if column.dtype.kind in "if" else column.map(str.strip, na_action="ignore")
        if kind in NUMERIC or (isinstance(kind, list) and all(map(is_number, kind))):
            column = column.astype(np.float64) if column.dtype.kind in "if" else _numbers(path, name, column)
        elif isinstance(kind, list):
            if unknown := sorted(set(column.dropna()) - set(kind)):
                raise DataError(f"{path}: {unknown[0]!r} is not among the values of {name}: {listed(kind)}.")
            column = pd.Categorical(column, kind)
        columns[name] = column
    return pd.DataFrame(columns)


def _attributes(path, head):
    """Return the attributes by name: a word for the kind, or a list of the values of a category."""
    kinds = {}
    for line in head.splitlines():
        if not line.lstrip().lower().startswith("@attribute"):
            continue
        if not (found := ATTRIBUTE.match(line)):
            raise DataError(f"{path}: {line.strip()!r} is not @attribute NAME KIND.")
        name, kind = _unquoted(found[1]), found[2].strip()
        if name in kinds:
            raise DataError(f"{path} has two attributes {name!r}: their names must differ.")
        if kind.startswith("{"):
            kinds[name] = _cells(kind.strip("{} \t"))
        elif kind.lower().split(maxsplit=1)[:1] and kind.lower().split()[0] in (*NUMERIC, "string", "date"):
            kinds[name] = kind.lower().split()[0]
        else:
            raise DataError(f"{path}: the kind {kind!r} of {name} is not read: numeric, {{values}}, string or date is.")
    return kinds


def _dense(path, kinds, lines):
    import pandas as pd

    text = "\n".join(lines)
    quote = '"' if re.search(r'(^|,)[ \t]*"', text, re.MULTILINE) else "'"
    texts = {j: str for j, kind in enumerate(kinds.values()) if kind not in NUMERIC}
    separator = "\t" if "," not in lines[0] and "\t" in lines[0] else ","
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                StringIO(text), sep=separator, header=None, quotechar=quote, escapechar="\\", skipinitialspace=True,
                keep_default_na=False, na_values=["?", "? "], dtype=texts, index_col=False, low_memory=False,
                **exact_numbers(),
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DataError(f"{path}: the rows are not equally long: {' '.join(str(error).split())}.") from error
    if table.shape[1] != len(kinds):
        raise DataError(f"{path}: the rows have {table.shape[1]} values for {len(kinds)} attributes.")
    table.columns = list(kinds)
    return table


def _sparse(path, kinds, lines):
    import pandas as pd

    values = np.zeros((len(lines), len(kinds)), dtype=object)
    for j, kind in enumerate(kinds.values()):
        values[:, j] = kind[0] if isinstance(kind, list) else "0" if kind in NUMERIC else ""
    for row, line in enumerate(lines):
        inside = re.fullmatch(r"\s*\{(.*)\}\s*(?:,\s*\{[\d.]+\})?\s*", line)
        pairs = PAIR.findall(inside[1]) if inside else []
        if not inside or len(pairs) != len(_cells(inside[1])) or any(int(j) >= len(kinds) for j, _ in pairs):
            raise DataError(f"{path}: row {row}, {line.strip()[:60]!r}, is not {{NUMBER VALUE, ...}}.")
        for j, value in pairs:
            values[row, int(j)] = None if value == "?" else _unquoted(value.rstrip(","))
    return pd.DataFrame(values, columns=list(kinds))


def _numbers(path, name, column):
    import pandas as pd

    found = pd.to_numeric(column, errors="coerce")
    if (odd := column[found.isna() & column.notna()]).size:
        raise DataError(f"{path}: {odd.iloc[0]!r} in {name} is not a number.")
    return found.astype(np.float64)


def _cells(text):
    quote = '"' if re.search(r'(^|,)\s*"', text) else "'"
    cells = next(csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True), [])
    return [cell.strip() for cell in cells]


def _unquoted(name):
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name[:1] in ("'", '"') else name
