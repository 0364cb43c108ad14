"""SPDFS: the released sweeps, memberships, swaps beside brute force, a ratio that falls, and where it collapses."""

import itertools

import numpy as np
import pytest
from samples import blobs, real
from sklearn.exceptions import ConvergenceWarning

from ufs_bench.methods import SPDFS
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.spdfs import released
from ufs_bench.methods.spdfs.paper import Problem
from ufs_bench.methods.spdfs.scatter import Scatter, memberships, normalized
from ufs_bench.methods.spdfs.swaps import Gains

PAIRS = [f"spdfs_{data}_s{setting}" for data in ("rand60x40", "umist60x40", "pie60x100") for setting in (1, 2)]


def printed(X, W, Y, fuzziness):
    """Return the ratio of the docstring, with the best centres."""
    Z, F = X @ W, Y**fuzziness
    centers = (F.T @ Z) / F.sum(axis=0)[:, None]
    distances = ((Z[:, None] - centers[None]) ** 2).sum(axis=2)
    return (F * distances).sum() / np.trace(W.T @ X.T @ X @ W)


def program(pair):
    """Return where the released sweeps of a pair end."""
    X, fuzziness = normalized(pair["X"]), float(pair["phi"])
    problem = released.Problem(X, int(pair["c"]), int(pair["k"]), int(pair["m"]), fuzziness)
    start = problem.start(pair["U0"].T, pair["W0_before_truncation"])
    return iterate(problem.sweep, start, max_iter=49, tol=0, residual=released.change)[0]


@pytest.mark.parametrize("name", PAIRS)
def test_released_sweeps_are_those_of_the_program(reference, name):
    pair = reference(f"modern/{name}")
    np.testing.assert_allclose(normalized(pair["X"]), pair["X_normalized"], atol=1e-14)
    end = program(pair)
    np.testing.assert_array_equal(end.features, np.sort(pair["selected"]))
    projector = np.zeros_like(pair["W_proj"])
    projector[np.ix_(end.features, end.features)] = end.W @ end.W.T
    np.testing.assert_allclose(projector, pair["W_proj"], atol=1e-10)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name.endswith("s2") else []) for name in PAIRS]
)
def test_swaps_end_below_the_program(reference, name):
    pair = reference(f"modern/{name}")
    settings = {"n_clusters": int(pair["c"]), "n_components": int(pair["m"]), "fuzziness": float(pair["phi"])}
    fit = SPDFS(int(pair["k"]), **settings, random_state=0).fit(pair["X"])
    assert fit.objective_ < program(pair).value


def test_most_of_a_released_selection_is_its_random_start(data_dir):
    X = real(data_dir, "umist")[0][::4, ::2]
    problem = released.Problem(normalized(X), 20, 50, 17, 1.1)
    start = problem.random_start(np.random.default_rng(0))
    end, _ = iterate(problem.sweep, start, max_iter=49, tol=0, residual=released.change)
    chance = 50 * 50 / X.shape[1]
    assert len(set(start.features) & set(end.features)) > max(35, 4 * chance)


@pytest.mark.parametrize("fuzziness", [1.0, 1.1, 1.3, 2.0])
def test_memberships_are_on_the_simplex_and_no_others_are_lower(fuzziness):
    rng = np.random.default_rng(0)
    Z, F = rng.normal(size=(20, 3)), rng.dirichlet(np.ones(4), 20)
    Y, centers = memberships(Z, F, fuzziness)
    np.testing.assert_allclose(Y.sum(axis=1), 1)
    distances = ((Z[:, None] - centers[None]) ** 2).sum(axis=2)
    best = (Y**fuzziness * distances).sum()
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            other = (1 - size) * Y + size * rng.dirichlet(np.ones(4), 20)
            assert (other**fuzziness * distances).sum() >= best * (1 - 1e-12)
    if fuzziness == 1:
        np.testing.assert_array_equal(Y.argmax(axis=1), distances.argmin(axis=1))


@pytest.mark.parametrize(("size", "n_components"), [(3, 2), (4, 1), (3, 3)])
def test_swaps_come_near_the_best_of_all_subsets_and_no_single_one_helps(size, n_components):
    worst = []
    for seed in range(10):
        X = normalized(blobs(30, 10, seed=seed)[0])
        scatter = Scatter(X, np.random.default_rng(seed).dirichlet(np.ones(3), 30))
        gains = Gains(X, 0.4 * X - scatter.middle(X), n_components)
        totals = {subset: gains.total(np.array(subset)) for subset in itertools.combinations(range(10), size)}
        features = gains.by_blocks(np.arange(size))
        while not np.array_equal(features, new := gains.single(features)):
            features = new
        found = gains.total(features)
        near = [total for subset, total in totals.items() if len(set(subset) & set(features)) == size - 1]
        assert found >= max(near) - 1e-6 * size
        worst.append(np.mean(np.array(list(totals.values())) > found + 1e-9))
        if n_components == size:
            assert worst[-1] == 0
    assert np.mean(worst) < 0.02


@pytest.mark.parametrize("shape", [(40, 20), (25, 40)])
@pytest.mark.parametrize(("fuzziness", "n_components"), [(1.1, 2), (1.3, None), (1.0, 0.5), (1.1, 1.0)])
def test_objective_is_the_printed_one_and_never_rises(shape, fuzziness, n_components):
    X = blobs(*shape)[0]
    fit = SPDFS(6, n_clusters=4, fuzziness=fuzziness, n_components=n_components, random_state=0).fit(X)
    assert fit.status_ == "converged" and (np.diff(fit.trace_) <= 1e-10 * fit.trace_[:-1]).all()
    assert fit.objective_ == pytest.approx(printed(normalized(X), fit.coef_, fit.memberships_, fuzziness), rel=1e-8)
    np.testing.assert_allclose(fit.coef_.T @ fit.coef_, np.eye(fit.coef_.shape[1]), atol=1e-12)
    np.testing.assert_array_equal(fit.coef_.any(axis=1), fit.get_support())
    np.testing.assert_array_equal(fit.labels_, fit.memberships_.argmax(axis=1))


@pytest.mark.parametrize("shape", [(40, 20), (25, 40)])
def test_at_the_end_no_other_w_and_no_swap_lowers_the_ratio(shape):
    X = normalized(blobs(*shape, noise=2.0)[0])
    problem = Problem(X, 4, 6, 2, 1.1)
    end, _ = iterate(problem.sweep, problem.start(0), max_iter=50, tol=1e-6)
    scatter, rng = Scatter(X, end.Y**1.1), np.random.default_rng(0)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            W = np.linalg.qr(end.W + size * rng.normal(size=end.W.shape))[0]
            full = np.zeros((shape[1], 2))
            full[end.features] = W
            assert printed(X, full, end.Y, 1.1) >= end.value * (1 - 1e-10)
    outside = np.setdiff1d(np.arange(shape[1]), end.features)
    swaps = [np.append(np.delete(end.features, i), j) for i in range(6) for j in outside]
    assert min(scatter.ratio_on(np.sort(swap), 2)[1] for swap in swaps) >= end.value * (1 - 1e-4)


@pytest.mark.parametrize("size", [4, pytest.param(7, marks=pytest.mark.slow)])
def test_with_the_memberships_at_the_end_no_other_features_are_lower(size):
    X = blobs(40, 14, noise=2.0)[0]
    fit = SPDFS(size, n_clusters=4, random_state=0).fit(X)
    scatter = Scatter(normalized(X), fit.memberships_**1.1)
    subsets = itertools.combinations(range(14), size)
    lowest = min(scatter.ratio_on(np.array(subset), fit.coef_.shape[1])[1] for subset in subsets)
    assert fit.objective_ <= lowest * (1 + 1e-3)


@pytest.mark.parametrize("size", [5, 6])
def test_no_exchange_of_two_features_raises_the_sum(size):
    X = normalized(blobs(30, 25, noise=2.0)[0])
    scatter = Scatter(X, np.random.default_rng(0).dirichlet(np.ones(3), 30))
    gains = Gains(X, 0.5 * X - scatter.middle(X), 2)
    features = np.arange(size)
    while True:
        new = gains.pairs(gains.single(features))
        if np.array_equal(new, features):
            break
        features = new
    outside, now = np.setdiff1d(np.arange(25), features), gains.total(features)
    for leave in itertools.combinations(range(size), 2):
        for join in itertools.combinations(outside, 2):
            assert gains.total(np.append(np.delete(features, leave), join)) <= now + 2e-7 * size


def test_constant_features_do_not_make_the_ratio_zero():
    X = normalized(np.column_stack([blobs(40, 5)[0], np.ones((40, 3))]))
    scatter = Scatter(X, np.random.default_rng(0).dirichlet(np.ones(3), 40))
    W, ratio = scatter.ratio_on(np.array([2, 5, 6, 7]), 1)
    within = X[:, 2] @ scatter.middle(X[:, [2]])[:, 0]
    assert ratio == pytest.approx(within / (X[:, 2] @ X[:, 2]), rel=1e-6) and abs(W[0, 0]) == pytest.approx(1)


def test_samples_that_are_alone_with_a_feature_make_the_ratio_zero():
    rng = np.random.default_rng(0)
    rare = np.zeros((40, 6))
    rare[[3, 3, 3, 8, 8, 8], range(6)] = 1.0
    fit = SPDFS(6, n_clusters=3, n_components=2, random_state=0).fit(np.hstack([rng.normal(size=(40, 10)), rare]))
    assert fit.status_ == "collapsed" and fit.objective_ == pytest.approx(0, abs=1e-12)


def test_a_fit_is_as_low_as_from_any_of_its_first_partitions():
    X = blobs(40, 30, noise=2.0)[0]
    fit = SPDFS(6, n_clusters=4, random_state=0).fit(X)
    problem = Problem(normalized(X), 4, 6, 2, 1.1)
    seed = int(np.random.default_rng(0).integers(2**31))
    ends = [iterate(problem.sweep, problem.start(seed + i), max_iter=50, tol=1e-6)[0].value for i in range(1, 10)]
    assert fit.objective_ <= min(ends) * (1 + 1e-3)


def test_more_features_than_samples_collapse():
    X = blobs(20, 60)[0]
    assert SPDFS(30, n_clusters=4, n_components=1, random_state=0).fit(X).status_ == "collapsed"
    assert SPDFS(4, n_clusters=4, n_components=4, random_state=0).fit(X).status_ == "converged"


def test_the_released_variant_needs_memberships_that_are_fuzzy():
    with pytest.raises(ValueError, match="fuzziness=1 must be above 1 for variant='released'"):
        SPDFS(4, variant="released", fuzziness=1).fit(blobs(30, 8)[0])


def test_a_fit_whose_work_is_spent_says_so_and_a_longer_one_is_lower():
    X = blobs(40, 30, noise=2.0)[0]
    short = SPDFS(6, n_clusters=4, max_work=3e4, random_state=0)
    with pytest.warns(ConvergenceWarning):
        short.fit(X)
    whole = SPDFS(6, n_clusters=4, random_state=0).fit(X)
    assert (short.status_, whole.status_) == ("max_iter", "converged")
    assert len(short.subset(6)) == 6 and whole.objective_ < short.objective_ < np.inf
