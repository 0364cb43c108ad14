"""JELSR: every block at its minimum, the released program's numbers, and a faster way to the same fixed points."""

import numpy as np
import pytest
from samples import SHAPES
from samples import correlated as sample
from scipy import sparse
from sklearn.linear_model import MultiTaskLasso

from ufs_bench.methods import JELSR, jelsr
from ufs_bench.methods.core import reweighting
from ufs_bench.methods.core.graphs import knn_graph, laplacian
from ufs_bench.methods.core.linalg import largest_eigenvectors
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import log_scale
from ufs_bench.methods.jelsr import Problem


def problem(shape, alpha=0.5, beta=2.0, n_clusters=3):
    X = sample(*shape)
    return Problem(X, laplacian(knn_graph(X)), n_clusters, alpha, beta)


def quadratic(problem, Y, W, s):
    """Return the objective with ||w_j|| replaced by ||w_j||^2 / (2 s_j)."""
    fit = ((problem.X @ W - Y) ** 2).sum() + problem.alpha * ((W**2).sum(axis=1) / (2 * s)).sum()
    return (Y * (problem.L @ Y)).sum() + problem.beta * fit


@pytest.mark.parametrize("dense", [True, False])
def test_sweeps_are_those_of_the_released_program(reference, monkeypatch, dense):
    pair = reference("step07_jelsr")
    monkeypatch.setattr(reweighting, "EPS", np.finfo(float).eps)
    monkeypatch.setattr(jelsr, "DENSE_SAMPLES", 600 if dense else 0)
    given = Problem(pair["X"], sparse.csr_array(pair["Lap_lpp"]), 4, 1.0, 1.0)
    assert given.dense == dense
    s, guess, values = np.full(40, 0.5), None, []
    for _ in range(20):  # the plain scheme
        state = given.solve(s, guess)
        s, guess = np.exp(log_scale(state.W)), state.guess
        values.append(state.value)
    np.testing.assert_allclose(values, pair["obj_liang"].ravel(), rtol=1e-7)
    np.testing.assert_allclose(row_norms(state.W), pair["rown_liang"].ravel(), atol=1e-7)
    np.testing.assert_allclose(state.Y @ state.Y.T, pair["Y_liang"] @ pair["Y_liang"].T, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_perturbation_of_a_block_lowers_the_objective(shape):
    given = problem(shape)
    rng = np.random.default_rng(1)
    s = rng.uniform(0.1, 1.0, shape[1])
    state = given.solve(s, None)
    best = quadratic(given, state.Y, state.W, s)
    for size in (1e-3, 1e-1):
        for _ in range(10):
            W = state.W + size * rng.normal(size=state.W.shape)
            assert quadratic(given, state.Y, W, s) > best
            Y = np.linalg.qr(state.Y + size * rng.normal(size=state.Y.shape))[0]
            W = given.ridge.factor(given.alpha / (2 * s)).coefficients(Y)  # Y and W are the best pair
            assert quadratic(given, Y, W, s) >= best * (1 - 1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_extrapolation_ends_no_higher_than_many_plain_sweeps(shape):
    given = problem(shape)
    state = given.start(None)
    for _ in range(400):
        state = given.solve(np.exp(log_scale(state.W)), state.guess)
    fast = JELSR(n_clusters=3, alpha=0.5, beta=2.0, tol=1e-9, max_iter=400).fit(given.X)
    assert fast.trace_[-1] <= state.value * (1 + 1e-4)  # both smoothed
    assert fast.n_iter_ < 400


def test_sparse_and_dense_eigenvectors_agree(monkeypatch):
    X = sample(150, 20)
    dense = JELSR(n_clusters=3, beta=10.0).fit(X)
    monkeypatch.setattr(jelsr, "DENSE_SAMPLES", 0)
    few = JELSR(n_clusters=3, beta=10.0).fit(X)
    np.testing.assert_allclose(few.trace_, dense.trace_, rtol=1e-6)
    np.testing.assert_allclose(few.scores_, dense.scores_, atol=1e-4 * dense.scores_.max())


@pytest.mark.parametrize(("share", "status"), [(1.2, "collapsed"), (0.5, "converged")])
def test_too_much_sparsity_is_reported_as_collapse(share, status):
    X = sample(40, 15)
    selector = JELSR(n_clusters=3, alpha=1.0).fit(X)
    state = Problem(X, laplacian(knn_graph(X)), 3, 1.0, 1.0).start(None)
    bound = 2 * row_norms(X.T @ state.Y).max()
    assert selector.status_ == "converged"
    assert JELSR(n_clusters=3, alpha=share * bound, beta=1.0).fit(X).status_ == status


def test_eigenvectors_by_blocks_are_those_of_the_dense_solver():
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(120, 120)))[0]
    A = (vectors * np.geomspace(1, 1e-6, 120)) @ vectors.T
    found = largest_eigenvectors(lambda V: A @ V, rng.normal(size=(120, 10)), 4)
    np.testing.assert_allclose(np.abs(found[:, :4].T @ vectors[:, :4]), np.eye(4), atol=1e-7)
    with pytest.raises(np.linalg.LinAlgError, match="not converged"):
        largest_eigenvectors(lambda V: A @ V, rng.normal(size=(120, 10)), 4, tol=0.0, max_restarts=2)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        largest_eigenvectors(lambda V: np.nan * V, rng.normal(size=(120, 10)), 4)


def test_start_given_is_where_the_weights_come_from():
    X = sample(40, 15)
    init = np.random.default_rng(3).normal(size=(15, 3))
    given = Problem(X, laplacian(knn_graph(X)), 3, 1.0, 1.0)
    expected = given.solve(row_norms(init), None).value
    assert JELSR(n_clusters=3, init=init).fit(X).trace_[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("shape", [(8, 1), (8, 20), (8, 8)])
def test_with_as_many_clusters_as_samples_the_embedding_is_free_and_the_rest_a_group_lasso(shape):
    X = sample(*shape)
    fit = JELSR(1, n_clusters=8, alpha=0.1, tol=1e-9).fit(X)
    W = MultiTaskLasso(0.1 / 16, fit_intercept=False, max_iter=100000, tol=1e-10).fit(X, np.eye(8)).coef_.T
    best = ((X @ W - np.eye(8)) ** 2).sum() + 0.1 * row_norms(W).sum()
    assert fit.objective_ == pytest.approx(laplacian(knn_graph(X)).trace() + best, rel=1e-5)
