"""Trials that another study of the same results has already: the same fit, scored in the same way by the same code.

Papers share data sets and methods, and a coarse study is a part of the complete one.
"""

import glob
from collections import defaultdict
from dataclasses import replace

from metrics.protocol import OPTIONAL, Protocol
from metrics.study import UNSCORED
from runners.provenance import git_sha, versions
from runners.reading import StoreError, read_rows
from runners.store import OTHERS
from runners.trial import Outcome, to_json

SAME_ANYWAY = {"name", *OPTIONAL}  # in which the protocols of two such studies may differ


def found_elsewhere(settings, trials):
    """Where other studies have these trials.

    Taken are those with scores of the commit that is checked out, unchanged, and of the same packages and machine.

    Parameters
    ----------
    settings : Settings
    trials : list of Trial

    Returns
    -------
    dict
        Folder of a cell -> (key there -> trial).
    """
    sha, place = git_sha(), settings.folder.relative_to(settings.results_dir)
    if not trials or not settings.runner.cache or settings.runner.redo or sha == "unknown" or sha.endswith("-dirty"):
        return {}
    missing, found = {trial.key: trial for trial in trials}, {}
    cells = settings.results_dir.glob("/".join(["*", *(glob.escape(part) for part in place.parts[1:])]))
    for folder in sorted(cells):
        if folder == settings.folder or not missing:
            continue
        try:
            theirs = Protocol.from_json((folder.parents[1] / "protocol.json").read_text())
            rows = read_rows(folder / "trials.csv")
        except (OSError, ValueError, StoreError):  # no study, or a damaged one: its own commands say so
            continue
        if set(theirs.differences(settings.protocol)) - SAME_ANYWAY:
            continue
        code = sha, to_json(versions())
        stored = {
            row["trial"] for row in rows if (row["git_sha"], row["versions"]) == code and row["status"] not in UNSCORED
        }
        known = {replace(trial, protocol=theirs).key: trial for trial in missing.values()}
        if here := {key: trial for key, trial in known.items() if key in stored}:
            found[folder] = here
            missing = {key: trial for key, trial in missing.items() if trial not in here.values()}
    return found


def outcomes_of(folder, trials):
    """What a cell has stored of some trials, as outcomes of their own study; what cannot be read is left out.

    Parameters
    ----------
    folder : Path
    trials : dict
        Key there -> Trial.

    Returns
    -------
    list of Outcome
    """
    rows = {name: defaultdict(list) for name in OTHERS}
    try:
        stored = [row for row in read_rows(folder / "trials.csv") if row["trial"] in trials]
        for name in OTHERS:
            for row in read_rows(folder / f"{name}.csv"):
                if row["trial"] in trials:
                    rows[name][row["trial"]].append((trials[row["trial"]].key, *list(row.values())[1:]))
    except (OSError, StoreError):
        return []
    outcomes = []
    for row in stored:
        key, trial = row["trial"], trials[row["trial"]]
        own = {
            "trial": trial.key,
            "study": trial.study,
            "is_default": trial.is_default,
            "protocol": to_json(trial.protocol.stored()),
        }
        if int(row["n_scores"]) == len(rows["scores"][key]):
            log = f"taken from the study {folder.parents[1].name}, where it is {key}"
            outcomes.append(Outcome(row | own, *(rows[name][key] for name in OTHERS), log=log))
    return outcomes
