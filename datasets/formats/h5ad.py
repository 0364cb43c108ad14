"""Reads AnnData files, the format of single cells."""

import numpy as np

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.formats.tables import listed


def read_h5ad(path, y=None, x="X"):
    """Read a matrix of an AnnData file, dense or sparse, the column `y` of obs, and the names of the features.

    The matrix `x` is X, a layer such as ``layers/counts``, or ``raw/X``.
    """
    import h5py

    with h5py.File(path, "r") as file:
        there = [name for name in ("X", *(f"layers/{one}" for one in file.get("layers", ())), "raw/X") if name in file]
        if not there or "obs" not in file:
            raise DataError(f"{path} is no AnnData file: it lacks X or obs.")
        if x not in there:
            raise DataError(f"{path} has no matrix {x!r}; it has {listed(there)}.")
        labels = None
        if y is not None:
            columns = [name for name in file["obs"] if name not in ("_index", "__categories")]
            if y not in columns:
                raise DataError(f"{path} has no column {y!r} in obs; it has {listed(sorted(columns))}.")
            labels = _of_obs(file["obs"], y)
        X = _matrix(file[x])
        return X, labels, _names_of(file["raw"] if x == "raw/X" else file, X.shape[1])


def _names_of(file, count):
    """Return the names of the features; None where the file has none, or has them in another way."""
    var = file.get("var")
    item = var.get(var.attrs.get("_index", "")) if hasattr(var, "keys") else None
    item = item.get("values") if hasattr(item, "keys") else item  # texts that may be missing are a group
    names = [] if item is None else list(map(str, _decoded(item[()])))
    return names if len(names) == count else None


def _of_obs(obs, name):
    """Return a column of obs: values, also those of which some may be missing, or codes of categories.

    AnnData has stored codes in two ways.
    """
    item = obs[name]
    if hasattr(item, "keys") and "mask" in item:
        values = _decoded(item["values"][()])
        return np.where(item["mask"][()], None, values) if item["mask"][()].any() else values
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
    """Return a matrix of an AnnData file, sparse where it is stored so."""
    if not hasattr(item, "keys"):
        return item[()]
    from scipy import sparse

    kind = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    build = sparse.csc_array if "csc" in str(kind) else sparse.csr_array
    shape = item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
    return build((item["data"][()], item["indices"][()], item["indptr"][()]), shape=tuple(shape))
