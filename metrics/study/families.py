"""Inference over families of data: each data set weighs the same within its family, and each family the same.

Data sets of a family are alike, and a method that suits one suits the others: they are no independent evidence.  So the
unit is the family, and its value the mean over its data sets.  A family's value is a gain over a reference whose own
noise is in it, so that the spread over families counts that noise, too.
"""

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95
EXACT = 13  # families: up to so many, all flips of signs are used
N_FLIPS = 9_999  # flips that are drawn where there are more
BLOCK = 192  # flips at a time: with some 60 columns, arrays that malloc keeps for the next block
TIE = 1e-9  # of a t statistic: two that are as near are the same


def family_means(gains, families):
    """Average over the data sets of each family; nan where a method has no score in a family.

    `gains` has data sets in rows; a column is a method by one score, nan where it has none on the data set. `families`
    names the family of each row. The rows of the result are the families in sorted order.
    """
    gains, families = np.asarray(gains, dtype=float), np.asarray(families)
    rows = [gains[families == name] for name in np.unique(families)]
    known = np.array([np.isfinite(part).sum(axis=0) for part in rows])
    totals = np.array([np.nansum(part, axis=0) for part in rows])
    return np.divide(totals, known, out=np.full(totals.shape, np.nan), where=known > 0)


def t_intervals(means, confidence=CONFIDENCE):
    """Return mean, low and high of each column of `family_means`, by Student's t; low and high nan of one family."""
    means = np.asarray(means, dtype=float)
    counts = np.isfinite(means).sum(axis=0)
    mean = np.nansum(means, axis=0) / np.maximum(counts, 1)
    squares = np.nansum((means - mean) ** 2, axis=0)
    error = np.sqrt(squares / np.maximum(counts * (counts - 1), 1))
    reach = np.where(counts > 1, stdtrit(np.maximum(counts - 1, 1), (1 + confidence) / 2) * error, np.nan)
    mean = np.where(counts > 0, mean, np.nan)
    return mean, mean - reach, mean + reach


def step_down(means, seed=0, n_flips=N_FLIPS):
    """Return p of every column, two-sided, corrected for all columns by step-down maxima of t over flips of signs.

    Under the null hypothesis a method gains nothing in any family, but by chance: a family's value is as likely to be
    its negative, the same for all columns of a family, which keeps their correlation. The chance that any true null
    hypothesis has p at or below a level is at most that level, whichever the others are. `means` are from
    `family_means`; p is 1 for a column with fewer than two families. `seed` is that of the flips, where these are
    drawn, and `n_flips` how many are: a p of .05 has a standard error of .0022 with 9,999 flips, and of .0002 with a
    million.

    Westfall & Young, Resampling-based multiple testing, Wiley 1993: algorithm 4.1. Hall, On the removal of skewness by
    transformation, JRSS B 54, 1992: the cubic transformation. Romano & Wolf, Exact and approximate stepdown methods for
    multiple hypothesis testing, JASA 100, 2005.
    """
    means = np.asarray(means, dtype=float)
    own = np.abs(_statistic(means)(np.ones((1, len(means)))))[:, 0]
    order = np.argsort(-own, kind="stable")
    t_of, own = _statistic(means[:, order]), own[order]
    reached, total = np.zeros(len(own)), 0
    for signs in _flips(len(means), seed, n_flips):
        upwards = np.abs(t_of(signs))[::-1]
        np.maximum.accumulate(upwards, axis=0, out=upwards)  # over a column and those that are less significant
        reached += np.count_nonzero(upwards[::-1] >= own[:, None] - TIE, axis=1)
        total += len(signs)
    p = np.ones(len(own))
    p[order] = np.maximum.accumulate(reached / total)
    return p


def _flips(n_families, seed, n_flips):
    """Yield signs of shape (n, n_families), those of the study itself first; blocks that fit into the cache."""
    if n_families <= EXACT:
        bits = np.arange(2**n_families)[:, None] >> np.arange(n_families) & 1
        yield from np.array_split(1.0 - 2.0 * bits, -(-len(bits) // BLOCK))
        return
    yield np.ones((1, n_families))
    rng = np.random.default_rng(seed)
    for first in range(0, n_flips, BLOCK):
        yield 1.0 - 2.0 * rng.integers(0, 2, size=(min(BLOCK, n_flips - first), n_families))


def _statistic(means):
    """Return a function of signs, (n, n_families), that returns the t statistics, (n_columns, n), under every row.

    They are transformed so that skewness moves them little, and 0 where there is no spread and no mean.
    """
    known = np.isfinite(means)
    counts = np.maximum(known.sum(axis=0), 1)[:, None]
    values = np.where(known, means, 0.0).T
    values = values / np.maximum(np.abs(values).max(axis=1, keepdims=True), np.finfo(float).tiny)
    firsts, thirds = values / counts, values**3 / counts
    square = (values**2).sum(axis=1, keepdims=True) / counts
    root_of_counts, root_of_freedom = np.sqrt(counts), np.sqrt(np.maximum(counts - 1, 1))

    def t_of(signs):
        # In place, and products for powers: blocks and the memory of new ones take most of the time.
        mean, third = firsts @ signs.T, thirds @ signs.T
        squared = mean * mean
        spread = np.maximum(square - squared, TIE**2)
        root = np.sqrt(spread)
        squared *= 2
        squared -= 3 * square
        squared *= mean
        third += squared
        mean /= root
        mean *= root_of_freedom
        spread *= root
        spread *= root_of_counts
        t, skew = mean, np.divide(third, spread, out=third)
        step = np.multiply(skew, t, out=root)
        squares = np.multiply(step, step, out=spread)
        squares /= 27
        step /= 3
        step += 1
        step += squares
        t *= step
        skew /= 6
        t += skew
        return np.where(counts > 1, t, 0.0)

    return t_of
