"""The measures of a clustering without labels, none of which rewards a set that tells no samples apart."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from ufs_bench.metrics.kmeans import kmeans_restarts
from ufs_bench.metrics.label_free import agreements, silhouettes


@pytest.fixture
def samples():
    return np.random.default_rng(0).normal(size=(60, 5))


@pytest.fixture
def labels():
    rng = np.random.default_rng(1)
    return np.array([np.r_[np.arange(4), rng.integers(4, size=56)] for _ in range(6)])


def test_an_agreement_is_the_mean_adjusted_rand_index_with_the_others(labels):
    for row, value in enumerate(agreements(labels, 4)):
        others = [adjusted_rand_score(labels[row], labels[other]) for other in range(len(labels)) if other != row]
        assert value == pytest.approx(np.mean(others), abs=1e-12)


def test_a_single_restart_has_no_agreement(labels):
    assert np.isnan(agreements(labels[:1], 4)).all()


def test_a_silhouette_is_the_mean_over_the_samples(samples, labels):
    for partition, value in zip(labels, silhouettes(samples, labels, 4), strict=True):
        means = np.array([samples[partition == cluster].mean(axis=0) for cluster in range(4)])
        distances = np.linalg.norm(samples[:, None] - means, axis=2)
        a = distances[np.arange(60), partition]
        distances[np.arange(60), partition] = np.inf
        b = distances.min(axis=1)
        assert value == pytest.approx(np.mean((b - a) / np.maximum(a, b)), abs=1e-12)


def test_a_sample_alone_in_its_cluster_has_a_silhouette_of_zero():
    """Without the rule its value would be the largest, 1, as its distance to its own mean is 0."""
    X, labels = np.array([[0.0], [2.0], [7.0]]), np.array([[0, 0, 1]])
    assert silhouettes(X, labels, 2)[0] == pytest.approx(((7 - 1) / 7 + (5 - 1) / 5 + 0) / 3, rel=1e-12)
    assert silhouettes(X, np.array([[0, 1, 2]]), 3)[0] == 0


def test_a_silhouette_does_not_change_with_place_and_scale_of_the_data(samples, labels):
    np.testing.assert_allclose(silhouettes(1e3 * samples + 1e6, labels, 4), silhouettes(samples, labels, 4), atol=1e-7)


def test_blocks_of_samples_change_nothing(samples, labels, monkeypatch):
    whole = silhouettes(samples, labels, 4)
    monkeypatch.setattr("ufs_bench.metrics.label_free.BLOCK", 100)
    np.testing.assert_allclose(silhouettes(samples, labels, 4), whole, atol=1e-12)


@pytest.mark.parametrize("n_distinct", [1, 2])
def test_features_that_tell_too_few_samples_apart_are_worth_nothing(n_distinct):
    X = np.repeat(np.arange(n_distinct), 12 // n_distinct)[:, None].astype(float)
    labels = kmeans_restarts(X, 3, n_restarts=4)
    assert not agreements(labels, 3).any()
    assert not silhouettes(X, labels, 3).any()


@pytest.mark.parametrize("exponent", [1018, 531, -664, -1000])
def test_a_silhouette_is_the_same_to_the_last_bit_at_every_scale(samples, labels, exponent):
    whole = np.round(samples * 2**20)  # so that no digit is lost at either end of the range of numbers
    whole /= 2.0 ** np.ceil(np.log2(np.abs(whole).max()))
    np.testing.assert_array_equal(
        silhouettes(np.ldexp(whole, exponent), labels, 4), silhouettes(whole, labels, 4), strict=True
    )
    assert silhouettes(whole, labels, 4).any()


def test_a_silhouette_is_that_of_any_scale_where_numbers_lose_their_last_digits(samples, labels):
    expected = silhouettes(samples, labels, 4)
    for factor in (1e160, 1e-200, 1e-309):
        np.testing.assert_allclose(silhouettes(samples * factor, labels, 4), expected, atol=1e-12)
