"""The Bayesian signed-rank test: is a method worse, equivalent or better on a data set like these?"""

import functools
from typing import NamedTuple

import numpy as np

# Draws from the posterior; each is used twice, read forwards and backwards, so that differences of the opposite sign
# give exactly the opposite answer.
N_DRAWS = 20_000
PRIOR = 0.5  # weight of the prior, one data set with no difference; each data set that is seen has weight 1


class Posterior(NamedTuple):
    """The probabilities, of sum 1, that each of the three outcomes is the most probable one."""

    worse: float
    equivalent: float
    better: float


def signed_rank(differences, rope=1.0):
    """Run the Bayesian counterpart of Wilcoxon's signed-rank test, with a region of practical equivalence.

    The differences are finite, one for each data set, positive where the first method is better, in any order; those
    from -rope to rope, which is above 0, count as none. A ValueError says that they are not.

    The distribution of the differences has a Dirichlet process as its prior, with weight 0.5 on a difference of 0. A
    draw from the posterior gives every difference a weight; from it follow the probabilities that the mean of two
    differences, drawn independently with these weights, is below -rope, within, or above rope. The answer counts how
    often each of the three is the largest (a tie is shared). Every data set counts alike: the test knows no families.
    Benavoli, Corani, Demšar & Zaffalon, Time for a change: a tutorial for comparing multiple classifiers through
    Bayesian analysis, JMLR 18, 2017: section 4.2.
    """
    differences = np.sort(np.asarray(differences, dtype=float))
    if differences.ndim != 1 or not len(differences) or not np.isfinite(differences).all():
        raise ValueError("differences must be finite, one for each data set, and at least one.")
    if not rope > 0:
        raise ValueError(f"rope={rope} must be above 0.")
    weights, first, last = _weights(len(differences))
    sums = np.append(differences, 0.0)[:, None] + differences  # sorted, so that a region has the first or last of a row
    below, above = _mass(weights, first, sums < -2 * rope), _mass(weights, last, sums > 2 * rope)
    shares = np.stack([below, 1 - below - above, above])
    # Equal shares differ by rounding.
    largest = shares.max(axis=0) - shares <= 1e-12
    return Posterior(*map(float, (largest / largest.sum(axis=0)).mean(axis=1)))


@functools.lru_cache(maxsize=8)
def _weights(n):
    """Return draws of the weights of so many differences and, last, of the prior, and sums of the first and the last.

    A column is a draw, and row k of the sums is that of the first or last k differences; they depend on n alone.
    """
    drawn = np.random.default_rng(0).dirichlet([*np.ones(n), PRIOR], size=N_DRAWS)
    weights = np.concatenate([drawn, np.column_stack([drawn[:, -2::-1], drawn[:, -1]])]).T.copy()
    none = np.zeros((1, weights.shape[1]))
    first, last = (np.concatenate([none, np.cumsum(own, axis=0)]) for own in (weights[:-1], weights[-2::-1]))
    for array in (weights, first, last):
        array.flags.writeable = False
    return weights, first, last


def _mass(weights, totals, region):
    """Return, for every draw, the probability of the pairs in the region, two of the prior's 0 not being one."""
    counts = region.sum(axis=1)
    total = weights[-1] * totals[counts[-1]]
    for own, count in zip(weights, counts, strict=True):
        total += own * totals[count]
    return total
