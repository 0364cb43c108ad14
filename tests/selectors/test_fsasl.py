"""FSASL: the printed objective, each block exact, and the released program's regression."""

import numpy as np
import pytest
from samples import SHAPES, clusters
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from ufs_bench.methods import FSASL
from ufs_bench.methods.core.graphs import laplacian
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.fsasl import structure
from ufs_bench.methods.fsasl.paper import Problem
from ufs_bench.methods.fsasl.structure import (
    code_penalties,
    first_codes,
    first_neighbors,
    global_laplacian,
    sparse_codes,
)


def problem_of(X, weights=(1.0, 1.0, 0.5), m=3):
    return Problem(X, first_codes(X, 0.01), first_neighbors(X, 5), m, weights, 0.01, 5)


def objective(problem, state, W=None):
    """Return the objective by its definition, for the data and the weights of a problem."""
    W = state.W if W is None else W
    (first, second, third), Y, P = problem.weights, problem.X @ W, state.P.toarray()
    codes = ((Y - state.S @ Y) ** 2).sum() + 2 * sum(
        problem.penalties[i] * np.abs(s).sum() for i, s in enumerate(state.S)
    )
    squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    return first * codes + second / 2 * (squares * P + problem.reg * P**2).sum() + third * row_norms(W).sum()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sweep_lowers_the_objective_of_the_definition(shape):
    problem = problem_of(clusters(*shape))
    state = problem.start
    for _ in range(5):
        assert problem.printed(state) == pytest.approx(objective(problem, state), rel=1e-8)
        np.testing.assert_allclose(state.Y.T @ state.Y, np.eye(3), atol=1e-6)
        np.testing.assert_allclose(state.P.sum(axis=1), 1, rtol=1e-9)
        assert not state.S.diagonal().any()
        new = problem.sweep(state)
        assert new.value <= state.value * (1 + 1e-10)
        state = new


@pytest.mark.parametrize("shape", [(60, 25), (20, 70)])
def test_w_is_the_best_for_its_weights_from_either_side(shape):
    X = clusters(*shape)
    problem = problem_of(X)
    state, s = problem.start, np.random.default_rng(0).uniform(0.1, 2, shape[1])
    found = problem._projection(state.S, state.P, s)
    L = global_laplacian(state.S) + laplacian((state.P + state.P.T) / 2).toarray()
    G = X.T @ L @ X + np.diag(0.5 / (2 * s))
    value = np.trace(found.W.T @ G @ found.W)
    np.testing.assert_allclose(X @ found.W, found.Y, atol=1e-8)
    np.testing.assert_allclose(found.Y.T @ found.Y, np.eye(3), atol=1e-7)
    # 1 / nu for the largest nu of X'X w = nu G w.
    best = (1 / np.sort(np.linalg.eigvals(np.linalg.solve(G, X.T @ X)).real)[-3:]).sum()
    assert value == pytest.approx(best, rel=1e-7)


def test_codes_are_those_of_the_lasso():
    X = clusters(20, 30)
    penalties = code_penalties(X @ X.T, 0.05)
    S = sparse_codes(X, penalties)
    for i in range(20):
        others = np.delete(np.arange(20), i)
        lasso = Lasso(penalties[i] / 30, fit_intercept=False, tol=1e-10, max_iter=100000).fit(X[others].T, X[i])
        np.testing.assert_allclose(S[i, others], lasso.coef_, atol=1e-4)


def test_codes_by_few_columns_are_those_by_all_inner_products(monkeypatch):
    Y = clusters(40, 30)[:, :5]
    few = sparse_codes(Y, code_penalties(Y @ Y.T, 0.05))
    monkeypatch.setattr(structure, "FEW_COLUMNS", np.inf)
    np.testing.assert_allclose(few, sparse_codes(Y, code_penalties(Y @ Y.T, 0.05)), atol=1e-9)
    monkeypatch.setattr(structure, "FIRST_WORK", 1.0)
    assert np.abs(few - sparse_codes(Y, code_penalties(Y @ Y.T, 0.05))).max() > 1e-3  # one visit is not enough


@pytest.mark.parametrize(  # by differences of values: one of the larger takes some ten seconds
    "shape", [pytest.param(shape, marks=[] if shape == (12, 12) else pytest.mark.slow) for shape in SHAPES]
)
def test_a_generic_optimiser_finds_nothing_better(shape):
    problem = problem_of(clusters(*shape))
    state = problem.start
    for _ in range(300):
        state = problem.sweep(state)

    def value(w):  # the nearest feasible W
        W = w.reshape(state.W.shape)
        return objective(problem, state, W @ np.linalg.inv(np.linalg.cholesky((problem.X @ W).T @ (problem.X @ W))).T)

    best = objective(problem, state)
    start = state.W + 1e-3 * np.random.default_rng(0).normal(size=state.W.shape)
    found = minimize(value, start.ravel(), method="L-BFGS-B", options={"maxiter": 30, "maxfun": 3000})
    assert found.fun >= best * (1 - 1e-3)


def test_released_is_ten_reweighted_ridges_on_the_coordinates_of_both_graphs():
    X = clusters(40, 12)
    L = global_laplacian(first_codes(X, 0.01)) + laplacian(first_neighbors(X, 5)).toarray()
    Y = np.linalg.eigh(L)[1][:, :3]
    weights = np.ones(12)
    for _ in range(10):
        W = np.linalg.solve(X.T @ X + np.diag(weights), X.T @ Y)
        weights = 0.5 / np.sqrt((W**2).sum(axis=1) + np.finfo(float).eps)
    fit = FSASL(n_clusters=3, variant="released", max_iter=9, tol=0).fit(X)
    np.testing.assert_allclose(fit.scores_, row_norms(W), rtol=1e-5, atol=1e-9)
