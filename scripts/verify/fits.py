"""Drawn fits of shipped rows are run again."""

from metrics.study import CAPPED
from runners.store.reference import PREFIX
from scripts.core.study import Study
from scripts.reproduce import NOT_RUN, SAME, reproduce
from scripts.verify import ELSEWHERE, REFUSED, UNVERIFIED, Finding


def draw(fits, number, seed):
    """Return so many fits, drawn at random, without those that a cap ended."""
    fits = fits[~fits["status"].isin(CAPPED)]
    return fits.sample(min(number, len(fits)), random_state=seed)


def run(frame, seed, number, results_dir, data_dir, n_jobs=1, say=print):
    """Run fits again that `draw` picks from shipped rows; return the findings."""
    one_each = frame.drop_duplicates(["study", "trial"])
    picked, found = draw(one_each, number, seed), []
    say(f"{len(picked)} of {len(one_each)} fits are run again, drawn by seed={seed}")
    for name, own in picked.groupby("study"):
        study = Study.open(results_dir, PREFIX + name, data_dir)
        trials = study.trials[study.trials["trial"].isin(own["trial"])]
        for one in reproduce(study, trials, n_jobs, lambda line: say(f"  {line}")):
            kind, words = _judged(one)
            if kind:
                found.append(Finding(kind, name, one.method, one.dataset, one.trial, words))
    say(f"  {len(picked) - len(found)} of {len(picked)} gave what is stored")
    return found


def _judged(one):
    """Return what a fit that was run again speaks for, and words; "" where it is the stored one."""
    if one.outcome == NOT_RUN:
        return UNVERIFIED, f"its fit was not run again: {one.reason}"
    if one.outcome == SAME:
        return "", ""
    kind = ELSEWHERE if one.within and not one.expected_same else REFUSED
    return kind, f"run again, it is {one.outcome}: {one.words}"
