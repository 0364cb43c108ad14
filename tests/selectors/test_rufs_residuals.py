"""RUFS's residuals are what the formulas give, dense or sparse."""

import numpy as np
import pytest
from scipy import sparse

from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.rufs import paper, released, residuals
from ufs_bench.methods.rufs.local_learning import local_learning_laplacian


def parts(seed=0, shape=(50, 21), n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.uniform(size=shape) < 0.2)
    W, G = rng.normal(size=(shape[1], n_columns)), rng.uniform(size=(shape[0], n_columns))
    X[7] = G[7] = 0.0  # a sample whose residual is zero
    W[3] = 0.0
    return X, W, G * (rng.uniform(size=G.shape) < 0.6)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-4, 1.0])
def test_norms_of_the_data_are_those_of_the_dense_difference(noise):
    X, F, G = parts(shape=(30, 21))
    X[5:20] = G[5:20] @ F.T + noise * X[5:20]  # where the expansion would cancel
    expected = row_norms(G @ F.T - X) ** 2
    for factor in (X, sparse.csr_array(X)):
        squares = residuals.data_squares(X, factor, row_norms(X) ** 2, G, F.T)
        np.testing.assert_allclose(squares, expected, rtol=1e-10, atol=1e-28)  # the expansion loses up to four digits


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-6, 1.0])
def test_slope_of_f_keeps_its_digits_where_samples_are_all_but_fitted(noise):
    rng = np.random.default_rng(0)
    G, F = rng.uniform(size=(40, 3)), rng.uniform(size=(3, 24))
    X = G @ F + noise * rng.normal(size=(40, 24))
    X[5:] += rng.normal(size=(35, 24))  # five samples are near, the others far
    rest = G @ F - X
    weights = row_norms(rest)
    given = released.Problem(X, sparse.csr_array((40, 40)), 1.0, 1.0, 1.0, 1.0)
    expected = G.T @ np.divide(rest, weights[:, None], out=np.zeros_like(rest), where=weights[:, None] > 0)
    slope = given.block_f(G, weights)(F)[1]() - 1e-4 * F / row_norms(F.T)
    np.testing.assert_allclose(slope, expected, rtol=0, atol=1e-11)  # of entries near 10


@pytest.mark.parametrize("variant", [paper, released])
def test_a_regulariser_in_factors_gives_the_same_sweep(monkeypatch, variant):
    X, _, G = parts()
    whole = local_learning_laplacian(X, 5)
    monkeypatch.setattr("ufs_bench.methods.rufs.local_learning.HUBS", 0)
    factors = local_learning_laplacian(X, 5)
    assert sparse.issparse(whole) and not sparse.issparse(factors)
    one, two = (variant.Problem(X, L, 2.0, 1.0, 0.5, 10.0) for L in (whole, factors))
    start = one.start(G + 0.1)
    assert two.start(G + 0.1).value == pytest.approx(start.value, rel=1e-12)
    assert two.sweep(start).value == pytest.approx(one.sweep(start).value, rel=1e-6)  # some hundred steps


def test_objective_of_g_has_the_value_and_the_slope_of_the_formula():
    rng = np.random.default_rng(3)
    X, W, G = parts()
    F, identity = rng.uniform(size=(4, 21)), np.eye(4)
    L = sparse.random_array((50, 50), density=0.2, rng=rng)
    L = sparse.csr_array(L + L.T)
    problem = paper.Problem(X, L, 1.5, 2.0, 0.5, 28.0)

    def formula(G):
        roots = (np.sqrt(row_norms(rest) ** 2 + paper.EPS).sum() for rest in (X - G @ F, X @ W - G))
        away = np.linalg.norm(G.T @ G - identity) ** 2
        return next(roots) + 1.5 * np.vdot(G, L @ G) + 2.0 * next(roots) + 7.0 * away

    for point in (G, G + 0.1):
        value, slope = problem.block_g(X @ W, F)(point)
        assert value == pytest.approx(formula(point), rel=1e-9)  # the sample of zeros loses half its digits
    for way in rng.normal(size=(5, *G.shape)):
        difference = formula(point + 1e-6 * way) - formula(point - 1e-6 * way)
        assert difference == pytest.approx(2e-6 * np.vdot(slope, way), rel=1e-6)
