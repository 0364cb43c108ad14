"""UFSOL: the released program's numbers, descent, exact steps, and several starts of which the lowest is kept."""

import numpy as np
import pytest
from samples import clusters
from scipy import sparse

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.methods import UFSOL
from ufs_bench.methods.core.ordinal_graphs import (
    max_margin_laplacian,
    similarity_laplacian,
    triplet_laplacian,
    triplet_weights,
)
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.starts import kmeans_labels, scaled_indicator
from ufs_bench.methods.ufsol import GRAPHS
from ufs_bench.methods.ufsol.paper import Problem
from ufs_bench.methods.ufsol.released import Problem as ReleasedProblem
from ufs_bench.methods.ufsol.released import scaled

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FEW = 15  # sweeps, where the property holds after any number
SHAPES = [(60, 25), (12, 12), (20, 210)]  # beyond 200 features the eigenvectors are those of an iteration


def sample(n_samples, n_features):
    X = clusters(n_samples, n_features)
    return X - X.mean(axis=0)


def problem(shape, graph="triplet", alpha=0.7, beta=0.5):
    X = sample(*shape)
    L, floor = GRAPHS[graph](X, 5, True)
    return Problem(X, L, alpha, beta, 3, 0, floor)


@pytest.fixture
def pair(reference):
    return reference("step09_ufsol")


def test_laplacians_are_those_of_the_reference(pair):
    X = pair["Xn"].T
    np.testing.assert_allclose(scaled(pair["X"]), X, atol=1e-12)
    np.testing.assert_allclose(triplet_laplacian(X, 5, squared=False).toarray(), pair["L"], atol=1e-10)
    np.testing.assert_allclose(triplet_weights(X, 5, squared=False).toarray(), pair["C"], atol=1e-8)
    np.testing.assert_allclose(similarity_laplacian(X).toarray(), pair["L_sim"], atol=1e-10)
    np.testing.assert_allclose(max_margin_laplacian(60) @ np.eye(60), pair["L_mm"], atol=1e-12)


def test_step_of_the_released_program_is_reproduced(pair):
    alpha, beta = pair["al"].item(), pair["be"].item()
    program = ReleasedProblem(pair["Xn"].T, sparse.csr_array(pair["L"]), alpha, beta, 4, 0)
    start = program.starts(None)[0]
    np.testing.assert_array_equal(start.W, pair["W0"])
    labels = pair["lab0"].ravel().astype(int) - 1
    matrix = program.blocks.gram(labels).toarray() + beta * np.diag(np.where(row_norms(start.W) > 0, 0.5, 2e6))
    np.testing.assert_allclose(matrix, pair["Gm"], atol=1e-10)
    W = program.step_w(start.W, labels)
    np.testing.assert_allclose(W @ W.T, pair["P1"], atol=1e-8)
    np.testing.assert_allclose(row_norms(W), pair["rown1"].ravel(), atol=1e-8)


def test_run_of_the_released_program_is_reproduced_with_its_labels(pair):
    program = ReleasedProblem(pair["Xn"].T, sparse.csr_array(pair["L"]), pair["al"].item(), pair["be"].item(), 4, 0)
    W = pair["W0"]
    for labels in pair["labels_iter"].T.astype(int) - 1:
        W = program.step_w(W, labels)
    np.testing.assert_allclose(W @ W.T, pair["Wf"] @ pair["Wf"].T, atol=1e-6)
    np.testing.assert_allclose(row_norms(W), pair["rownf"].ravel(), atol=1e-6)
    np.testing.assert_array_equal(np.argsort(-row_norms(W)), pair["fi"].ravel())
    # Its own objective is tr W'DW / 2 where the printed one has ||W||_21, which is twice that at a fixed point.
    state = program.state(W, labels)
    own = pair["valVec"][0, -1]
    assert state.value == pytest.approx(own + pair["be"].item() / 2 * row_norms(W).sum(), rel=1e-6)


def test_released_program_keeps_the_first_features_at_beta_of_one(pair):
    fit = UFSOL(4, n_clusters=4, variant="released", random_state=0).fit(pair["X"])
    np.testing.assert_array_equal(np.sort(fit.subset(4)), np.arange(4))
    np.testing.assert_allclose(fit.scores_, pair["rown_b1"].ravel(), atol=1e-4)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_perturbation_of_the_step_for_w_lowers_what_it_minimises(shape, graph):
    given = problem(shape, graph)
    rng = np.random.default_rng(1)
    s, labels = rng.uniform(0.1, 1.0, shape[1]), kmeans_labels(given.X, 3, 0)
    gram = given.gram(labels)

    def surrogate(W):
        return gram.form(W) + given.beta * ((W**2).sum(axis=1) / (2 * s)).sum()

    W = given.solve(s, gram, labels, None).W
    best = surrogate(W)
    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-8)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            moved = np.linalg.qr(W + size * rng.normal(size=W.shape))[0]
            assert surrogate(moved) >= best - 1e-11 * abs(best)


def test_partition_changes_only_where_that_lowers_the_objective():
    given = problem((60, 25))
    W = given.coordinate_start(kmeans_labels(given.X, 3, 0)).W
    good = kmeans_labels(given.X @ W, 3, 0)
    bad = np.arange(60) // 20
    assert given.partition(W, good, 1.0) is good
    found = given.partition(W, bad, 1.0)
    assert given.scatter(given.X @ W, found) < given.scatter(given.X @ W, bad)
    V = scaled_indicator(bad, 3)
    Y = given.X @ W
    assert given.scatter(Y, bad) == pytest.approx(((Y - V @ V.T @ Y) ** 2).sum())


@pytest.mark.parametrize("beta", [1e-3, pytest.param(1.0, marks=pytest.mark.slow), 1e3])
def test_the_lowest_start_is_kept(beta):
    X = sample(12, 12)
    fit = UFSOL(n_clusters=3, beta=beta, random_state=0, max_iter=10, tol=0).fit(X)
    given = Problem(X, triplet_laplacian(X), 1.0, beta, 3, int(np.random.default_rng(0).integers(2**31)))
    ends = []
    for state in given.starts(X):
        for _ in range(10):
            state = given.sweep(state)
        ends.append(state.value)
    # The trace, as the states' values are smoothed, too.
    assert fit.trace_[-1] == pytest.approx(min(ends), rel=1e-6)
    assert UFSOL(n_clusters=3, beta=beta, random_state=0, max_iter=FEW).fit(X).trace_[-1] <= min(ends) * (1 + 1e-9)


def test_coordinate_start_takes_the_features_that_cost_least():
    given = problem((60, 25))
    state = given.coordinate_start(kmeans_labels(given.X, 3, 0))
    chosen = np.flatnonzero(row_norms(state.W))
    cost = given.X * (given.X - scaled_indicator(state.labels, 3) @ (scaled_indicator(state.labels, 3).T @ given.X))
    cost = cost.sum(axis=0) + 0.7 * (given.X * (given.L @ given.X)).sum(axis=0)
    np.testing.assert_allclose(given.gram(state.labels).diagonal(), cost, atol=1e-10)
    assert len(chosen) == 3


def test_a_point_whose_eigenvectors_do_not_converge_is_solved_densely(data_dir):
    data = load_dataset("pie10p", data_dir)
    X = scale(data.X, "unit_features")
    fitted = UFSOL(100, n_clusters=10, alpha=1e-6, beta=1e4, random_state=0).fit(X)
    assert fitted.status_ == "converged"
    np.testing.assert_allclose(fitted.objective_, 1e5, rtol=1e-5)  # beta n_clusters, on coordinates
