"""EUFS: the blocks of our solver, and the paper's ADMM."""

from functools import partial

import numpy as np
import pytest
from samples import clusters, real
from scipy import sparse

from ufs_bench.methods.core.graphs import knn_graph, laplacian
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.starts import kmeans_labels, scaled_indicator
from ufs_bench.methods.eufs import EUFS, admm
from ufs_bench.methods.eufs.penalty import PENALTIES, Problem, smallest_collapsing_beta

SHAPES = [(40, 12), (15, 60), (12, 12)]
sample = partial(clusters, rest=0.0)


def problem_and_state(shape, alpha=1.5, beta=0.2):
    X = sample(*shape)
    U = scaled_indicator(kmeans_labels(X, 3, 0), 3)
    given = Problem(X, laplacian(knn_graph(X), normalized=True), alpha, beta)
    return given, given.state(U, X.T @ U, 10.0)


def rounded(X, U, L, alpha, beta):
    """Return the printed objective at the nearest feasible indicator, with its best V."""
    _, labels = np.unique(U.argmax(axis=1), return_inverse=True)
    U = scaled_indicator(labels, labels.max() + 1)
    given, V = Problem(X, L, alpha, beta), X.T @ U
    for _ in range(100):
        V = given.step_v(U, V)
    return given.state(U, V, 0.0).value


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zeta", PENALTIES[::2])
def test_neither_block_raises_the_objective(shape, zeta):
    given, state = problem_and_state(shape)
    state = given.state(state.U, state.V, zeta)
    for _ in range(10):
        between = given.state(given.step_u(state.U, state.V, zeta), state.V, zeta)
        after = given.state(between.U, given.step_v(between.U, state.V), zeta)
        assert between.U.min() >= 0
        assert after.value <= between.value * (1 + 1e-12)
        assert between.value <= state.value * (1 + 1e-12)
        state = after


@pytest.mark.parametrize("shape", SHAPES)
def test_perturbations_of_a_block_at_its_minimum_do_not_lower_the_objective(shape):
    given, (U, V, zeta, _) = problem_and_state(shape)
    best_u, best_v = U, V
    for _ in range(100):
        best_u = given.step_u(best_u, V, zeta)
    for _ in range(400):
        best_v = given.step_v(U, best_v)
    rng = np.random.default_rng(1)
    for _ in range(60):
        size = 10 ** rng.uniform(-4, -1)
        moved_u = np.maximum(best_u + size * rng.normal(size=U.shape), 0)
        moved_v = best_v + size * rng.normal(size=V.shape)
        assert given.state(moved_u, V, zeta).value >= given.state(best_u, V, zeta).value * (1 - 1e-8)
        assert given.state(U, moved_v, zeta).value >= given.state(U, best_v, zeta).value * (1 - 1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_the_admm_learned_has_the_objective_that_is_reported():
    X = sample(40, 12)
    fit = EUFS(5, n_clusters=3, solver="admm", random_state=0).fit(X)
    U, V = fit.indicators_, fit.loadings_
    printed = np.linalg.norm(X - U @ V.T, axis=1).sum() + 0.01 * np.linalg.norm(V, axis=1).sum()
    printed += np.vdot(U, laplacian(knn_graph(X), normalized=True) @ U)
    assert fit.objective_ == pytest.approx(printed, rel=1e-9)
    np.testing.assert_array_equal(fit.labels_, U.argmax(axis=1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["penalty", "admm"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_collapse_begins_at_the_threshold(shape, solver):
    X = sample(*shape)
    U = scaled_indicator(kmeans_labels(X, 3, 0), 3)
    threshold = np.linalg.norm((X / np.linalg.norm(X, axis=1, keepdims=True)).T @ U, axis=1).max()
    assert smallest_collapsing_beta(X, U) == pytest.approx(threshold)
    # The final U is not the start's: hence the margins.
    for factor, expected in ((3.0, True), (0.1, False)):
        selector = EUFS(5, n_clusters=3, beta=factor * threshold, solver=solver, random_state=0).fit(X)
        assert (selector.status_ == "collapsed") == expected
        assert selector.scores_.any() != expected


def test_admm_is_that_of_the_reference(reference):
    pair = reference("step12_eufs")
    X, L, U0 = pair["X"], sparse.csr_array(pair["Ln"]), pair["U0"]
    given = admm.Problem(X, L, 1.0, 1.0, mu0=1e-3, rho=1.1)
    start = given.start(U0)
    np.testing.assert_allclose(start.V, pair["V0"], atol=1e-12)
    first = given.sweep(start)
    for name in "UVE":
        np.testing.assert_allclose(getattr(first, name), pair[f"{name}1"], atol=1e-10)
    last, trace = iterate(given.sweep, start, max_iter=100, tol=0)
    np.testing.assert_allclose(last.U, pair["U100"], atol=1e-7)
    np.testing.assert_allclose(last.V, pair["V100"], atol=1e-7)
    history = pair["h100"]  # ||X - UV'||_21, tr U'LU, ||V||_21, ||Z - U||_F, ||X - UV' - E||_F
    np.testing.assert_allclose(trace.objective[1:], history[:, :3].sum(axis=1), rtol=1e-8)
    assert np.linalg.norm(last.Z - last.U) == pytest.approx(history[-1, 3], rel=1e-6)
    assert np.linalg.norm(X - last.U @ last.V.T - last.E) == pytest.approx(history[-1, 4], rel=1e-6)


@pytest.mark.slow  # it fits both solvers on real data
def test_ours_ends_feasible_and_below_the_rounded_admm_where_that_ends_infeasible(data_dir):
    X, _ = real(data_dir, "pie10p", "none")
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    U = scaled_indicator(kmeans_labels(X, 10, 0), 10)
    L = laplacian(knn_graph(X), normalized=True)
    given = admm.Problem(X, L, 1.0, 0.01, mu0=1e-3, rho=1.1)
    state, trace = iterate(given.sweep, given.start(U), residual=given.residual, max_iter=100, tol=1e-3)
    assert trace.status == "max_iter"
    assert state.U.min() < -0.1
    selector = EUFS(n_clusters=10, init=U).fit(X)
    assert selector.status_ == "converged"
    assert selector.objective_ < 0.9 * rounded(X, state.U, L, 1.0, 0.01)
