"""The record that a data set is, and what its modules share."""

import functools
import hashlib
import logging
from dataclasses import dataclass

import numpy as np
from scipy import sparse

LARGEST_WHOLE = 2**53  # the first number that in float64, as tables are read, is also that of another


log = logging.getLogger(__name__)


class DataError(ValueError):
    """Data, a file of data, or a setting that names it is wrong; the message says what is wrong and what to do."""


class DataMissing(DataError):
    """A data set is not on this machine, and cannot be downloaded now."""


@dataclass(frozen=True)
class Truth:
    """The features of made-up data that are relevant: indices in ascending order."""

    relevant: tuple
    groups: tuple  # tuples of the same indices: those of one are noisy copies of each other, of which one is enough


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples, with their classes where these are known; both arrays are read-only.

    Attributes
    ----------
    name : str
    X : ndarray or csr_array of shape (n_samples, n_features) of float64
        C-contiguous, finite, unscaled.  Sparse where the source says so, in canonical form without stored zeros.
    y : ndarray of shape (n_samples,) of int, or None
        Classes 0, ..., n_classes - 1, in the sorted order of the original labels; None where there are no labels.
    image_shape : (height, width) or None
        Set where a sample is an image.
    pixel_order : "row", "column" or None
        The order of the features: along the rows or (MATLAB) down the columns of the image.
    sha : str
        SHA-256 of the shapes and bytes of X and y: equal for equal arrays, whatever file they came from.  Without
        labels it depends on X and on the number of clusters.  A sparse X has another one than the same values in a
        dense array, as results on it are the same to rounding only.
    clusters : int or None
        The number of clusters that is looked for where there are no labels; None where there are.
    truth : Truth or None
        Known for made-up data only.
    feature_names : tuple of n_features str, or None
        As the file has them; "column 3" in a table without names.  Pixels have none.  No part of `sha`.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    image_shape: tuple[int, int] | None
    pixel_order: str | None
    sha: str
    clusters: int | None = None
    truth: Truth | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def n_samples(self):
        return self.X.shape[0]

    @property
    def n_features(self):
        return self.X.shape[1]

    @property
    def n_classes(self):
        """The number of classes, or of the clusters that are looked for where there are no labels."""
        return self.clusters if self.y is None else int(self.y.max()) + 1

    def image(self, values):
        """Fold one value per feature (a sample, scores, a mask) into the image that the features are pixels of.

        A DataError says that the features are not pixels, or that there are more or fewer values.
        """
        values = np.asarray(values)
        if self.image_shape is None:
            raise DataError(f"{self.name} has no image shape: its features are not pixels of an image.")
        if values.shape != (self.n_features,):
            raise DataError(f"values of shape {values.shape} must have shape (n_features={self.n_features},).")
        height, width = self.image_shape
        return values.reshape(height, width) if self.pixel_order == "row" else values.reshape(width, height).T


def data_sha(X, y, clusters=None):
    """Return the SHA-256 of the shapes and the little-endian bytes of X as float64 and y as int64, in hexadecimal.

    Where y is None, the number of clusters takes its place.  Of a sparse X these are the bytes of its stored values,
    their columns, and where rows begin.
    """
    kind = "sparse " if sparse.issparse(X) else ""
    digest = hashlib.sha256(f"{kind}{X.shape} {f'{clusters} clusters' if y is None else y.shape}".encode())
    for part in parts_of(X):
        digest.update(np.ascontiguousarray(part, dtype="<f8" if part.dtype.kind == "f" else "<i8"))
    if y is not None:
        digest.update(np.ascontiguousarray(y, dtype="<i8"))
    return digest.hexdigest()


def parts_of(X):
    """Return the arrays that X consists of."""
    return (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)


def as_floats(values):
    """Return a copy of an array in float64; a ValueError or TypeError says that not all are real numbers."""
    several = values.flat if values.dtype == object else ()  # numpy would drop the imaginary part of one among these
    if np.iscomplexobj(values) or any(isinstance(value, complex | np.complexfloating) for value in several):
        raise TypeError("these are no real numbers")
    if values.dtype.kind in "OU" and any(isinstance(value, str) and "_" in value for value in values.flat):
        raise ValueError("a text with _ is no number")  # Python would pass over it: 1_2 is no 12
    return values.astype(np.float64, order="C")


@functools.cache
def say(line):
    """Report what was taken for granted in a line of the log; once, as a run reads its files several times."""
    log.warning("%s", line)


def first_of(names, most=5):
    """Return the first of some names in a line, with points for the others."""
    return ", ".join([*map(str, names[:most]), *(["..."] if len(names) > most else [])])
