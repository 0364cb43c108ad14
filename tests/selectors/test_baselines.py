"""The selectors that look at one feature at a time, or at none."""

import numpy as np
import pytest

from ufs_bench import methods


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 12)) * rng.permutation(np.arange(1, 13)) + rng.normal(size=12)


def test_all_features_keeps_everything_by_default(X):
    assert methods.AllFeatures().fit(X).get_support().all()
    np.testing.assert_array_equal(methods.AllFeatures(12).fit_transform(X), X)


@pytest.mark.parametrize("size", [5, 0.5])
@pytest.mark.parametrize("cls", [methods.AllFeatures, methods.SpectralLabels])
def test_what_keeps_all_features_refuses_to_select(X, cls, size):
    with pytest.raises(ValueError, match=rf"n_features_to_select={size} must be None or n_features=12"):
        cls(size).fit(X)


def test_the_draws_of_a_seed_are_orders_one_after_the_other(X):
    rng = np.random.default_rng(3)
    orders = [1.0 + rng.permutation(12) for _ in range(4)]
    for draw, order in enumerate(orders):
        np.testing.assert_array_equal(methods.RandomSelection(4, draw=draw, random_state=3).fit(X).scores_, order)
    np.testing.assert_array_equal(methods.RandomSelection(4, random_state=3).fit(X).scores_, orders[0])
    with pytest.raises(ValueError, match="draw=-1"):
        methods.RandomSelection(4, draw=-1).fit(X)


def test_max_variance_orders_by_variance_and_min_variance_the_other_way(X):
    order = np.argsort(X.var(axis=0))
    np.testing.assert_array_equal(methods.MaxVariance().fit(X).ranking_, order[::-1])
    np.testing.assert_array_equal(methods.MinVariance().fit(X).ranking_, order)


def test_min_norm_puts_the_shortest_feature_first(X):
    np.testing.assert_array_equal(methods.MinNorm().fit(X).ranking_, np.argsort((X**2).sum(axis=0)))


def test_first_index_keeps_the_order_of_the_file(X):
    np.testing.assert_array_equal(methods.FirstIndex().fit(X).ranking_, np.arange(12))
