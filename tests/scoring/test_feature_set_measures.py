"""The measures that are taken once for a feature set: reconstruction, the nearest neighbour, and replication."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.kmeans import unit_samples
from ufs_bench.metrics.measures import PER_RESTART, PER_SET
from ufs_bench.metrics.nearest_neighbour import nearest_neighbour_accuracy
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.reconstruction import RIDGES, reconstruction
from ufs_bench.metrics.replication import replications

PROTOCOL = Protocol(name="t", sizes=(2,), scaling="none", restarts=4, seed=0, nmi="geometric", max_iter=50)


def blobs(n_clusters=3, each=20, distance=8.0, n_noise=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_clusters), each)
    informative = distance * np.eye(n_clusters)[y] + rng.normal(size=(len(y), n_clusters))
    return np.hstack([informative, rng.normal(size=(len(y), n_noise))]), y


@pytest.mark.parametrize(("n_samples", "n_selected"), [(30, 4), (12, 20)])
def test_reconstruction_is_that_of_the_best_ridge_left_one_out(n_samples, n_selected):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 3)) @ rng.normal(size=(3, 25)) + 0.3 * rng.normal(size=(n_samples, 25))
    selected = X[:, :n_selected]
    S = unit_samples(selected)
    variances = np.linalg.svd(S, compute_uv=False)[: min(n_selected, n_samples - 1)] ** 2
    errors = []
    for ridge in RIDGES * variances.mean():
        predicted = cross_val_predict(Ridge(ridge), S, X, cv=LeaveOneOut())
        errors.append(((X - predicted) ** 2).sum())
    means = (X.sum(axis=0) - X) / (n_samples - 1)
    # The library centres anew in every fold; we centre once and account for it (Sherman-Morrison).  The two agree to
    # rounding only where the ridge is small beside the variances, so the test asks for agreement to a percent.
    assert reconstruction(selected, X) == pytest.approx(1 - min(errors) / ((X - means) ** 2).sum(), abs=0.01)


def test_reconstruction_of_everything_and_of_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 6))
    assert reconstruction(X, X) > 0.999
    assert reconstruction(np.ones((200, 2)), X) == 0
    # Independent noise does not predict other features, even with as many features as samples.
    assert reconstruction(rng.normal(size=(200, 200)), X) < 0.05
    assert np.isnan(reconstruction(X, np.ones((200, 6))))


def test_reconstruction_does_not_change_with_place_scale_and_order():
    X, _ = blobs()
    expected = reconstruction(X[:, :3], X)
    order = np.random.default_rng(0).permutation(len(X))
    for other in (1e3 * X + 5, X * 1e160, X * 1e-200, X[order]):
        assert reconstruction(other[:, :3], other) == pytest.approx(expected, abs=1e-8)
    assert reconstruction(X[:, [2, 0, 1]], X[:, ::-1]) == pytest.approx(expected, abs=1e-12)


def test_the_nearest_neighbour_is_another_sample():
    X, y = blobs(distance=1.0)
    expected = cross_val_predict(KNeighborsClassifier(1), X, y, cv=LeaveOneOut())
    assert nearest_neighbour_accuracy(X, y) == np.mean(expected == y)
    assert nearest_neighbour_accuracy(np.vstack([X, X]), np.r_[y, y]) == 1  # every sample has its copy
    assert nearest_neighbour_accuracy(np.vstack([X, X]), np.r_[y, y + 1]) == 0
    assert np.isnan(nearest_neighbour_accuracy(X[:1], y[:1]))


def test_clusters_that_are_there_return_and_noise_does_not():
    X, _ = blobs(distance=30.0, n_noise=0)
    noise = np.random.default_rng(3).normal(size=(60, 8))
    there, strength = replications(X, 3)
    chance, weak = replications(noise, 3)
    assert there > 0.9
    assert strength > 0.8
    assert chance < 0.5
    assert weak < 0.7


def test_too_few_samples_for_halves_give_nothing():
    X, _ = blobs(each=2)
    assert np.isnan(replications(X, 4)).all()
    assert np.isfinite(replications(X, 3)).all()


def test_features_that_tell_nothing_apart_are_never_the_best_replicated():
    X, _ = blobs(distance=30.0, n_noise=0)
    assert replications(np.ones_like(X), 3) == (0, 0)
    assert replications(X[:, :1].round(-1) > 15, 3) == (0, 0)  # two distinct samples, three clusters


def test_an_evaluation_has_what_each_function_says_once():
    X, y = blobs()
    values, _ = evaluate([0, 1, 2], X, y, PROTOCOL)
    once = dict(zip(PER_SET, values[len(PER_RESTART) :, 0], strict=True))
    assert np.isnan(values[len(PER_RESTART) :, 1:]).all()
    assert (once["replication"], once["prediction_strength"]) == replications(X[:, :3], 3, 0, 50)
    assert once["reconstruction"] == reconstruction(X[:, :3], X)
    assert once["nearest_neighbour"] == nearest_neighbour_accuracy(X[:, :3], y)
    # The clusters are those on the selected features; the noise columns make them less compact.
    assert 0 < once["silhouette_all"] < np.nanmax(values[PER_RESTART.index("silhouette")])
