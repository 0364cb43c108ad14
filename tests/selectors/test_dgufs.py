"""DGUFS: what both solvers promise, and the released program's sweeps."""

import itertools

import numpy as np
import pytest
from paper_studies import published_pixels
from plain_dgufs import plain_dgufs
from samples import blobs, real
from scipy import sparse

from ufs_bench.datasets import scale
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.dgufs import DGUFS
from ufs_bench.methods.dgufs.leading import Ceiling, Pool, eigenpairs_above
from ufs_bench.methods.dgufs.released import Problem, l0_prox

ALPHAS = (1e1, 1e2, 1e3, 1e4, 1e5)
BETAS = (0.1, 0.3, 0.5, 0.7, 0.9)
SIZES = (50, 100, 150, 200, 250, 300)


def after_sweeps(X, n_sweeps, alpha):
    """Return the state of the released program for 10 features of X and beta = 0.7."""
    problem = Problem(X, knn_graph(X, 5, "binary", include_self=True), 10, 4, alpha, 0.7)
    state = problem.start({})
    for _ in range(n_sweeps):
        state = problem.sweep(state)
    return state


def smallest_norms(X, size):
    return set(np.argsort(np.linalg.norm(X, axis=0), kind="stable")[:size])


# ---- the contract -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["released", "normalized"])
@pytest.mark.parametrize("shape", [(12, 40), (40, 12), (3, 5), (2, 2)])
@pytest.mark.parametrize("size", [1, "all"])
@pytest.mark.parametrize("clusters", [1, 2, "all"])
def test_extreme_sizes_and_cluster_counts_keep_the_size_and_the_labels_in_range(solver, shape, size, clusters):
    X = np.random.default_rng(0).random(shape)
    size = shape[1] if size == "all" else size
    n_clusters = shape[0] if clusters == "all" else clusters
    model = DGUFS(size, n_clusters=n_clusters, solver=solver, random_state=0).fit(X)
    collapsed = solver == "normalized" and n_clusters == 1
    chosen = model.get_support()
    assert collapsed or model.scores_[chosen].min() >= 1
    assert (model.scores_[~chosen] <= 1).all()  # 1 where every sample is a cluster
    assert model.labels_.shape == shape[:1] and 0 <= model.labels_.min() <= model.labels_.max() < n_clusters
    if solver == "normalized":
        assert len(set(model.labels_)) == n_clusters
        assert model.status_ == ("collapsed" if collapsed else "converged")


# ---- released -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [True, False], ids=["from_zeros", "from_an_arbitrary_state"])
def test_one_sweep_agrees_with_the_released_program(reference, first):
    pair = reference("step10_dgufs")
    X, expected = pair["Xt"].T, pair["r0" if first else "r1"]
    names = {"Y": "Y", "Z": "Z", "Lambda1": "Lam1", "L": "L", "M": "M", "Lambda2": "Lam2"}
    arrays = {} if first else {name: pair[key].T for name, key in names.items()}
    if not first:
        arrays.update(Lambda2=pair["Lam2"], mu=pair["mu"].item())
    alpha = 10.0 if first else pair["alpha"].item()
    problem = Problem(X, sparse.csr_array(pair["S"]), int(pair["nSel"].item()), 4, alpha, pair["beta"].item())
    state = problem.sweep(problem.start(arrays))

    got = {"L": (state.vectors * state.values) @ state.vectors.T, "M": state.M, "Lamda2": state.Lambda2}
    for name, part in (("Y", state.Y), ("Z", state.Z), ("Lamda1", state.Lambda1)):
        got[name] = np.zeros(X.T.shape)
        got[name][state.rows] = part
    assert state.mu == pytest.approx(expected["mu"].item().item(), rel=1e-12)
    for name, array in got.items():
        wanted = expected[name].item()
        if name == "Lamda2":  # our diagonal is kept at zero: nothing reads it
            wanted = wanted - np.diag(wanted.diagonal())
        np.testing.assert_allclose(array, wanted, rtol=0, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("gamma", [0.01, 0.25, 0.5, 2.0])
def test_l0_prox_beats_every_other_entry(gamma):
    Q = np.linspace(-2, 4, 121)
    best = l0_prox(Q, gamma)
    value = (best - Q) ** 2 / 2 + gamma * (best != 0)
    for candidate in np.linspace(0, 1, 101):
        assert (value <= (candidate - Q) ** 2 / 2 + gamma * (candidate != 0) + 1e-12).all()


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("n_above", [0, 1, 3, 30])
@pytest.mark.parametrize("expected", [0, 2])
def test_no_eigenpair_above_the_threshold_is_missing(n, n_above, expected):
    rng = np.random.default_rng(n_above)
    A = rng.random((n, n)) ** 3
    A = (A + A.T) / 2
    values = np.linalg.eigvalsh(A)[::-1]
    n_above = min(n_above, np.count_nonzero(values > 0) - 1)
    threshold = (values[n_above - 1] + values[n_above]) / 2 if n_above else values[0] * 1.001
    found, vectors = eigenpairs_above(A, threshold, expected)
    np.testing.assert_allclose(np.sort(found), np.sort(values[:n_above]), rtol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * found, atol=1e-9)


def test_an_eigenvector_that_lanczos_cannot_see_is_found():
    # Two blocks: the start of Lanczos, all ones, is an eigenvector, and orthogonal to the second one.
    n = 200
    A = np.kron([[0.9, 0.4], [0.4, 0.9]], np.ones((n // 2, n // 2)))
    found, vectors = eigenpairs_above(A, 1.0)
    np.testing.assert_allclose(np.sort(found), [0.5 * n / 2, 1.3 * n / 2], rtol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * found, atol=1e-9)


def blocks(n_blocks, gap, n=200):
    """Return a matrix with an eigenvalue near n, and n_blocks - 1 near gap n / n_blocks, orthogonal to all ones."""
    noise = np.random.default_rng(0).random((n, n)) * 1e-3
    size = n // n_blocks
    return np.kron(1 - gap + gap * np.eye(n_blocks), np.ones((size, size))) + noise + noise.T


def test_a_proof_does_not_hide_what_comes_later():
    ceiling = Ceiling(Pool(200, 200))
    for gap, n_above in [(0.1, 1), (0.12, 1), (0.2, 1), (0.5, 2), (0.51, 2), (0.1, 1)]:
        A = blocks(2, gap)
        found, _ = eigenpairs_above(A, 30.0, 1, ceiling)
        np.testing.assert_allclose(np.sort(found), np.linalg.eigvalsh(A)[-n_above:], rtol=1e-10)


@pytest.mark.parametrize(
    ("shape", "alpha"), [*itertools.product([(50, 30), (30, 80)], [1e-3, 1e-2, 0.1, 10.0]), ((135, 20), 1e-2)]
)
def test_the_fast_sweeps_are_the_plain_sweeps(alpha, shape):
    X = scale(blobs(*shape)[0], "minmax")
    model = DGUFS(10, n_clusters=4, alpha=alpha, beta=0.7).fit(X)
    selected, L = plain_dgufs(X, 10, alpha, 0.7)
    np.testing.assert_array_equal(np.sort(model.subset(10)), selected)
    state = after_sweeps(X, 100, alpha)
    learned = model.indicators_ @ model.indicators_.T
    for ours in ((state.vectors * state.values) @ state.vectors.T, learned):
        np.testing.assert_allclose(ours, L, atol=1e-8 * max(1, np.abs(L).max()))


def test_the_traced_objective_is_equation_5():
    X = scale(blobs()[0], "minmax")
    n, S = len(X), knn_graph(X, 5, "binary", include_self=True)
    state = after_sweeps(X, 100, 1e-3)
    Y = np.zeros(X.T.shape)
    Y[state.rows] = state.Y
    L = (state.vectors * state.values) @ state.vectors.T
    H = (np.eye(n) - 1 / n) / (n - 1)
    expected = -0.7 * np.trace(S @ L) - 0.3 * np.trace(Y.T @ Y @ H @ L @ H) + 1e-3 * np.linalg.matrix_rank(L)
    assert len(state.values) > 0
    assert DGUFS(10, n_clusters=4, alpha=1e-3, beta=0.7).fit(X).objective_ == pytest.approx(expected, rel=1e-9)


def test_a_fit_started_from_the_state_of_another_continues_it():
    X = scale(blobs()[0], "minmax")
    state = after_sweeps(X, 60, 1e-3)
    arrays = {"L": (state.vectors * state.values) @ state.vectors.T, "M": state.M, "Lambda2": state.Lambda2}
    arrays["L"] = (arrays["L"] + arrays["L"].T) / 2
    for name in ("Y", "Z", "Lambda1"):
        arrays[name] = np.zeros(X.shape)
        arrays[name][:, state.rows] = getattr(state, name).T
    whole = DGUFS(10, n_clusters=4, alpha=1e-3, beta=0.7).fit(X)
    rest = DGUFS(10, n_clusters=4, alpha=1e-3, beta=0.7, max_iter=40, init={**arrays, "mu": state.mu}).fit(X)
    np.testing.assert_array_equal(rest.labels_, whole.labels_)
    assert rest.objective_ == pytest.approx(whole.objective_, rel=1e-6)


def test_the_fixed_sweeps_raise_no_warning_and_a_collapse_is_visible(recwarn):
    X = scale(blobs()[0], "minmax")
    collapsed = DGUFS(10, n_clusters=4, alpha=10.0).fit(X)
    assert collapsed.status_ == "collapsed" and not collapsed.labels_.any() and collapsed.n_iter_ == 100
    alive = DGUFS(10, n_clusters=4, alpha=1e-4, beta=0.9).fit(X)
    assert alive.status_ == "max_iter" and len(set(alive.labels_)) > 1
    assert not recwarn.list


@pytest.mark.parametrize("alpha, statuses", [(1e-4, ("max_iter", "diverged")), (1e-6, ("diverged",))])
def test_an_alpha_far_below_the_papers_overflows_and_says_so(alpha, statuses, recwarn):
    X = np.random.default_rng(0).random((60, 40))
    selector = DGUFS(20, n_clusters=5, alpha=alpha, beta=0.1).fit(X)
    assert selector.status_ in statuses
    assert selector.objective_ < -1e200 and np.count_nonzero(selector.scores_ >= 1) == 20
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]


@pytest.mark.parametrize("name", ("pie10p", "umist", "orl", "allaml"))
@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["corners", "full_grid"])
def test_on_real_data_the_released_program_selects_the_smallest_norms(data_dir, name, full):
    X, _ = real(data_dir, name)
    points = itertools.product(ALPHAS, BETAS, SIZES) if full else [(1e1, 0.9, 100), (1e1, 0.1, 300), (1e5, 0.5, 50)]
    for alpha, beta, size in points:
        model = DGUFS(size, n_clusters=10, alpha=alpha, beta=beta).fit(X)
        assert set(model.subset(size)) == smallest_norms(X, size), (alpha, beta, size)
        assert model.status_ == "collapsed"


@pytest.mark.slow  # the test above fits the program on real data
def test_on_unscaled_faces_the_released_program_selects_the_pixels_that_the_paper_shows(data_dir):
    dataset, sets = published_pixels()
    X, n_clusters = real(data_dir, dataset, "none")
    fits = {size: DGUFS(size, n_clusters=n_clusters).fit(X) for size in SIZES}
    assert all(fit.status_ == "collapsed" for fit in fits.values())
    missed = {size: set(sets[size]) - set(fits[size].subset(size)) for size in SIZES}
    assert {size: len(features) for size, features in missed.items() if features} == {50: 1, 150: 1}
    norms = np.linalg.norm(X, axis=0)
    last = {size: np.sort(norms)[size - 1] for size in (50, 150)}
    assert all(norms[missed[size].pop()] < 1.02 * last[size] for size in last)  # they come next, or nearly
