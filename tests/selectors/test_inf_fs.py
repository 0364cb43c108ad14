"""Inf-FS: the row sums of the inverse, without it."""

import numpy as np
import pytest
from samples import SHAPES, uneven
from scipy.stats import spearmanr

from ufs_bench.methods import InfFS
from ufs_bench.methods.inf_fs import Graph, ranks


def by_definition(X, alpha, share=0.9):
    sigma = X.std(axis=0)
    sigma = (sigma - sigma.min()) / np.ptp(sigma)
    A = alpha * np.maximum.outer(sigma, sigma) + (1 - alpha) * (1 - np.abs(spearmanr(X).statistic))
    r = share / np.linalg.eigvalsh(A)[-1]
    return (np.linalg.inv(np.eye(len(A)) - r * A) - np.eye(len(A))).sum(axis=1), A, r


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
def test_scores_are_the_row_sums_of_the_inverse(shape, alpha):
    X = uneven(*shape)
    X[:, 1] = np.round(X[:, 1])  # with ties
    np.testing.assert_allclose(InfFS(alpha=alpha).fit(X).scores_, by_definition(X, alpha)[0], rtol=1e-8)


def test_blocks_of_correlations_give_the_same_product(monkeypatch):
    X = uneven(20, 70)
    spread, x = np.random.default_rng(0).random(70), np.random.default_rng(1).random(70)
    kept = Graph(spread, ranks(X), 0.4).times(x)
    monkeypatch.setattr("ufs_bench.methods.inf_fs.KEPT", 0)
    monkeypatch.setattr("ufs_bench.methods.inf_fs.BLOCK", 300)
    graph = Graph(spread, ranks(X), 0.4)
    assert graph.kept is None
    np.testing.assert_allclose(graph.times(x), kept, rtol=1e-12)


def test_of_standardised_data_only_correlations_count():
    X = uneven(40, 12)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_array_equal(InfFS(alpha=0.5).fit(Z).ranking_, InfFS(alpha=0.0).fit(X).ranking_)
