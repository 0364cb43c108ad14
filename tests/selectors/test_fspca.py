"""FSPCA: both algorithms as released, the optimum where it is known, no exchange that helps, and special cases."""

import itertools

import numpy as np
import pytest

from ufs_bench.methods import FSPCA, KMeansUFS, MaxVariance
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.fspca import ipu
from ufs_bench.methods.fspca.swap import WORTHWHILE, Bounds

PAIRS = [f"modern/fspca_{data}_s{s}" for data in ("rand60x40", "umist60x40", "pie60x100") for s in (1, 2)]
SHAPES = [(40, 12), (8, 12)]


def sample(n_samples, n_features, seed=0, rank=6, noise=0.5):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_samples, rank)) @ rng.normal(size=(rank, n_features))
    return factors + noise * rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 2, n_features) + 3


def covariance(X):
    Z = X - X.mean(axis=0)
    return Z.T @ Z


def value(A, features, m):
    """Return the sum of the m largest eigenvalues on some features."""
    return np.linalg.eigvalsh(A[np.ix_(features, features)])[-m:].sum()


def best(A, h, m):
    return max(value(A, list(subset), m) for subset in itertools.combinations(range(len(A)), h))


@pytest.mark.parametrize("name", PAIRS)
def test_both_algorithms_are_those_of_the_released_programs(reference, name):
    pair = reference(name)
    X, m, h = pair["X"], int(pair["m"]), int(pair["k"])
    ridge = np.sqrt(float(pair["eps_diag"])) * np.eye(X.shape[1])  # the program adds eps I to A
    problem = ipu.Problem(np.vstack([X - X.mean(axis=0), ridge]), h, m)
    ends = {"go": problem.go()}
    for key, start in (("ipu", ends["go"]), ("ipu_random", problem.of_subspace(pair["W0_random"]))):
        ends[key], trace = iterate(problem.sweep, start, max_iter=20, tol=0)
        assert trace.status == "converged"
    for key, state in ends.items():
        np.testing.assert_array_equal(state.features, np.sort(pair[f"{key}_rows"]))
        assert -state.value == pytest.approx(float(pair[f"{key}_obj"]), rel=1e-12)
        if f"{key}_proj" in pair:
            W = problem.coefficients(state)
            np.testing.assert_allclose(W @ W.T, pair[f"{key}_proj"], atol=1e-11)


@pytest.mark.parametrize("solver", ["go", "ipu", "swap"])
@pytest.mark.parametrize("m", [2, 3, 5])
def test_where_the_rank_is_at_most_m_it_is_the_certified_optimum(m, solver):
    X = sample(40, 12, rank=2, noise=0.0)
    model = FSPCA(5, n_components=m, solver=solver).fit(X)
    assert -model.objective_ == pytest.approx(best(covariance(X), 5, m), rel=1e-10)
    assert -model.objective_ == pytest.approx(model.bound_, rel=1e-10)


@pytest.mark.parametrize("solver", ["go", "ipu", "swap"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_sums_of_eigenvalues_between_the_optimum_and_the_papers_bound(shape, solver):
    X = sample(*shape)
    A = covariance(X)
    for m in (1, 3):
        model = FSPCA(5, n_components=m, solver=solver).fit(X)
        W, top = model.coef_, best(A, 5, m)
        assert -model.objective_ == pytest.approx(value(A, model.subset(5), m))
        assert -model.objective_ == pytest.approx(np.trace(W.T @ A @ W))
        np.testing.assert_allclose(W.T @ W, np.eye(m), atol=1e-10)
        assert set(np.flatnonzero(W.any(axis=1))) == set(model.subset(5))
        assert -model.objective_ <= top * (1 + 1e-10) <= model.bound_ * (1 + 1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sweep_keeps_what_the_minoriser_of_the_paper_keeps(shape):
    X = sample(*shape)
    A = covariance(X)
    problem = ipu.Problem(X - X.mean(axis=0), 5, 3)
    state = problem.of_subspace(np.random.default_rng(1).normal(size=(12, 3)))
    W = problem.coefficients(state)
    P = A @ W @ np.linalg.pinv(W.T @ A @ W) @ W.T @ A
    np.testing.assert_allclose(problem.explained(state), np.diag(P), atol=1e-8)
    assert np.linalg.eigvalsh(A - P).min() > -1e-8 * np.trace(A)
    assert np.trace(W.T @ P @ W) == pytest.approx(np.trace(W.T @ A @ W))
    assert set(problem.state(np.diag(P)).features) == set(np.argsort(-np.diag(P))[:5])
    new = problem.sweep(state)
    assert new is state or new.value < state.value


@pytest.mark.parametrize("m", [1, 3, 4])
@pytest.mark.parametrize(("shape", "h"), [((40, 30), 8), ((9, 30), 8), ((9, 30), 12)])
def test_no_exchange_of_one_feature_raises_the_value(shape, h, m):
    X = sample(*shape)
    A = covariance(X)
    model = FSPCA(h, n_components=m).fit(X)
    chosen, outside = model.subset(h), model.ranking_[h:]
    others = [value(A, np.append(np.delete(chosen, i), j), m) for i in range(h) for j in outside]
    assert max(others) <= -model.objective_ * (1 + WORTHWHILE + 1e-9)
    assert model.status_ == "converged" and (np.diff(model.trace_) <= 0).all()
    assert model.objective_ <= FSPCA(h, n_components=m, solver="ipu").fit(X).objective_


@pytest.mark.parametrize("shape", [(40, 60), (40, 30), (9, 30)])
def test_what_is_known_of_the_matrix_without_a_feature_is_nowhere_below_it(shape):
    X = sample(*shape, rank=3)
    B, features = X - X.mean(axis=0), list(range(25))
    bounds = Bounds(B, features, 2)
    for old in (0, 7):
        left = [feature for feature in features if feature != old]
        values, along, rest = bounds.without(old)
        matrix = B[:, left] @ B[:, left].T
        assert values[0] >= np.linalg.eigvalsh(matrix)[-1] * (1 - 1e-10)
        explained = np.einsum("kj,k->j", along**2, values) + rest * bounds.floor  # b'Nb of all features b
        assert (explained >= np.einsum("ij,ij->j", B, matrix @ B) * (1 - 1e-9) - 1e-9).all()
        np.testing.assert_allclose((along**2).sum(axis=0) + rest, (B**2).sum(axis=0), rtol=1e-8)


@pytest.mark.parametrize("shape", [(200, 60), (25, 120)])
def test_the_closed_form_on_standardised_features_is_kmeans_ufs(shape):
    X = sample(*shape)
    for c in (2, 5):
        go = FSPCA(10, n_clusters=c, solver="go", scale=True).fit(X)
        np.testing.assert_allclose(go.scores_, KMeansUFS(n_clusters=c).fit(X).scores_, rtol=1e-9)
        np.testing.assert_array_equal(go.ranking_, KMeansUFS(n_clusters=c).fit(X).ranking_)
        assert not go.size_in_objective


@pytest.mark.parametrize("solver", ["ipu", "swap"])
@pytest.mark.parametrize("m", [5, 9])
def test_with_as_many_components_as_features_those_of_largest_variance_are_kept(m, solver):
    X = sample(40, 12)
    model = FSPCA(5, n_components=m, solver=solver).fit(X)
    assert set(model.subset(5)) == set(MaxVariance().fit(X).subset(5))
    assert -model.objective_ == pytest.approx(model.bound_)
