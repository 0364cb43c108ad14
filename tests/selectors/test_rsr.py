"""RSR: within its certificate of the optimum, and zero exactly from where the theory says so."""

import numpy as np
import pytest
from samples import SHAPES, correlated
from scipy.optimize import minimize

from ufs_bench.methods import RSR
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.rsr import Problem, Tall, Wide, collapsing_weight


def objective(X, W, lambda_):
    return row_norms(X - X @ W).sum() + lambda_ * row_norms(W).sum()


def weighted(X, s, t, lambda_):
    """Return the W that is best for the weights 1 / (2 s_i) and lambda_ / (2 t_j), by its normal equations."""
    return np.linalg.solve((X.T / s) @ X + lambda_ * np.diag(1 / t), (X.T / s) @ X)


def descended(X, W, lambda_, eps=1e-12):
    """Return where L-BFGS on the smoothed objective leads to from W."""

    def value(w):
        W = w.reshape(X.shape[1], -1)
        E = X - X @ W
        e, r = np.sqrt((E**2).sum(axis=1) + eps), np.sqrt((W**2).sum(axis=1) + eps)
        return e.sum() + lambda_ * r.sum(), (lambda_ * W / r[:, None] - X.T @ (E / e[:, None])).ravel()

    found = minimize(value, W.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 800, "maxfun": 2000})
    return found.x.reshape(W.shape)


@pytest.mark.parametrize(("share", "shape"), [*zip([0.9, 0.2, 0.02], SHAPES, strict=True), (0.2, SHAPES[0])])
def test_a_generic_optimiser_finds_nothing_better(shape, share):
    X = correlated(*shape)
    lambda_ = share * collapsing_weight(X)
    fit = RSR(lambda_=lambda_, tol=1e-6, max_iter=5000).fit(X)
    assert fit.status_ == "converged"
    W = weighted(X, fit.sample_norms_ + 1e-9, fit.scores_ + 1e-9, lambda_)
    np.testing.assert_allclose(row_norms(W), fit.scores_, atol=1e-3 * fit.scores_.max())
    assert objective(X, W, lambda_) == pytest.approx(fit.objective_, rel=1e-5)
    for start in (W, np.eye(len(W))):
        assert objective(X, descended(X, start, lambda_), lambda_) >= fit.objective_ * (1 - 1.1e-6)


@pytest.mark.parametrize("share", [1.0, 0.15])
@pytest.mark.parametrize("shape", SHAPES)
def test_both_forms_are_the_normal_equations_also_where_many_entries_are_zero(shape, share):
    X, rng = correlated(*shape), np.random.default_rng(1)
    X *= rng.random(shape) < share
    s, t = rng.uniform(0.1, 3, shape[0]), rng.uniform(0.01, 3, shape[1])
    W = weighted(X, s, t, 2.0)
    assert shape != (20, 70) or (Wide(X, 2.0, 1e-4).features is not None) == (share < 1)
    for form in (Wide, Tall):
        misfits, norms, product = form(X, 2.0, 1e-4).rows(s, t)
        np.testing.assert_allclose(misfits, row_norms(X - X @ W), rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(norms, row_norms(W), rtol=1e-8, atol=1e-14)
        assert product == pytest.approx(np.trace((X - X @ W).T @ (X / s[:, None])), rel=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_optimum_lies_between_the_objective_and_its_certificate_in_every_sweep(shape):
    X = correlated(*shape)
    lambda_ = 0.1 * collapsing_weight(X)
    best = RSR(lambda_=lambda_, tol=1e-7, max_iter=9000).fit(X).objective_
    problem = (Wide if shape[0] < shape[1] else Tall)(X, lambda_, 1e-5)
    state = problem.start()
    for _ in range(30):
        printed = Problem.printed(problem, state)
        assert printed * (1 - state.gap) <= best * (1 + 1e-9)
        assert best * (1 - 2e-7) <= printed <= state.value
        state = problem.sweep(state)
    assert state.gap < 0.02


@pytest.mark.parametrize("shape", SHAPES)
def test_all_is_zero_exactly_from_the_bound_on(shape):
    X = correlated(*shape)
    bound = collapsing_weight(X)
    above, below = (RSR(lambda_=share * bound, tol=1e-6, max_iter=9000).fit(X) for share in (1.001, 0.99))
    assert above.status_ == "collapsed"
    assert above.objective_ == pytest.approx(row_norms(X).sum(), rel=1e-12)
    assert below.status_ == "converged"
    assert below.scores_.max() > 1e-3
    assert below.objective_ < above.objective_
