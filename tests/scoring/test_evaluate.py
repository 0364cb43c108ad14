"""Evaluations of sparse data, without labels, and of many samples; the measures that are taken once for a set."""

import time

import numpy as np
import pytest
from samples import peak_bytes
from scipy.sparse import csc_array, csr_array, csr_matrix, random_array
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from ufs_bench.metrics.evaluate import evaluate, evaluate_labels
from ufs_bench.metrics.kmeans import kmeans_restarts, unit_samples
from ufs_bench.metrics.label_free import silhouettes
from ufs_bench.metrics.measures import N_MEASURES, PER_RESTART, PER_SET
from ufs_bench.metrics.nearest_neighbour import nearest_neighbour_accuracy, sampled_rows
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.reconstruction import RIDGES, reconstruction
from ufs_bench.metrics.replication import replications

PROTOCOL = Protocol(name="t", sizes=(2,), scaling="none", restarts=4, seed=0, nmi="geometric", max_iter=50)
ROWS = PER_RESTART + PER_SET
LABELLED = [ROWS.index(name) for name in ("acc", "nmi", "nearest_neighbour")]
ALL_FEATURES = [ROWS.index(name) for name in ("silhouette_all", "reconstruction")]
DENSITIES = (0.02, 0.3, 0.5, 0.7, 1.0)


def counts(density, n_samples=300, n_features=40, seed=0):
    """Return samples with zeros, of three classes, and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_samples)
    X = rng.exponential(size=(n_samples, n_features)) * (1 + 2 * (np.arange(n_features) % 3 == y[:, None]))
    X[rng.random(X.shape) >= density] = 0
    return X, y


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_array])
@pytest.mark.parametrize("density", DENSITIES)
def test_sparse_samples_have_the_scores_of_the_same_array(density, kind):
    X, y = counts(density)
    stored = kind(X)
    before = stored.copy()
    for features in ([3], [30, 2, 1, 17], np.arange(40)[::-1]):
        expected, found = (evaluate(features, data, y, PROTOCOL)[0] for data in (X, stored))
        others = np.delete(np.arange(N_MEASURES), ALL_FEATURES)
        np.testing.assert_array_equal(found[others], expected[others])
        np.testing.assert_allclose(found[ALL_FEATURES], expected[ALL_FEATURES], rtol=0, atol=1e-10)
        assert np.isfinite(found[ALL_FEATURES, 0]).all()
    assert (stored != before).nnz == 0


@pytest.mark.parametrize("offset", [0, 1, -1e6])
@pytest.mark.parametrize("scale", [1, 1e200, 1e-200, 1e-300])
def test_columns_far_from_zero_lose_no_digits(offset, scale):
    """A mean that is far larger than the spread would cancel all digits, were it subtracted from products."""
    X, y = counts(0.2)
    X[:, 5:9] = offset + np.random.default_rng(1).normal(size=(300, 4))
    X[5:, 10] = 1  # nearly full
    X[:, 9] = 7  # constant
    X *= scale
    labels = y[None].astype(int)
    assert silhouettes(csr_array(X), labels, 3) == pytest.approx(silhouettes(X, labels, 3), rel=0, abs=1e-10)
    expected = reconstruction(X[:, :20], X)
    assert reconstruction(X[:, :20], csr_array(X)) == pytest.approx(expected, rel=0, abs=1e-10)


def test_clusters_of_equal_samples_and_fits_through_the_samples_stay_within_their_rounding():
    X = np.zeros((40, 6))
    X[:20, 0], X[:20, 4], X[20:, 2], X[39, 3] = 0.1, 0.7, 0.3, 0.01
    labels = np.repeat([[0, 1]], 20, axis=1)
    assert silhouettes(csr_array(X), labels, 2) == pytest.approx(silhouettes(X, labels, 2), rel=0, abs=1e-8)
    X, _ = counts(0.7, n_samples=23, n_features=390)
    expected = reconstruction(X[:, :370], X)
    assert reconstruction(X[:, :370], csr_array(X)) == pytest.approx(expected, rel=0, abs=1e-6)


def test_values_that_are_stored_twice_or_as_zero_count_as_what_they_add_up_to():
    X, y = counts(0.3)
    once = csr_array(X)
    once.data[::7] = 0
    X = once.toarray()
    twice = csr_array((np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr), shape=X.shape)
    labels = y[None].astype(int)
    for stored in (once, twice):
        n_stored = stored.nnz
        assert silhouettes(stored, labels, 3) == pytest.approx(silhouettes(X, labels, 3), rel=0, abs=1e-10)
        assert reconstruction(X[:, :5], stored) == pytest.approx(reconstruction(X[:, :5], X), rel=0, abs=1e-10)
        assert stored.nnz == n_stored  # X is never written to


@pytest.mark.parametrize("kind", [np.int64, np.uint8, bool, np.float32])
@pytest.mark.parametrize("form", [np.array, csr_array])
def test_numbers_of_every_type_are_taken_as_the_same_numbers_in_float64(kind, form):
    X, y = counts(0.4)
    X = (9 * X).round().clip(0, 255).astype(kind)
    expected, found = (evaluate([0, 1, 2], data, y, PROTOCOL)[0] for data in (X.astype(np.float64), form(X)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_sparse_samples_are_not_written_out():
    X = random_array((2000, 20_000), density=0.001, rng=np.random.default_rng(0), format="csr")
    y = np.arange(2000) % 4
    evaluate([0, 1], X[:100], y[:100], PROTOCOL)  # loads the compiled steps
    found = []
    peak = peak_bytes(lambda: found.append(evaluate(np.arange(0, 20_000, 500), X, y, PROTOCOL)[0]))
    assert np.isfinite(found[0][:, 0]).all() and peak < 2000 * 20_000 * 8 / 5


def test_without_labels_all_that_needs_none_is_as_with_them():
    X, y = counts(0.8)
    expected, _ = evaluate([0, 1, 5], X, y, PROTOCOL)
    found, _ = evaluate([0, 1, 5], X, None, PROTOCOL, n_clusters=3)
    assert np.isnan(found[LABELLED]).all()
    np.testing.assert_array_equal(np.delete(found, LABELLED, axis=0), np.delete(expected, LABELLED, axis=0))
    assert np.isnan(evaluate_labels(y, None, "geometric")).all()
    assert evaluate_labels(y, None, "geometric").shape == evaluate_labels(y, y, "geometric").shape


def test_without_labels_and_a_number_of_clusters_it_is_said_what_to_give():
    X, _ = counts(0.8)
    with pytest.raises(ValueError, match="y=None and n_clusters=None: without labels, give n_clusters"):
        evaluate([0, 1], X, None, PROTOCOL)
    with pytest.raises(ValueError, match=r"n_clusters=301 must be in \[1, n_samples=300\]"):
        evaluate([0, 1], X, None, PROTOCOL, n_clusters=301)


def test_the_silhouette_is_that_of_the_restart_that_agrees_most_with_the_others():
    X = np.random.default_rng(0).normal(size=(120, 3))  # without clusters, so that the restarts differ
    scores, _ = evaluate([0, 1, 2], X, None, PROTOCOL, n_clusters=6)
    agreement, silhouette = (scores[ROWS.index(name)] for name in ("agreement", "silhouette"))
    each = silhouettes(X, kmeans_restarts(X, 6, PROTOCOL.restarts, PROTOCOL.seed, PROTOCOL.max_iter), 6)
    assert len({*agreement}) == len({*each}) == PROTOCOL.restarts
    assert np.flatnonzero(np.isfinite(silhouette)).tolist() == [np.argmax(agreement)]
    assert np.nanmax(silhouette) == pytest.approx(each[np.argmax(agreement)], rel=1e-12)


def test_a_number_of_clusters_goes_before_that_of_the_classes():
    X, y = counts(0.8)
    found, _ = evaluate([0, 1, 5], X, y, PROTOCOL, n_clusters=6)
    without, _ = evaluate([0, 1, 5], X, None, PROTOCOL, n_clusters=6)
    np.testing.assert_array_equal(np.delete(found, LABELLED, axis=0), np.delete(without, LABELLED, axis=0))
    assert np.isfinite(found[LABELLED, 0]).all()
    assert not np.array_equal(found, evaluate([0, 1, 5], X, y, PROTOCOL)[0])


def many(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n_samples)
    return rng.normal(size=(n_samples, 3)) + y[:, None], y


def test_the_nearest_neighbour_of_many_samples_takes_seconds():
    X, y = many(80_000)
    started = time.process_time()
    value = nearest_neighbour_accuracy(X, y)
    assert time.process_time() - started < 5  # all pairs take about a minute
    nearest = KNeighborsClassifier(1).fit(X[:40_000], y[:40_000])
    assert value == pytest.approx(nearest.score(X[40_000:], y[40_000:]), abs=0.03)


def test_beyond_ten_thousand_the_samples_are_the_same_for_every_set_of_features():
    X, y = many(10_001)
    rows = sampled_rows(10_001, 3)
    assert len(np.unique(rows)) == 5000
    assert set(rows) <= set(range(10_001))
    value = nearest_neighbour_accuracy(X, y, 3)
    assert nearest_neighbour_accuracy(X[:, [2, 0, 1]], y, 3) == value == nearest_neighbour_accuracy(X, y, 3)
    for some in (X, X[:, :2]):
        assert nearest_neighbour_accuracy(some, y, 3) == nearest_neighbour_accuracy(some[rows], y[rows])
    assert not np.array_equal(sampled_rows(10_001, 4), rows)


def test_an_evaluation_samples_by_the_seed_of_the_protocol():
    X, y = many(10_001)
    protocol = Protocol(**{**vars(PROTOCOL), "seed": 3, "restarts": 2})
    scores, _ = evaluate([0, 1], csr_array(X), y, protocol)
    assert scores[ROWS.index("nearest_neighbour"), 0] == nearest_neighbour_accuracy(X[:, :2], y, 3)
    assert np.isfinite(scores[:, 0]).all()


def test_up_to_ten_thousand_samples_all_are_compared():
    X, y = many(10_000)
    nearest = NearestNeighbors(n_neighbors=1, algorithm="kd_tree").fit(X).kneighbors(return_distance=False)
    assert nearest_neighbour_accuracy(X, y) == np.mean(y[nearest[:, 0]] == y)


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
