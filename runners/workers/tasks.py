"""The worker's side: a task, the data that it runs on, and what a process does with it."""

import errno
import functools
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import filelock
import numpy as np
from scipy import sparse

from ufs_bench.datasets.scaling import scale
from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.code import CodeChanged, code_of_evaluation
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.workers import processes
from ufs_bench.runners.workers.family import memory_of
from ufs_bench.runners.workers.fit import evaluate_set, fit_trial

FITTED_ON = "fitted_on"
PARTS = ("data", "indices", "indptr")  # the arrays that a csr_array consists of


@dataclass(frozen=True)
class Task:
    """Trials to fit, or (name, features) to evaluate under a protocol, by the code that the identity names."""

    items: tuple
    identity: Identity
    protocol: Protocol | None = None  # the protocol of evaluations
    alone: bool = False  # True where a worker died when it was last tried
    lost: int = 0  # workers that ended before they had begun it

    @property
    def is_fit(self):
        """True where the items are trials."""
        return self.protocol is None

    def run(self, X, y, fitted_on):
        """Return the results of the items, each with its seconds."""
        if self.is_fit:
            return [_timed(fit_trial, trial, fitted_on) for trial in self.items]
        return [_evaluated(features, X, y, self.protocol) for _, features in self.items]

    def check_code(self):
        """Refuse a task of other code than this process would run."""
        if self.is_fit:
            same = {Identity.of(trial.cls) for trial in self.items} == {self.identity}
        else:
            same = code_of_evaluation().digest == self.identity.code_evaluation
        if not same:
            raise CodeChanged(
                "a file that the method or its evaluation rests on was edited after this command had begun, or a "
                "variable of the environment that it reads is another there: its workers run other code than it does. "
                "Nothing of it was stored; run the same command again."
            )


class Data:
    """The scaled data of a cell; use it as a context manager.

    Processes are told where they find the data, and open them there: here a folder, with a copy that all map.

    Feature sets are scored on X, and methods fitted on `fitted_on` where it is given.  y are class codes, an array
    without dimensions with the number of clusters, or None where nothing is scored.
    """

    def __init__(self, X, y, fitted_on=None):
        self.X, self.y = X, y
        self.fitted_on = X if fitted_on is None else fitted_on
        self._folder = None

    @classmethod
    def scaled(cls, dataset, protocol, method):
        """Return a data set as a protocol scales it for K-means, and for a method of this name."""
        X, own = scale(dataset.X, protocol.scaling), protocol.scaling_of(method)
        y = np.array(dataset.n_classes) if dataset.y is None else dataset.y
        return cls(X, y, None if own == protocol.scaling else scale(dataset.X, own))

    def unscored(self):
        """Return the same data for fits alone, of which nothing is scored."""
        return Data(self.X, None, self.fitted_on)

    @property
    def arrays(self):
        """X, y, and the samples that methods are fitted on, for a task."""
        return self.X, self.y, self.fitted_on

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._folder is not None:
            self._lock.release()
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def source(self):
        """The folder with the copy, which is made when it is first asked for."""
        if self._folder is None:
            processes.remove_leftovers()
            self._folder = tempfile.mkdtemp(prefix=f"{processes.COPY}{os.getpid()}-")
            self._lock = filelock.FileLock(Path(self._folder, processes.LOCK))
            self._lock.acquire(timeout=0)
            save(self._folder, "X", self.X)
            save(self._folder, "y", np.empty(0) if self.y is None else self.y)
            if self.fitted_on is not self.X:
                save(self._folder, FITTED_ON, self.fitted_on)
        return self._folder


@functools.lru_cache(maxsize=1)
def opened(source):
    """Return the arrays of `Data` from its source, read-only and shared by all workers of this machine."""
    X, y, own = (mapped(source, name) for name in ("X", "y", FITTED_ON))
    return X, y, X if own is None else own


def n_stored(X):
    """Return the number of entries that a sparse X stores; None for a dense one."""
    return X.nnz if sparse.issparse(X) else None


def save(folder, name, X):
    """Write samples to files of a folder, which `mapped` opens: one for each array that they consist of."""
    arrays = {name: X}
    if sparse.issparse(X):
        arrays = {f"{name}.{part}": getattr(X, part) for part in PARTS} | {f"{name}.shape": X.shape}
    for part, array in arrays.items():
        path = Path(folder, f"{part}.npy")
        try:
            np.save(path, array)
        except OSError as error:  # numpy's own names no file, and of a full disk only how many values were written
            number = error.errno or errno.ENOSPC
            raise OSError(number, os.strerror(number), str(path)) from error


def mapped(folder, name):
    """Return samples from the files of `save`, read-only and mapped into memory; None where there are none."""
    if Path(folder, f"{name}.npy").exists():
        return _array(folder, name)
    if not Path(folder, f"{name}.shape.npy").exists():
        return None
    X = sparse.csr_array(
        tuple(_array(folder, f"{name}.{part}") for part in PARTS), shape=_array(folder, f"{name}.shape")
    )
    X.has_canonical_format = True  # so that nobody looks through it again; `datasets.scaling.scale` made it so
    return X


def _array(folder, name):
    return np.asarray(np.load(Path(folder, f"{name}.npy"), mmap_mode="r"))


def run_in_worker(begin, task, source):
    """Run a task and return its results; without a source of data, the MB that this process holds with its trial."""
    if source is None:
        opened.cache_clear()
        assert task.cls  # which imports it
        load_engine()
        return memory_of("self", peak=False)
    arrays = opened(source)
    task.check_code()  # before the task begins, as the seconds of a first import are not the fit's
    begin()
    return task.run(*arrays)


def _timed(function, *args):
    started = time.perf_counter()
    return function(*args), time.perf_counter() - started


def _evaluated(features, X, y, protocol):
    """Return scores and seconds; an exception takes the place of the scores, so that it does not end other items."""
    try:
        return evaluate_set(features, X, y, protocol)
    except Exception as error:
        return error, 0.0
