"""Readers of tables: files of text, Parquet, LIBSVM and AnnData; a column is the label, the others are features."""

import difflib
import gzip
import re
from io import StringIO

import numpy as np

from datasets.base import DataError

LARGEST_TEXT = 2**28  # bytes that a packed file may unpack to
MISSING = ("", "?", "NA", "N/A", "nan", "NaN", "NAN", "null", "NULL", "None")
DELIMITERS = (",", ";", "\t", "|")
GZIP = b"\x1f\x8b"
SHOWN = 8  # names in an error


def read_csv(path, y=None, header=None, ignore=()):
    """Read a table of text.

    The delimiter is the comma, semicolon, tab or bar that splits all of the first lines into equally many cells, or
    else blanks.  Between semicolons and tabs, numbers may have decimal commas.  A first column without a name that
    counts the rows, as pandas writes it, is no feature.

    Parameters
    ----------
    path : Path
        Plain or gzipped, in UTF-8.
    y : str or int, optional
        The column of labels: its name, or its number, which counts from 0, or with -1 from the end.
    header : bool, optional
        True where the first line has names.  By default it does where `y` is one of its cells, or where none of its
        cells is a number and the next line has one.
    ignore : sequence of str or int
        Columns that are neither features nor labels.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        nan where a value is missing.
    y : ndarray of shape (n_samples,), or None

    Raises
    ------
    DataError
    """
    import pandas as pd  # here, as in the readers below: it takes longer to import than all else

    text = text_of(path)
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    if not lines:
        raise DataError(f"{path} is empty.")
    delimiter = _delimiter(lines)
    cells = [_split(line, delimiter) for line in lines]
    header = _has_names(cells, y) if header is None else header
    decimal = "," if delimiter in (";", "\t") and _decimal_commas(cells) else "."
    try:
        table = pd.read_csv(
            StringIO(text), sep=delimiter or r"\s+", header=0 if header else None, dtype=str, skipinitialspace=True,
            keep_default_na=False, na_values=list(MISSING), index_col=False,
        )  # fmt: skip
    except (pd.errors.ParserError, ValueError) as error:
        raise DataError(f"{path} is no table of equally long rows: {' '.join(str(error).split())}.") from error
    table = table.apply(_numbers, decimal=decimal)
    if header and str(table.columns[0]).startswith("Unnamed: 0") and _counts_rows(table.iloc[:, 0]):
        table = table.iloc[:, 1:]
    return split_table(path, table, y, ignore)


def read_parquet(path, y=None, ignore=()):
    """Read a Parquet file, with `y` and `ignore` as in `read_csv`; pandas needs pyarrow for it."""
    import pandas as pd

    try:
        table = pd.read_parquet(path)
    except ImportError as error:
        raise DataError(f"{path}: to read Parquet, pandas needs another package: pip install pyarrow.") from error
    return split_table(path, table, y, ignore)


def split_table(path, table, y=None, ignore=()):
    """Return the features of a table as an array of float64, and its labels, or None without the column `y`.

    `y`, and each of `ignore`, is the name or number of a column.  A DataError, with the path, is about a column that is
    not there, and about features that are texts.
    """
    ignored = [_column(path, table, name) for name in ignore]
    label = None if y is None else _column(path, table, y)
    labels = None if y is None else table[label]
    table = table.drop(columns=[*ignored, *([] if y is None else [label])])
    texts = [str(name) for name in table.columns if table[name].dtype.kind not in "biuf"]
    if texts:
        raise DataError(
            f"{path}: {_listed(texts)} must be numeric; {len(texts)} of {table.shape[1]} features are not. Name them "
            "in ignore=[...], or encode them as numbers first."
        )
    if not table.shape[1]:
        raise DataError(f"{path} has no column besides the labels.")
    return table.to_numpy(dtype=np.float64), None if labels is None else _plain(labels)


def read_libsvm(path, y=True):
    """Read a LIBSVM or SVMlight file, which begins every line with a label; `y` false leaves the labels out."""
    from sklearn.datasets import load_svmlight_file  # here, as scikit-learn takes long to import

    X, labels = load_svmlight_file(str(path))
    return X, labels if y else None


def read_h5ad(path, y=None):
    """Read the matrix X of an AnnData file, dense or sparse, and the column `y` of obs."""
    import h5py

    with h5py.File(path, "r") as file:
        if "X" not in file or "obs" not in file:
            raise DataError(f"{path} is no AnnData file: it lacks X or obs.")
        labels = None
        if y is not None:
            columns = [name for name in file["obs"] if not name.startswith("_")]
            if y not in columns:
                raise DataError(f"{path} has no column {y!r} in obs; it has {_listed(sorted(columns))}.")
            labels = _of_obs(file["obs"], y)
        return _matrix(file["X"]), labels


def text_of(path):
    """Return the text of a file, plain or gzipped, in UTF-8."""
    with open(path, "rb") as file:
        packed = file.read(2) == GZIP
    with gzip.open(path) if packed else open(path, "rb") as file:
        content = file.read(LARGEST_TEXT + 1 if packed else -1)
    if packed and len(content) > LARGEST_TEXT:
        raise DataError(f"{path} unpacks to more than {LARGEST_TEXT} bytes; no data set here is so large.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no text in UTF-8 ({error}): save it as such.") from error


def _delimiter(lines):
    """Return the delimiter of a table; None for blanks."""
    for delimiter in DELIMITERS:
        counts = {len(_split(line, delimiter)) for line in lines}
        if len(counts) == 1 and counts.pop() > 1:
            # Numbers with decimal commas are split by commas, too, unless something else splits them.
            others = [one for one in (";", "\t") if delimiter == "," and all(one in line for line in lines)]
            return others[0] if others else delimiter
    return "," if "," in lines[0] else ";" if ";" in lines[0] else None


def _split(line, delimiter):
    """Return the cells of a line, in which quotes may hold delimiters."""
    if delimiter is None:
        return line.split()
    cells = re.split(re.escape(delimiter) + r'(?=(?:[^"]*"[^"]*")*[^"]*$)', line)
    return [cell.strip().strip('"') for cell in cells]


def _has_names(cells, y):
    first, second = cells[0], cells[1] if len(cells) > 1 else []
    if isinstance(y, str) and y in first and not _is_number(y):
        return True
    return not any(map(_is_number, first)) and any(map(_is_number, second))


def _is_number(cell):
    return re.fullmatch(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?", cell) is not None


def _decimal_commas(cells):
    numbers = [cell for line in cells for cell in line if _is_number(cell)]
    return any("," in cell for cell in numbers) and not any("." in cell for cell in numbers)


def _numbers(column, decimal):
    """Return a column of texts as numbers, or as it is where they are not all numbers or all true and false.

    Pandas reads numbers itself, but not to their last digit in all its versions.
    """
    there = column.dropna().str.replace(decimal, ".").str.lower()
    switches = len(there) and there.isin(["true", "false"]).all()
    try:
        values = (there == "true" if switches else there).to_numpy(dtype=object).astype(np.float64)
    except ValueError:
        return column
    return there.astype(object).mask(there.notna(), values).astype(np.float64).reindex(column.index)


def _counts_rows(column):
    return column.dtype.kind == "f" and (column.diff().dropna() == 1).all()


def _column(path, table, name):
    """Return the name of a column that is given by name or number."""
    if name in table.columns:
        return name
    number = int(name) if re.fullmatch(r"-?\d+", str(name)) else None
    if number is not None and -table.shape[1] <= number < table.shape[1]:
        return table.columns[number]
    there = [str(one) for one in table.columns]
    what = f"it has {_listed(there)}"
    if all(isinstance(one, int | np.integer) for one in table.columns):
        what = f"it has no names, but the columns 0 to {len(there) - 1}, of which -1 is the last"
    close = difflib.get_close_matches(str(name), there, 1)
    raise DataError(f"{path} has no column {name!r};{f' did you mean {close[0]}?' if close else ''} {what}.")


def _plain(labels):
    """Return a column of labels as an array, with None for those that are missing among texts."""
    if labels.dtype.kind in "biuf":
        return labels.to_numpy()
    return np.array([None if value != value or value is None else value for value in labels], dtype=object)


def _of_obs(obs, name):
    """Return a column of obs: values, or codes of categories in one of the two ways that AnnData has stored them."""
    item = obs[name]
    if hasattr(item, "keys"):
        codes, categories = item["codes"][()], item["categories"][()]
    elif "__categories" in obs and name in obs["__categories"]:
        codes, categories = item[()], obs["__categories"][name][()]
    else:
        return _decoded(item[()])
    found = _decoded(categories).astype(object)
    return np.array([found[code] if code >= 0 else None for code in codes], dtype=object)


def _decoded(values):
    if values.dtype.kind in "SO":
        return np.array([one.decode() if isinstance(one, bytes) else one for one in values])
    return values


def _matrix(item):
    """Return the matrix X of an AnnData file, sparse where it is stored so."""
    if not hasattr(item, "keys"):
        return item[()]
    from scipy import sparse

    kind = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    build = sparse.csc_array if "csc" in str(kind) else sparse.csr_array
    shape = item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
    return build((item["data"][()], item["indices"][()], item["indptr"][()]), shape=tuple(shape))


def _listed(names):
    """Return names in a sentence: all of few, and the first and the last of many."""
    return ", ".join(names if len(names) <= SHOWN else [*names[: SHOWN - 1], "...", names[-1]])
