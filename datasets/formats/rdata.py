"""Reads what R has saved, with the package rdata, which runs no R."""

import warnings
from pathlib import Path

import numpy as np

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.formats.tables import as_numbers, listed, split_table


def read_rdata(path, x=None, y=None, ignore=(), onehot=()):
    """Read a matrix or data frame `x`, and labels `y`, that R saved with save or saveRDS.

    `x` is as R names it, such as ``study$counts``; by default the one object of the file.  So is `y`, or it is a column
    of the data frame `x`.  `ignore` and `onehot` are columns of a data frame, as in `tables.split_table`.
    """
    import pandas as pd
    import rdata  # here, as it takes long to import, and few files need it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that it does not know, most of which nobody asks for
        read = rdata.read_rds if Path(path).suffix.lower() == ".rds" else rdata.read_rda
        found = read(path)
    found = found if isinstance(found, dict) else {"data": found}
    if x is None and len(found) != 1:
        raise DataError(f"{path} holds {listed(sorted(found))}: name the samples, x=NAME or x=NAME$PART.")
    X = _part(path, found, x or next(iter(found)))
    if isinstance(X, pd.DataFrame):
        inside = y if y in X.columns else None
        X, labels, named = split_table(path, as_numbers(X), inside, ignore, onehot)
        if inside is not None:
            return X, labels, named
    elif ignore or onehot:
        raise DataError(f"{path}: {x} is no data frame, which ignore and onehot are about: leave them out.")
    else:  # a matrix with dimnames has coordinates
        names = X.coords[X.dims[-1]].values if getattr(X, "coords", None) and X.dims[-1] in X.coords else None
        named = None if names is None else list(map(str, names))
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(f"{path}: {x or next(iter(found))} is no matrix of numbers. Name one: {_inside(found)}.")
    return X, None if y is None else _vector(path, _part(path, found, y), y), named


def _part(path, found, name):
    """Return the object that ``a$b$c`` names; R allows points in names."""
    here = found
    for one in name.split("$"):
        known = list(here) if isinstance(here, dict) else list(getattr(here, "columns", ()))
        if one not in known:
            raise DataError(f"{path} has no {name!r}: {one!r} is not in {listed(list(map(str, known))) or 'it'}.")
        here = here[one]
    return here


def _vector(path, values, name):
    """Return labels as an array: a vector, a factor, or a data frame or matrix of one column."""
    values = np.asarray(values)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise DataError(f"{path}: {name} of shape {values.shape} must be one label for each sample.")
    return np.array([None if one is None or one != one else one for one in values.tolist()], dtype=object)


def _inside(found, above=""):
    """List what is in nested lists of R."""
    names = []
    for name, value in found.items():
        names += [_inside(value, f"{above}{name}$")] if isinstance(value, dict) else [f"{above}{name}"]
    return ", ".join(names)
