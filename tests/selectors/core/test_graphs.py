"""Neighbourhood graphs against exhaustive search, the reference pairs, and their algebra."""

import numpy as np
import pytest
from samples import squared_distances
from scipy import sparse
from scipy.io import loadmat

from ufs_bench.methods.core import graphs
from ufs_bench.methods.core.graphs import affinity_graph, knn_graph, laplacian, nearest_neighbors


def exhaustive_neighbors(X, k):
    """Order by exact distance, then index; the sample itself struck out."""
    D = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return np.array([[j for j in np.argsort(row, kind="stable") if j != i][:k] for i, row in enumerate(D)])


def data(kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 7))
    return {
        "generic": X,
        "ties": rng.integers(0, 2, (60, 7)).astype(float),
        "duplicates": np.repeat(X[:15], 4, axis=0),
        "far from the origin": np.round(X * 64) / 64 + 2.0**20,
        "one outlier": np.vstack([X, np.full((1, 7), 1e7)]),
        "identical": np.ones((20, 3)),
    }[kind]


KINDS = ["generic", "ties", "duplicates", "far from the origin", "one outlier", "identical"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 5, 19])
def test_neighbors_are_those_of_exhaustive_search(kind, k):
    X = data(kind)
    np.testing.assert_array_equal(nearest_neighbors(X, k), exhaustive_neighbors(X, k))


@pytest.mark.parametrize("kind", KINDS)
def test_neighbors_do_not_depend_on_the_blocks(kind, monkeypatch):
    X = data(kind)
    expected = knn_graph(X, 5)
    monkeypatch.setattr(graphs, "BLOCK", 100)
    assert abs(knn_graph(X, 5) - expected).max() == 0


def test_a_sample_that_counts_itself_comes_first_even_among_duplicates():
    X = data("duplicates")
    both = nearest_neighbors(X, 5, include_self=True)
    np.testing.assert_array_equal(both[:, 0], np.arange(len(X)))
    np.testing.assert_array_equal(both[:, 1:], nearest_neighbors(X, 4))
    np.testing.assert_array_equal(nearest_neighbors(X, 1, include_self=True)[:, 0], np.arange(len(X)))


def test_more_neighbors_than_samples_means_all_of_them():
    X = data("generic")[:4]
    assert nearest_neighbors(X, 10).shape == (4, 3)
    assert nearest_neighbors(X, 10, include_self=True).shape == (4, 4)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, None])
def test_a_bad_number_of_neighbors_is_named(bad):
    with pytest.raises(ValueError, match="n_neighbors="):
        nearest_neighbors(data("generic"), bad)


def test_one_sample_has_no_neighbor():
    with pytest.raises(ValueError, match="n_samples=1"):
        nearest_neighbors(np.ones((1, 3)), 2)


@pytest.mark.parametrize("weights", ["heat", "binary"])
@pytest.mark.parametrize("include_self", [False, True])
def test_an_edge_is_there_where_either_end_chose_the_other(weights, include_self):
    X = data("generic")
    chosen = np.zeros((len(X), len(X)), dtype=bool)
    neighbors = nearest_neighbors(X, 5, include_self)
    chosen[np.arange(len(X))[:, None], neighbors] = True
    S = knn_graph(X, 5, weights, include_self=include_self).toarray()
    np.testing.assert_array_equal(S > 0, chosen | chosen.T)
    np.testing.assert_array_equal(S, S.T)
    np.testing.assert_array_equal(np.diag(S), float(include_self))
    assert not (S > 1).any()
    if weights == "binary":
        assert set(np.unique(S)) == {0, 1}


@pytest.mark.parametrize("include_self", [False, True])
def test_the_default_bandwidth_is_the_mean_length_of_the_edges(include_self):
    X = data("generic")
    S = knn_graph(X, 5, include_self=include_self).toarray()
    np.fill_diagonal(S, 0)
    i, j = np.nonzero(S)
    lengths = np.linalg.norm(X[i] - X[j], axis=1)
    np.testing.assert_allclose(S[i, j], np.exp(-(lengths**2) / (2 * lengths.mean() ** 2)), rtol=1e-12)


def test_unknown_weights_and_a_bandwidth_that_leaves_no_edge_are_refused_with_the_remedy():
    X = 1000 * data("generic")
    with pytest.raises(ValueError, match=r"bandwidth=0\.1 .* mean edge distance is \d.*None"):
        knn_graph(X, 5, bandwidth=0.1)
    with pytest.raises(ValueError, match="bandwidth="):
        knn_graph(X, 5, bandwidth=1e-320)
    with pytest.raises(ValueError, match="bandwidth="):
        knn_graph(X, 5, bandwidth=0)
    with pytest.raises(ValueError, match="weights='cosine'"):
        knn_graph(X, weights="cosine")


def test_an_outlier_whose_weights_underflow_is_left_without_edges():
    X = data("one outlier")
    S = knn_graph(X, 5, bandwidth=1.0)
    assert S.sum(axis=1)[-1] == 0
    assert (S.sum(axis=1)[:-1] > 0).all()
    assert (S.data > 0).all()


def test_identical_samples_have_weight_one():
    assert set(knn_graph(data("identical"), 5).data) == {1.0}
    assert set(knn_graph(data("identical"), 5, bandwidth=2.0).data) == {1.0}


def test_an_affinity_of_the_callers_own_is_taken_as_it_is():
    X = data("generic")
    S = knn_graph(X).toarray()
    for given in (S, sparse.csc_matrix(S), sparse.csr_array(S), (S > 0)):
        taken = affinity_graph(X, given, 5)
        assert isinstance(taken, sparse.csr_array)
        np.testing.assert_array_equal(taken.toarray(), np.asarray(given.todense() if sparse.issparse(given) else given))
    assert abs(affinity_graph(X, "binary", 3) - knn_graph(X, 3, "binary")).max() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda S: S[:, :-1], r"shape \(60, 59\)"),
        (lambda S: np.triu(S), "numpy.maximum"),
        (lambda S: -S, "weights must be 0 or more"),
        (lambda S: np.where(S > 0, np.nan, 0), "not finite"),
        (lambda S: 0 * S, "no positive weight"),
        (lambda S: S.astype(complex), "real numbers"),
        (lambda S: "cosine", "affinity='cosine'"),
        (lambda S: None, "real numbers"),
    ],
)
def test_what_is_no_weight_matrix_is_refused(change, message):
    X = data("generic")
    with pytest.raises(ValueError, match=message):
        affinity_graph(X, change(knn_graph(X).toarray()), 5)


@pytest.mark.parametrize("normalized", [False, True])
def test_a_laplacian_is_the_symmetric_matrix_of_its_definition(normalized):
    S = knn_graph(data("generic"))
    L, D = laplacian(S, normalized).toarray(), S.sum(axis=1)
    expected = np.eye(len(D)) - S.toarray() / np.sqrt(np.outer(D, D)) if normalized else np.diag(D) - S.toarray()
    np.testing.assert_array_equal(L, L.T)
    np.testing.assert_allclose(L, expected, atol=1e-14)


def test_self_loops_cancel_in_the_laplacian_and_isolated_samples_have_zero_rows():
    S = np.array([[5.0, 1, 0], [1, 2, 0], [0, 0, 0]])
    np.testing.assert_array_equal(laplacian(S).toarray(), [[1, -1, 0], [-1, 1, 0], [0, 0, 0]])
    assert not laplacian(S, normalized=True).toarray()[2].any()


def test_graphs_agree_with_the_reference(reference):
    pair = reference("step01_graphs")
    X, sigma, t_mean = pair["X"].astype(float), pair["sigma"].item(), pair["tmean"].item()
    D = np.sqrt(squared_distances(X))
    assert abs(np.median(D) - sigma) < 1e-8
    assert abs(D.mean() - t_mean) < 1e-8
    dgufs = knn_graph(X, 5, "binary", include_self=True)
    for name, ours in {
        "W_bin": knn_graph(X, 5, "binary"),
        "W_heat_tsigma2": knn_graph(X, 5, "heat", sigma**2),
        "W_heat_tmean": knn_graph(X, 5, "heat", t_mean),
        "W_getS": dgufs,
        "L_getS": laplacian(dgufs),
    }.items():
        expected = pair[name].toarray() if sparse.issparse(pair[name]) else pair[name]
        np.testing.assert_allclose(ours.toarray(), expected, atol=1e-8, err_msg=name)


def test_a_fixed_bandwidth_empties_the_graph_of_raw_pixels_and_the_default_does_not(data_dir):
    X = loadmat(data_dir / "warppie10p.mat")["X"].astype(float)
    with pytest.raises(ValueError, match=r"bandwidth=1 .* mean edge distance"):
        knn_graph(X, 5, bandwidth=1.0)
    S = knn_graph(X, 5)
    assert S.nnz == knn_graph(X, 5, "binary").nnz
    assert S.data.min() > 1e-6
