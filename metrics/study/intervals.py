"""Bootstrap intervals of averages over data sets, on other data sets of other families."""

import functools

import numpy as np
import scipy  # it imports its parts when they are first used, and `stats` takes long

LEVEL = 0.95


def means_by_family(values, families, n_resamples=20_000):
    """Return low and high of means over data sets, on other data sets of other families, which hold 95 %.

    `values`, ranks or gains without gaps, have data sets in rows. In each resample as many families as there are are
    drawn with replacement, then from every drawn family as many data sets as it has, with replacement; the mean is over
    all that were drawn. The order of rows and columns does not matter.

    Data sets of a family are alike, so that twenty of one family say little more about another family than two do.
    Percentiles of a bootstrap of few draws are narrower than they say, so that they are taken at a higher level: with k
    families sqrt(k / (k - 1)) t, with k - 1 degrees of freedom, is in the place of the normal quantile (Hesterberg, The
    American Statistician 69, 2015, section 5.3). With two families that is all resamples, and still too narrow. Where
    all are of one family, k is the number of data sets, and the interval is about data sets of this family only.  One
    data set has no interval: nan.
    """
    values = values.sort_index()
    of = np.unique([families[name] for name in values.index], return_inverse=True)[1]
    k = of.max() + 1 if of.any() else len(of)
    if k < 2:
        return np.full((2, values.shape[1]), np.nan)
    wider = scipy.special.stdtrit(k - 1, (1 - LEVEL) / 2) * np.sqrt(k / (k - 1))
    tail = scipy.special.ndtr(wider)  # the share of resamples below the low end, and above the high end
    counts = _resampled(tuple(of.tolist()), n_resamples)
    means = np.einsum("rd,dc->rc", counts, values.to_numpy(dtype=float)) / counts.sum(axis=1, keepdims=True)
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


@functools.lru_cache(maxsize=8)
def _resampled(of, n_resamples):
    """Return how often every data set is drawn in each resample; kept, as many columns are asked for one by one."""
    members = [np.flatnonzero(np.equal(of, family)) for family in range(max(of) + 1)]
    rng = np.random.default_rng(0)
    times = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=n_resamples)
    counts = np.zeros((n_resamples, len(of)))
    for drawn, own in zip(times.T, members, strict=True):
        # A family that is drawn twice gives twice as many data sets.
        counts[:, own] = rng.multinomial(drawn * len(own), np.full(len(own), 1 / len(own)))
    counts.flags.writeable = False
    return counts
