"""Compare what is left of random starts in the selections with chance: a pure function of the frames of a study."""

import scipy  # it imports its parts when they are first used, and `stats` takes long

from metrics.study.sets import CELL

REPORTED = ("start_kept", "start_size", "start_among")  # the facts that `runners.workers.fit` makes of `start_`
RARE = 1e-3  # a chance to keep so many that is below this is none
MOST = 0.5  # share of a start, corrected for chance, from which on the selection is mostly that start


def starts(trials):
    """Compare the features of random starts with those that are selected in the end, in fits from `fits_of`.

    If a fit forgot its start, the number that stays would follow the hypergeometric distribution of two random sets of
    `start_size` out of `start_among` features. There is one row per data set and method whose fits report a random
    start: n_fits; kept and chance, the medians of the share of the start that is selected and of what two random sets
    share; low and high, of kept; probability, the largest chance of a fit to keep so many; and held: the share of the
    fits that keep more than half of what they could lose, where chance has less than 1 in 1000 to do so.
    """
    found = trials.dropna(subset=list(REPORTED))
    kept, size, among = (found[name].astype(float) for name in REPORTED)
    chance = size / among
    probability = scipy.stats.hypergeom.sf(kept - 1, among, size, size) if len(found) else kept
    share = kept / size
    # A start of all features cannot be left, and says nothing.
    held = (share - chance > MOST * (1 - chance)) & (probability < RARE)
    found = found.assign(share=share, chance=chance, probability=probability, held=held.astype(float))
    return (
        found.groupby(CELL)
        .agg(
            n_fits=("share", "size"), kept=("share", "median"), chance=("chance", "median"), low=("share", "min"),
            high=("share", "max"), probability=("probability", "max"), held=("held", "mean"),
        )
        .reset_index()
    )  # fmt: skip
