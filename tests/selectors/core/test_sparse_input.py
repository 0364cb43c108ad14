"""Sparse data: what a method that takes them selects is what it selects on the same dense values; their products."""

import numpy as np
import pytest
from scipy import sparse

from ufs_bench import methods
from ufs_bench.methods.core.base import BaseSelector
from ufs_bench.methods.core.sparse_data import column_blocks, times, transposed_times

METHODS = {
    "all": methods.AllFeatures(),
    "first": methods.FirstIndex(),
    "variance": methods.MaxVariance(),
    "min_variance": methods.MinVariance(),
    "norm": methods.MinNorm(),
    "random": methods.RandomSelection(random_state=0),
    "laplacian": methods.LaplacianScore(),
    "mcfs": methods.MCFS(20, n_clusters=4),
    "mcfs_released": methods.MCFS(20, n_clusters=4, variant="released", ridge=0.001, normalize_coef=True),
    "kmeans": methods.KMeansUFS(n_clusters=4),
    "kmeans_raw": methods.KMeansUFS(n_clusters=4, standardize=False),
    "spec": methods.SPEC(n_clusters=4),
    "spec_phi1": methods.SPEC(variant="phi1", power=3),
    "spec_centred": methods.SPEC(variant="phi1", power=2, center=True, affinity="binary"),
    "greedy": methods.GreedyCSS(25),
    "greedy_centred": methods.GreedyCSS(25, center=True),
    "greedy_parts": methods.GreedyCSS(25, n_parts=5, random_state=0),
    "dispersion": methods.HighlyVariableGenes(flavor="dispersion"),
    "deviance": methods.HighlyVariableGenes(flavor="deviance"),
    "kmeans_admm": methods.KMeansUFS(10, n_clusters=4, solver="admm"),
}


def data(n_samples, n_features):
    """Return about one value in seven, and a feature of zeros."""
    rng = np.random.default_rng(n_samples)
    X = np.where(rng.random((n_samples, n_features)) < 0.15, rng.random((n_samples, n_features)), 0.0)
    X[:, 3] = 0
    return X


@pytest.mark.parametrize("shape", [(80, 50), (60, 120)])
@pytest.mark.parametrize("name", METHODS)
def test_a_sparse_array_gives_the_scores_of_the_dense_one(name, shape):
    X = data(*shape)
    dense = METHODS[name].fit(X).scores_.copy()
    for held in (sparse.csr_matrix(X), sparse.coo_array(X)):
        method = METHODS[name].fit(held)
        np.testing.assert_allclose(method.scores_, dense, atol=1e-10)
        np.testing.assert_array_equal(method.ranking_, np.argsort(-dense, kind="stable"))


def test_stored_zeros_and_entries_given_twice_change_nothing():
    X = data(40, 30)
    held = sparse.coo_array(X)
    rows, columns = np.append(held.row, [0, 0, 5]), np.append(held.col, [3, 1, 1])
    messy = sparse.csr_array((np.append(held.data, [0.0, 1.0, 0.0]), (rows, columns)), shape=X.shape)
    X[0, 1] += 1
    for method in METHODS.values():
        np.testing.assert_array_equal(method.fit(messy).scores_, method.fit(sparse.csr_array(X)).scores_)


def test_a_fit_cannot_change_a_sparse_array_of_the_caller():
    class Writer(BaseSelector):
        takes_sparse = True

        def _solve(self, X, rng):
            X.data[:] = 0

    X = sparse.csr_array(data(20, 10))
    before = X.toarray()
    with pytest.raises(ValueError, match="read-only"):
        Writer().fit(X)
    np.testing.assert_array_equal(X.toarray(), before)
    X.data[0] = 2  # it is still the caller's to write to


def test_a_method_that_needs_dense_data_says_so():
    with pytest.raises(TypeError, match="dense data is required"):
        methods.UDFS().fit(sparse.csr_array(data(20, 10)))


def test_all_components_of_a_sparse_array_can_be_asked_for():
    X = data(30, 12)
    found = methods.KMeansUFS(n_clusters=12).fit(sparse.csr_array(X)).scores_
    np.testing.assert_allclose(found, methods.KMeansUFS(n_clusters=12).fit(X).scores_, atol=1e-10)


def test_blocks_of_columns_are_the_dense_array(monkeypatch):
    monkeypatch.setattr("ufs_bench.methods.core.sparse_data.BLOCK", 70)
    X = data(20, 10)
    blocks = list(column_blocks(sparse.csr_array(X)))
    assert len(blocks) == 4
    np.testing.assert_array_equal(np.hstack(blocks), X)
    assert [part is X for part in column_blocks(X)] == [True]


def by_hand(A, F):
    product = np.zeros((A.shape[0], F.shape[1]))
    for i in range(A.shape[0]):
        terms = [A.data[p] * F[A.indices[p]] for p in range(A.indptr[i], A.indptr[i + 1])]
        whole = len(terms) // 4 * 4
        for p in range(0, whole, 4):
            product[i] += (terms[p] + terms[p + 1]) + (terms[p + 2] + terms[p + 3])
        for term in terms[whole:]:
            product[i] += term
    return product


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 2, 5, 10, 26])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_product_is_the_sum_that_is_written_down(density, n_columns, order):
    rng = np.random.default_rng(0)
    A = sparse.random_array((23, 40), density=density, rng=rng, format="csr")
    F = np.asarray(rng.normal(size=(40, n_columns)), order=order)
    found = times(A, F)
    np.testing.assert_array_equal(found, by_hand(A, F))
    np.testing.assert_allclose(found, A.toarray() @ F, atol=1e-13)


def test_full_arrays_are_multiplied_as_they_are():
    rng = np.random.default_rng(1)
    X, F = rng.normal(size=(12, 7)), rng.normal(size=(12, 3))
    np.testing.assert_array_equal(times(X.T, F), X.T @ F)
    np.testing.assert_allclose(transposed_times(X, None, F), X.T @ F, atol=1e-13)
    np.testing.assert_allclose(transposed_times(X, sparse.csr_array(X.T), F), X.T @ F, atol=1e-13)
