"""Makes a data set of arrays or frames that a caller gives."""

from dataclasses import replace

import numpy as np

from ufs_bench.datasets.base import DataError, first_of, say
from ufs_bench.datasets.check import check_dataset
from ufs_bench.datasets.formats.tables import are_names
from ufs_bench.datasets.own import check_name


def as_dataset(X, y=None, name=None, clusters=None):
    """Return arrays as a data set.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        Finite numbers, unscaled: the protocol scales them.
    y : array-like of shape (n_samples,), optional
        Classes.  Without them the scores that need none are taken.
    name : str, optional
        By default "data_" and the first digits of the checksum of the values.
    clusters : int, optional
        Without y: the number of clusters to look for.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        For values that are no samples or no classes.
    """
    given = {} if clusters is None else {"clusters": clusters}
    if name is not None:
        check_name(name)
    columns = getattr(X, "columns", None)  # of a DataFrame
    if columns is not None and hasattr(X, "iloc"):
        _check_frame(X, y)
    names = map(str, columns) if columns is not None and are_names(columns) else None
    data = check_dataset({"name": name or "data", **given}, X, y, names)
    return data if name else replace(data, name=f"data_{data.sha[:8]}")


def _check_frame(X, y):
    """Refuse a DataFrame with columns of no numbers, or with the rows of y in another order."""
    odd = [j for j, kind in enumerate(X.dtypes) if kind.kind not in "biuf"]
    texts = [str(X.columns[j]) for j in odd if not _is_numeric(X.iloc[:, j])]
    if texts:
        raise DataError(f"X has columns that hold no numbers ({first_of(texts)}): leave them out, or encode them.")
    if not hasattr(y, "iloc") or X.index.equals(y.index):
        return
    if set(X.index) == set(y.index):
        raise DataError("X and y have the same index in different orders, and are paired row by row: y.loc[X.index].")
    common = len(X.index.intersection(y.index))
    if common or not (_is_default(X.index) or _is_default(y.index)):
        raise DataError(
            f"X and y have different indices ({common} of {len(X)} rows of X are in y), "
            "and are paired row by row: choose their common rows, or give y.to_numpy() where the rows are the same."
        )
    if len(X) == len(y):
        say("X and y have different indices, one of which only numbers the rows: they are paired row by row.")


def _is_default(index):
    """Return True for the index that pandas gives to rows without one."""
    return getattr(index, "step", None) == 1 and index.start == 0


def _is_numeric(column):
    try:
        column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        return False
    return column.dtype.kind not in "mM"
