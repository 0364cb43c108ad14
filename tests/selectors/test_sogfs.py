"""SOGFS: the printed objective, each block exact, and a graph with as many components as clusters."""

import numpy as np
import pytest
from samples import SHAPES, clusters, squared_distances
from scipy.optimize import minimize

from ufs_bench.methods import SOGFS
from ufs_bench.methods.core.prox import project_simplex, row_norms
from ufs_bench.methods.sogfs.problem import first_graph, n_components


def objective(X, fit, W=None):
    W = fit.coef_ if W is None else W
    S = fit.graph_.toarray()
    L = np.diag((S + S.T).sum(axis=1) / 2) - (S + S.T) / 2
    value = (squared_distances(X @ W) * S).sum() + fit.alpha_ * (S**2).sum() + fit.gamma * row_norms(W).sum()
    return value + 2 * fit.lambda_weight_ * np.trace(fit.embedding_.T @ L @ fit.embedding_)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_a_fit_is_of_its_formula_and_feasible(shape, gamma):
    X = clusters(*shape)
    fit = SOGFS(n_clusters=3, gamma=gamma).fit(X)
    assert fit.status_ == "converged"
    assert fit.objective_ == pytest.approx(objective(X, fit), rel=1e-9)
    assert fit.objective_ <= fit.trace_[-1]
    assert (np.diff(fit.trace_) <= 1e-10 * fit.trace_[:-1]).all()
    for orthonormal in (fit.coef_, fit.embedding_):
        np.testing.assert_allclose(orthonormal.T @ orthonormal, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(fit.graph_.sum(axis=1), 1, rtol=1e-9)
    assert fit.graph_.data.min() > 0 and not fit.graph_.diagonal().any()


@pytest.mark.parametrize("shape", [(12, 12), (20, 40)])
def test_rows_of_the_graph_are_projections_without_the_loop(shape):
    X = clusters(*shape)
    fit = SOGFS(n_clusters=3, gamma=0.1, tol=1e-9, max_iter=2000).fit(X)
    V = -(squared_distances(X @ fit.coef_) + fit.lambda_weight_ * squared_distances(fit.embedding_)) / (2 * fit.alpha_)
    np.fill_diagonal(V, -np.inf)
    np.testing.assert_allclose(fit.graph_.toarray(), project_simplex(V), atol=1e-3)


@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_a_generic_optimiser_of_the_projection_finds_nothing_better(gamma):
    X = clusters(30, 10)
    fit = SOGFS(n_clusters=3, gamma=gamma).fit(X)

    def value(w):  # the nearest orthonormal columns are the projection
        return objective(X, fit, np.linalg.qr(w.reshape(10, 3))[0])

    for step in (1e-3, 1e-1):
        start = fit.coef_ + step * np.random.default_rng(0).normal(size=fit.coef_.shape)
        found = minimize(value, start.ravel(), method="L-BFGS-B", options={"maxiter": 60, "maxfun": 6000})
        assert found.fun >= fit.objective_ * (1 - 1e-4)


def test_the_graph_has_as_many_components_as_clusters():
    X = clusters(40, 15, n_clusters=4)
    fit = SOGFS(n_clusters=4).fit(X)
    assert fit.n_components_ == 4 == n_components(fit.graph_)
    assert SOGFS(n_clusters=4, lambda_=1e-9).fit(X).lambda_weight_ == 1e-9


def test_the_first_graph_is_the_best_for_its_weights():
    X = clusters(30, 8)
    S, weight = first_graph(X, 5)
    d = squared_distances(X)
    order = np.sort(d, axis=1)[:, 1:]
    weights = (5 * order[:, 5] - order[:, :5].sum(axis=1)) / 2
    assert weight == pytest.approx(weights.mean(), rel=1e-9)
    V = -d / (2 * weights[:, None])
    np.fill_diagonal(V, -np.inf)
    np.testing.assert_allclose(S.toarray(), project_simplex(V), atol=1e-9)
