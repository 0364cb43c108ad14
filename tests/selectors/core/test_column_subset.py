"""Gains against plain projections, of ties the first, and words that stand for numbers."""

import numpy as np
import pytest
from samples import unexplained as remainder

from ufs_bench.methods.core.checks import check_count, check_flag, count_of
from ufs_bench.methods.core.column_subset import Gains, first_of_best, grow


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
