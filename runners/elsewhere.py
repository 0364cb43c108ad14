"""Finds trials that another study has already: the same fit, scored in the same way by the same code.

Papers share data sets and methods, and a coarse study is a part of the complete one.
"""

from collections import defaultdict

from metrics.protocol import Protocol
from metrics.study import UNSCORED
from runners.fit import Outcome
from runners.provenance import Identity
from runners.reading import StoreError, read_rows
from runners.row import counts_of, to_json
from runners.store import OTHERS, cells_of


def found_elsewhere(settings, trials):
    """Find other studies that have these trials.

    A stored trial counts where its scores are of the same code, packages and machine (`runners.provenance.Identity`).

    Parameters
    ----------
    settings : Settings
    trials : list of Trial

    Returns
    -------
    dict
        Folder of a cell -> list of (row there, trial).
    """
    if not trials or not settings.runner.cache or settings.runner.redo:
        return {}
    here = Identity.of(settings.method.cls)
    missing, found = trials, {}
    for path in cells_of(settings.results_dir, None, settings.dataset["name"], settings.method.name):
        folder = path.parent
        if folder == settings.folder:
            continue
        try:
            name = Protocol.from_json((folder.parents[1] / "protocol.json").read_text()).name
            rows = read_rows(path)
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


def not_elsewhere(settings, trials):
    """Return the trials that no other study has, which are those that a run will compute.

    Parameters
    ----------
    settings : Settings
    trials : list of Trial

    Returns
    -------
    list of Trial
    """
    taken = {trial.key for there in found_elsewhere(settings, trials).values() for _, trial in there}
    return [trial for trial in trials if trial.key not in taken]


def outcomes_of(folder, found):
    """Read trials stored in another study's cell, as outcomes of their own study; unreadable ones are left out.

    Parameters
    ----------
    folder : Path
    found : list of (row there, Trial)

    Returns
    -------
    list of Outcome
    """
    ours, rows = {row["trial"]: trial.key for row, trial in found}, {name: defaultdict(list) for name in OTHERS}
    try:
        for name in OTHERS:
            for row in read_rows(folder / f"{name}.csv"):
                if row["trial"] in ours:
                    rows[name][row["trial"]].append((ours[row["trial"]], *list(row.values())[1:]))
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
        if all(len(rows[name][key]) == count for name, count in counts_of(row).items()):
            log = f"taken from the study {folder.parents[1].name}, where it is {key}"
            outcomes.append(Outcome(row | own, *(rows[name][key] for name in OTHERS), log=log))
    return outcomes
