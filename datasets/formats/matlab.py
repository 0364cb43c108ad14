"""Reads MATLAB files of all versions: matrices, structures, cell arrays and texts."""

import numpy as np
import scipy

from ufs_bench.datasets.base import DataError, say
from ufs_bench.datasets.formats.arrays import flat, matrix_of, pick


def read_mat(path, x=None, y=None, transposed=False):
    """Read a MATLAB file with a dense or a sparse matrix `x` and labels `y` (names of arrays, or ``data.X``).

    Without `x` it is the one matrix besides the labels; without `y` there are no labels.  Of a cell array the matrices
    are put side by side, and ``NAME{2}`` is the second of them.  A transposed matrix has samples as columns.
    """
    with open(path, "rb") as file:
        head = file.read(520)
    if head.startswith(b"MATLAB 7.3") or b"\x89HDF" in head:
        arrays = _arrays_of_hdf5(path)
    elif head.startswith(b"MATLAB 5.0") or 0 in head[:4]:  # a file of version 4 begins with a number
        arrays = scipy.io.loadmat(path)
    else:
        raise DataError(f"{path} is no MATLAB file: it begins with {head[:24]!r} instead of b'MATLAB 5.0'.")
    arrays = {name: value for name, value in arrays.items() if not name.startswith("__")}
    samples = pick(path, arrays, x or matrix_of(path, arrays, y))
    if samples.dtype == object:
        samples = _side_by_side(path, x, np.ravel(samples, order="F"), transposed)
    else:
        samples = flat(path, samples, transposed)
    labels = None if y is None else pick(path, arrays, y)
    if labels is not None and labels.dtype == object and all(np.size(cell) <= 1 for cell in labels.flat):
        cells = [np.ravel(cell)[0] if np.size(cell) else None for cell in labels.flat]  # a cell array of words
        labels = np.array(cells, dtype=object if None in cells else None)
    return samples, labels


def _side_by_side(path, name, cells, transposed):
    """Return the matrices in a cell array, which have a row for each sample, side by side."""
    shapes = [np.shape(cell) for cell in cells]
    side = int(transposed)
    if any(len(shape) != 2 for shape in shapes) or len({shape[side] for shape in shapes}) != 1:
        other = len({shape[1 - side] for shape in shapes if len(shape) == 2}) == 1
        raise DataError(
            f"{path}: the cells of {name} have the shapes {shapes}; their {'columns' if transposed else 'rows'} must "
            f"be the same samples. Name one cell, x={name}{{1}}"
            + (f", or say transposed={str(not transposed).lower()}." if other else ".")
        )
    if len(set(shapes)) == 1 and len(cells) > 1 and not transposed and shapes[0][0] < shapes[0][1]:
        say(f"{path}: the {len(cells)} cells of {name} are put side by side, with {shapes[0][0]} samples as rows.")
    views = [cell.toarray() if scipy.sparse.issparse(cell) else cell for cell in cells]
    return np.hstack([view.T if transposed else view for view in views])


def _arrays_of_hdf5(path):
    """Return the variables of a MATLAB file of version 7.3 as `scipy.io.loadmat` does those of older versions.

    MATLAB stores arrays by columns, so that HDF5 shows them transposed.
    """
    import h5py  # here, as few files need what takes long to import

    with h5py.File(path, "r") as file:
        if not any("MATLAB_class" in item.attrs for item in file.values()):
            say(
                f"{path} was not written by MATLAB, but is read as if: where samples and features are exchanged, say "
                "transposed=true."
            )
        return {name: _value(file, item) for name, item in file.items() if not name.startswith("#")}


def _value(file, item):
    kind = item.attrs.get("MATLAB_class", b"").decode()
    if hasattr(item, "keys"):
        if "MATLAB_sparse" in item.attrs:
            rows, counts = item.attrs["MATLAB_sparse"], item["jc"][()]
            data, indices = (item[part][()] if part in item else np.array([]) for part in ("data", "ir"))
            shape = (int(rows), len(counts) - 1)
            return scipy.sparse.csc_array((data, indices.astype(np.int64), counts.astype(np.int64)), shape=shape)
        parts = {name: _value(file, part) for name, part in item.items()}
        whole = np.empty((1, 1), dtype=[(name, object) for name in parts])
        whole[0, 0] = tuple(parts.values())
        return whole
    if "MATLAB_empty" in item.attrs:
        return np.zeros((0, 0))
    values = item[()]
    if values.dtype == object:
        cells = np.empty(values.shape, dtype=object)
        for place, reference in np.ndenumerate(values):
            cells[place] = _value(file, file[reference])
        return cells.T
    if kind == "char":
        return np.array(["".join(map(chr, line)) for line in np.atleast_2d(values.T)])
    return values.T
