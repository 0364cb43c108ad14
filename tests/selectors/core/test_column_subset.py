"""Residuals, gains and their updates against plain projections."""

import numpy as np
import pytest
from samples import factors as sample
from samples import unexplained as remainder

from ufs_bench.methods.core.checks import check_count, check_flag, count_of
from ufs_bench.methods.core.column_subset import Gains, Residual, first_of_best, grow

SHAPES = [(30, 12), (9, 25)]


@pytest.mark.parametrize("shape", SHAPES)
def test_residual_and_gains_are_those_of_plain_projections(shape):
    X = sample(*shape)
    T = np.random.default_rng(1).normal(size=(len(X), 3))
    plain, gains, aimed = Residual(X), Gains(X), Gains(X, T)
    for taken in ([], [3], [3, 7], [3, 7, 0], [3, 7, 0, 11]):
        for one in (plain, gains, aimed) if taken else ():
            one.take(taken[-1])
        E = remainder(X, taken)
        np.testing.assert_allclose(plain.columns.T, E, atol=1e-10)
        assert gains.total == pytest.approx((E**2).sum())
        for j in set(range(shape[1])) - set(taken):
            now = [(remainder(M, [j]) ** 2).sum() for M in (E,)]
            assert gains.values()[j] == pytest.approx((E**2).sum() - now[0], rel=1e-8)
            e = E[:, j] / np.linalg.norm(E[:, j])
            assert aimed.values()[j] == pytest.approx(((T.T @ e) ** 2).sum(), rel=1e-8)
        assert not gains.values()[taken].any()


def test_a_direction_given_back_undoes_the_column_that_was_taken():
    X = sample(30, 12)
    gains = Gains(X)
    gains.take(4)
    before, numerators = gains.columns.copy(), gains.numerators.copy()
    e = gains.columns[7] / np.linalg.norm(gains.columns[7])
    along = e @ X
    gains.take(7)
    gains.restore(e, along)
    np.testing.assert_allclose(gains.columns, before, atol=1e-12)
    np.testing.assert_allclose(gains.numerators, numerators, rtol=1e-8, atol=1e-8)


def test_gains_are_computed_anew_before_rounding_decides():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 15)) * np.logspace(0, -6, 15)  # each column a few times smaller than the one before
    gains = Gains(X)
    chosen, _ = grow(gains, 15)
    for t in range(14):
        E = remainder(X, chosen[:t])
        fall = [0 if j in chosen[:t] else ((E.T @ E[:, j]) ** 2).sum() / (E[:, j] ** 2).sum() for j in range(15)]
        assert fall[chosen[t]] >= (1 - 1e-6) * max(fall)


def test_of_values_that_rounding_cannot_tell_apart_the_first_is_taken():
    assert first_of_best(np.array([1.0, 3.0 - 1e-15, 3.0, 2.0])) == 1
    assert first_of_best(np.array([1.0, 3.0 - 1e-6, 3.0, 2.0])) == 2


def test_words_stand_for_numbers_that_the_data_or_the_size_settle():
    found = [count_of(word, 5, 9) for word in (None, "clusters", "twice_clusters", "half_size", "size", 3)]
    assert found == [5, 5, 10, 4, 9, 3]
    with pytest.raises(ValueError, match="k='many' must be a whole number, or one of 'size'"):
        check_count("k", "many", ("size",))
    with pytest.raises(ValueError, match=r"k=9 must be a whole number in \[1, n=8\]"):
        check_count("k", 9, ("size",), 8, "n")
    with pytest.raises(ValueError, match="center=1 must be True or False"):
        check_flag("center", 1)
