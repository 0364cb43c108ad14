"""The local-learning regulariser against its definition, and the released program's."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from ufs_bench.methods.core.graphs import knn_graph, mean_distance
from ufs_bench.methods.rufs.local_learning import Squared, kernel_graph_laplacian, local_learning_laplacian


def sample(n_samples=40, n_features=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def by_definition(X, n_neighbors, regularization):
    """Return (I - A)'(I - A), one sample at a time, from the full kernel matrix."""
    distances = cdist(X, X)
    K = np.exp(-(distances**2) / (2 * distances.mean() ** 2))
    edges = knn_graph(X, n_neighbors, "binary").toarray() > 0
    A = np.zeros_like(K)
    for i, row in enumerate(edges):
        N = np.flatnonzero(row)
        A[i, N] = K[i, N] @ np.linalg.inv(K[np.ix_(N, N)] + len(N) * regularization * np.eye(len(N)))
    return (np.eye(len(X)) - A).T @ (np.eye(len(X)) - A)


@pytest.mark.parametrize(("shape", "offset"), [((40, 6), 0), ((12, 30), 0), ((40, 6), 1e4)])
@pytest.mark.parametrize("regularization", [0.1, 1e-3])
def test_every_row_is_the_kernel_regression_on_its_neighbours(shape, offset, regularization):
    X = sample(*shape) + offset
    L = local_learning_laplacian(X, 5, regularization)
    np.testing.assert_allclose(L.toarray(), by_definition(X, 5, regularization), atol=1e-8)


def test_a_sample_that_is_near_to_all_leaves_the_matrix_in_factors():
    X = np.vstack([np.zeros(400), np.eye(400)])  # the first is the nearest of all others
    L = local_learning_laplacian(X, 1)
    assert isinstance(L, Squared) and L.root.nnz == 3 * 400 + 1
    G = np.random.default_rng(0).normal(size=(401, 3))
    expected = by_definition(X, 1, 0.1) @ G
    np.testing.assert_allclose(L @ G, expected, atol=1e-12)
    np.testing.assert_allclose((2.5 * L) @ G, 2.5 * expected, atol=1e-12)
    assert isinstance(local_learning_laplacian(sample(300, 3)), sparse.csr_array)


def test_units_offsets_and_the_order_of_samples_do_not_matter():
    X, order = sample(), np.random.default_rng(1).permutation(40)
    L = local_learning_laplacian(X).toarray()
    np.testing.assert_allclose(local_learning_laplacian(1e3 * X - 7).toarray(), L, atol=1e-9)
    np.testing.assert_allclose(local_learning_laplacian(X[order]).toarray(), L[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize("X", [np.full((8, 3), 0.1), np.repeat(sample(6), 4, axis=0)], ids=["one point", "six points"])
def test_equal_samples_give_a_positive_semidefinite_matrix_in_which_they_are_alike(X):
    L = local_learning_laplacian(X).toarray()
    np.testing.assert_allclose(L, L.T, atol=1e-12)
    assert np.linalg.eigvalsh(L)[0] > -1e-12


@pytest.mark.parametrize("per_neighbor", [False, True])
def test_kernel_on_a_graph_is_taken_as_it_is(per_neighbor):
    K = knn_graph(sample(), 5)
    K.setdiag(1.0)
    dense, A = K.toarray(), np.zeros((40, 40))
    for i in range(40):
        N = np.setdiff1d(np.flatnonzero(dense[i]), i)
        ridge = 0.1 * (len(N) if per_neighbor else 1)
        A[i, N] = np.linalg.solve(dense[np.ix_(N, N)] + ridge * np.eye(len(N)), dense[i, N])
    expected = (np.eye(40) - A).T @ (np.eye(40) - A)
    np.testing.assert_allclose(
        kernel_graph_laplacian(K.tocsr(), per_neighbor=per_neighbor).toarray(), expected, atol=1e-10
    )


@pytest.mark.parametrize("shape", [(40, 6), (3000, 2)])
def test_mean_distance_counts_every_ordered_pair_and_the_diagonal(shape):
    X = sample(*shape)
    assert mean_distance(X) == pytest.approx(cdist(X, X).mean(), rel=1e-12)


def test_released_regulariser_is_reproduced(reference):
    pair = reference("step06_rufs")
    K = knn_graph(pair["X"], 5, "heat", bandwidth=mean_distance(pair["X"]))
    np.testing.assert_allclose(K.toarray(), pair["K"], atol=1e-10)
    np.testing.assert_allclose(kernel_graph_laplacian(K).toarray(), pair["T"], atol=1e-8)
