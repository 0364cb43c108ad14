"""Join results of several machines, or of several folders, into one folder of results.

    python -m scripts.merge A B into=C       A, B and C are folders of results, such as ./results

A trial is known by its cell and its key.  Equal rows are kept once; one with scores takes the place of one that failed
or was ended at a cap; where two have other scores, the cell is left as it is, and listed.  Studies of one name must
have one protocol.  Nothing is removed from A and B; C may be one of them.  The same command again goes on after a
crash, and changes nothing once it is done.
"""

import itertools
import sys
from pathlib import Path

from metrics.protocol import Protocol
from metrics.study import UNSCORED
from runners.errors import ConfigError
from runners.store.files import of_other_data, read_rows
from runners.store.folder import Store, cells_of, check_rows, claim_study, rows_by_trial
from runners.store.identity import Identity
from runners.store.names import store_names, stored_names
from runners.store.row import OTHERS, Outcome
from runners.words import counted
from scripts.core.programs import program

# What differs between two runs of one trial; of the versions, what decides is in the identity, which is compared.
RUN = ("git_sha", "fit_s", "eval_s", "peak_mb", "started", "shared", "error", "versions")
COMPARED = ("scores", "traces")


def merge(sources, target):
    """Add the trials of some folders of results to another one.

    Returns the number of trials that the target did not have, or not with scores, and a line for each cell with trials
    of the same key and other scores, or of other code, to which nothing was added.  A ConfigError or StoreError is
    about a folder without results, and two protocols in one study.
    """
    added, conflicts = 0, []
    for source in sources:
        cells = cells_of(source, None, None, None)
        if not cells:
            raise ConfigError(f"{source} holds no results: name a folder such as results, with studies in it.")
        for path in cells:
            place = path.parent.relative_to(source)
            if Path(source, place).resolve() == Path(target, place).resolve():
                continue
            study = place.parts[0]
            protocol = Protocol.from_json(Path(source, study, "protocol.json").read_text())
            claim_study(Path(target, study), protocol, Path(target, place))
            check_rows(path, protocol)
            with Store(Path(target, place)) as store:
                n_new, why = _add(path, store)
            added += n_new
            conflicts += [f"{place} of {source}: {why}"] if why else []
    return added, conflicts


def _add(path, store):
    """Add the trials of a cell to an open one; return how many, and why nothing was where they contradict."""
    stored = {row["trial"]: row for row in store.rows()}
    codes = {Identity.stored(row) for row in stored.values()}
    new, rows = [], read_rows(path)
    others, place = of_other_data(store.folder, list(stored.values()), rows[0]["data_sha"]) if rows else (0, "")
    if others:
        return 0, f"it is of other data than {place}, which were called {place.parent.name!r}, too"
    for row in rows:
        own = stored.get(row["trial"])
        if codes and Identity.stored(row) not in codes:
            return 0, f"it is of other code, packages or machine ({next(iter(codes)).difference(Identity.stored(row))})"
        if own is None or (own["status"] in UNSCORED and row["status"] not in UNSCORED):
            new.append(row)
        elif row["status"] not in UNSCORED and _told(row) != _told(own):
            return 0, f"trial {row['trial']} has other results in both"
    both = rows_by_trial(path.parent, COMPARED, stored), rows_by_trial(store.folder, COMPARED, stored)
    for name, key in itertools.product(COMPARED, stored):
        mine, theirs = (sorted(tuple(row.values()) for row in found[name][key]) for found in both)
        if mine and theirs and mine != theirs:
            return 0, f"trial {key} has other {name} in both"
    if not new:
        return 0, ""
    others = rows_by_trial(path.parent, OTHERS, {row["trial"] for row in new})
    store.forget([row["trial"] for row in new])
    store.append(
        [Outcome(row, *([tuple(one.values()) for one in others[name][row["trial"]]] for name in OTHERS)) for row in new]
    )
    sha = rows[0]["data_sha"]
    store_names(store.folder.parent, sha, stored_names(path.parents[1], sha))
    return len(new), ""


def _told(row):
    return {name: value for name, value in row.items() if name not in RUN}


def main():
    """Join the folders that the command line names."""
    words = sys.argv[1:]
    into = [word.removeprefix("into=") for word in words if word.startswith("into=")]
    sources = [word for word in words if not word.startswith(("into=", "-"))]
    if "--help" in words or "-h" in words or not words:
        print(__doc__)
        return
    if len(into) != 1 or not sources or any(word.startswith("-") for word in words):
        raise ConfigError(
            f"{' '.join(words)!r} must be folders and one into=FOLDER: python -m scripts.merge A B into=C."
        )
    added, conflicts = merge(sources, into[0])
    print(f"{counted(added, 'trial')} added to {into[0]}")
    if conflicts:
        raise ConfigError("\n".join([f"{len(conflicts)} cells contradict and were left as they are:", *conflicts]))


if __name__ == "__main__":
    with program():
        main()
