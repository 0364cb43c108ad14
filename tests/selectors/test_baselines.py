"""The selectors that look at one feature at a time, or at none."""

import numpy as np
import pytest

from ufs_bench.methods import (
    AllFeatures,
    FirstIndex,
    MaxVariance,
    MinNorm,
    MinVariance,
    RandomSelection,
    SpectralLabels,
)


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 12)) * rng.permutation(np.arange(1, 13)) + rng.normal(size=12)


def test_all_features_keeps_everything_by_default(X):
    assert AllFeatures().fit(X).get_support().all()
    np.testing.assert_array_equal(AllFeatures(12).fit_transform(X), X)


@pytest.mark.parametrize("size", [5, 0.5])
@pytest.mark.parametrize("cls", [AllFeatures, SpectralLabels])
def test_what_keeps_all_features_refuses_to_select(X, cls, size):
    with pytest.raises(ValueError, match=rf"n_features_to_select={size} must be None or n_features=12"):
        cls(size).fit(X)


def test_the_draws_of_a_seed_are_orders_one_after_the_other(X):
    rng = np.random.default_rng(3)
    orders = [1.0 + rng.permutation(12) for _ in range(4)]
    for draw, order in enumerate(orders):
        np.testing.assert_array_equal(RandomSelection(4, draw=draw, random_state=3).fit(X).scores_, order)
    np.testing.assert_array_equal(RandomSelection(4, random_state=3).fit(X).scores_, orders[0])
    with pytest.raises(ValueError, match="draw=-1"):
        RandomSelection(4, draw=-1).fit(X)


def test_random_selection_keeps_every_feature_equally_often():
    X = np.zeros((2, 10))
    counts = sum(RandomSelection(3, random_state=seed).fit(X).get_support().astype(int) for seed in range(1000))
    # Binomial(1000, 0.3) has a standard deviation of 14.5.
    assert (np.abs(counts - 300) < 5 * 14.5).all()


def test_max_variance_orders_by_variance_and_min_variance_the_other_way(X):
    order = np.argsort(X.var(axis=0))
    np.testing.assert_array_equal(MaxVariance().fit(X).ranking_, order[::-1])
    np.testing.assert_array_equal(MinVariance().fit(X).ranking_, order)


def test_min_norm_puts_the_shortest_feature_first(X):
    np.testing.assert_array_equal(MinNorm().fit(X).ranking_, np.argsort((X**2).sum(axis=0)))


def test_first_index_keeps_the_order_of_the_file(X):
    np.testing.assert_array_equal(FirstIndex().fit(X).ranking_, np.arange(12))
