"""Readers of arrays: NumPy, Matrix Market and LIBSVM files, and how one array is chosen among several."""

import re
from io import BytesIO

import numpy as np
import scipy  # scipy imports its parts when they are first used, and most files need none

from ufs_bench.datasets.base import DataError, say
from ufs_bench.datasets.formats.header import is_number
from ufs_bench.datasets.formats.text import bytes_of


def read_npz(path, x=None, y=None):
    """Read a NumPy archive with arrays `x` and `y`, either of which may be left out as in `matlab.read_mat`.

    One that has the arrays of `scipy.sparse.save_npz` holds a sparse matrix, beside which there may be labels.
    """
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    if {"format", "shape", "data"} <= set(arrays) and x is None:
        return scipy.sparse.load_npz(path), None if y is None else pick(path, arrays, y)
    samples = pick(path, arrays, x or matrix_of(path, arrays, y))
    return samples, None if y is None else pick(path, arrays, y)


def read_npy(path, y=None):
    """Read the one array of a NumPy file; `y` is the number of the column of labels."""
    return _split(np.load(path, allow_pickle=False), path, y)


def read_mtx(path, y=None, max_unpacked_mb=None):
    """Read a Matrix Market file, dense or sparse, also packed."""
    return _split(scipy.io.mmread(BytesIO(bytes_of(path, max_unpacked_mb))), path, y)


def read_libsvm(path, y=True, max_unpacked_mb=None):
    """Read a LIBSVM or SVMlight file, which begins every line with a label; `y` false leaves the labels out.

    Several files are read as one: alone, one does not tell how many features there are, nor whether they count from 0
    or from 1.  Labels may be texts.  A DataError names the first line of another form.
    """
    from sklearn.datasets import load_svmlight_file  # here, as scikit-learn takes long to import

    paths = path if isinstance(path, list) else [path]
    contents = [bytes_of(one, max_unpacked_mb) for one in paths]
    try:
        X, labels = load_svmlight_file(BytesIO(b"\n".join(contents)))
    except ValueError:
        texts = [content.decode("utf-8-sig", "replace") for content in contents]
        labels, lines = zip(*map(_labels_of_lines, paths, texts), strict=True)
        X, _ = load_svmlight_file(BytesIO(b"\n".join(lines)))
        labels = np.concatenate(labels)
    return X, labels if y else None


def _labels_of_lines(path, text):
    """Return labels, which are texts, and the lines with a 0 in their place."""
    labels, lines = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        label, *pairs = line.partition("#")[0].split() or [""]
        if not label:
            continue
        if ":" in label or "," in label:
            what = "several labels" if "," in label else "no label"
            raise DataError(f"{path}: line {number} begins with {label!r}, {what}; a sample must have one.")
        parts = [pair.partition(":") for pair in pairs if not pair.startswith("qid:")]
        columns = [int(column) for column, _, value in parts if column.isdecimal() and is_number(value)]
        if len(columns) < len(parts) or columns != sorted(set(columns)):
            raise DataError(
                f"{path}: line {number} must be a label and pairs of a feature's number and its value, such as 3:0.5, "
                "and these numbers must rise."
            )
        labels.append(label)
        lines.append(" ".join(["0", *pairs]))
    return np.array(labels), "\n".join(lines).encode()


def flat(path, samples, transposed=False):
    """Return samples as a matrix: turned round if asked, and images in a row each, which a line in the log reports."""
    _check_matrix(path, samples)
    if samples.ndim == 2:
        return samples.T if transposed else samples
    samples = np.moveaxis(samples, -1, 0) if transposed else samples
    say(f"{path}: an array of {' x '.join(map(str, samples.shape))} is taken as {len(samples)} samples, each in a row.")
    return samples.reshape(len(samples), -1)


def _check_matrix(path, samples):
    names = getattr(samples.dtype, "names", None)
    if names or samples.dtype.kind == "c":
        kind = f"the fields {', '.join(names)}" if names else "complex numbers"
        raise DataError(f"{path} has an array of {kind}, and not of real numbers: save a matrix of these.")
    if samples.ndim < 2:
        raise DataError(f"{path} has an array of shape {samples.shape}; a matrix has samples as rows.")


def _split(samples, path, y):
    """Return samples and the column `y` of them, a number."""
    _check_matrix(path, samples)
    if y is None:
        return samples, None
    count = samples.shape[-1] if samples.ndim == 2 else 0
    if not re.fullmatch(r"-?\d+", str(y)) or not -count <= int(y) < count:
        raise DataError(f"{path} has no column {y!r}; it has the columns 0 to {count - 1}. Or say labels=FILE.")
    samples = samples.toarray() if scipy.sparse.issparse(samples) else samples
    return np.delete(samples, int(y), axis=1), samples[:, int(y)]


def matrix_of(path, arrays, labels):
    """Return the name of the one array of samples besides the labels: a matrix, or else an array of more dimensions."""
    shapes = {name: value.shape for name, value in arrays.items() if name != labels and value.dtype.kind in "biuf"}
    found = [name for name, shape in shapes.items() if len(shape) == 2 and min(shape) > 1]
    found = found or [name for name, shape in shapes.items() if len(shape) > 2 and min(shape) > 0]
    if len(found) != 1:
        raise DataError(
            f"{path} has {len(found)} matrices of numbers besides the labels ({', '.join(found) or 'none'}): name the "
            f"samples, x=NAME. It holds {', '.join(_described(arrays))}."
        )
    return found[0]


def pick(path, arrays, name):
    """Return an array by its name, such as ``data``, ``data{2}`` of a cell array, or ``data.X`` of a structure."""
    if cell := re.fullmatch(r"(.+)\{(\d+)\}", name):  # of a cell array, counted from 1 as in MATLAB
        cells = np.ravel(pick(path, arrays, cell[1]), order="F")
        if cells.dtype != object or not 1 <= int(cell[2]) <= len(cells):
            raise DataError(f"{path}: {cell[1]} has no cell {cell[2]}; it has {len(cells) * (cells.dtype == object)}.")
        return cells[int(cell[2]) - 1]
    if name in arrays:
        return arrays[name]
    above, _, field = name.rpartition(".")
    if above:
        value = pick(path, arrays, above)
        if value.dtype.names and field in value.dtype.names and value.size == 1:
            return value[field].flat[0]
    present = ", ".join(sorted(_described(arrays))) or "nothing"
    raise DataError(f"{path} has no array {name!r}; it holds {present}.")


def _described(arrays, above=""):
    """List the names of arrays, those in a structure of MATLAB as ``data.X``."""
    names = []
    for name, value in arrays.items():
        fields = value.dtype.names if value.size == 1 else None
        inside = {field: value[field].flat[0] for field in fields or ()}
        names += _described(inside, f"{above}{name}.") if inside else [f"{above}{name}"]
    return names
