"""``python -m scripts.reproduce --help``."""

import time
from collections import Counter

from metrics.kmeans import load_engine
from runners.store.reference import PREFIX, shipped_studies
from runners.words import counted
from scripts.core.entry import command
from scripts.core.study import Study
from scripts.reproduce import (
    ELSEWHERE,
    ERRORS,
    NOT_RUN,
    OBJECTIVE,
    OTHER,
    SAME,
    SELECTED,
    WITHIN,
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
    if options["digests"] or options["against"]:
        return _digests([Study.open(options["results_dir"], name, options["data_dir"]) for name in names], options)
    started, ran, wrong = time.perf_counter(), 0, 0
    load_engine()
    for name in names:
        counts = _one(Study.open(options["results_dir"], name, options["data_dir"]), options, len(names))
        ran, wrong = ran + counts[0], wrong + counts[1]
    print(f"{time.perf_counter() - started:.0f} s")
    if not ran:
        asked = " ".join(f"{name}={options[name]}" for name in ("longest", "methods", "datasets") if options[name])
        raise ValueError(f"no stored fit was run again ({asked or given}), so this says nothing: ask for others.")
    if wrong:
        raise ValueError(
            f"{counted(wrong, 'fit')} gave other numbers than are stored: run their cells again and ship them, or find "
            "out why."
        )


def _digests(studies, options):
    """Write the digests of fits, or compare them with those of a file; fail where they differ."""
    if options["against"]:
        digests.read(options["against"])  # before any fit
    parts = [
        study.part(options["methods"] or trials["method"], options["datasets"] or trials["dataset"])
        for study in studies
        for trials in [study.filled().trials]
    ]
    load_engine()
    rows = digests.fit(parts, options["fits"], options["budget"], options["seed"])
    if options["digests"]:
        digests.write(options["digests"], rows)
    if options["against"] and (different := digests.against(rows, options["against"])):
        raise ValueError(f"{counted(different, 'fit')} gave other bytes than in {options['against']}.")


def _one(study, options, n_studies):
    trials = study.filled().trials
    study = study.part(options["methods"] or trials["method"], options["datasets"] or trials["dataset"])
    fits = -(-options["fits"] // n_studies)
    drawn = draw(study.trials, fits, options["seed"], options["longest"], options["per_cell"])
    print(f"Study {study.name}: {len(drawn)} of {len(study.trials)} fits")
    found = list(reproduce(study, drawn, options["n_jobs"], say=lambda line: print(f"  {line}", flush=True)))
    found = sensitive.check(study, found, options["n_jobs"]) if options["sensitive"] else sensitive.known(study, found)
    counts = Counter(one.outcome for one in found)
    same_here = sum(one.expected_same for one in found)
    print(f"  {same_here} of them of the same code, packages and machine")
    ran = [one for one in found if one.outcome != NOT_RUN]
    if comparable := len(ran) - counts[ELSEWHERE]:
        print(f"  {counts[SAME]} of {comparable} have the same bytes: all columns but those of the run")
    if others := [one for one in ran if one.outcome in (WITHIN, OTHER)]:
        print(f"  {counts[WITHIN]} of {comparable} within bounds, {counts[OTHER]} not: {_spread(others)}")
    if elsewhere := [one for one in ran if one.outcome == ELSEWHERE]:
        print(
            f"  {len(elsewhere)} are stored under another arithmetic, or one that is not known, so that bytes cannot "
            f"be compared; {sum(one.within for one in elsewhere)} within bounds, "
            f"{sum(not one.within for one in elsewhere)} not: {_spread(elsewhere)}"
        )
    for reason, count in Counter(one.reason for one in found if one.outcome == NOT_RUN).items():
        print(f"  {count} not run: {reason}")
    for why, count in Counter(one.here.difference(one.stored) for one in ran if not one.expected_same).items():
        print(f"  {count} are stored under another identity: {why}")
    wrong = failures(ran)
    for one in wrong[:MOST_SHOWN]:
        print(f"  OTHER: {one.method} on {one.dataset} {one.params}: {one.words}")
    if options["stamp"]:
        if not study.is_shipped:
            raise ValueError(f"stamp=true is for shipped studies, such as study={PREFIX}dgufs, not study={study.name}.")
        print(f"  {counted(stamp(study, ran), 'cell')} stamped: their numbers are those of this code")
    return len(ran), len(wrong)


def _spread(found):
    """Return the bounds in words, and how far fits are from the stored ones."""
    return (
        f"objective {OBJECTIVE:g}, {SELECTED:.0%} of the features, and ACC {ERRORS:g} standard error; largest "
        f"difference of an objective {max(one.objective for one in found):.2g}, of a mean ACC "
        f"{max(one.acc for one in found):.1f} points, fewest features kept {min(one.selected for one in found):.0%}"
    )


if __name__ == "__main__":
    main()
