"""FSSL: within its certificate of the optimum, and zero exactly where the theory says so."""

import numpy as np
import pytest
from samples import SHAPES
from samples import correlated as sample
from sklearn.linear_model import MultiTaskLasso

from ufs_bench.methods import FSSL
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.spectral import smooth_vectors
from ufs_bench.methods.fssl import Problem


def target(X, n_clusters=3):
    return smooth_vectors(knn_graph(X), n_clusters, X)


def objective(X, Y, A, mu):
    return row_norms(A).sum() + mu * ((X @ A - Y) ** 2).sum()


def smallest_mu(X, Y):
    """Return the bound up to which A = 0 is the optimum."""
    return 1 / (2 * row_norms(X.T @ Y).max())


def peer(X, Y, mu):
    """Return scikit-learn's coordinate descent on the same problem."""
    lasso = MultiTaskLasso(1 / (2 * len(X) * mu), fit_intercept=False, max_iter=100000, tol=1e-9)
    return lasso.fit(X, Y).coef_.T


@pytest.mark.parametrize(("factor", "shape"), [*zip([2, 10, 100], SHAPES, strict=True), (10, SHAPES[0])])
def test_objective_and_rows_are_those_of_coordinate_descent(shape, factor):
    X = sample(*shape)
    Y = target(X)
    mu = factor * smallest_mu(X, Y)
    selector = FSSL(n_clusters=3, mu=mu, tol=1e-6, max_iter=3000).fit(X)
    A = peer(X, Y, mu)
    best = objective(X, Y, A, mu)
    np.testing.assert_array_equal(selector.embedding_, Y)
    assert objective(X, Y, selector.coef_, mu) == pytest.approx(selector.objective_, rel=1e-12)
    assert selector.status_ == "converged"
    assert best * (1 - 1e-6) <= selector.objective_ <= best * (1 + 1e-6)  # the gap that `tol` allows
    np.testing.assert_allclose(selector.scores_, row_norms(A), atol=5e-3 * row_norms(A).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_optimum_lies_between_the_objective_and_its_certificate_in_every_sweep(shape):
    X = sample(*shape)
    Y = target(X)
    mu = 30 * smallest_mu(X, Y)
    best = objective(X, Y, peer(X, Y, mu), mu)
    problem = Problem(X, Y, mu, 1e-6)
    state = problem.start(None)
    for _ in range(40):
        primal = state.norms.sum() + state.misfit
        assert primal * (1 - state.gap) <= best * (1 + 1e-9)
        assert best <= primal * (1 + 1e-9)
        assert primal <= state.value
        state = problem.sweep(state)
    assert state.gap < 0.01


@pytest.mark.parametrize("shape", SHAPES)
def test_all_is_zero_exactly_up_to_the_bound(shape):
    X = sample(*shape)
    bound = smallest_mu(X, target(X))
    below, above = (FSSL(n_clusters=3, mu=share * bound, tol=1e-6, max_iter=3000).fit(X) for share in (0.999, 1.01))
    assert below.status_ == "collapsed"
    assert not below.coef_.any()
    assert above.status_ == "converged"
    assert above.scores_.max() > 0


def test_features_outside_rank_by_their_nearness_to_entering():
    X = sample(20, 70)
    Y = target(X)
    mu = 3 * smallest_mu(X, Y)
    selector = FSSL(n_clusters=3, mu=mu, tol=1e-5, max_iter=3000).fit(X)
    A = peer(X, Y, mu)
    nearness = row_norms(X.T @ (Y - X @ A))
    outside = ~A.any(axis=1)
    assert outside.sum() > 20
    by_nearness = np.argsort(np.argsort(nearness[outside]))
    by_score = np.argsort(np.argsort(selector.scores_[outside]))
    assert np.corrcoef(by_nearness, by_score)[0, 1] > 0.99


def test_start_does_not_decide_where_it_ends():
    X = sample(20, 70)
    plain = FSSL(n_clusters=3, mu=5.0, tol=1e-5, max_iter=3000).fit(X)
    init = np.random.default_rng(2).normal(size=(70, 3))
    started = FSSL(n_clusters=3, mu=5.0, tol=1e-5, max_iter=3000, init=init).fit(X)
    assert started.trace_[0] > plain.trace_[0]
    assert started.objective_ == pytest.approx(plain.objective_, rel=2e-5)


@pytest.mark.parametrize("shape", [(15, 1), (15, 40)])
def test_as_many_coordinates_as_the_graph_gives(shape):
    X = sample(*shape)
    Y = target(X, 14)
    best = objective(X, Y, peer(X, Y, 5.0), 5.0)
    assert FSSL(1, n_clusters=14, mu=5.0).fit(X).objective_ == pytest.approx(best, rel=2e-4)
