"""The Bayesian signed-rank test against its closed forms, another program, and exact symmetry."""

import numpy as np
import pytest
from scipy import stats

from ufs_bench.metrics.study.signed_rank import PRIOR, signed_rank

# Of 40 000 draws, half of them independent of the others, a probability has a standard error of 0.0035 at most.
NOISE = 0.012


@pytest.mark.parametrize("n", [1, 3, 6, 20])
def test_where_all_differences_are_alike_the_answer_is_known(n):
    # The mean of two is beyond the region unless both are the prior's 0 (weight w): better when w^2 < 1/2.
    far = signed_rank(np.full(n, 5.0), rope=1)
    assert far.better == pytest.approx(stats.beta.cdf(np.sqrt(0.5), PRIOR, n), abs=NOISE)
    # Between once and twice the region the mean with the prior's 0 is inside: better when (1 - w)^2 > 1/2.
    near = signed_rank(np.full(n, 1.5), rope=1)
    assert near.better == pytest.approx(stats.beta.cdf(1 - np.sqrt(0.5), PRIOR, n), abs=NOISE)
    assert far.worse == near.worse == 0
    assert signed_rank(np.full(n, 0.9), rope=1) == (0, 1, 0)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1.69, 2.64, 1.66, -1.61, 2.81, 1.89, -0.07, 2.16, 1.73, 1.59, 1.06, 2.09], (0.0, 0.069, 0.931)),
        ([3.28, -5.91, 0.04, -1.94, -1.71, -1.23, -4.84, -1.26, -2.53], (0.921, 0.062, 0.016)),
    ],
)
def test_baycomp_gives_the_same(differences, expected):
    # baycomp 1.0.3, SignedRankTest.sample with rope=1 and its prior of 0.5, 50 000 draws.
    assert tuple(signed_rank(differences, rope=1)) == pytest.approx(expected, abs=NOISE)


def test_the_opposite_differences_give_exactly_the_opposite_answer():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 15):
        differences = rng.normal(0.5, 2, size=n)
        one, other = signed_rank(differences), signed_rank(-differences)
        assert (one.worse, one.equivalent, one.better) == (other.better, other.equivalent, other.worse)
    symmetric = signed_rank([-4, -2, -0.5, 0.5, 2, 4])
    assert symmetric.worse == symmetric.better > 0


def test_probabilities_sum_to_one_and_do_not_depend_on_the_order():
    rng = np.random.default_rng(1)
    differences = rng.normal(1, 2, size=12)
    found = signed_rank(differences)
    assert sum(found) == pytest.approx(1)
    assert signed_rank(rng.permutation(differences)) == found


@pytest.mark.parametrize("differences", [[], [1, np.nan], [np.inf], [[1, 2]]])
def test_what_is_no_list_of_differences_is_refused(differences):
    with pytest.raises(ValueError, match="differences must be finite"):
        signed_rank(differences)


@pytest.mark.parametrize("rope", [0, -1, np.nan])
def test_a_region_without_width_is_refused(rope):
    with pytest.raises(ValueError, match="rope=.* must be above 0"):
        signed_rank([1.0], rope=rope)
