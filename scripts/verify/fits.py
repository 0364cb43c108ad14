"""The draw of fits that are run again: by a word that is given after the hand-in, so that nobody can foresee it."""

import hashlib

import numpy as np
from scipy.stats import hypergeom

from metrics.study import CAPPED
from runners.store.reference import PREFIX
from runners.workers.caps import Caps
from scripts.core.study import Study
from scripts.reproduce import NOT_RUN, SAME, SECONDS, TIMES, reproduce
from scripts.verify import ELSEWHERE, REFUSED, UNVERIFIED, Finding

SHARES = (0.01, 0.05, 0.2)


def draw(fits, number, seed):
    """Return so many fits, spread over the cells in proportion to their sizes, each with the same chance.

    Only the key of a row plays a part, as whoever hands in may write any seconds, status and versions.
    """
    order = [_hash(f"{seed} {' '.join(key)}") for key in fits[["study", "trial"]].itertuples(index=False, name=None)]
    ordered = fits.assign(order=order).sort_values(["study", "dataset", "method", "order"], kind="stable")
    number = min(number, len(ordered))
    start = int(_hash(seed), 16) / 16 ** len(_hash(seed))
    places = np.floor((np.arange(number) + start) * len(ordered) / max(number, 1)).astype(int)
    return ordered.iloc[places].drop(columns="order")


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def chance(n_fits, n_drawn, share):
    """Return the chance that a draw without cells has a forged fit, where this share of all, one at least, is forged.

    Forgeries that are heaped in a few cells are found more often, as each cell is drawn from.
    """
    forged = max(int(np.ceil(share * n_fits)), 1)
    return float(1 - hypergeom.pmf(0, n_fits, forged, n_drawn))


def run(frame, seed, number, results_dir, data_dir, n_jobs=1, say=print):
    """Run fits again that `draw` picks with a seed, the commit and a word, from shipped rows; return the findings."""
    one_each = frame.drop_duplicates(["study", "trial"])
    picked = draw(one_each, number, seed)
    say(f"{len(picked)} of {len(one_each)} fits are run again, drawn by {seed!r}")
    for share in SHARES:
        say(f"  where {share:.0%} are forged: {chance(len(one_each), len(picked), share):.1%} that the draw has one")
    if ended := int(picked["status"].isin(CAPPED).sum()):
        say(f"  {ended} of them ended at a cap: they are run for a share of their seconds, 1 of {TIMES}")
    found = []
    for name, own in picked.groupby("study"):
        study = Study.open(results_dir, PREFIX + name, data_dir)
        trials = study.trials[study.trials["trial"].isin(own["trial"])]
        for one, capped in _again(study, trials, n_jobs, lambda line: say(f"  {line}")):
            kind, words = _judged(one, capped)
            if kind:
                found.append(Finding(kind, name, one.method, one.dataset, one.trial, words))
    say(f"  {len(picked) - len(found)} of {len(picked)} gave what is stored{', or reached their cap' * bool(ended)}")
    return found


def _again(study, trials, n_jobs, say):
    """Yield an `Again` for each trial, and whether a cap had ended it: such a fit has a share of its seconds now."""
    capped = trials["status"].isin(CAPPED)
    for one in reproduce(study, trials[~capped], n_jobs, say):
        yield one, False
    for _, row in trials[capped].groupby("trial"):
        caps = Caps(max_seconds=max(row["fit_s"].iloc[0], SECONDS) / TIMES)
        for one in reproduce(study, row, 1, say, caps):
            yield one, True


def _judged(one, capped):
    """Return what a fit that was run again speaks for, and words; "" where it is the stored one."""
    if one.outcome == NOT_RUN:
        return UNVERIFIED, f"its fit was not run again: {one.reason}"
    if capped and one.seconds[0] <= SECONDS:
        return UNVERIFIED, f"a cap ended it after {one.seconds[0]:.3g} CPU s, which are too few to be shown wrong."
    if capped or one.outcome == SAME:
        return REFUSED if one.seconds_fault else "", one.seconds_fault
    kind = ELSEWHERE if one.within and not one.expected_same else REFUSED
    return kind, f"run again, it is {one.outcome}: {one.words}"
