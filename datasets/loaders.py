"""Readers of the file formats: one function each, from a path to samples and labels."""

import functools
import re
import zipfile
from io import BytesIO

import numpy as np
import scipy  # scipy imports its parts when they are first used, and most files need none

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.check import from_indicators
from ufs_bench.datasets.formats.arrays import flat, pick, read_libsvm, read_mtx, read_npy, read_npz
from ufs_bench.datasets.formats.h5ad import read_h5ad
from ufs_bench.datasets.formats.matlab import read_mat
from ufs_bench.datasets.formats.rdata import read_rdata
from ufs_bench.datasets.joined import FRAMES, labels_in_order, read_tables
from ufs_bench.datasets.steps import fill_missing, matched_labels, take_steps
from ufs_bench.datasets.synthetic import read_synthetic

LARGEST_DENSE = 2**30  # numbers: a sparse file of more than these 8 GB is not written out
PACKAGES = {"PIL": "pillow"}  # a module and its package, where their names differ


def read_source(source, paths):
    """Return X, the labels and the names of the features of a source; without `paths` the format needs no file.

    `paths` is a path, or a list of those in `datasets.spec.files_of`.  X is sparse where the source has ``sparse:
    true``.  The labels are None where it names none, and so are the names where there are none.
    """
    paths = paths if isinstance(paths, list | tuple) else [paths]
    count = len(paths) - len(source.get("labels", {}).get("files", ()))
    path = paths[0]
    try:
        X, y, names = _read(source, paths[:count], paths[count:])
    except DataError:
        raise
    except ModuleNotFoundError as error:
        package = PACKAGES.get(error.name, error.name)
        raise DataError(f"{path}: to read {source['format']}, a package is needed: pip install {package}.") from error
    except Exception as error:  # a reader of foreign bytes may raise anything
        if "allow_pickle" in str(error):
            raise DataError(
                f"{path} holds Python objects, which are not safe to read: save numbers, and labels as y.astype(str)."
            ) from error
        fetched = any("urls" in file or "openml" in file for file in (source, *source.get("files", ())))
        remedy = "damaged or of another format; fetch it again" if fetched else "of another format, or damaged"
        words = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(f"{path} cannot be read as {source['format']}: {words}. The file is {remedy}.") from error
    y = from_indicators(path, y, X.shape[0])
    if source.get("sparse"):
        if wrong := [key for key in ("fill", "steps") if source.get(key, "error") != "error"]:
            raise DataError(f"{path}: {wrong[0]}={source[wrong[0]]} needs a dense X: leave out sparse=true, or it.")
        X = scipy.sparse.csr_array(X)
    else:
        X = dense(path, X)
    if "label_pattern" in source:
        y = matched_labels(path, y, source["label_pattern"])
    X, y, kept = take_steps(path, X, y, source.get("steps", ()))
    X, y = fill_missing(path, X, y, source.get("fill", "error"))
    X, y = first_per_class(X, y, source["per_class"]) if "per_class" in source else (X, y)
    return X, y, None if names is None else [names[number] for number in kept]


def _read(source, paths, label_paths):
    """Return what the reader of a source makes of its files: tables are joined by names, arrays as they are."""
    kind, options = source["format"], source.get("options", {})
    joined = {key: source[key] for key in ("transposed", "columns", "labels") if key in source}
    if kind in FRAMES:
        return READERS[kind](paths, label_paths=label_paths, **joined, **options)
    if "columns" in joined or "key" in joined.get("labels", {}):
        raise DataError(f"{paths[0]}: the features and samples of {kind} have no names: leave out columns=, key=.")
    turned = bool(source.get("transposed"))
    paths = [paths] if kind == "libsvm" else paths
    parts = [READERS[kind](path, **options, **({"transposed": turned} if kind == "mat" else {})) for path in paths]
    X = [flat(path, part[0], turned and kind != "mat") for path, part in zip(paths, parts, strict=True)]
    y = [part[1] for part in parts]
    named = [None if source.get("transposed") or len(part) < 3 else part[2] for part in parts]
    for path, names in zip(paths, named, strict=True):
        if names != named[0]:
            raise DataError(f"{path} has other features than {paths[0]}, or in another order: their names differ.")
    if "labels" in source:
        y = [np.array(labels_in_order(source["labels"], label_paths, sum(part.shape[0] for part in X)), dtype=object)]
    if len(parts) == 1:
        return X[0], y[0], named[0]
    widths = {part.shape[1] for part in X}
    if len(widths) > 1:
        raise DataError(f"{paths[0]} and others have {sorted(widths)} features; they must have the same.")
    stack = scipy.sparse.vstack if any(map(scipy.sparse.issparse, X)) else np.vstack
    labels = None if any(one is None for one in y) else np.concatenate([np.ravel(one) for one in y])
    return stack(X), labels, named[0]


def dense(path, X):
    """Return a matrix as an ndarray; a DataError says that a sparse one is too large for that, and what to do."""
    if not scipy.sparse.issparse(X):
        return X
    if X.shape[0] * X.shape[1] > LARGEST_DENSE:
        raise DataError(
            f"{path} holds a sparse matrix of {X.shape[0]} x {X.shape[1]}, which takes "
            f"{8 * X.shape[0] * X.shape[1] / 2**30:.0f} GB when its zeros are written out: say sparse=true (sparse: "
            "true in the source of a file of conf/dataset) to keep it sparse."
        )
    return X.toarray()


def read_term_counts(path, x, y):
    """Read term counts from a MATLAB file of weights ``(1 + ln count) ln(n_samples / frequency)``, rows of unit norm.

    A row is known up to a factor only: it is chosen so that the row's smallest count is 1.  Every term must occur in
    some documents, but not in all of them (its weights would be zeros).
    """
    weights, labels = read_mat(path, x, y)
    weights = dense(path, weights)
    frequency = (weights > 0).sum(axis=0)
    damped = weights / np.log(len(weights) / frequency)
    smallest = np.min(damped, axis=1, where=damped > 0, initial=np.inf, keepdims=True)
    return np.where(damped > 0, np.rint(np.exp(damped / smallest - 1)), 0), labels


def read_h5(path, x, y):
    """Read an HDF5 file whose arrays `x` and labels `y` (lists of names) are stacked in the order given."""
    import h5py  # here, as in the readers below: few files need what takes long to import

    with h5py.File(path, "r") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        arrays = {name: file[name][()] for name in names}
    return tuple(np.concatenate([pick(path, arrays, name) for name in group]) for group in (x, y))


def read_pgm_zip(path, block):
    """Read a zip of grey images ``s<label>/<number>.pgm``, averaged over `block` x `block` pixels.

    Samples are in numerical order of (label, number); pixels run down the columns, as in MATLAB.
    """
    from PIL import Image

    with zipfile.ZipFile(path) as archive:
        found = [(re.search(r"s(\d+)/(\d+)\.pgm$", name), name) for name in archive.namelist()]
        members = sorted((int(match[1]), int(match[2]), name) for match, name in found if match)
        if not members:
            raise DataError(f"{path} has no member s<label>/<number>.pgm.")
        images = np.array([np.asarray(Image.open(BytesIO(archive.read(name)))) for *_, name in members], dtype=float)
    count, height, width = images.shape
    if height % block or width % block:
        raise DataError(f"{path}: images of {height} x {width} pixels do not divide into blocks of {block} x {block}.")
    small = images.reshape(count, height // block, block, width // block, block).mean(axis=(2, 4))
    return small.transpose(0, 2, 1).reshape(count, -1), np.array([label for label, *_ in members])


def read_digits(path):
    """Load the 8 x 8 digits of scikit-learn; there is no file."""
    from sklearn.datasets import load_digits  # here, as scikit-learn takes longer to import than all else

    return load_digits(return_X_y=True)


READERS = {
    "mat": read_mat,
    "mat_term_counts": read_term_counts,
    "h5": read_h5,
    "libsvm": read_libsvm,
    "h5ad": read_h5ad,
    "npz": read_npz,
    "npy": read_npy,
    "mtx": read_mtx,
    "rdata": read_rdata,
    "pgm_zip": read_pgm_zip,
    "digits": read_digits,
    "synthetic": read_synthetic,
    **{kind: functools.partial(read_tables, kind) for kind in FRAMES},
}


def first_per_class(X, y, count):
    """Return the first `count` samples of each class (or all), in file order, classes stacked in sorted order."""
    if y is None:
        raise DataError(f"per_class={count} needs labels, and there are none.")
    y = np.ravel(y)
    if X.shape[0] != len(y):
        raise DataError(f"{X.shape[0]} samples have {len(y)} labels; there must be one label for each.")
    rows = np.concatenate([np.flatnonzero(y == label)[:count] for label in np.unique(y)])
    return X[rows], y[rows]
