"""SOCFS: the released program's numbers, every block at its minimum, and descent with and without triplets."""

import numpy as np
import pytest
from samples import SHAPES

from ufs_bench.methods import SOCFS
from ufs_bench.methods.core.linalg import polar_factor
from ufs_bench.methods.core.ordinal_graphs import triplet_laplacian, triplet_weights
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import log_scale
from ufs_bench.methods.core.starts import kmeans_labels, scaled_indicator
from ufs_bench.methods.socfs import Problem, without_means


def sample(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    centers = 2 * rng.random((3, n_features))
    return centers[np.arange(n_samples) % 3] + rng.random((n_samples, n_features))


def problem(shape, **parameters):
    X = without_means(sample(*shape))
    return Problem(X, **{"lambda_": 0.5, "lambda2": 1.0, **parameters})


def start(given):
    return given.start(scaled_indicator(kmeans_labels(given.X, 3, 0), 3))


def test_sweeps_are_those_of_the_released_program(reference, monkeypatch):
    pair = reference("step08_socfs")
    monkeypatch.setattr("ufs_bench.methods.core.reweighting.EPS", np.finfo(float).eps)
    given = Problem(without_means(pair["X"]), 1.0, 1.0)
    given.inner_steps, given.inner_tol = 50, 0.0
    W, B, E, H = (pair[name] for name in ("W0", "B0", "E0", "H0"))
    first = polar_factor(given.X @ W @ B + H)
    np.testing.assert_allclose(first, pair["E_first"], atol=1e-12)
    np.testing.assert_allclose(np.maximum(first, 0), pair["H_first"], atol=1e-12)
    s = np.full(40, 0.5)
    for sweep in range(50):
        B, E, H = given.around(given.fitted(W), B, E, H)
        W = given.factor(s)(E @ B.T)
        s = np.exp(log_scale(W))
        if sweep == 0:
            for array, name in ((W, "W1"), (B, "B1"), (E, "E1"), (H, "H1")):
                np.testing.assert_allclose(array, pair[name], atol=1e-10)
        parts = [((given.X @ W - E @ B.T) ** 2).sum(), row_norms(W).sum(), ((H - E) ** 2).sum()]
        np.testing.assert_allclose(parts, pair["parts50"][sweep], rtol=1e-6)
    np.testing.assert_allclose(row_norms(W), pair["rown50"].ravel(), atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_perturbation_of_the_basis_or_of_w_lowers_the_objective(shape):
    given = problem(shape)
    state = given.sweep(start(given))
    W, B, E, rng = state.W, state.B, state.E, np.random.default_rng(1)
    s = np.exp(log_scale(W))

    def value(W, B):
        return ((given.X @ W - E @ B.T) ** 2).sum() + given.lambda_ * ((W**2).sum(axis=1) / (2 * s)).sum()

    new_B, new_W = given.basis(given.X @ W, E), given.factor(s)(E @ B.T)
    for size in (1e-3, 1e-1):
        for _ in range(10):
            turned = polar_factor(new_B + size * rng.normal(size=B.shape))
            assert value(W, turned) >= value(W, new_B)
            assert value(new_W + size * rng.normal(size=W.shape), B) > value(new_W, B)


@pytest.mark.parametrize(("weight", "shape"), zip([100.0, 1e-3, 1.0], SHAPES, strict=True))
def test_the_regression_with_triplets_is_exact(shape, weight):
    X = sample(*shape)
    given = problem(shape, L=triplet_laplacian(X), triplet_weight=weight)
    rng = np.random.default_rng(2)
    s, F = rng.uniform(0.1, 1, shape[1]), rng.normal(size=(shape[0], 3))
    K = np.eye(shape[0]) + weight * given.L.toarray()
    expected = np.linalg.solve(given.X.T @ K @ given.X + np.diag(0.25 / s), given.X.T @ F)
    np.testing.assert_allclose(given.factor(s)(F), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("squared", [True, False])
def test_triplet_weights_are_the_scaled_sums_of_the_paper(squared):
    X = sample(20, 5)
    C = triplet_weights(X, 4, squared).toarray()
    D = ((X[:, None] - X) ** 2).sum(axis=2) ** (1 if squared else 0.5)
    for i in range(20):
        near = np.argsort(D[i])[1:5]
        raw = np.array([(D[i, near] - D[i, j]).sum() for j in near])
        np.testing.assert_allclose(C[i, near], (raw - raw.min()) / (raw.max() - raw.min()), atol=1e-12)
    assert np.linalg.eigvalsh(triplet_laplacian(X, 4).toarray())[0] > -1e-12
    assert not triplet_weights(np.ones((6, 2)), 3).toarray().any()


def test_too_much_sparsity_is_reported_as_collapse():
    X = sample(60, 25)
    assert SOCFS(n_clusters=3, lambda_=1.0, random_state=0).fit(X).status_ == "converged"
    assert SOCFS(n_clusters=3, lambda_=1e3, random_state=0).fit(X).status_ == "collapsed"


def test_start_given_is_used_and_checked():
    X = sample(20, 70)
    given = problem((20, 70))
    state = start(given)
    arrays = state.W, state.B, state.E, state.H
    own = SOCFS(n_clusters=3, lambda_=0.5, init=arrays).fit(X)
    assert own.trace_[0] == pytest.approx(state.value, rel=1e-12)
    with pytest.raises(ValueError, match="W0, B0, E0, H0"):
        SOCFS(n_clusters=3, init=arrays[:3]).fit(X)


@pytest.mark.parametrize("shape", [(8, 1), (8, 20), (8, 8)])
def test_as_many_clusters_as_samples(shape):
    selector = SOCFS(1, n_clusters=8, lambda_=0.1, random_state=0).fit(sample(*shape))
    assert sorted(selector.labels_) == list(range(8))
