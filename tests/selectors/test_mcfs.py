"""MCFS: the reference pair, optimality of what it reads off the paths, every size from one fit, and invariances."""

import numpy as np
import pytest
from samples import groups
from scipy.io import loadmat
from scipy.sparse.csgraph import connected_components
from test_lars import optimality_gap

from ufs_bench.datasets import scale
from ufs_bench.methods.core.graphs import affinity_graph, knn_graph
from ufs_bench.methods.core.spectral import smooth_vectors
from ufs_bench.methods.mcfs import MCFS, released
from ufs_bench.methods.mcfs.lars import lasso_paths

SHAPES = {"more samples": (4, 30, 40), "more features": (4, 10, 120)}


@pytest.fixture(params=SHAPES)
def X(request):
    return groups(*SHAPES[request.param])


def read_off(model, X, size):
    """Return (eigenvectors, coefficients (d, c)) that the definition gives for one size, from paths of their own."""
    Y = smooth_vectors(affinity_graph(X, model.affinity, model.n_neighbors), model.n_clusters, X)
    coefficients = np.zeros((X.shape[1], model.n_clusters))
    for k, path in enumerate(lasso_paths(X, Y, size, model.ridge)):
        coefficients[path.knots[-1].support, k] = path.knots[-1].coefficients
    return Y, coefficients


def test_released_coefficients_of_every_size_are_the_programs(reference):
    pair = reference("step03_mcfs")
    model = MCFS(20, n_clusters=4, affinity=pair["W_bin"], ridge=1e-3, normalize_coef=True, variant="released")
    model.fit(pair["X"])
    signs = np.sign((model.embedding_ * pair["Yemb"]).sum(axis=0))
    np.testing.assert_allclose(model.embedding_ * signs, pair["Yemb"], atol=1e-8)
    np.testing.assert_allclose(np.abs(model.coef_), np.abs(pair["coef20"]), atol=1e-8)
    for size in (5, 10, 20):
        expected = np.abs(pair[f"coef{size}"]).max(axis=1)
        chosen = model.subset(size)
        assert set(chosen) == set(pair[f"set{size}"].ravel())
        np.testing.assert_array_equal(chosen, np.argsort(-expected, kind="stable")[:size])


@pytest.mark.parametrize(("spread", "n_components"), [(0.3, 1), (100.0, 5)])
def test_released_coordinates_are_eigenvectors_orthogonal_to_the_constant_one(spread, n_components):
    X = groups(5, 12, 60, spread)
    S = affinity_graph(X, "heat", 5)
    Y, degrees = released.coordinates(S, 7, X), S.sum(axis=1)
    np.testing.assert_allclose(Y.T @ (degrees[:, None] * Y), np.eye(7), atol=1e-10)
    np.testing.assert_allclose(degrees @ Y, 0, atol=1e-8)
    ratio = (Y * (S @ Y)).sum(axis=0)
    np.testing.assert_allclose(S @ Y, degrees[:, None] * Y * ratio, atol=1e-10)
    assert connected_components(S)[0] == n_components
    np.testing.assert_allclose(ratio[: n_components - 1], 1, atol=1e-10)
    assert (ratio[n_components - 1 :] < 1 - 1e-6).all()


def test_the_last_knot_of_a_size_is_one_of_the_path_and_never_before_the_first():
    X = groups(4, 10, 120)
    y = smooth_vectors(knn_graph(X), 3, X)
    later = 0
    for first, last in zip(lasso_paths(X, y, 40), lasso_paths(X, y, 40, last=True), strict=True):
        assert [len(knot.support) for knot in first.knots] == [*range(1, 41)]
        for a, b in zip(first.knots, last.knots, strict=True):
            assert b.penalty <= a.penalty and np.count_nonzero(b.coefficients) <= len(a.support)
            later += b.penalty < a.penalty
        assert first.knots[-1].penalty == last.knots[-1].penalty
    assert later > 0


def test_released_refuses_a_sample_without_an_edge():
    S = np.zeros((80, 80))
    S[:40, :40] = 1
    with pytest.raises(ValueError, match="40 samples have no edge"):
        MCFS(5, affinity=S, variant="released").fit(groups(4, 20, 60))


@pytest.mark.parametrize("size", [5, 10, 20])
def test_coefficients_and_selected_sets_agree_with_the_reference(reference, size):
    pair = reference("step03_mcfs")
    X, expected = pair["X"], np.abs(pair[f"coef{size}"])
    model = MCFS(size, n_clusters=4, affinity=pair["W_bin"], ridge=1e-3, normalize_coef=True)
    ours = np.abs(read_off(model, X, size)[1])
    ours /= np.linalg.norm(ours, axis=0)
    # The released path of the third eigenvector has six features, and then five again: it takes the later knot.
    same = [0, 1, 3] if size == 5 else [0, 1, 2, 3]
    np.testing.assert_allclose(ours[:, same], expected[:, same], atol=1e-8)
    assert set(model.fit(X).subset(size)) == set(pair[f"set{size}"].ravel())
    if size != 5:
        np.testing.assert_allclose(model.scores_.clip(0), expected.max(axis=1), atol=1e-8)


@pytest.mark.parametrize("normalize_coef", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_scores_are_the_largest_coefficients_of_optimal_knots(X, ridge, normalize_coef):
    model = MCFS(25, n_clusters=4, ridge=ridge, normalize_coef=normalize_coef).fit(X)
    Y, A = read_off(model, X, 25)
    gradient = X.T @ (Y - X @ A) - ridge * A
    penalty = np.abs(gradient).max(axis=0)
    assert (np.count_nonzero(A, axis=0) == 25).all()
    np.testing.assert_allclose(gradient[A != 0], (penalty * np.sign(A))[A != 0], atol=1e-12)
    np.testing.assert_array_equal(model.embedding_, Y)
    np.testing.assert_allclose(model.coef_, A / (np.linalg.norm(A, axis=0) if normalize_coef else 1), rtol=1e-12)
    used = A.any(axis=1)
    np.testing.assert_array_equal(model.scores_[used], np.abs(model.coef_[used]).max(axis=1))
    assert (model.scores_[~used] < 0).all()


@pytest.mark.parametrize("normalize_coef", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_one_fit_gives_what_a_fit_for_each_size_gives(X, normalize_coef, ridge):
    def fit(size):
        return MCFS(size, n_clusters=3, ridge=ridge, normalize_coef=normalize_coef).fit(X)

    model = fit(40)
    assert len(model.n_nonzero_) == 40
    for size in (1, 5, 21, 40):
        alone = fit(size)
        np.testing.assert_array_equal(model.subset(size), alone.subset(size))
        np.testing.assert_array_equal(np.flatnonzero(alone.get_support()), np.sort(model.subset(size)))
        np.testing.assert_array_equal(model.n_nonzero_[:size], alone.n_nonzero_)


def test_a_size_beyond_the_fitted_one_is_refused_with_the_remedy(X):
    model = MCFS(10).fit(X)
    with pytest.raises(ValueError, match=r"size=11 must be at most n_features_to_select=10.* fit with"):
        model.subset(11)
    with pytest.raises(ValueError, match="size=0"):
        model.subset(0)


def test_a_shortfall_is_reported_and_filled_by_nearness_not_by_file_order():
    X = groups(3, 4, 200)
    model = MCFS(100, n_clusters=2).fit(X)
    n_nonzero = model.n_nonzero_[-1]
    assert n_nonzero <= 2 * 12
    assert (model.scores_ > 0).sum() == n_nonzero
    filling = model.subset(100)[n_nonzero:]
    assert not np.array_equal(np.sort(filling), filling)
    assert (np.diff(model.scores_[filling]) <= 0).all()
    assert (model.scores_[filling] < 0).all() and (model.scores_ >= -1).all()
    order = np.random.default_rng(0).permutation(200)
    assert set(order[MCFS(100, n_clusters=2).fit(X[:, order]).subset(100)]) == set(model.subset(100))


def test_it_also_holds_when_the_graph_is_disconnected():
    X = groups(6, 20, 60, spread=100.0)
    rng = np.random.default_rng(1)
    for n_clusters in (3, 6):
        expected = MCFS(30, n_clusters=n_clusters).fit(X)
        moved = MCFS(30, n_clusters=n_clusters).fit(X[rng.permutation(len(X))])
        np.testing.assert_allclose(moved.scores_, expected.scores_, atol=1e-8)
        assert expected.n_nonzero_[-1] >= 30


def test_data_without_any_correlation_is_called_collapsed():
    model = MCFS(3).fit(np.zeros((10, 5)))
    assert model.status_ == "collapsed"
    assert not model.n_nonzero_.any()
    np.testing.assert_array_equal(model.subset(2), [0, 1])


@pytest.mark.parametrize("file", ["pixraw10p.mat", pytest.param("allaml.mat", marks=pytest.mark.slow)])
def test_knots_of_wide_real_data_are_optimal_to_the_end_of_the_path(data_dir, file):
    X = scale(loadmat(data_dir / file)["X"].astype(float), "minmax")
    Y = smooth_vectors(knn_graph(X), 2, X)
    for y, path in zip(Y.T, lasso_paths(X, Y, 300), strict=True):
        assert path.knots[-1].penalty == 0
        assert len(path.knots) <= np.linalg.matrix_rank(X)
        assert max(optimality_gap(X, y, knot) for knot in path.knots[::7] + path.knots[-5:]) < 1e-11


def test_a_path_that_rounding_holds_up_ends_there_and_its_knots_are_optimal(data_dir):
    # With unit-norm samples 71 features explain y, lambda drops to rounding, and features would join and leave forever.
    X = loadmat(data_dir / "allaml.mat")["X"].astype(float)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    Y = smooth_vectors(knn_graph(X), 2, X)
    for y, path in zip(Y.T, lasso_paths(X, Y, 300), strict=True):
        largest = path.knots[0].penalty
        assert len(path.knots) <= len(X)
        assert path.knots[-1].penalty < 1e-3 * largest
        for knot in path.knots:
            gradient = X.T @ (y - X[:, knot.support] @ knot.coefficients)
            assert np.abs(gradient).max() - knot.penalty < 1e-9 * largest
