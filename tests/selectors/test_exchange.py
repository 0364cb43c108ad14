"""SF2SOG's exchanges of features: what a swap does to the smallest eigenvalues, and a search that no swap improves."""

import itertools

import numpy as np
import pytest
from samples import uneven as sample

from ufs_bench.methods.core.optimal_graph import row_stochastic_graph, smoother, symmetric_laplacian
from ufs_bench.methods.sf2sog import exchange
from ufs_bench.methods.sf2sog.eigen_subset import WORTHWHILE, Quadratic, swapped
from ufs_bench.methods.sf2sog.exchange import Exchange


def test_quadratic_form_is_what_is_left_after_the_best_embedding():
    X = sample(40, 12)
    G = row_stochastic_graph(X, "heat", 5)
    L = symmetric_laplacian(G)
    B = Quadratic(X, smoother(L, 0.7)(L @ X))
    M = np.eye(40) - 0.7 * np.linalg.inv(L.toarray() + 0.7 * np.eye(40))
    full = X.T @ M @ X
    np.testing.assert_allclose(B.diagonal, np.diag(full), rtol=1e-9)
    features = np.array([1, 4, 5, 9])
    subset = B.subset(features[::-1], 2)
    np.testing.assert_array_equal(subset.features, features)
    np.testing.assert_allclose(subset.values, np.linalg.eigvalsh(full[np.ix_(features, features)])[:2], rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_swaps_come_near_the_best_of_all_subsets_and_beat_their_start(seed):
    rng = np.random.default_rng(seed)
    X = sample(30, 12, seed)
    L = symmetric_laplacian(row_stochastic_graph(X, "heat", 5))
    B = Quadratic(X, smoother(L, 1.0)(L @ X))
    totals = [B.subset(np.array(s), 2).total for s in itertools.combinations(range(12), 5)]
    start = B.subset(rng.permutation(12)[:5], 2)
    found = swapped(B, start)
    assert found.total <= start.total
    assert np.mean(np.array(totals) < found.total) < 0.1
    small = swapped(B, B.subset(np.argsort(B.diagonal)[:5], 2))
    assert np.mean(np.array(totals) < small.total) < 0.1


def test_no_swap_helps_at_the_end_although_the_features_that_join_are_ranked_by_blocks(monkeypatch):
    n_features, h, n_vectors = 120, 4, 3
    monkeypatch.setattr(exchange, "BLOCK", 20 * n_vectors * (h - 1))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, n_features))
        quadratic = Quadratic(X, X)
        found = swapped(quadratic, quadratic.subset(rng.choice(n_features, h, replace=False), n_vectors))
        outside = np.setdiff1d(np.arange(n_features), found.features)
        others = np.array([[*np.delete(found.features, i), j] for i in range(h) for j in outside])
        totals = np.linalg.eigvalsh((X.T @ X)[others[:, :, None], others[:, None]])[:, :n_vectors].sum(axis=1)
        assert totals.min() >= found.total * (1 - 2 * WORTHWHILE)


def semidefinite(kind, n_features=30, h=10):
    """Return a positive semidefinite matrix whose first h features are coupled as `kind` says."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, n_features)) * rng.uniform(0.2, 1, n_features)
    B = X.T @ X / 60
    vectors = np.linalg.qr(rng.normal(size=(h, h)))[0]
    if kind == "equal":  # not to be told apart
        B[:h, :h] = vectors @ np.diag([0.1] * 3 + list(np.linspace(0.3, 1, h - 3))) @ vectors.T
        B[:h, h:] *= 0.2
        B += 1e-3 * np.eye(n_features)
    elif kind != "any":  # the first features are nearly eigenvectors
        B[:3, 3:h] *= kind
        B[3:h, :3] *= kind
        B[range(3), range(3)] *= 0.2
        B[:h, h:] *= 0.2
        B[h:, :h] *= 0.2
        B += 0.05 * np.eye(n_features)
    B = np.triu(B) + np.triu(B, 1).T
    assert np.linalg.eigvalsh(B)[0] > 0
    return B


KINDS = ["any", "equal", 0.0, 1e-12, 1e-6, 1e-4, 1e-2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_features_that_may_join_are_those_that_lower_the_total(kind):
    B = semidefinite(kind)
    chosen = np.arange(10)
    exchange = Exchange(B[:10], chosen, np.diag(B), 3)
    now = np.linalg.eigvalsh(B[:10, :10])[:3].sum()
    helped = 0
    for leaving in range(10):
        after = {
            new: np.linalg.eigvalsh(B[np.ix_(s, s)])[:3].sum()
            for new in range(10, 30)
            for s in [np.append(np.delete(chosen, leaving), new)]
        }
        better = sorted((new for new in after if after[new] < now), key=after.get)
        assert list(exchange.joining(leaving, now)) == better
        helped += len(better)
    assert 0 < helped < 200
