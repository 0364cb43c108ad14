"""NDFS: every block as derived, descent, the released program's numbers, and where W collapses."""

import itertools

import numpy as np
import pytest
from samples import SHAPES, real
from samples import clusters as sample
from scipy import sparse
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from ufs_bench.methods import NDFS
from ufs_bench.methods.core import ridge
from ufs_bench.methods.core.graphs import affinity_graph, graph_laplacian, knn_graph, laplacian, median_distance
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import EPS
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import graph_labels, indicator, kmeans_labels
from ufs_bench.methods.ndfs import LIFT, paper, released
from ufs_bench.methods.ndfs.paper import Problem
from ufs_bench.methods.ndfs.released import Problem as ReleasedProblem


def problem(shape, alpha=2.0, beta=0.5, gamma=1e3):
    X = sample(*shape)
    return Problem(X, laplacian(knn_graph(X), normalized=True), alpha, beta, gamma)


def lifted_start(n_samples, n_clusters=3):
    return indicator(np.arange(n_samples) % n_clusters, n_clusters) + 0.2


def objective(given, F, W, eps=EPS):
    misfit = given.X @ W - F
    away = F.T @ F - np.eye(F.shape[1])
    rows = np.sqrt((W**2).sum(axis=1) + eps)
    fit = (misfit**2).sum() + given.beta * rows.sum()
    return np.trace(F.T @ given.L.toarray() @ F) + given.alpha * fit + given.gamma / 2 * (away**2).sum()


@pytest.fixture
def pair(reference):
    pair = reference("step05_ndfs")
    given = ReleasedProblem(pair["X"], sparse.csr_array(pair["L"]), 1.0, 1.0, 1e8)
    return pair, given, given.start(pair["F0"])


def test_released_sweeps_are_reproduced(pair):
    pair, given, state = pair
    values = []
    for count in range(1, 101):
        state = given.sweep(state)
        values.append(state.value)
        if count in (1, 5):
            np.testing.assert_allclose(state.F, pair[f"F{count}"], atol=1e-8)
            np.testing.assert_allclose(state.W, pair[f"W{count}"], atol=1e-8)
    np.testing.assert_allclose(values, pair["obj100"].ravel(), rtol=1e-6)
    np.testing.assert_allclose(state.F, pair["F100"], atol=1e-6)
    np.testing.assert_allclose(row_norms(state.W), row_norms(pair["W100"]), atol=1e-6)


def test_released_fit_is_those_sweeps_and_its_graph_the_pairs(pair, reference):
    pair, *_ = pair
    graphs = reference("step01_graphs")
    X = pair["X"]
    assert median_distance(X) == pytest.approx(graphs["sigma"].item(), rel=1e-12)
    with pytest.warns(UserWarning, match="max_iter=5"):
        fitted = NDFS(n_clusters=4, variant="released", init=pair["F0"], max_iter=5, tol=1e-12).fit(X)
    np.testing.assert_allclose(fitted.trace_[1:], pair["obj5"].ravel(), rtol=1e-8)
    np.testing.assert_allclose(fitted.scores_, row_norms(pair["W5"]), atol=1e-8)


@pytest.mark.parametrize("n_samples", [2, 3, 6, 7])
def test_median_distance_is_that_of_the_whole_matrix(n_samples):
    X = sample(n_samples, 4)
    assert median_distance(X) == pytest.approx(np.median(cdist(X, X)), rel=1e-12)


def test_the_start_by_k_means_is_that_of_its_labels_on_the_samples():
    X = sample(*SHAPES[0])
    fitted = NDFS(n_clusters=3, init="kmeans", random_state=5).fit(X)
    labels = kmeans_labels(X, 3, int(np.random.default_rng(5).integers(2**31)))
    np.testing.assert_array_equal(fitted.scores_, NDFS(n_clusters=3, init=indicator(labels, 3) + LIFT).fit(X).scores_)
    with pytest.raises(ValueError, match="init='random' must be one of 'kmeans'"):
        NDFS(init="random").fit(X)


@pytest.mark.parametrize("shape", SHAPES)
def test_collapse_is_where_w_vanishes(shape):
    X = sample(*shape)
    found = set()
    for beta in np.geomspace(0.1, 100, 7):
        selector = NDFS(n_clusters=3, beta=beta, random_state=0, max_iter=2000).fit(X)
        bound = ridge.smallest_collapsing_weight(X, selector.indicators_)
        assert (selector.status_ == "collapsed") == (beta >= bound)
        if abs(beta / bound - 1) > 0.05:
            assert (selector.scores_.max() < 1e-4) == (selector.status_ == "collapsed")
        found.add(selector.status_)
    assert found == {"collapsed", "converged"}


def polished(given, state, rounds, steps):
    """Return the objective after scipy's L-BFGS-B on F, the weights of W renewed between its runs."""
    F, W, shape = state.F, state.W, state.F.shape
    for _ in range(rounds):
        system = given.ridge.factor(given.beta / (2 * np.sqrt((W**2).sum(axis=1) + EPS)))

        def function(x, system=system):
            F = x.reshape(shape)
            away = F.T @ F - np.eye(shape[1])
            MF = given.L @ F + given.alpha * system.misfit(F)
            return np.vdot(F, MF) + given.gamma / 2 * (away**2).sum(), (2 * MF + 2 * given.gamma * F @ away).ravel()

        bounds = [(0, None)] * F.size
        options = {"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-15, "gtol": 1e-12, "maxcor": 20}
        found = minimize(function, F.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        F = np.maximum(found.x.reshape(shape), 0.0)
        W = system.coefficients(F)
    return objective(given, F, W)


CASES = list(itertools.product(SHAPES, (1.0, 1e2, 1e5, 1e8)))
FEW = [((60, 25), 1e8), ((20, 70), 1e2), ((12, 12), 1.0)]  # a shape each; an attack takes seconds


@pytest.mark.parametrize(
    ("shape", "gamma"), [pytest.param(*case, marks=[] if case in FEW else pytest.mark.slow) for case in CASES]
)
def test_no_other_optimiser_lowers_a_converged_fit(shape, gamma):
    given = problem(shape, 1.0, 0.1, gamma)
    rng = np.random.default_rng(0)
    for first in (lifted_start(shape[0]), rng.random((shape[0], 3)) + 0.2):
        state, trace = iterate(given.sweep, given.start(first), residual=given.change, max_iter=2000, tol=1e-6)
        assert trace.status == "converged"
        assert polished(given, state, 20, 500) > 0.99 * state.value


SETTINGS = [(1.0, 1.0), (1.0, 1e-2), (100.0, 1e-2), (1e-2, 1e-2), (1e4, 1.0), (1e4, 1e-4)]


@pytest.mark.slow
@pytest.mark.parametrize("variant", [paper, released])
@pytest.mark.parametrize(("alpha", "beta"), SETTINGS)
@pytest.mark.parametrize("name", ["umist", "pie10p", "orl", "coil20"])
def test_no_other_optimiser_lowers_a_converged_fit_on_real_data(data_dir, name, alpha, beta, variant):
    X, n_clusters = real(data_dir, name)
    labels = shared(X, graph_labels, n_clusters, 0, affinity_graph, "heat", 5)
    first = variant.first(indicator(labels, n_clusters), X, np.random.default_rng(0)) + LIFT
    given = Problem(X, shared(X, graph_laplacian, "heat", 5), alpha, beta, 1e8)
    state, trace = iterate(given.sweep, given.start(first), residual=given.change, max_iter=300, tol=1e-6)
    assert trace.status == "converged"
    assert (np.diff(trace.objective) <= 1e-12 * trace.objective[:-1]).all()
    assert polished(given, state, 3, 100) > 0.99 * state.value


@pytest.mark.slow
def test_a_converged_fit_gains_little_by_going_on(data_dir):
    # Here a sweep whose extrapolation fails changes a ten-millionth, the sweeps after it a thousandth together.
    X, n_clusters = real(data_dir, "pie10p")
    setting = {"n_clusters": n_clusters, "alpha": 1e6, "beta": 1e-2, "random_state": 0}
    fitted, further = NDFS(**setting).fit(X), NDFS(**setting, tol=1e-9, max_iter=400).fit(X)
    assert fitted.status_ == "converged"
    assert fitted.objective_ <= (1 + 2e-4) * further.objective_
