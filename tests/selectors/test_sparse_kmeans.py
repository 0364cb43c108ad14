"""Sparse K-means: exact weights for a partition, no move or further start that helps, and a bound from the gap."""

import numpy as np
import pytest
from samples import blobs
from scipy.optimize import minimize

from ufs_bench.methods import SparseKMeans
from ufs_bench.methods.sparse_kmeans.gap import bounds_tried, gaps
from ufs_bench.methods.sparse_kmeans.partition import lloyd, settled
from ufs_bench.methods.sparse_kmeans.weights import best_weights


def between_by_definition(X, labels):
    X = X - X.mean(axis=0)
    return (X**2).sum(axis=0) - sum(
        ((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum(axis=0) for k in np.unique(labels)
    )


def objective(X, labels, s):
    B = between_by_definition(X, labels)
    return best_weights(np.maximum(B, 0.0), s)[0] @ B


@pytest.mark.parametrize("s", [1.0, 1.5, 3.0, 4.0, 10.0])
def test_weights_beat_a_generic_optimiser(s):
    B = np.random.default_rng(0).gamma(2.0, size=16)
    w, scores = best_weights(B, s)
    assert w.min() >= 0 and w.sum() <= s * (1 + 1e-12) and w @ w <= 1 + 1e-12
    constraints = [
        {"type": "ineq", "fun": lambda v: 1 - v @ v},
        {"type": "ineq", "fun": lambda v: s - v.sum()},
    ]
    found = minimize(lambda v: -v @ B, np.full(16, 0.05), bounds=[(0, 1)] * 16, constraints=constraints, method="SLSQP")
    assert w @ B >= -found.fun - 1e-6
    np.testing.assert_allclose(np.maximum(scores, 0.0), w, atol=1e-12)
    np.testing.assert_array_equal(np.argsort(-scores), np.argsort(-B))


def test_features_that_tie_share_the_weight():
    w, _ = best_weights(np.array([2.0, 1.0, 2.0, 2.0]), 1.2)
    np.testing.assert_allclose(w, [0.4, 0, 0.4, 0.4], atol=1e-12)


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_no_single_move_lowers_the_sum_of_squares(n_clusters):
    X = np.random.default_rng(1).normal(size=(40, 6))
    labels = settled(X, np.arange(40) % n_clusters, n_clusters)
    best = between_by_definition(X, labels).sum()
    assert lloyd(X, labels, n_clusters)[1] == pytest.approx(-best - 40 * (X.mean(axis=0) ** 2).sum(), rel=1e-9)
    for i in range(40):
        for k in set(range(n_clusters)) - {labels[i]}:
            moved = labels.copy()
            moved[i] = k
            if len(set(moved)) == n_clusters:
                assert between_by_definition(X, moved).sum() <= best * (1 + 1e-12)


def test_lloyd_keeps_every_cluster():
    X = np.repeat([[0.0], [1.0]], 6, axis=0)
    assert set(lloyd(X, np.arange(12) % 3, 3)[0]) == {0, 1, 2}


@pytest.mark.parametrize("s", [1.5, 3.0, 5.0])
def test_a_fit_is_of_its_formula_and_no_move_or_start_is_better(s):
    X, _ = blobs(40, 30)
    fit = SparseKMeans(n_clusters=4, s=s, random_state=0).fit(X)
    assert fit.status_ == "converged"
    assert -fit.objective_ == pytest.approx(objective(X, fit.labels_, s), rel=1e-9)
    assert fit.weights_.sum() <= s * (1 + 1e-9)
    for i in range(40):
        for k in range(4):
            moved = fit.labels_.copy()
            moved[i] = k
            assert objective(X, moved, s) <= -fit.objective_ * (1 + 1e-9)
    others = [SparseKMeans(n_clusters=4, s=s, n_starts=1, random_state=seed).fit(X).objective_ for seed in range(20)]
    assert fit.objective_ <= min(others) * (1 - 1e-3)


def test_features_without_weight_rank_by_what_lies_between_clusters():
    X, _ = blobs(40, 30)
    fit = SparseKMeans(n_clusters=4, s=2.0, random_state=0).fit(X)
    B = between_by_definition(X, fit.labels_)
    assert 2 <= (fit.weights_ > 0).sum() < 15
    np.testing.assert_array_equal(fit.ranking_, np.argsort(-B, kind="stable"))


def test_the_gap_finds_a_bound_that_weighs_the_features_of_the_clusters():
    X, _ = blobs(80, 60, n_clusters=3, noise=1.0)
    fit = SparseKMeans(n_clusters=3, random_state=0).fit(X)
    assert fit.s_ in fit.gap_[:, 0] and fit.gap_[:, 1].max() == fit.gap_[fit.gap_[:, 0] == fit.s_, 1][0]
    assert set(fit.subset(15)) <= set(range(20))
    assert fit.gap_[:, 1].max() > 0.5  # without clusters it is about zero
    noise = np.random.default_rng(0).normal(size=(80, 60))
    assert np.abs(gaps(noise - noise.mean(axis=0), 3, 25, 0)[1]).max() < 0.3  # the log of a ratio of maxima of noise


@pytest.mark.parametrize("n_features", [1, 2, 3, 400])
def test_bounds_tried_are_in_their_range(n_features):
    bounds = bounds_tried(n_features)
    assert bounds.min() >= 1 and bounds.max() <= np.sqrt(n_features) and len(bounds) <= 10


def test_released_does_six_sweeps_at_most_and_ends_no_lower():
    X, _ = blobs(60, 30)
    settings = {"n_clusters": 4, "s": 2.5, "random_state": 0}
    released = SparseKMeans(variant="released", max_iter=6, tol=1e-4, **settings).fit(X)
    assert released.n_iter_ <= 6
    assert SparseKMeans(**settings).fit(X).objective_ <= released.objective_ * (1 - 1e-9)


def test_one_cluster_says_nothing():
    assert SparseKMeans(n_clusters=1).fit(blobs()[0]).status_ == "collapsed"
