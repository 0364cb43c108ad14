"""Check samples and labels before anything uses them, and make a `Dataset` of them."""

import numpy as np
from scipy import sparse

from ufs_bench.datasets.base import LARGEST_WHOLE, DataError, Dataset, as_floats, data_sha, parts_of, say

# Labels that often stand for a missing one; where a file is read, others are missing values.
ABSENT = ("", "-", "--", ".", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "missing", "unknown")


def check_dataset(spec, X, y, names=None):
    """Return the record of arrays, checked against the specification of their data set.

    X may be sparse.  y is whole numbers or texts, where texts that are all numbers count as numbers, as a column or a
    row; None where there are no labels.  A DataError says that values are missing or not finite, that labels are not
    classes, or that the shape, the number of classes or (where `spec` has a `data_sha256`) the values differ from those
    in `spec`.
    """
    name = spec["name"]
    X, clusters = _samples(name, X), spec.get("clusters")
    if y is not None:
        y = encode_labels(name, from_indicators(name, y, X.shape[0]))
        if X.shape[0] != len(y):
            turned = " Samples are rows: of a file that has them as columns say transposed=true, otherwise not."
            hint = turned if X.shape[1] == len(y) else ""
            raise DataError(
                f"{name}: {X.shape[0]} samples have {len(y)} labels; there must be one label for each.{hint}"
            )
    _check_clusters(name, y, clusters, X.shape[0])
    found = (*X.shape, *([] if y is None else [int(y.max()) + 1]))
    stated = [spec.get(key) for key in ("samples", "features", "classes")]
    expected = tuple(own if given is None else given for own, given in zip(found, stated, strict=False))
    if found != expected:
        raise DataError(
            f"{name}: samples x features x classes is {_times(found)}, expected {_times(expected)}. "
            f"This is another version of the data, or conf/dataset/{name}.yaml is wrong."
        )
    sha = data_sha(X, y, clusters)
    if spec.get("data_sha256") not in (None, sha):
        raise DataError(
            f"{name}: the SHA-256 of the loaded values is {sha}, expected {spec['data_sha256']}. "
            f"The shape is right: samples, their order or their values differ from those of conf/dataset/{name}.yaml."
        )
    for part in parts_of(X):
        part.flags.writeable = False
    if y is not None:
        y.flags.writeable = False
    image = spec.get("image")
    shape, order = ((image["height"], image["width"]), image["order"]) if image else (None, None)
    return Dataset(
        name, X, y, shape, order, sha, clusters, feature_names=None if names is None or image else tuple(names)
    )


def _check_clusters(name, y, clusters, n_samples):
    if y is None and clusters is None:
        raise DataError(
            f"{name} has no labels: say how many clusters to look for, clusters=K, as methods and K-means need it."
        )
    if clusters is not None and not (isinstance(clusters, int | np.integer) and clusters >= 2):
        raise DataError(f"{name}: clusters={clusters!r} must be a whole number, 2 or more.")
    if y is None and clusters > n_samples:
        raise DataError(f"{name}: clusters={clusters} must be at most {n_samples}, the number of samples.")
    if y is not None and clusters is not None:
        raise DataError(
            f"{name} has labels, whose classes are the clusters: leave clusters={clusters} out, or the labels "
            "(label=none)."
        )


def encode_labels(name, y):
    """Return class codes 0, ..., c - 1 in the sorted order of the original labels, of shape (n,), (n, 1) or (1, n).

    A DataError, with the name of the data set, says that a label is missing or a fraction, or that there are fewer
    than two classes.
    """
    y = _array(name, "labels", y)
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.ndim != 1 or not y.size:
        raise DataError(f"{name}: labels of shape {y.shape} must be (n_samples,), one class for each sample.")
    if y.dtype.kind in "cmM":
        raise DataError(f"{name}: labels must be whole numbers or texts, not {y.dtype}: y.astype(str).")
    try:
        labels = y if y.dtype.kind in "iu" else as_floats(y)
    except (TypeError, ValueError, OverflowError):
        odd = [label for label in y if not isinstance(label, str)] if y.dtype == object else []
        if odd:
            raise DataError(
                f"{name}: labels must be all numbers or all texts; {odd[0]!r} is no text. In a file of text an "
                "empty cell, ?, NA, N/A, nan, null and None are missing values: give a class with such a name another "
                "one; fill=drop leaves out samples of a file without a label."
            ) from None
        labels = y.astype(str)
        if absent := sorted({str(label) for label in labels if label.strip().lower() in ABSENT}):
            say(f"{name}: the label {absent[0]!r} is a class: if it is a missing value, leave its samples out.")
    else:
        wrong = labels[~(np.isfinite(labels) & (labels == np.round(labels)))]
        if len(wrong):
            missing = np.isnan(labels).sum()
            drop = f"{missing} are missing: fill=drop leaves out samples of a file without a label."
            hint = drop if missing else "Where there are no classes, leave the labels out, and say clusters=K."
            words = f"label {wrong[0]:g} is not a class; {len(wrong)} labels are no whole numbers"
            raise DataError(f"{name}: {words}. {hint}")
        if labels.dtype.kind == "f" and (most := np.abs(labels).max()) >= LARGEST_WHOLE:
            raise DataError(f"{name}: label {most:.0f} must be below {LARGEST_WHOLE}: put a letter before each.")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"{name}: every sample has the label {classes[0]}; there must be at least 2 classes.")
    return codes.astype(np.int64)


def from_indicators(name, y, n_samples):
    """Return the classes of labels with a column for each, of 0 and 1 or -1 and 1; other labels as they are.

    A DataError names a sample that is in no class, or in two.
    """
    y = y.toarray() if sparse.issparse(y) else y
    shape = np.shape(y) if hasattr(y, "shape") else ()
    if len(shape) != 2 or min(shape) < 2:
        return y
    values = np.asarray(y)
    values = values.T if len(values) != n_samples == values.shape[1] else values
    if not (np.isin(values, (0, 1)).all() or np.isin(values, (-1, 1)).all()):
        return y
    ones = (values == 1).sum(axis=1)
    if (wrong := np.flatnonzero(ones != 1)).size:
        raise DataError(f"{name}: sample {wrong[0]} is in {ones[wrong[0]]} of the {values.shape[1]} classes, not in 1.")
    say(f"{name}: the {values.shape[1]} columns of the labels are taken as one class each.")
    return values.argmax(axis=1)


def _samples(name, X):
    X = X if sparse.issparse(X) else _array(name, "X", X)
    if X.ndim != 2 or not min(X.shape):
        raise DataError(f"{name}: X of shape {X.shape} must be (n_samples, n_features), with at least one of each.")
    if sparse.issparse(X):
        return _sparse_samples(name, X)
    if X.dtype.kind in "mM":  # which numpy would count from 1970, and NaT as -2^63
        raise DataError(f"{name}: X must be real numbers, not {X.dtype}.")
    try:
        X = as_floats(X)
    except (TypeError, ValueError, OverflowError) as error:
        (row, column), odd = next((place, value) for place, value in np.ndenumerate(X) if not _is_real(value))
        raise DataError(
            f"{name}: X must be real numbers, and {odd!s:.80} in sample {row}, feature {column} is none."
        ) from error
    wrong = np.argwhere(~np.isfinite(X))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"{name}: X has {_not_finite(len(wrong))}, the first ({X[row, column]}) in sample {row}, "
            f"feature {column}. Where a file lacks values, fill=median takes the median of the feature, and fill=drop "
            "leaves the sample out; infinite ones must be removed from the file, and arrays be filled in before."
        )
    return X


def _array(name, what, given):
    """Return what was given as an array; a DataError says that it is none, or that values are masked."""
    if np.ma.is_masked(given):
        raise DataError(f"{name}: values of {what} are masked: fill them in, or leave their samples out.")
    try:
        return np.asarray(given)
    except ValueError as error:  # rows of different lengths
        raise DataError(f"{name}: {what} cannot be made an array: {error}") from error


def _is_real(value):
    one = np.empty(1, dtype=object)
    one[0] = value
    try:
        as_floats(one)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _sparse_samples(name, X):
    if X.dtype.kind not in "biuf":
        raise DataError(f"{name}: X must be real numbers, not {X.dtype}.")
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    wrong = np.flatnonzero(~np.isfinite(X.data))
    if len(wrong):
        row = np.searchsorted(X.indptr, wrong[0], side="right") - 1
        raise DataError(
            f"{name}: X has {_not_finite(len(wrong))}, the first ({X.data[wrong[0]]}) in sample {row}, "
            f"feature {X.indices[wrong[0]]}. Remove them from the file: nothing is filled in in a sparse X."
        )
    return X


def _not_finite(count):
    return "1 value that is not finite" if count == 1 else f"{count} values that are not finite"


def _times(shape):
    return " x ".join(str(number) for number in shape)
