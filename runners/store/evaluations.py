"""The scores of feature sets that are kept for other trials and studies."""

import hashlib
import json
import os
import zlib
from pathlib import Path

import filelock
import numpy as np

from ufs_bench.metrics.measures import N_MEASURES
from ufs_bench.runners.code import code_of_evaluation
from ufs_bench.runners.store.files import writing
from ufs_bench.runners.store.identity import versions
from ufs_bench.runners.store.row import DIGEST


class Evaluations:
    """The evaluated feature sets of one data set, scaled, with its classes, under one protocol.

    Records are kept in a file of `folder`; None keeps them for this process only.  The file's name is a hash of X, y,
    the K-means settings, the code that evaluates, the packages and the machine, so that a changed data set, setting or
    program never finds what another one stored.  A record holds the digest of the set, the measures of
    `metrics.evaluate.evaluate` for every restart, and a checksum; a record that a crash left unfinished does not count.
    Records are only added, under a lock; those of other processes are read as they come.
    """

    def __init__(self, X, y, protocol, folder=None):
        self._type = np.dtype(
            [("digest", f"V{DIGEST}"), ("scores", "<f8", (N_MEASURES, protocol.restarts)), ("checksum", "<u4")]
        )
        self._known = {}
        self._path, self._read = None if folder is None else Path(folder) / f"{_name(X, y, protocol)}.bin", 0

    def find(self, digest):
        """Return the scores of a set, as an array of shape (N_MEASURES, n_restarts); None where the set is new."""
        if digest not in self._known:
            self._read_new()
        return self._known.get(digest)

    def add(self, found):
        """Keep the scores of feature sets, by digest; where the disk refuses (StoreError), earlier ones are safe."""
        self._known.update(found)
        if self._path is None or not found:
            return
        records = np.zeros(len(found), self._type)
        for record, (digest, scores) in zip(records, found.items(), strict=True):
            record["digest"] = bytes.fromhex(digest)
            record["scores"] = scores
            record["checksum"] = _checksum(record)
        with writing(self._path, "All stored results are safe; {}, or set runner.cache=false."):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._path.with_suffix(".lock")), open(self._path, "ab", buffering=0) as file:
                whole = file.seek(0, os.SEEK_END) // self._type.itemsize * self._type.itemsize
                file.truncate(whole)
                data = memoryview(records.tobytes())
                while data:
                    data = data[file.write(data) :]

    def _read_new(self):
        if self._path is None or not os.path.isfile(self._path) or os.path.getsize(self._path) <= self._read:
            return
        records = np.fromfile(self._path, self._type, offset=self._read)  # without a last one that is unfinished
        self._read += records.nbytes
        for record in records:
            if record["checksum"] == _checksum(record):
                self._known.setdefault(record["digest"].tobytes().hex(), record["scores"].copy())


def _name(X, y, protocol):
    """Return a hash of everything besides the feature set that the scores depend on."""
    settings = {name: value for name, value in protocol.scoring().items() if name not in ("name", "sizes", "scaling")}
    code = code_of_evaluation().digest, versions()
    digest = hashlib.sha256(json.dumps([settings, X.shape, code], sort_keys=True).encode())
    for array in (X, y):
        digest.update(str(array.dtype).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def _checksum(record):
    return zlib.crc32(record["scores"].tobytes(), zlib.crc32(record["digest"].tobytes()))
