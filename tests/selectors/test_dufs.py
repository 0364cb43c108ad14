"""DUFS: the released program's losses and steps, exact gradients, expected gates, and the planted features."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from samples import blobs, real
from scipy.integrate import quad
from scipy.optimize import check_grad
from sklearn.datasets import make_moons

from ufs_bench.methods import DUFS
from ufs_bench.methods.dufs import released, standardized
from ufs_bench.methods.dufs.flips import Flips
from ufs_bench.methods.dufs.gates import gate_moments, open_share
from ufs_bench.methods.dufs.paper import Problem, largest_change
from ufs_bench.methods.dufs.walk_score import walk_score

PAIRS = [f"{data}_s{setting}" for data in ("moons60x20", "umist60x40", "pie60x100") for setting in (1, 2)]
GATES = ("feature", "entry")
COMMON = {"scale_factor": 5.0, "n_neighbors": 1, "noise": 0.5}


def moons(seed, n_samples=120, n_noise=18):
    rng = np.random.default_rng(seed)
    X, _ = make_moons(n_samples, noise=0.05, random_state=seed)
    return np.hstack([X, rng.normal(size=(n_samples, n_noise))])


def program(pair):
    """Return the price of the pair, and the released problem that draws its noise."""
    price = None if pair["param_free"] else float(pair["lam"])
    noise = iter(pair["noise"].astype(float))
    rng = SimpleNamespace(standard_normal=lambda shape: next(noise))
    common = {"scale_factor": float(pair["fac"]), "n_neighbors": int(pair["knn"]) - 1, "noise": float(pair["sigma"])}
    rate = float(pair["learning_rate"])
    return price, released.Problem(pair["X"].astype(float), price, learning_rate=rate, rng=rng, **common)


@pytest.mark.parametrize("name", PAIRS)
def test_twenty_steps_of_the_released_program_are_reproduced(reference, name):
    pair = reference(f"modern/dufs_{name}")
    price, problem = program(pair)
    state, trace = problem.solve(pair["mu"][0].astype(float), 19, 0)
    # A difference of two nearly equal terms in single precision, where there is a price: compared with the terms.
    size = np.abs(pair["score"]) / (pair["open_gates"] if price is None else 1)
    assert np.abs((trace.objective - pair["loss"]) / size).max() < 3e-6
    np.testing.assert_allclose(state.mu, pair["mu"][19], atol=2e-5)
    assert open_share(state.mu, 0.5)[0] == pytest.approx(pair["open_gates"][19], rel=1e-6)
    last = state.mu - state.gradient * problem.learning_rate
    np.testing.assert_allclose(last, pair["mu"][20], atol=2e-5)


def test_a_released_fit_with_fresh_noise_is_that_loop_and_reports_its_random_start():
    X = blobs()[0]
    fit = DUFS(5, variant="released", max_iter=3, tol=0, random_state=4).fit(X)
    rng = np.random.default_rng(4)
    start = 0.01 * rng.standard_normal(X.shape[1])
    problem = released.Problem(standardized(X), None, rng=rng, **COMMON)
    np.testing.assert_array_equal(fit.scores_, problem.solve(start, 3, 0)[0].mu)
    np.testing.assert_array_equal(fit.start_, np.argsort(-start)[:5])
    assert not hasattr(DUFS(5, variant="released", init=start, max_iter=1, tol=0).fit(X), "start_")


@pytest.mark.parametrize("middle", ["median", "mean"])
@pytest.mark.parametrize("n_samples", [7, 8])
def test_gradient_of_the_walk_is_exact(n_samples, middle):
    rng = np.random.default_rng(0)
    Y, change = rng.normal(size=(2, n_samples, 5))
    K, dK = Y @ Y.T, change @ change.T
    value, G = walk_score(K, 2.0, 2, middle)
    ahead, behind = (walk_score(K + h * dK, 2.0, 2, middle)[0] for h in (1e-6, -1e-6))
    assert np.vdot(G, dK) == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)
    D = ((Y[:, None] - Y) ** 2).sum(axis=2)
    second = np.sort(D, axis=1)[:, 2]
    W = np.exp(-D / (2 * (np.median(second) if middle == "median" else second.mean())))
    P = W / W.sum(axis=1, keepdims=True)
    assert value == pytest.approx(np.trace(Y.T @ P @ P @ Y))


@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("lambda_", [None, 0.7])
def test_gradient_of_the_loss_is_exact(gates, lambda_):
    rng = np.random.default_rng(1)
    problem = Problem(rng.normal(size=(20, 8)), lambda_, gates=gates, batch_size=9, **COMMON)
    mu = 0.5 * rng.normal(size=8)
    error = check_grad(lambda mu: problem.state(mu).value, lambda mu: problem.state(mu).gradient, mu, epsilon=1e-7)
    assert error < 1e-5 * np.linalg.norm(problem.state(mu).gradient)


@pytest.mark.parametrize("mu", [-1.2, -0.5, 0.1, 0.5, 1.4])
def test_moments_of_a_gate_are_those_of_quadrature(mu):
    def gate(e):
        return np.clip(mu + 0.5 + 0.4 * e, 0, 1)

    kinks = [(-mu - 0.5) / 0.4, (0.5 - mu) / 0.4]
    for power, moment in zip((1, 2), gate_moments(np.array([mu]), 0.4)[:2], strict=True):
        expected = quad(lambda e: gate(e) ** power * np.exp(-(e**2) / 2), -9, 9, points=kinks)[0] / np.sqrt(2 * np.pi)  # noqa: B023
        assert moment[0] == pytest.approx(expected, abs=1e-9)
    ahead, behind = (gate_moments(np.array([mu + h]), 0.4) for h in (1e-6, -1e-6))
    slopes = np.array(gate_moments(np.array([mu]), 0.4)[2:])
    np.testing.assert_allclose(slopes, (np.array(ahead[:2]) - np.array(behind[:2])) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("gates", GATES)
def test_expected_gates_score_as_drawn_ones_do_on_average(gates):
    X = standardized(blobs(n_samples=40, n_features=400)[0])
    rng = np.random.default_rng(0)
    problem = Problem(X, 0.0, gates=gates, **COMMON)
    shape = X.shape[1] if gates == "feature" else X.shape
    gated = [X * np.clip(0.5 + 0.5 * rng.standard_normal(shape), 0, 1) for _ in range(40)]
    drawn = [-walk_score(Y @ Y.T, 5.0, 1, "mean")[0] / X.size for Y in gated]
    assert problem.state(np.zeros(400)).value == pytest.approx(np.mean(drawn), rel=0.2)  # by 1 / n_features


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"gates": "entry"},
        *(pytest.param(s, marks=pytest.mark.slow) for s in ({"lambda_": 2.0}, {"scale_factor": 1.0})),
    ],
)
def test_the_two_features_of_the_moons_are_found_among_noise(setting, seed):
    fit = DUFS(2, **setting).fit(moons(seed))
    assert fit.status_ == "converged"
    # With narrow weights the lowest loss has a third gate open, whose feature may gain more than these two.
    assert {0, 1} <= set(fit.subset(3 if setting.get("scale_factor") == 1.0 else 2))


def test_fit_ends_where_no_other_optimiser_goes_lower():
    X = standardized(moons(0))
    fit = DUFS(2, tol=0).fit(X)
    problem = Problem(X, None, **COMMON)
    rng = np.random.default_rng(0)
    assert fit.objective_ == pytest.approx(problem.state(fit.mu_).value)
    for _ in range(30):
        moved = np.clip(fit.mu_ + 10 ** rng.uniform(-4, -1) * rng.normal(size=20), -problem.bound, problem.bound)
        assert problem.state(moved).value >= fit.objective_ - 1e-9


def test_a_constant_feature_is_left_to_the_price_alone_and_comes_last():
    X = np.column_stack([moons(0), np.full(120, 3.0)])
    fit = DUFS(2).fit(X)
    problem = Problem(standardized(X), None, **COMMON)
    state = problem.state(fit.mu_)
    assert state.gain[-1] == 0
    assert fit.mu_[-1] == -problem.bound
    assert fit.scores_.argmin() == 20 and fit.ranking_[-1] == 20
    assert (state.gain < 0).any()  # others do harm, and still come before it


@pytest.mark.parametrize("gates", GATES)
def test_order_of_samples_and_features_does_not_matter_even_in_groups(gates):
    X, rng = moons(1, n_samples=90), np.random.default_rng(0)
    rows, columns = rng.permutation(90), rng.permutation(20)
    fit, moved = (DUFS(2, gates=gates, batch_size=40, max_iter=5, tol=0).fit(A) for A in (X, X[rows][:, columns]))
    np.testing.assert_allclose(moved.scores_, fit.scores_[columns], rtol=1e-6)


def test_a_step_of_the_released_program_may_see_a_part_of_the_samples():
    X, rng = standardized(moons(0)), np.random.default_rng(0)
    problem = released.Problem(X, None, rng=rng, batch_size=50, **COMMON)
    rng = np.random.default_rng(0)
    part = X[rng.permutation(120)[:50]]
    score, _ = released.drawn_score(part, 0.5 + 0.5 * rng.standard_normal(part.shape), 5.0, 1)
    assert problem.state(np.zeros(20)).value == pytest.approx(score / open_share(np.zeros(20), 0.5)[0])


def real_slice(data_dir, name):
    X, rng = real(data_dir, name)[0], np.random.default_rng(0)
    rows, columns = (np.sort(rng.permutation(size)[:60]) for size in X.shape)
    return X[rows][:, columns]


@pytest.mark.parametrize(
    "setting",
    [
        *(pytest.param(setting, marks=pytest.mark.slow) for setting in ({}, {"lambda_": 2.0})),
        pytest.param({"gates": "entry"}, marks=pytest.mark.slow),
        {"batch_size": 31, "n_neighbors": 2},
    ],
)
@pytest.mark.parametrize("name", ["orl", *(pytest.param(name, marks=pytest.mark.slow) for name in ("usps", "webkb"))])
def test_no_flip_of_a_gate_lowers_a_converged_fit(data_dir, name, setting):
    X = real_slice(data_dir, name)
    fit = DUFS(10, **setting).fit(X)
    problem = Problem(standardized(X), **{**COMMON, "lambda_": None, **setting})
    assert fit.status_ == "converged"
    assert fit.objective_ == pytest.approx(problem.state(fit.mu_).value, rel=1e-12)
    for j, end in itertools.product(range(60), (-problem.bound, problem.bound)):
        mu = np.where(np.arange(60) == j, end, fit.mu_)
        assert problem.state(mu).value >= fit.objective_ - 1.1e-6 * abs(fit.objective_)


@pytest.mark.parametrize("setting", [{}, {"gates": "entry"}, {"batch_size": 20, "n_neighbors": 2}])
def test_the_loss_after_a_flip_is_exact_or_bounded(setting):
    X = standardized(blobs(n_samples=40, n_features=30)[0])
    problem = Problem(X, None, **{**COMMON, **setting})
    mu = np.where(np.random.default_rng(0).random(30) < 0.4, problem.bound, -problem.bound)
    state = problem.state(mu)
    flips = Flips(problem, state)
    for j in range(30):
        there = problem.state(np.where(np.arange(30) == j, -mu, mu)).value
        assert flips.value(j, -mu[j], np.inf) == pytest.approx(there, rel=1e-10)
        low, high = (flips.value(j, -mu[j], there + shift * abs(there)) for shift in (-1e-9, 1e-9))
        assert low == np.inf or low == pytest.approx(there, rel=1e-10)
        assert high == pytest.approx(there, rel=1e-10)
    shifts = [flips.value(j, -mu[j], state.value - 0.5 * abs(state.value)) for j in range(30)]
    assert np.isinf(shifts).sum() > 15  # the bound rules out most


def test_where_every_gate_closes_the_fit_has_collapsed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 0.01 * rng.normal(size=(60, 6))  # where all are open, as smooth as can be
    assert DUFS(2, lambda_=100.0).fit(X).status_ == "collapsed"


def test_largest_change_looks_at_every_size():
    one = np.arange(64)
    assert largest_change(one, one) == 0
    assert largest_change(one, np.roll(one, 32)) == 1
    assert largest_change(one, np.r_[63, one[1:63], 0]) == 0.5  # of the first two
