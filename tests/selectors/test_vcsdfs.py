"""VCSDFS: the released steps, the gradient, descent far below them, planted columns, and large weights."""

import numpy as np
import pytest
from samples import correlated, real
from scipy.optimize import minimize

from ufs_bench.methods import VCSDFS
from ufs_bench.methods.vcsdfs.paper import Problem

PAIRS = [f"vcsdfs_{data}_s{setting}" for data in ("rand60x40", "umist60x40", "pie60x100") for setting in (1, 2)]


def printed(X, W, rho):
    """Return the objective of the docstring."""
    K, V = X @ X.T, X @ W
    return ((K - V @ V.T) ** 2).sum() / 2 + rho * ((W @ W.T).sum() - np.trace(W @ W.T))


@pytest.mark.parametrize("name", PAIRS)
def test_released_sweeps_are_those_of_the_program(reference, name):
    pair = reference(f"modern/{name}")
    settings = {"rho": float(pair["rho"]), "variant": "released", "init": pair["W0"], "tol": 0}
    one, all_ = (VCSDFS(int(pair["k"]), **settings, max_iter=sweeps).fit(pair["X"]) for sweeps in (1, 100))
    np.testing.assert_allclose(one.coef_, pair["W1"], rtol=1e-12)
    np.testing.assert_allclose(all_.coef_, pair["W100"], rtol=1e-11)
    np.testing.assert_allclose(all_.trace_[1:], pair["objective100"], rtol=1e-10)
    np.testing.assert_array_equal(all_.ranking_, pair["ranking100"])
    assert (np.diff(all_.trace_) < 0).all()


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_few_sweeps_end_far_below_the_hundred_of_the_program(reference, name):
    pair = reference(f"modern/{name}")
    fit = VCSDFS(int(pair["k"]), rho=float(pair["rho"]), max_iter=10).fit(pair["X"])
    assert fit.objective_ < 0.99 * pair["objective100"][-1]


def test_released_selection_is_mostly_that_of_its_random_start(data_dir):
    X = real(data_dir, "umist")[0][::4, ::2]
    fits = [VCSDFS(50, variant="released", max_iter=100, tol=0, random_state=seed).fit(X) for seed in (0, 1)]
    chance = 50 * 50 / X.shape[1]
    assert len(set(fits[0].subset(50)) & set(fits[1].subset(50))) < 4 * chance
    assert fits[0].trace_[-1] < 0.999 * fits[0].trace_[-20]  # still falling


@pytest.mark.parametrize("shape", [(30, 12), (10, 25)])
@pytest.mark.parametrize("rho", [0.0, 1.0, 1e4])
def test_gradient_is_that_of_finite_differences_and_the_value_is_the_printed_one(shape, rho):
    X, rng = correlated(*shape), np.random.default_rng(0)
    problem, W, direction = Problem(X, 4, rho), rng.random((shape[1], 4)), rng.normal(size=(shape[1], 4))
    value, gradient = problem.value(W)
    assert value == pytest.approx(printed(X, W, rho), rel=1e-10)
    ends = [problem.value(W + step * direction)[0] for step in (1e-5, -1e-5)]
    assert np.vdot(gradient, direction) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_start_is_the_best_multiple():
    X = correlated(30, 12)
    problem = Problem(X, 4, 1.0)
    for start in problem.starts():
        assert all(problem.value(factor * start.W)[0] >= start.value for factor in (0.5, 0.99, 1.01, 2.0))


@pytest.mark.parametrize("shape", [(40, 15), (12, 30)])
@pytest.mark.parametrize("rho", [1.0, 100.0])
def test_objective_never_rises_and_a_generic_optimiser_finds_nothing_better_nearby(shape, rho):
    X = correlated(*shape)
    fit = VCSDFS(5, rho=rho).fit(X)
    assert fit.status_ == "converged" and (fit.coef_ >= 0).all()
    assert (np.diff(fit.trace_) <= 1e-10 * fit.trace_[:-1]).all()
    assert fit.objective_ == pytest.approx(printed(X, fit.coef_, rho), rel=1e-8)
    problem = Problem(X, 5, rho)

    def flat(w):
        value, gradient = problem.value(w.reshape(shape[1], 5))
        return value, gradient.ravel()

    end = minimize(flat, fit.coef_.ravel(), jac=True, method="L-BFGS-B", bounds=[(0, None)] * fit.coef_.size)
    assert end.fun >= fit.objective_ * (1 - 1e-3)


def test_as_many_columns_as_features_that_span_the_others_leave_nothing():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(30, 3)))[0] @ np.hstack([np.eye(3), np.zeros((3, 9))])
    fit = VCSDFS(3, rho=0.0).fit(X)
    assert fit.objective_ < 1e-8 * ((X @ X.T) ** 2).sum()
    assert set(fit.subset(3)) == {0, 1, 2}


def test_large_rho_leaves_at_most_one_feature_a_column():
    fit = VCSDFS(4, rho=1e6).fit(correlated(30, 12))
    assert (np.count_nonzero(fit.coef_ > 1e-4 * fit.coef_.max(), axis=0) <= 1).all()


def test_the_allowed_work_shortens_a_sweep_that_is_too_long_for_five():
    X = np.random.default_rng(0).random((20, 30))
    each = 30 * 4 * (20 + 300)  # a step: rank 20, and what the pairs cost
    whole, short = Problem(X, 4, 1.0, 1000 * each), Problem(X, 4, 1.0, 60 * each)
    assert [(one.steps, one.sweeps + 1) for one in (whole, short)] == [(100, 10), (12, 5)]
    fit = VCSDFS(4, max_work=60 * each, tol=0).fit(X)
    assert fit.status_ == "max_iter" and fit.n_iter_ == short.sweeps
