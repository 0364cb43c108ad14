"""K-means UFS: the closed form is the optimum, and the paper's solver stays above it."""

import numpy as np
import pytest
from samples import real
from scipy.linalg import svd

from ufs_bench.methods import KMeansUFS
from ufs_bench.methods.core.linalg import principal_axes
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.kmeans_ufs import standardized
from ufs_bench.methods.kmeans_ufs.admm import Problem, leading_basis

REAL = ["umist", *(pytest.param(name, marks=pytest.mark.slow) for name in ("allaml", "pie10p"))]


def sample(n_samples, n_features, seed=0):
    """Return correlated features of unequal scale."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features)) + 5


def model_matrix(X, n_clusters):
    """Return A of equation (8), by a plain SVD."""
    _, singular, Vt = svd(standardized(X), full_matrices=False)
    P = Vt[:n_clusters].T
    return (P * singular[:n_clusters] ** 2) @ P.T


def orthogonal(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


@pytest.mark.parametrize("n_clusters", [2, 4, 6])
@pytest.mark.parametrize("shape", [(200, 60), (25, 120), (30, 6), (6, 9)])
def test_scores_are_the_diagonal_of_the_papers_matrix_and_the_objective_its_largest_entries(shape, n_clusters):
    X = sample(*shape)
    fit, gains = KMeansUFS(4, n_clusters=n_clusters).fit(X), np.diag(model_matrix(X, n_clusters))
    np.testing.assert_allclose(fit.scores_, gains, rtol=1e-10)
    assert -fit.objective_ == pytest.approx(np.sort(gains)[-4:].sum(), rel=1e-12)


@pytest.mark.parametrize("shape", [(200, 60), (25, 120)])
def test_the_relaxed_indicators_are_the_leading_left_singular_vectors(shape):
    X = sample(*shape)
    model = KMeansUFS(n_clusters=4).fit(X)
    U = svd(standardized(X), full_matrices=False)[0][:, :4]
    np.testing.assert_allclose(np.abs(U.T @ model.indicators_), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(model.indicators_.T @ standardized(X), model.loadings_.T, atol=1e-8)
    assert not KMeansUFS(2).fit(np.ones((8, 5))).indicators_.any()


def test_the_admms_matrix_has_a_row_for_every_selected_feature_and_the_exact_solution_has_no_matrix():
    X = sample(60, 25)
    model = KMeansUFS(6, n_clusters=3, solver="admm").fit(X)
    np.testing.assert_array_equal(model.coef_.any(axis=1), model.get_support())
    assert model.coef_.shape == (25, 6)
    assert not hasattr(model.set_params(solver="exact").fit(X), "coef_")


def test_unstandardised_model_works_on_the_data_as_they_come():
    X = sample(30, 12)
    gain = (svd(X, full_matrices=False)[2][:2].T ** 2) @ svd(X, compute_uv=False)[:2] ** 2
    np.testing.assert_allclose(KMeansUFS(n_clusters=2, standardize=False).fit(X).scores_, gain)


def plain_admm(A, start, h, mu, rho, patience, max_iter):
    """Return the sets of rows that algorithm 1 keeps, as printed, with every matrix of its own."""
    V = U = W = start
    Omega, Gamma, sets = np.zeros_like(V), np.zeros_like(V), []
    for _ in range(max_iter):
        Q = A @ U + mu * (U - Omega / mu) + mu * (W - Gamma / mu)
        V = np.sqrt(h) * Q / np.linalg.norm(Q)
        left, _, right = svd(A @ V + mu * V + Omega, full_matrices=False)
        U = left @ right
        F = V + Gamma / mu
        rows = np.sort(np.argsort(-np.linalg.norm(F, axis=1), kind="stable")[:h])
        W = np.zeros_like(F)
        W[rows] = F[rows]
        Omega, Gamma, mu = Omega + mu * (V - U), Gamma + mu * (V - W), min(rho * mu, 1e7)
        sets.append(rows)
        if len(sets) > patience and all(np.array_equal(rows, earlier) for earlier in sets[-patience - 1 : -1]):
            break
    return sets


@pytest.mark.parametrize(("shape", "n_clusters", "h"), [((60, 25), 3, 6), ((15, 40), 4, 10), ((60, 25), 3, 2)])
def test_admm_takes_the_steps_of_the_printed_algorithm(shape, n_clusters, h):
    Z = standardized(sample(*shape))
    _, loadings = principal_axes(Z, n_clusters)
    A = loadings @ loadings.T
    start = leading_basis(Z, np.argsort(-np.diag(A), kind="stable")[:h])
    expected = plain_admm(A, start, h, 0.1, 1.05, 30, 3000)
    problem = Problem(loadings, 0.1, 1.05, 30)
    state, trace = iterate(problem.sweep, problem.start(start), max_iter=3000, tol=0, residual=problem.residual)
    assert trace.n_iter == len(expected)
    np.testing.assert_array_equal(state.rows, expected[-1])
    np.testing.assert_allclose(trace.objective[1:], [-np.diag(A)[rows].sum() for rows in expected], rtol=1e-10)


def test_admm_does_not_depend_on_a_rotation_of_its_start():
    X = sample(60, 25)
    start = leading_basis(standardized(X), np.arange(6))
    turned = start @ orthogonal(np.random.default_rng(4), 6)
    first, second = (KMeansUFS(6, n_clusters=3, solver="admm", init=init).fit(X) for init in (start, turned))
    np.testing.assert_allclose(first.scores_, second.scores_, atol=1e-8)


def test_admm_stops_when_its_rows_have_not_changed_for_the_patience_given():
    X = sample(60, 25)
    selector = KMeansUFS(6, n_clusters=3, solver="admm", patience=20).fit(X)
    assert selector.status_ == "converged"
    assert len(set(selector.trace_[-21:])) == 1
    assert KMeansUFS(6, n_clusters=3, solver="admm", max_iter=5).fit(X).status_ == "max_iter"


@pytest.mark.parametrize("name", REAL)
def test_admm_never_beats_the_exact_solution_on_real_data(data_dir, name):
    X, n_clusters = real(data_dir, name, "none")
    exact = KMeansUFS(50, n_clusters=n_clusters).fit(X)
    admm = KMeansUFS(50, n_clusters=n_clusters, solver="admm").fit(X)
    assert admm.status_ == "converged"
    assert admm.trace_.min() >= exact.objective_ * (1 + 1e-12)
    # On all of these it ends above its own first sweep, which the docstring warns of.
    assert admm.objective_ > admm.trace_[1] > exact.objective_
