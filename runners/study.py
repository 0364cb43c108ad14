"""A study among others: its one protocol, and what it takes from others: trials, and the scores of feature sets."""

import hashlib
import json
import os
import zlib
from pathlib import Path

import filelock
import numpy as np

from metrics.measures import N_MEASURES
from metrics.protocol import Protocol
from metrics.study import UNSCORED
from runners.code import code_of_evaluation
from runners.files import StoreError, held, read_rows, replace_file
from runners.fit import DIGEST, Outcome
from runners.provenance import Identity, versions
from runners.reference import shipped_cells, stamped
from runners.row import OTHERS, counts_of, to_json
from runners.store import cells_of, rows_by_trial


def claim_study(folder, protocol):
    """Tie the folder of a study to one protocol, so that no table can mix two; refuse another with a StoreError."""
    path = Path(folder) / "protocol.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path):
        if not path.exists():
            replace_file(path, (json.dumps(protocol.stored(), sort_keys=True, indent=1) + "\n").encode())
        try:
            stored = Protocol.from_json(path.read_text())
        except ValueError as error:
            raise StoreError(
                f"{path} holds no protocol ({str(error).rstrip('.')}). Restore it, or choose another study=NAME."
            ) from error
    differences = sorted(stored.differences(protocol).items())
    if differences:
        words = "; ".join(f"{name}: stored {there}, asked {here}" for name, (there, here) in differences)
        raise StoreError(
            f"The study {path.parent.name!r} holds results of another protocol ({words}). "
            "Choose another study=NAME for this one."
        )


def found_elsewhere(settings, trials):
    """Return the trials that other studies have, by the folder of their cell, as (row there, trial).

    A stored trial counts where its scores are of the same code, packages and machine (`runners.provenance.Identity`).
    The studies are those of the same results, and the shipped ones, in which a stamp counts as the same code.
    """
    if not trials or not settings.runner.cache or settings.runner.redo:
        return {}
    here = Identity.of(settings.method.cls)
    missing, found, cell = trials, {}, (settings.dataset["name"], settings.method.name)
    places = [(None, path) for path in cells_of(settings.results_dir, None, *cell)]
    for shipped, path in [*places, *shipped_cells(*cell)]:
        folder = path.parent
        if folder == settings.folder:
            continue
        try:
            name = Protocol.from_json((folder.parents[1] / "protocol.json").read_text()).name
            rows = read_rows(path)
            if shipped is not None:
                rows = _stamped_as(here, rows, stamped(shipped, *cell))
        except (OSError, ValueError, StoreError):  # not a study, or a damaged one, as its own commands report
            continue
        scored = {
            row["trial"]: row
            for row in rows
            if row["status"] not in UNSCORED and not here.difference(Identity.stored(row))
        }
        if not scored:
            continue
        keys = [trial.key_under(name) for trial in missing]
        if there := [(scored[key], trial) for key, trial in zip(keys, missing, strict=True) if key in scored]:
            found[folder] = there
            missing = [trial for key, trial in zip(keys, missing, strict=True) if key not in scored]
    return found


def _stamped_as(identity, rows, stamps):
    """Return the rows of a shipped cell, as rows of this code where a stamp says that its numbers are the same."""
    codes = identity.code_fit, identity.code_evaluation
    same = {"code_fit": codes[0], "code_evaluation": codes[1]}
    return [row | same if codes in stamps.get((row["code_fit"], row["code_evaluation"]), ()) else row for row in rows]


def outcomes_of(folder, found):
    """Return trials stored in another study's cell as outcomes of their own study; unreadable ones are left out."""
    ours = {row["trial"]: trial.key for row, trial in found}
    try:
        stored = rows_by_trial(folder, OTHERS, ours)
    except (OSError, StoreError):
        return []
    outcomes = []
    for row, trial in found:
        key = row["trial"]
        own = {
            "trial": trial.key,
            "study": trial.study,
            "is_default": trial.is_default,
            "protocol": to_json(trial.protocol.stored()),
        }
        rows = {name: [(trial.key, *list(one.values())[1:]) for one in stored[name][key]] for name in OTHERS}
        if all(len(rows[name]) == count for name, count in counts_of(row).items()):
            log = f"taken from the study {folder.parents[1].name}, where it is {key}"
            outcomes.append(Outcome(row | own, *rows.values(), log=log))
    return outcomes


class Evaluations:
    """The evaluated feature sets of one data set, scaled, with its classes, under one protocol.

    Records are kept in a file of `folder`; None keeps them for this run only, and with `ignore_stored` those of earlier
    runs do not count.  The file's name is a hash of X, y, the K-means settings, the code that evaluates, the packages
    and the machine, so that a changed data set, setting or program never finds what another one stored.  A record holds
    the digest of the set, the measures of `metrics.evaluate.evaluate` for every restart, and a checksum; a record that
    a crash left unfinished does not count.  Records are only added, under a lock; those of other processes are read as
    they come.
    """

    def __init__(self, X, y, protocol, folder=None, ignore_stored=False):
        self._type = np.dtype(
            [("digest", f"V{DIGEST}"), ("scores", "<f8", (N_MEASURES, protocol.restarts)), ("checksum", "<u4")]
        )
        self._known = {}
        self._path, self._read = None, 0
        if folder is not None:
            self._path = Path(folder) / f"{_name(X, y, protocol)}.bin"
            if ignore_stored:
                self._read = self._size()

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
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._path.with_suffix(".lock")), open(self._path, "ab", buffering=0) as file:
                whole = file.seek(0, os.SEEK_END) // self._type.itemsize * self._type.itemsize
                file.truncate(whole)
                data = memoryview(records.tobytes())
                while data:
                    data = data[file.write(data) :]
        except OSError as error:
            raise StoreError(
                f"cannot write {self._path}: {error.strerror}. All stored results are safe; make room, or set "
                "runner.cache=false."
            ) from error

    def _read_new(self):
        size = self._size() // self._type.itemsize * self._type.itemsize
        if size <= self._read:
            return
        records = np.fromfile(
            self._path, self._type, count=(size - self._read) // self._type.itemsize, offset=self._read
        )
        self._read = size
        for record in records:
            if record["checksum"] == _checksum(record):
                self._known.setdefault(record["digest"].tobytes().hex(), record["scores"].copy())

    def _size(self):
        try:
            return self._path.stat().st_size if self._path else 0
        except OSError:
            return 0


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
