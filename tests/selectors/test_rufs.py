"""RUFS: every block minimises what it should, and the released program is reproduced."""

import numpy as np
import pytest
from samples import SHAPES, real
from samples import clusters as sample
from scipy import sparse

from ufs_bench.methods.core.bounded import minimize_nonnegative
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import kmeans_labels, scaled_indicator
from ufs_bench.methods.rufs import RUFS
from ufs_bench.methods.rufs.descent import MEMORY, Pairs
from ufs_bench.methods.rufs.local_learning import local_learning_laplacian
from ufs_bench.methods.rufs.paper import Problem, is_zero_optimal
from ufs_bench.methods.rufs.released import ROW_PENALTY, SUM_PENALTY
from ufs_bench.methods.rufs.released import Problem as ReleasedProblem

REAL = ["pie10p", pytest.param("umist", marks=pytest.mark.slow)]  # seconds each


def problem_and_start(shape, alpha=2.0, beta=0.5, zeta=1e3):
    X = sample(*shape)
    G = scaled_indicator(kmeans_labels(X, 3, 0), 3)
    given = Problem(X, local_learning_laplacian(X), 1.5, alpha, beta, zeta)
    return given, given.start(G)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zeta", [10.0, 1e7])
def test_no_block_raises_the_objective(shape, zeta):
    given, state = problem_and_start(shape, zeta=zeta)
    for _ in range(8):
        W = given.step_w(state.W, state.G)
        G = given.step_g(W, state.G, state.F)
        F = given.step_f(G, state.F)
        values = [
            given.state(*blocks).value for blocks in (state[:3], (W, state.G, state.F), (W, G, state.F), (W, G, F))
        ]
        assert (np.diff(values) <= 1e-12 * values[0]).all()
        assert G.min() >= 0
        assert F.min() >= 0
        state = given.state(W, G, F)


@pytest.mark.parametrize("shape", SHAPES)
def test_perturbations_of_a_block_at_its_minimum_do_not_lower_the_objective(shape):
    given, start = problem_and_start(shape, zeta=50.0)
    W, G, F = start[:3]
    for _ in range(400):
        W = given.step_w(W, G)
    for _ in range(60):
        F = given.step_f(G, F)
    best_g = G
    for _ in range(60):
        best_g = given.step_g(W, best_g, F)
    rng = np.random.default_rng(1)
    for _ in range(60):
        size = 10 ** rng.uniform(-4, -1)
        at = given.state(W, G, F).value
        assert given.state(W + size * rng.normal(size=W.shape), G, F).value >= at * (1 - 1e-8)
        assert given.state(W, G, np.maximum(F + size * rng.normal(size=F.shape), 0)).value >= at * (1 - 1e-8)
        moved = np.maximum(best_g + size * rng.normal(size=G.shape), 0)
        assert given.state(W, moved, F).value >= given.state(W, best_g, F).value * (1 - 1e-8)


def test_projected_quasi_newton_ends_where_no_entry_can_improve():
    rng = np.random.default_rng(2)
    A, b = rng.normal(size=(30, 20)), rng.normal(size=30)
    scale = 10.0 ** rng.uniform(-1, 2, size=20)

    def function(x):
        rest = (A * scale) @ x - b
        return rest @ rest / 2 + 1, (A * scale).T @ rest

    x = minimize_nonnegative(function, np.ones(20), 2000, tol=0)
    gradient = function(x)[1] / scale
    assert x.min() >= 0
    # Where steps gain nothing more in double precision: of 40 seeds the worst entry is 3e-5.
    assert gradient.min() > -5e-5
    np.testing.assert_allclose(gradient[x > 0], 0, atol=5e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_collapse_begins_at_the_threshold(shape):
    X = sample(*shape)
    G = scaled_indicator(kmeans_labels(X, 3, 0), 3)
    threshold = np.linalg.norm(X.T @ (G / np.linalg.norm(G, axis=1, keepdims=True)), axis=1).max()
    assert is_zero_optimal(X, G, 1.0, 1.0001 * threshold)
    assert not is_zero_optimal(X, G, 1.0, 0.9999 * threshold)
    for factor, expected in ((2.0, "collapsed"), (0.5, "converged")):
        selector = RUFS(5, n_clusters=3, beta=factor * threshold, random_state=0).fit(X)
        assert selector.status_ == expected
        assert selector.scores_.any() == (expected == "converged")


def test_released_block_that_does_not_end_is_said_to_diverge(monkeypatch):
    monkeypatch.setattr("ufs_bench.methods.rufs.descent.LARGEST_INNER", 3)
    fitted = RUFS(5, n_clusters=3, variant="released", random_state=0).fit(sample(40, 12))
    assert fitted.status_ == "diverged"
    assert fitted.n_iter_ == 0


@pytest.mark.parametrize("init", [(np.ones((40, 3)), np.ones((3, 12))), ()])
def test_a_start_of_some_of_the_blocks_is_refused(init):
    with pytest.raises(ValueError, match="init must be G0 or"):
        RUFS(5, n_clusters=3, init=init).fit(sample(40, 12))


@pytest.mark.parametrize("name", REAL)
def test_labels_stay_those_of_k_means_at_the_papers_zeta_and_move_at_a_small_one(data_dir, name):
    X, n_clusters = real(data_dir, name)
    seed = int(np.random.default_rng(0).integers(2**31))
    labels = shared(X, kmeans_labels, n_clusters, seed)
    frozen = RUFS(n_clusters=n_clusters, nu=10.0, random_state=0).fit(X)
    free = RUFS(n_clusters=n_clusters, nu=10.0, zeta=1e3, random_state=0, max_iter=30, tol=1e-3).fit(X)
    assert frozen.status_ == "converged"
    np.testing.assert_array_equal(frozen.labels_, labels)
    assert 0.02 < np.mean(free.labels_ != labels) < 0.5


@pytest.mark.parametrize("size", [0, 1, 3, MEMORY + 4])
def test_two_loops_give_the_inverse_hessian_of_the_pairs(size):
    rng = np.random.default_rng(size)
    pairs, expected, g = Pairs(12), np.eye(12), rng.normal(size=(3, 4))
    root = rng.normal(size=(12, 12))
    kept = [(step, root @ root.T @ step) for step in rng.normal(size=(size, 12))]
    for step, change in kept:
        pairs.add(step.reshape(3, 4), change.reshape(3, 4))
    if kept:
        step, change = kept[-1]
        expected *= step @ change / (change @ change)
    for step, change in kept[-MEMORY:]:
        away = np.eye(12) - np.outer(step, change) / (step @ change)
        expected = away @ expected @ away.T + np.outer(step, step) / (step @ change)
    np.testing.assert_allclose(pairs.times(g).ravel(), expected @ g.ravel(), rtol=1e-8)


@pytest.mark.parametrize("zeros", [0.0, 0.9])
@pytest.mark.parametrize("shape", [*SHAPES, (9, 4), (6, 9)])
def test_released_blocks_have_the_objective_and_its_slope(shape, zeros):
    rng = np.random.default_rng(0)
    X = sample(*shape) * (rng.uniform(size=shape) >= zeros)
    L = local_learning_laplacian(X)
    given = ReleasedProblem(X, L, 1.5, 2.0, 0.5, 30.0)
    W, G, F = rng.normal(size=(shape[1], 5)), rng.uniform(size=(shape[0], 5)), rng.uniform(size=(5, shape[1]))
    rest, ideal = X - G @ F, G.T @ G - np.eye(5)
    expected = row_norms(rest).sum() + 1.5 * np.trace(G.T @ L @ G) + 30 / 4 * np.linalg.norm(ideal) ** 2
    expected += 2.0 * row_norms(X @ W - G).sum() + 0.5 * row_norms(W).sum()
    expected += SUM_PENALTY * G.sum() + ROW_PENALTY * row_norms(F.T).sum()
    assert given.value(W, G, F) == pytest.approx(expected, rel=1e-12)
    blocks = (given.block_w(G), W), (given.block_g(F, X @ W), G), (given.block_f(G, row_norms(rest)), F)
    for at, point in blocks:
        slope, way = at(point)[1](), 1e-6 * rng.normal(size=point.shape)
        difference = at(point + way)[0] - at(point - way)[0]
        assert difference == pytest.approx(2 * np.vdot(slope, way), rel=1e-5)


@pytest.fixture
def pair(reference):
    """Return the reference pair, and its two settings: the author's tolerances and those of the copy in wide use."""
    pair = reference("step06_rufs")
    arguments = pair["X"], sparse.csr_array(pair["T"]), 1.0, 1.0, 1.0, 1e7
    return pair, ReleasedProblem(*arguments), ReleasedProblem(*arguments, decrease=0.1, small=0.1)


def test_released_start_and_its_gradients_are_reproduced(pair):
    pair, author, _ = pair
    start = author.start(pair["G0"])
    np.testing.assert_allclose(start.F, pair["F_init"], atol=1e-8)
    np.testing.assert_allclose(start.W, pair["W_init"], atol=1e-8)
    for gradient, block in zip(author.gradients(*start[:3]), "WGF", strict=True):
        np.testing.assert_allclose(gradient, pair[f"grad{block}_init"], rtol=1e-10, atol=1e-8)


def test_sweep_of_the_copy_with_loose_tolerances_is_reproduced_and_leaves_w_at_its_start(pair):
    pair, _, copy = pair
    state = copy.sweep(copy.start(pair["G0"]))
    for block, name in zip(state[:3], ("Wf", "Gf", "Ff"), strict=True):
        np.testing.assert_allclose(block, pair[name], atol=1e-8)
    np.testing.assert_array_equal(state.W, copy.start(pair["G0"]).W)


def test_blocks_of_the_authors_sweep_are_reproduced(pair):
    pair, author, _ = pair
    start = author.start(pair["G0"])
    # G and F from the author's own W: his 170 or so quasi-Newton steps for W amplify rounding from 1e-15 to 1e-2.
    author.step_w = lambda W, G: (pair["Wo"], author.block_w(G)(pair["Wo"])[1]())
    state = author.sweep(start)
    np.testing.assert_allclose(state.G, pair["Go"], atol=1e-8)
    np.testing.assert_allclose(state.F, pair["Fo"], atol=1e-8)
    for gradient, name in zip(state.gradients, ("gWo", "gGo", "gFo"), strict=True):
        np.testing.assert_allclose(gradient, pair[name], rtol=1e-8, atol=1e-8)


def test_authors_w_is_reproduced_up_to_what_rounding_allows(pair):
    pair, author, _ = pair
    start = author.start(pair["G0"])
    W, _ = author.step_w(start.W, pair["G0"])
    assert author.block_w(pair["G0"])(W)[0] == pytest.approx(pair["objW_orig"].item(), rel=2e-3)
    np.testing.assert_allclose(W, pair["Wo"], atol=0.05)


def test_ours_finds_a_lower_w_than_the_released_program(pair):
    pair, author, _ = pair
    X, G = pair["X"], pair["G0"]
    given = Problem(X, sparse.csr_array(pair["T"]), 1.0, 1.0, 1.0, 1e7)
    W = author.start(G).W
    for _ in range(100):
        W = given.step_w(W, G)
    assert author.block_w(G)(W)[0] < pair["objW_orig"].item() - 0.01
