"""The small baselines of column subset selection: pivots against scipy's, leverage against a plain SVD."""

import numpy as np
import pytest
from samples import factors as sample
from scipy.linalg import qr, svd

from ufs_bench.methods import LeverageScores, PivotedQR, SingularQR
from ufs_bench.methods.column_subsets import drawn, singular_vectors

SHAPES = [(40, 15), (12, 30)]


@pytest.mark.parametrize("shape", SHAPES)
def test_pivots_are_those_of_the_library(shape):
    X = sample(*shape)
    for center in (True, False):
        Z = X - X.mean(axis=0) if center else X
        _, R, pivots = qr(Z, mode="economic", pivoting=True)
        model = PivotedQR(9, center=center).fit(X)
        np.testing.assert_array_equal(model.subset(9), pivots[:9])
        np.testing.assert_allclose(-np.diff(model.trace_), [(R[i] ** 2).sum() for i in range(9)], rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 4, 9])
def test_pivots_of_singular_vectors_are_those_of_the_library(shape, size):
    X = sample(*shape)
    V = svd(X - X.mean(axis=0), full_matrices=False)[2][:size]
    model = SingularQR(size).fit(X)
    np.testing.assert_array_equal(model.subset(size), qr(V, pivoting=True)[2][:size])
    assert model.size_in_objective and model.n_iter_ == size


def test_no_more_vectors_than_the_rank_are_taken():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 12))
    assert singular_vectors(X, False, 9).shape == (12, 4)
    assert SingularQR(8, center=False).fit(X).n_iter_ == 4
    np.testing.assert_allclose(LeverageScores(n_vectors=9, center=False).fit(X).scores_.sum(), 4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("words", "k"), [("clusters", 3), ("twice_clusters", 6), ("size", 5), (2, 2)])
def test_leverage_is_the_squared_length_of_the_rows_of_the_leading_vectors(shape, words, k):
    X = sample(*shape)
    V = svd(X - X.mean(axis=0), full_matrices=False)[2][:k]
    model = LeverageScores(5, n_clusters=3, n_vectors=words).fit(X)
    np.testing.assert_allclose(model.scores_, (V**2).sum(axis=0), atol=1e-10)
    assert model.size_in_objective == (words == "size")


def test_draws_are_in_proportion_to_the_weights_and_leave_out_what_has_none():
    rng, weights = np.random.default_rng(2), np.array([1.0, 0.0, 2.0, 5.0])
    orders = np.array([np.argsort(-drawn(weights, rng)) for _ in range(4000)])
    share = np.bincount(orders[:, 0], minlength=4) / 4000
    np.testing.assert_allclose(share, weights / 8, atol=0.03)  # about four standard errors
    after = orders[orders[:, 0] == 3, 1]
    assert np.mean(after == 2) == pytest.approx(2 / 3, abs=0.04)
    assert (orders[:, 3] == 1).all()
    X = sample(40, 15)
    draws = {tuple(LeverageScores(5, sampled=True, random_state=s).fit(X).subset(5)) for s in range(3)}
    assert len(draws) == 3
