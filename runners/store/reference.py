"""The shipped results, results/reference, which no run writes to, and trials that a study takes from these or others.

``results/reference/<name>/<method>.parquet`` holds the tidy frame of a method, all its data sets, with the columns of
`store.tidy.COLUMNS`.  Its metadata has the identities of its rows, and what a cell lacks of the trials that were asked
for.  Files such as _seeds.parquet have the rows of `scripts.core.refits`: readers of a folder of Parquet leave out what
begins with _.  protocols.json has the protocol of each study.
"""

import functools

import pandas as pd

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.place import PREFIX, is_checkout
from ufs_bench.runners.store.fits import cells_of, read_fits
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import Outcome, from_json, to_json
from ufs_bench.runners.store.tidy import fit_of

SHIPPED = ROOT / "results" / "reference"
OF_FITS = ("trial", "dataset", "method", "params", "is_default", "status", "fit_s", "eval_s", "identity")
PROTOCOLS = "protocols.json"


def shipped_studies():
    """Return the names of the shipped studies, without ``reference/``."""
    return sorted(protocols())


def protocols():
    """Return the protocols of the shipped studies by their names."""
    path = SHIPPED / PROTOCOLS
    return from_json(path.read_text()) if path.exists() else {}


def files_of(name, methods=None):
    """Return the files of a shipped study by method; a StoreError says that it is not shipped."""
    if name not in shipped_studies():
        known = ", ".join(PREFIX + one for one in shipped_studies()) or "none"
        raise StoreError(f"there is no shipped study {PREFIX}{name}; there are: {known}.")
    files = {path.stem: path for path in sorted((SHIPPED / name).glob("[!_]*.parquet"))}
    return files if methods is None else {method: files[method] for method in methods if method in files}


def protocol_text(name):
    """Return the protocol of a shipped study as the trials of a run store it."""
    return to_json(protocols()[name])


def read(name, methods=None, lists=False, columns=None):
    """Return the tidy frame of a shipped study, as `runners.store.tidy.tidy` does; of all its methods by default.

    `columns` are some of `store.tidy.COLUMNS`.  A StoreError says that it is not shipped, or which file is damaged.
    """
    from ufs_bench.runners.store.parquet import read_frame  # here, as what names studies alone needs no Parquet

    frame = read_frame(files_of(name, methods).values(), lists, columns)
    return frame.assign(study=name, protocol=pd.Series([protocol_text(name)] * len(frame), dtype=object))


def fits_of(name, method):
    """Return `OF_FITS` of the fits of a method of a shipped study, dicts by data set; read once for a whole sweep."""
    return _fits(name, method, (SHIPPED / name / f"{method}.parquet").stat().st_mtime_ns)


@functools.lru_cache(maxsize=512)
def _fits(name, method, _changed):
    fits, found = read(name, [method], columns=OF_FITS).drop_duplicates("trial"), {}
    for values in zip(*(fits[column].tolist() for column in fits), strict=True):  # ten times as fast as to_dict
        row = dict(zip(fits, values, strict=True))
        found.setdefault(row["dataset"], []).append(row)
    return found


def studies_with(method, lists=False):
    """Return the names of the shipped studies that have a method; of those with lists, a wheel has none."""
    if lists and not is_checkout():
        return []
    return [name for name in shipped_studies() if (SHIPPED / name / f"{method}.parquet").exists()]


def lacking(study):
    """Return the number of trials that cells of a shipped study lack of what was asked for, by (data set, method)."""
    from ufs_bench.runners.store.parquet import about

    found = {method: about(path)["lacking"] for method, path in files_of(study).items()}
    return {(dataset, method): count for method, own in found.items() for dataset, count in own.items()}


def found_elsewhere(settings, trials, shipped):
    """Return the trials that other studies have, by the study, as (the fit there, the trial).

    A study is the `FILE` of its cell, or the name of a shipped one; these count only if `shipped` is True.  A stored
    trial counts if its scores are of the same code, packages and machine (`Identity`).
    """
    if not trials or settings.runner.redo:
        return {}
    missing, found, cell = trials, {}, (settings.dataset["name"], settings.method.name)
    here = Identity.of(settings.method.cls)
    places = [path for path in cells_of(settings.results_dir, None, *cell) if path.parent != settings.folder]
    for place in [*places, *(studies_with(cell[1], lists=True) if shipped else [])]:
        try:
            name, scored = _scored_in(place, cell, here)
        except (OSError, ValueError, StoreError):  # not a study, or a damaged one, as its own commands report
            continue
        keys = [trial.key_under(name) if scored else "" for trial in missing]
        if there := [(scored[key], trial) for key, trial in zip(keys, missing, strict=True) if key in scored]:
            found[place] = there
            missing = [trial for key, trial in zip(keys, missing, strict=True) if key not in scored]
    return found


def is_shipped(place):
    """Return True if a place of `found_elsewhere` is a shipped study."""
    return isinstance(place, str)


def name_of(place):
    """Return a place of `found_elsewhere` in words: "shipped study dgufs", "study mine"."""
    return f"shipped study {place}" if is_shipped(place) else f"study {place.parts[-4]}"


def _scored_in(place, cell, here):
    """Return the name of a study's protocol, and the fits of a cell that count, by their keys."""
    if is_shipped(place):
        text, fits = protocol_text(place), fits_of(place, cell[1]).get(cell[0], [])
    else:
        fits = read_fits(place)
        text = fits[0]["protocol"] if fits else ""
    same = [fit for fit in fits if fit["status"] not in UNSCORED and not here.difference(Identity.stored(fit))]
    return Protocol.from_json(text).name if same else "", {fit["trial"]: fit for fit in same}


def outcomes_of(place, found):
    """Return trials stored in another study's cell as outcomes of their own study."""
    whole, outcomes = _whole_fits(place, found) if is_shipped(place) else {}, []
    for fit, trial in found:
        own = {"trial": trial.key, "study": trial.study, "is_default": trial.is_default}
        own["protocol"] = to_json(trial.protocol.stored())
        identity = {name: fit[name] for name in Identity._fields}  # of the code that gives the same, perhaps
        log = f"taken from the {name_of(place)}, where it is {fit['trial']}"
        outcomes.append(Outcome(whole.get(fit["trial"], fit) | identity | own, log=log))
    return outcomes


def _whole_fits(name, found):
    """Return the fits of a shipped study as they are stored in a run's own, by their keys."""
    frame, keys = read(name, [found[0][1].method], lists=True), [fit["trial"] for fit, _ in found]
    return {key: fit_of(rows) for key, rows in frame[frame["trial"].isin(keys)].groupby("trial")}
