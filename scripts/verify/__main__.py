"""``python -m scripts.verify --help``."""

from collections import Counter
from pathlib import Path

import pandas as pd

from runners.store import reference
from runners.store.reference import PREFIX
from runners.words import counted
from scripts.core.entry import command
from scripts.verify import KINDS, REFUSED, UNVERIFIED, Finding, changed, files, fits, scores
from scripts.verify.check import check, part

MOST_SHOWN = 30


@command("verify")
def main(options):
    """Verify what the options ask for, print what speaks against it, and fail where that is not allowed."""
    given = options["study"]
    known = reference.shipped_studies()
    names = known if given == PREFIX.rstrip("/") else [given.removeprefix(PREFIX)]
    if not set(names) <= set(known):
        raise ValueError(f"study={given} is not shipped: give reference, or reference/NAME of {', '.join(known)}.")
    base = None if options["base"] is None else changed.commit_of(options["base"])
    spent = scores.Spent(options["budget"])
    folder = Path(options["results_dir"], ".evaluations") if options["cache"] else None
    found, kept = [], [reference.read(names[0], [], lists=True)]
    if given == PREFIX.rstrip("/"):
        found += [Finding(REFUSED, one, "", "", "", "it is no study.") for one in files.strangers()]
        for study, dataset, method in changed.gone(base) if base else ():
            found.append(Finding(UNVERIFIED, study, method, dataset, "", "its rows are gone."))
    for name in names:
        cells = part(name, base, options["methods"], options["datasets"])
        print(f"{name}: {counted(len(cells), 'cell')}", flush=True)
        frame, own = check(name, cells, options["data_dir"], spent, folder, options["n_jobs"], print, options["fetch"])
        kept.append(frame)
        found += own
    print(f"{spent}.")
    frame = pd.concat(kept, ignore_index=True)
    if options["fits"] and len(frame):
        folders = options["results_dir"], options["data_dir"]
        found += fits.run(frame, options["seed"], options["fits"], *folders, options["n_jobs"])
    else:
        print("No fits were run again: fits=50 draws some." if len(frame) else "Nothing is to be verified.")
    refused = [one for one in found if one.kind not in (options["allow"] or [])]
    lines = lines_of(found)
    print("\n".join(lines[:MOST_SHOWN]))
    if len(lines) > MOST_SHOWN:
        print(f"... and {len(lines) - MOST_SHOWN} more")
    counts = Counter(one.kind for one in found)
    print(f"{counted(frame['trial'].nunique(), 'fit')}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
    if refused:
        raise ValueError("not all is accepted; what is said above says why.")


def lines_of(found):
    """Return findings as lines, refused ones first, one for all data sets of a method of which the same is said."""
    places = {}
    for one in sorted(found, key=lambda one: KINDS.index(one.kind)):
        places.setdefault(one if one.trial else one._replace(dataset=""), []).append(one.dataset)
    return [
        str(one) if one.trial or (len(own) == 1 and not own[0]) else f"{one} ({', '.join(own)})"
        for one, own in places.items()
    ]


if __name__ == "__main__":
    main()
