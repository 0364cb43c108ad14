"""The selectors that look at one feature at a time, or at none."""

import numpy as np
import pytest

from ufs_bench import methods


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 12)) * rng.permutation(np.arange(1, 13)) + rng.normal(size=12)


@pytest.mark.parametrize("size", [5, 0.5])
@pytest.mark.parametrize("cls", [methods.AllFeatures, methods.SpectralLabels])
def test_what_keeps_all_features_refuses_to_select(X, cls, size):
    np.testing.assert_array_equal(cls(12).fit_transform(X), X)
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


def test_rankings_are_by_variance_by_norm_and_by_the_order_of_the_file(X):
    variance, norm = X.var(axis=0), (X**2).sum(axis=0)
    scores = {"MaxVariance": variance, "MinVariance": -variance, "MinNorm": -norm, "FirstIndex": -np.arange(12)}
    for name, expected in scores.items():
        np.testing.assert_array_equal(getattr(methods, name)().fit(X).ranking_, np.argsort(-expected), name)
