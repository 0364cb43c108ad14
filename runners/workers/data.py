"""The scaled data of a cell, which all worker processes of a run share."""

import errno
import functools
import itertools
import os
import tempfile
from contextlib import contextmanager, suppress
from typing import NamedTuple

import joblib
import numpy as np
from scipy import sparse

from ufs_bench.datasets.scaling import scale
from ufs_bench.runners.workers.machine import CAN_WATCH

_numbers = itertools.count()  # of files, as the next file may get the path of the last one


class Data:
    """The scaled data of a cell.

    Feature sets are scored on X, and methods fitted on `fitted_on` where it is given.  y are class codes, an array
    without dimensions with the number of clusters, or None where nothing is scored.  With `scalings`, for X and for
    `fitted_on`, the given samples are scaled when they are first asked for.
    """

    def __init__(self, X, y, fitted_on=None, scalings=None):
        self._given, self._scalings = (X, y, X if fitted_on is None else fitted_on), scalings

    @classmethod
    def scaled(cls, dataset, protocol, method):
        """Return a data set as a protocol scales it for K-means, and for a method of this name."""
        y = np.array(dataset.n_classes) if dataset.y is None else dataset.y
        return cls(dataset.X, y, scalings=(protocol.scaling, protocol.scaling_of(method)))

    @functools.cached_property
    def arrays(self):
        """X, y, and the samples that methods are fitted on."""
        return _scaled(self._given, self._scalings)

    X = property(lambda self: self.arrays[0])
    y = property(lambda self: self._given[1])
    fitted_on = property(lambda self: self.arrays[2])

    @contextmanager
    def shared(self, scaled=True):
        """Write the data to a file, and yield their `Source`; with `scaled=False` each process scales its own copy."""
        with _file() as file:
            _dump(self.arrays if scaled else self._given, file)
            path = f"/proc/{os.getpid()}/fd/{file.fileno()}" if CAN_WATCH else file.name
            yield Source(path, next(_numbers), None if scaled else self._scalings)


def n_stored(X):
    """Return the number of entries that a sparse X stores; None for a dense one."""
    return X.nnz if sparse.issparse(X) else None


class Source(NamedTuple):
    """The place from which `opened` reads shared data in any process."""

    path: str
    number: int  # no other data have it
    scalings: tuple | None  # of the process that opens them


@functools.lru_cache(maxsize=1)
def opened(source):
    """Return the arrays of `Data` from its source, read-only and shared by all workers."""
    X, y, own = map(_plain, joblib.load(source.path, mmap_mode="r"))
    return _scaled((X, y, X if own is None else own), source.scalings)


def _scaled(given, scalings):
    """Return arrays, X and `fitted_on` scaled as asked for."""
    if scalings is None:
        return given
    X, y, _ = given
    (how, own), first = scalings, scale(X, scalings[0])
    return first, y, first if own == how else scale(X, own)


def _file():
    """Return an open temporary file; on Linux it has no name, so that it is gone with the last process that uses it."""
    make = tempfile.TemporaryFile if CAN_WATCH else tempfile.NamedTemporaryFile
    return make(prefix="ufs-bench-")


def _dump(arrays, file):
    X, y, own = arrays
    try:
        joblib.dump((X, y, None if own is X else own), file)
        file.flush()
    except OSError as error:
        number = error.errno or errno.ENOSPC
        with suppress(OSError):  # what is left to write would raise it again
            file.close()
        raise OSError(number, os.strerror(number), tempfile.gettempdir()) from error


def _plain(X):
    """Return an array or sparse array of `numpy.memmap` as one of plain arrays, which share its memory."""
    if X is None or not sparse.issparse(X):
        return None if X is None else np.asarray(X)
    plain = sparse.csr_array(tuple(map(np.asarray, (X.data, X.indices, X.indptr))), shape=X.shape)
    plain.has_canonical_format = True  # so that nobody looks through it again; `datasets.scaling.scale` made it so
    return plain
