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
from runners import reference
from runners.code import code_of_evaluation
from runners.files import StoreError, held, read_rows, replace_file
from runners.fit import Outcome
from runners.provenance import Identity, versions
from runners.row import DIGEST, OTHERS, TRIALS, counts_of, to_json
from runners.store import cells_of, rows_by_trial
from runners.tidy import rows_of


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
    """Return the trials that other studies have, by the study, as (the row there, the trial).

    A study is the folder of its cell, or the name of a shipped one.  A stored trial counts where its scores are of the
    same code, packages and machine (`runners.provenance.Identity`); in a shipped study a stamp counts as the same code.
    """
    if not trials or not settings.runner.cache or settings.runner.redo:
        return {}
    missing, found, cell = trials, {}, (settings.dataset["name"], settings.method.name)
    folders = [path.parent for path in cells_of(settings.results_dir, None, *cell)]
    for place in [*(folder for folder in folders if folder != settings.folder), *reference.studies_with(cell[1])]:
        try:
            name, scored = _scored_in(place, cell, Identity.of(settings.method.cls))
        except (OSError, ValueError, StoreError):  # not a study, or a damaged one, as its own commands report
            continue
        keys = [trial.key_under(name) if scored else "" for trial in missing]
        if there := [(scored[key], trial) for key, trial in zip(keys, missing, strict=True) if key in scored]:
            found[place] = there
            missing = [trial for key, trial in zip(keys, missing, strict=True) if key not in scored]
    return found


def shipped_sources(found, method):
    """Return a line for each shipped study that trials are taken from, which says whether its rows are verified."""
    for name in (place for place in found if isinstance(place, str)):
        verify = f"python -m scripts.verify study={reference.PREFIX}{name} methods=[{method}] base=null"
        words = "its file is verified" if reference.is_verified(name, method) else f"not verified here: {verify}"
        yield f"  {len(found[name])} of these from {reference.PREFIX}{name}: {words}"


def _scored_in(place, cell, here):
    """Return the name of a study's protocol, and the rows of a cell that count, by their keys."""
    if isinstance(place, str):
        text, rows = reference.protocol_text(place), reference.fits_of(place, cell[1]).get(cell[0], [])
        rows = _stamped_as(here, rows, reference.stamped(place, *cell)) if rows else []
    else:
        text, rows = (place.parents[1] / "protocol.json").read_text(), read_rows(place / "trials.csv")
    same = [row for row in rows if row["status"] not in UNSCORED and not here.difference(Identity.stored(row))]
    return Protocol.from_json(text).name, {row["trial"]: row for row in same}


def _stamped_as(identity, rows, stamps):
    """Return the rows of a shipped cell, as rows of this code where a stamp says that its numbers are the same."""
    codes = identity.code_fit, identity.code_evaluation
    same = {"code_fit": codes[0], "code_evaluation": codes[1]}
    return [row | same if codes in stamps.get((row["code_fit"], row["code_evaluation"]), ()) else row for row in rows]


def outcomes_of(place, found):
    """Return trials stored in another study's cell as outcomes of their own study; unreadable ones are left out."""
    try:
        stored = (_rows_shipped if isinstance(place, str) else _rows_in)(place, found)
    except (OSError, StoreError):
        return []
    outcomes = []
    for row, trial in found:
        there, *rows = stored[row["trial"]]
        own = {
            "trial": trial.key,
            "study": trial.study,
            "is_default": trial.is_default,
            "protocol": to_json(trial.protocol.stored()),
        }
        rows = [[(trial.key, *one[1:]) for one in part] for part in rows]
        if all(len(part) == counts_of(there).get(name, len(part)) for name, part in zip(OTHERS, rows, strict=True)):
            log = f"taken from the study {place if isinstance(place, str) else place.parents[1].name}, "
            log += f"where it is {row['trial']}"
            outcomes.append(Outcome({name: there[name] for name in TRIALS} | own, *rows, log=log))
    return outcomes


def _rows_in(folder, found):
    rows = {row["trial"]: row for row, _ in found}
    others = rows_by_trial(folder, OTHERS, rows)
    return {
        key: (row, *([tuple(one.values()) for one in others[name][key]] for name in OTHERS))
        for key, row in rows.items()
    }


def _rows_shipped(name, found):
    rows = {row["trial"]: row for row, _ in found}
    whole = reference.read(name, [found[0][1].method], lists=True)
    stored = {key: rows_of(sets) for key, sets in whole[whole["trial"].isin(list(rows))].groupby("trial")}
    codes = {key: {field: row[field] for field in Identity._fields} for key, row in rows.items()}  # a stamp's, perhaps
    return {key: (row | codes[key], *others) for key, (row, *others) in stored.items()}


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
