"""UDFS: the reference matrices and sweeps, descent, exact steps, and a start that no order of features decides."""

import itertools

import numpy as np
import pytest
from samples import correlated

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.methods import UDFS
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.reweighting import log_scale
from ufs_bench.methods.udfs.local_scatter import local_scatter, neighborhood_spectra
from ufs_bench.methods.udfs.paper import Problem

LARGE = (30, 210)  # beyond 200 features the eigenvectors are those of an iteration
SHAPES = [(60, 25), (20, 70), (12, 12), LARGE]


def sample(n_samples, n_features, seed=0):
    X = correlated(n_samples, n_features, seed)
    return X - X.mean(axis=0)


def problem(shape, gamma=0.5, lam=0.1, n_columns=3):
    X = sample(*shape)
    return Problem(X, local_scatter(*neighborhood_spectra(X, 5), lam), n_columns, gamma)


@pytest.mark.parametrize(("lam", "name"), [(1.0, "L_lam1"), (1000.0, "L_lam1000")])
def test_local_scatter_is_that_of_the_released_program(reference, lam, name):
    pair = reference("step04_udfs")
    L = local_scatter(*neighborhood_spectra(pair["X"], 5), lam)
    np.testing.assert_allclose(L.toarray(), pair[name], atol=1e-10)
    if lam == 1:
        np.testing.assert_allclose(pair["X"].T @ (L @ pair["X"]), pair["A"], atol=1e-10)


def test_released_fit_is_that_of_the_program(reference):
    pair = reference("step04_udfs")
    fits = [UDFS(n_clusters=4, variant="released", max_iter=sweeps, tol=0).fit(pair["X"]) for sweeps in (0, 19)]
    projectors = [fit.coef_ @ fit.coef_.T for fit in fits]
    np.testing.assert_allclose(projectors[0], pair["P1"], atol=1e-12)
    np.testing.assert_allclose(projectors[1], pair["W20"] @ pair["W20"].T, atol=1e-8)
    np.testing.assert_allclose(fits[1].trace_, pair["obj20"].ravel(), rtol=1e-10)
    np.testing.assert_allclose(fits[1].scores_, pair["rownorm20"].ravel(), atol=1e-8)
    printed = fits[1].trace_[-1] - fits[1].objective_
    assert 0 < printed < 40 * np.finfo(float).eps ** 0.5


def test_released_start_is_one_of_many_that_cost_the_same_and_lead_elsewhere():
    X = sample(20, 70)
    settings = {"n_clusters": 3, "variant": "released", "tol": 0}
    N = np.linalg.svd(X)[2][19:].T  # the null space of M: D = I does not tell its vectors apart
    bases = [np.linalg.qr(N @ np.random.default_rng(seed).normal(size=(51, 3)))[0] for seed in range(5)]
    bases.append(UDFS(**settings, max_iter=0).fit(X).coef_)
    gram = problem((20, 70)).gram
    assert max(gram.form(W) for W in bases) < 1e-8 * gram.diagonal().sum()
    ends = [frozenset(UDFS(**settings, max_iter=19, init=W).fit(X).subset(10)) for W in bases]
    assert len(set(ends)) == len(bases)


def test_constant_features_come_first_in_the_released_variant():
    X = np.insert(sample(40, 12), [0, 5, 10], 0.3, axis=1)
    fit = UDFS(3, n_clusters=3, variant="released", max_iter=19, tol=0).fit(X)
    assert set(fit.subset(3)) == {0, 6, 12}


def test_start_given_leads_to_the_end_of_the_released_program(reference):
    pair = reference("step04_udfs")
    fit = UDFS(n_clusters=4, init=pair["W20"], max_iter=500, tol=1e-12).fit(pair["X"])
    assert fit.trace_[-1] <= pair["obj20"][0, -1]  # both smoothed
    begin = UDFS(n_clusters=4, init=pair["W20"], max_iter=0, tol=0).fit(pair["X"])
    assert begin.trace_[-1] == pytest.approx(pair["obj20"][0, -1], rel=1e-5)  # another eps
    np.testing.assert_allclose(begin.scores_, pair["rownorm20"].ravel(), atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_perturbation_of_the_step_lowers_what_it_minimises(shape):
    given = problem(shape)
    rng = np.random.default_rng(1)
    s = rng.uniform(0.1, 1.0, shape[1])

    def surrogate(W):
        return given.gram.form(W) + given.gamma * ((W**2).sum(axis=1) / (2 * s)).sum()

    W = given.solve(s, None).W
    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-10)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            moved = np.linalg.qr(W + size * rng.normal(size=W.shape))[0]
            assert surrogate(moved) >= surrogate(W) * (1 - 1e-12)


@pytest.mark.parametrize("shape", [(60, 25), (20, 70)])
def test_extrapolation_ends_no_higher_than_many_plain_sweeps(shape):
    given = problem(shape)
    start = state = given.subspace_start()
    for _ in range(400):
        state = given.solve(np.exp(log_scale(state.W)), state.guess)
    fast, _ = iterate(given.sweep, start, max_iter=400, tol=1e-10)
    assert fast.value <= state.value * (1 + 1e-3)


@pytest.mark.parametrize("shape", [(20, 70), LARGE])
def test_start_spans_no_local_scatter_and_the_features_that_vary_most(shape):
    given = problem(shape)
    W = given.subspace_start().W
    assert given.gram.form(W) < 1e-8 * given.gram.form(np.eye(shape[1]))
    # The smallest eigenvectors of diag(1 / std) within the null space of M, which is that of the centred X.
    N = np.linalg.svd(given.X)[2][np.linalg.matrix_rank(given.X) :].T
    B = np.linalg.eigh(N.T @ (N / given.X.std(axis=0)[:, None]))[1][:, :3]
    np.testing.assert_allclose(W @ W.T, N @ B @ B.T @ N.T, atol=1e-3)


SLICES = {"umist": (slice(120), 6), "orl": (slice(100), 10)}


QUICKEST = ("umist", 100.0)
LATER = [case for case in itertools.product(SLICES, (0.01, 1.0, 100.0)) if case != QUICKEST]


@pytest.mark.parametrize(  # eight fits to the end for each
    ("name", "gamma"), [QUICKEST, *(pytest.param(*case, marks=pytest.mark.slow) for case in LATER)]
)
def test_no_coordinates_and_no_perturbed_restart_end_lower(data_dir, name, gamma):
    rows, c = SLICES[name]
    X = scale(load_dataset(name, data_dir, download=False).X[rows, ::4], "minmax")
    settings = {"n_clusters": c, "gamma": gamma, "tol": 1e-10, "max_iter": 3000}
    fit = UDFS(**settings).fit(X)
    cost = np.einsum("ij,ij->j", X, local_scatter(*neighborhood_spectra(X, 5), 1.0) @ X)
    cheap, rng = np.argsort(cost), np.random.default_rng(0)
    starts = [np.eye(X.shape[1])[:, cheap[:c]]]
    starts += [np.eye(X.shape[1])[:, rng.choice(cheap[: factor * c], c, replace=False)] for factor in (2, 4, 8)]
    starts += [np.linalg.qr(fit.coef_ + size * rng.normal(size=fit.coef_.shape))[0] for size in (1e-4, 1e-3, 1e-2)]
    for W in starts:
        assert UDFS(**settings, init=W).fit(X).objective_ >= fit.objective_ * (1 - 1e-6)


def test_large_gamma_leaves_one_feature_per_column():
    scores = UDFS(n_clusters=3, gamma=1e3).fit(sample(20, 70)).scores_
    assert (scores > 1e-6).sum() == 3
    np.testing.assert_allclose(np.sort(scores)[-3:], 1, atol=1e-6)
