"""The trials that a study takes from others of the same user, or from shipped ones if asked."""

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import StoreError, read_rows
from ufs_bench.runners.store.folder import cells_of, rows_by_trial
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import OTHERS, TRIALS, Outcome, counts_of, to_json
from ufs_bench.runners.store.tidy import rows_of


def found_elsewhere(settings, trials, shipped):
    """Return the trials that other studies have, by the study, as (the row there, the trial).

    A study is the folder of its cell, or the name of a shipped one; these count only if `shipped` is True.  A stored
    trial counts if its scores are of the same code, packages and machine (`Identity`); in a shipped study a stamp
    counts as the same code.
    """
    if not trials or not settings.runner.cache or settings.runner.redo:
        return {}
    missing, found, cell = trials, {}, (settings.dataset["name"], settings.method.name)
    here = Identity.of(settings.method.cls)
    folders = [path.parent for path in cells_of(settings.results_dir, None, *cell)]
    places = [folder for folder in folders if folder != settings.folder]
    for place in [*places, *(reference.studies_with(cell[1], lists=True) if shipped else [])]:
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
    return f"shipped study {place}" if is_shipped(place) else f"study {place.parents[1].name}"


def _scored_in(place, cell, here):
    """Return the name of a study's protocol, and the rows of a cell that count, by their keys."""
    if is_shipped(place):
        if not (rows := reference.fits_of(place, cell[1]).get(cell[0], [])):
            return "", {}
        text, rows = reference.protocol_text(place), _stamped_as(here, rows, reference.stamped(place, *cell))
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
        stored = (_rows_shipped if is_shipped(place) else _rows_in)(place, found)
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
            log = f"taken from the {name_of(place)}, where it is {row['trial']}"
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
