"""The Laplacian score against its definition, the reference pair, and what must not change it."""

import numpy as np
import pytest

from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.laplacian_score import LaplacianScore


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((50, 12)) + 3


def by_definition(X, S):
    """Return L_r, feature by feature, from dense matrices."""
    D = np.diag(S.sum(axis=1))
    L, one = D - S, np.ones(len(S))
    scores = []
    for f in X.T:
        centered = f - (f @ D @ one) / (one @ D @ one) * one
        scores.append((centered @ L @ centered) / (centered @ D @ centered))
    return np.array(scores)


@pytest.mark.parametrize("affinity", ["heat", "binary"])
def test_scores_are_one_minus_the_definition(X, affinity):
    S = knn_graph(X, 4, affinity).toarray()
    scores = LaplacianScore(n_neighbors=4, affinity=affinity).fit(X).scores_
    np.testing.assert_allclose(scores, 1 - by_definition(X, S), atol=1e-12)
    np.testing.assert_array_equal(LaplacianScore(affinity=S).fit(X).scores_, scores)


@pytest.mark.parametrize(("graph", "score"), [("W_bin", "bin"), ("W_heat_tmean", "heat"), ("binary", "bin")])
def test_it_agrees_with_the_reference(reference, graph, score):
    pair = reference("step02_lapscore")
    scores = LaplacianScore(affinity=pair.get(graph, graph)).fit(pair["X"]).scores_
    np.testing.assert_allclose(scores, pair[f"score_{score}"].ravel(), atol=1e-8)


def test_even_the_roughest_feature_scores_no_less_than_a_constant_one():
    # An alternating feature on an even ring has L_r = 2, the largest there is.
    ring = np.roll(np.eye(8), 1, axis=1)
    X = np.column_stack([np.ones(8), np.tile([1.0, -1.0], 4), np.arange(8.0)])
    scores = LaplacianScore(affinity=ring + ring.T).fit(X).scores_
    assert scores[1] == pytest.approx(-1)
    assert scores[0] <= scores.min() + 1e-12


def test_units_and_origin_of_a_feature_do_not_matter_given_the_graph(X):
    S = knn_graph(X)
    moved = X * np.logspace(-60, 60, 12) * np.where(np.arange(12) % 2, 1, -1)
    expected = LaplacianScore(affinity=S).fit(X).scores_
    np.testing.assert_allclose(LaplacianScore(affinity=S).fit(moved).scores_, expected, atol=1e-10)
    np.testing.assert_allclose(LaplacianScore(affinity=S).fit(X + 1e4).scores_, expected, atol=1e-9)


def test_identical_samples_make_every_feature_constant():
    model = LaplacianScore().fit(np.ones((10, 4)))
    np.testing.assert_array_equal(model.scores_, -1)
