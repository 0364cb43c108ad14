"""JGUFS: every block at its minimum, descent, the released program's numbers, and where W collapses."""

import numpy as np
import pytest
from samples import SHAPES
from samples import clusters as sample
from scipy import sparse

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.methods import JGUFS
from ufs_bench.methods.core import ridge
from ufs_bench.methods.core.graphs import knn_graph, laplacian
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.optimal_graph import row_stochastic_graph
from ufs_bench.methods.core.reweighting import EPS
from ufs_bench.methods.core.starts import indicator
from ufs_bench.methods.jgufs.paper import Problem, first
from ufs_bench.methods.jgufs.released import Problem as ReleasedProblem
from ufs_bench.methods.jgufs.released import signed_eigenvectors


def problem(shape, alpha=20.0, beta=0.5, gamma=0.5, lambda_=30.0):
    X = sample(*shape)
    return Problem(X, row_stochastic_graph(X, "heat", 5), alpha, beta, gamma, lambda_)


def start(n_samples, n_clusters=3):
    F = indicator(np.arange(n_samples) % n_clusters, n_clusters) + 0.2
    return F / np.linalg.norm(F, axis=0)


def objective(given, S, F, W, eps=EPS):
    S = S.toarray()
    symmetric = (S + S.T) / 2
    L = np.diag(symmetric.sum(axis=1)) - symmetric
    away = F.T @ F - np.eye(F.shape[1])
    fit = ((given.X @ W - F) ** 2).sum() + given.gamma * np.sqrt((W**2).sum(axis=1) + eps).sum()
    graph = ((S - given.A.toarray()) ** 2).sum() + given.alpha * np.trace(F.T @ L @ F)
    return graph + given.beta * fit + given.lambda_ / 2 * (away**2).sum()


@pytest.fixture
def pair(reference):
    pair = reference("step11_jgufs")
    A = sparse.csr_array(pair["A"])
    return pair, ReleasedProblem(pair["X"], A, 1.0, 1.0, 1.0, 1e7), A


@pytest.mark.parametrize(("name", "first"), [("j1", "F0"), ("j1s", "F0s")])
def test_released_sweep_is_reproduced_from_both_starts(pair, name, first):
    pair, given, _ = pair
    expected = {field: pair[name][field].item() for field in pair[name].dtype.names}
    state = given.sweep(given.start(pair[first]))
    for found, field in ((state.W, "W"), (state.F, "F"), (state.S.toarray(), "A")):
        np.testing.assert_allclose(found, expected[field], atol=1e-8)
    np.testing.assert_allclose(state.weights, expected["Mdiag"].ravel(), rtol=1e-8)


def test_released_fit_is_the_run_of_the_program(pair):
    pair, _, A = pair
    fitted = JGUFS(n_clusters=4, variant="released", affinity=A, init=pair["F0"], max_iter=49, tol=0).fit(pair["X"])
    np.testing.assert_allclose(fitted.trace_[1:], pair["objj"].ravel(), rtol=1e-8)
    np.testing.assert_allclose(fitted.scores_, pair["rownj"].ravel(), atol=1e-8)
    np.testing.assert_allclose(fitted.coef_, pair["Wj"], atol=1e-8)
    np.testing.assert_allclose(fitted.indicators_, pair["Fj"], atol=1e-8)
    np.testing.assert_allclose(fitted.graph_.toarray(), (pair["Sj"] + pair["Sj"].T) / 2, atol=1e-8)


@pytest.mark.parametrize("n_samples", [40, 350])
def test_signed_eigenvectors_are_those_of_the_plain_laplacian(n_samples):
    X = sample(n_samples, 6)
    S = knn_graph(X, 8)
    F = signed_eigenvectors(X, 3, lambda X: S)
    values = np.linalg.eigvalsh(laplacian(S).toarray())[:3]
    np.testing.assert_allclose(laplacian(S) @ F, F * values, atol=1e-7)
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-8)
    assert ((F**3).sum(axis=0) >= 0).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_step_of_f_descends_to_where_no_perturbation_helps_and_w_is_its_best(shape):
    given = problem(shape)
    rng = np.random.default_rng(1)
    s = rng.uniform(0.1, 1.0, shape[1])
    F, graph = start(shape[0]), given.graph(start(shape[0]))

    def quadratic(F, W):
        """Return the objective with ||w_j|| replaced by (||w_j||^2 / s_j + s_j) / 2."""
        rows = np.sqrt((W**2).sum(axis=1) + EPS)
        upper = ((W**2).sum(axis=1) / s + s) / 2
        return objective(given, graph.S, F, W) + given.beta * given.gamma * (upper - rows).sum()

    system = given.ridge.factor(given.gamma / (2 * s))
    values = [quadratic(F, system.coefficients(F))]
    for _ in range(20):
        state = given.solve(s, F, graph)
        F = state.F
        values.append(quadratic(F, state.W))
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert F.min() >= 0
    for _ in range(30):
        size = 10 ** rng.uniform(-4, -1)
        moved = np.maximum(F + size * rng.normal(size=F.shape), 0.0)
        assert quadratic(moved, system.coefficients(moved)) >= values[-1] * (1 - 1e-8)
        assert quadratic(F, state.W + size * rng.normal(size=state.W.shape)) > values[-1]


@pytest.mark.parametrize("shape", SHAPES)
def test_fit_converges_and_the_path_of_lambda_ends_no_higher_than_lambda_alone(shape):
    X = sample(*shape)
    first = start(shape[0])
    selector = JGUFS(n_clusters=3, gamma=0.1, init=first, max_iter=1000).fit(X)
    assert selector.status_ == "converged"
    assert (np.diff(selector.trace_) <= 1e-12 * selector.trace_[:-1]).all()
    given = problem(shape, 1.0, 1.0, 0.1, 1e7)
    alone, _ = iterate(given.sweep, given.start(first), residual=given.change, max_iter=1000, tol=1e-6)
    assert selector.trace_[-1] <= alone.value  # both smoothed


@pytest.mark.parametrize("alpha", [pytest.param(1000.0, marks=pytest.mark.slow), 1.0])
def test_no_cluster_is_lost_on_the_way_and_the_path_is_taken_only_where_it_helps(data_dir, alpha):
    X = scale(load_dataset("orl", data_dir, download=False).X[:100, :256], "minmax")
    weights = alpha, 1000.0, 0.1, 1e7
    fitted = JGUFS(n_clusters=10, alpha=alpha, beta=1000.0, gamma=0.1, random_state=0).fit(X)
    given = Problem(X, row_stochastic_graph(X, "heat", 5), *weights)
    seed = int(np.random.default_rng(0).integers(2**31))
    begin = given.start(first(X, 10, seed, "heat", 5))
    alone, _ = iterate(given.sweep, begin, residual=given.change, max_iter=200, tol=1e-6)
    assert fitted.status_ == "converged"
    assert fitted.trace_[-1] <= alone.value  # both smoothed
    assert fitted.indicators_.any(axis=0).all()
    assert set(fitted.labels_) == set(range(10))


@pytest.mark.parametrize(
    "weights",
    [
        pytest.param((1000.0, 1000.0, 0.1), marks=pytest.mark.slow),
        pytest.param((1.0, 0.001, 1.0), marks=pytest.mark.slow),
        (0.01, 1.0, 10.0),
        pytest.param((0.001, 100.0, 0.01), marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_left_would_have_ended_no_lower(data_dir, weights):
    X = scale(load_dataset("umist", data_dir, download=False).X[:120, ::4], "minmax")
    alpha, beta, gamma = weights
    fitted = JGUFS(n_clusters=6, alpha=alpha, beta=beta, gamma=gamma, random_state=0).fit(X)
    given = Problem(X, row_stochastic_graph(X, "heat", 5), *weights, 1e7)
    F = first(X, 6, int(np.random.default_rng(0).integers(2**31)), "heat", 5)
    ends = [
        iterate(given.sweep, start, residual=given.change, max_iter=200, tol=1e-6)[0].value
        for start in given.starts(F, 1e-6)
    ]
    assert fitted.trace_[-1] == min(ends)


def test_one_cluster_for_all_samples_is_collapsed():
    X = sample(30, 8)
    assert JGUFS(n_clusters=3, lambda_=1e-6, random_state=0).fit(X).status_ == "collapsed"


@pytest.mark.parametrize(("share", "status"), [(1.05, "collapsed"), (0.9, "converged")])
@pytest.mark.parametrize("shape", SHAPES)
def test_collapse_begins_at_the_threshold(shape, share, status):
    X = sample(*shape)
    # Where alpha = beta = 1e-6 leave the given indicator alone, the threshold is known beforehand.
    F = indicator(np.arange(shape[0]) % 3, 3)
    bound = ridge.smallest_collapsing_weight(X, F / np.linalg.norm(F, axis=0))
    settings = {"n_clusters": 3, "alpha": 1e-6, "beta": 1e-6, "lambda_": 1e3, "max_iter": 1000}
    selector = JGUFS(gamma=share * bound, init=F, **settings).fit(X)
    assert selector.status_ == status
    assert (selector.scores_.max() < 1e-4) == (status == "collapsed")
