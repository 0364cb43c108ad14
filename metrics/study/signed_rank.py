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

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Finite, one for each data set; positive where the first method is better.
    rope : float, default=1.0
        Differences from -rope to rope count as none, above 0.

    Returns
    -------
    Posterior
        The order of the differences does not matter.

    Raises
    ------
    ValueError
        For a difference that is not finite, none at all, or a rope that is not above 0.

    Notes
    -----
    The distribution of the differences has a Dirichlet process as its prior, with weight 0.5 on a difference of 0.  A
    draw from the posterior gives every difference a weight; from it follow the probabilities that the mean of two
    differences, drawn independently with these weights, is below -rope, within, or above rope.  The answer counts how
    often each of the three is the largest (a tie is shared).  Every data set counts alike: the test knows no families.

    References
    ----------
    Benavoli, Corani, Demšar & Zaffalon. Time for a change: a tutorial for comparing multiple classifiers through
    Bayesian analysis. JMLR 18, 2017: section 4.2.
    """
    differences = np.sort(np.asarray(differences, dtype=float))
    if differences.ndim != 1 or not len(differences) or not np.isfinite(differences).all():
        raise ValueError("differences must be finite, one for each data set, and at least one.")
    if not rope > 0:
        raise ValueError(f"rope={rope} must be above 0.")
    points = np.append(differences, 0.0)
    weights = _weights(len(differences))
    sums = points[:, None] + points
    below, above = (_mass(weights, region) for region in (sums < -2 * rope, sums > 2 * rope))
    shares = np.column_stack([below, 1 - below - above, above])
    # Equal shares differ by rounding.
    largest = shares.max(axis=1, keepdims=True) - shares <= 1e-12
    return Posterior(*map(float, (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0)))


@functools.lru_cache(maxsize=8)
def _weights(n):
    """Return draws of the weights of so many differences and, last, of the prior; they depend on nothing else."""
    drawn = np.random.default_rng(0).dirichlet([*np.ones(n), PRIOR], size=N_DRAWS)
    weights = np.concatenate([drawn, np.column_stack([drawn[:, -2::-1], drawn[:, -1]])])
    weights.flags.writeable = False
    return weights


def _mass(weights, region):
    """Return, for every row of weights, the probability of the pairs in the region."""
    return np.einsum("si,si->s", weights @ region.astype(float), weights)
