"""``python -m scripts.reproduce --help``."""

from collections import Counter

from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.runners.store.reference import PREFIX, shipped_studies
from ufs_bench.runners.words import counted
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.reproduce import (
    ELSEWHERE,
    ERRORS,
    NOT_RUN,
    OBJECTIVE,
    SAME,
    SELECTED,
    digests,
    draw,
    failures,
    reproduce,
    sensitive,
    stamp,
)

MOST_SHOWN = 20


@command("reproduce")
def main(options):
    """Run the fits that the options ask for again, print what came out, and fail where it speaks against them."""
    given = options["study"]
    names = [PREFIX + name for name in shipped_studies()] if given == PREFIX.rstrip("/") else [given]
    if not names:
        print("Nothing is shipped in results/reference, so there is nothing to reproduce.")
        return
    studies = []
    for study in (Study.open(options["results_dir"], name, options["data_dir"]) for name in names):
        trials = study.filled().trials
        studies.append(study.part(options["methods"] or trials["method"], options["datasets"] or trials["dataset"]))
    if options["stamp"] and not all(study.is_shipped for study in studies):
        raise ValueError(f"stamp=true is for shipped studies, such as study={PREFIX}dgufs, not study={given}.")
    if options["digests"] or options["against"]:
        return _digests(studies, options)
    load_engine()
    ran, wrong = map(sum, zip(*(_one(study, options, len(studies)) for study in studies), strict=True))
    if not ran:
        asked = " ".join(f"{name}={options[name]}" for name in ("longest", "methods", "datasets") if options[name])
        raise ValueError(f"no stored fit was run again ({asked or given}), so this says nothing: ask for others.")
    if wrong:
        raise ValueError(
            f"{wrong} of {counted(ran, 'fit')} run again {'is' if wrong == 1 else 'are'} out of bounds: run their "
            "cells again and ship them, or find out why."
        )
    print(f"{counted(ran, 'fit')} run again: none is out of bounds.")


def _digests(studies, options):
    """Write the digests of fits, or compare them with those of a file; fail where they differ."""
    if options["against"]:
        digests.read(options["against"])  # before any fit
    load_engine()
    rows = digests.fit(studies, options["fits"], options["budget"], options["seed"])
    if options["digests"]:
        digests.write(options["digests"], rows)
    if options["against"] and (different := digests.against(rows, options["against"])):
        raise ValueError(f"{counted(different, 'fit')} gave other bytes than in {options['against']}.")


def _one(study, options, n_studies):
    """Run fits of a study again, print what came out; return how many were run, and how many are out of bounds."""
    fits = -(-options["fits"] // n_studies)
    drawn = draw(study.trials, fits, options["seed"], options["longest"], options["per_cell"])
    print(f"Study {study.name}: {len(drawn)} of {len(study.trials)} fits")
    found = list(reproduce(study, drawn, options["n_jobs"], say=lambda line: print(f"  {line}", flush=True)))
    found = sensitive.check(study, found, options["n_jobs"]) if options["sensitive"] else sensitive.known(study, found)
    ran = [one for one in found if one.outcome != NOT_RUN]
    elsewhere, wrong = [one for one in ran if one.outcome == ELSEWHERE], failures(ran)
    if comparable := len(ran) - len(elsewhere):
        same = sum(one.outcome == SAME for one in ran)
        print(f"  {same} of {comparable} have the same bytes: all columns but those of the run")
    if elsewhere:
        print(f"  {len(elsewhere)} are of another arithmetic, or one that is not known: bytes cannot be compared")
    if others := [one for one in ran if one.outcome != SAME]:
        print(
            f"  {sum(one.within for one in others)} of {len(others)} others are within bounds: objective "
            f"{OBJECTIVE:g}, {SELECTED:.0%} of the features, and ACC {ERRORS:g} standard error; largest difference of "
            f"an objective {max(one.objective for one in others):.2g}, of a mean ACC "
            f"{max(one.acc for one in others):.1f} points, fewest features kept "
            f"{min(one.selected for one in others):.0%}"
        )
    for reason, count in Counter(one.reason for one in found if one.outcome == NOT_RUN).items():
        print(f"  {count} not run: {reason}")
    for why, count in Counter(one.here.difference(one.stored) for one in ran if not one.expected_same).items():
        print(f"  {count} are stored under another identity: {why}")
    for one in wrong[:MOST_SHOWN]:
        print(f"  OTHER: {one.method} on {one.dataset} {one.params}: {one.words}")
    if options["stamp"]:
        print(f"  {counted(stamp(study, ran), 'cell')} stamped: their numbers are those of this code")
    return len(ran), len(wrong)


if __name__ == "__main__":
    main()
