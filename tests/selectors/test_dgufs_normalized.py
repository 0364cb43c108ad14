"""The normalized model of DGUFS."""

import itertools

import numpy as np
import pytest
from samples import blobs
from scipy import sparse

from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.dgufs import DGUFS, kernels
from ufs_bench.methods.dgufs.kernel_kmeans import kernel_kmeans
from ufs_bench.methods.dgufs.kernels import DenseKernel, FactoredKernel
from ufs_bench.methods.dgufs.normalized import Problem

BETAS = (0.1, 0.3, 0.5, 0.7, 0.9)


def normalized(X, size, **parameters):
    defaults = {"n_clusters": 4, "solver": "normalized", "n_starts": 2, "random_state": 0}
    return DGUFS(size, **{**defaults, **parameters}).fit(X)


def objective(X, S, labels, subset, n_clusters, beta):
    """Return the normalized objective, written down from its definition, as a maximum."""
    degrees = S.sum(axis=1)
    Sn = S / np.sqrt(np.outer(degrees, degrees))
    Xs = X[:, subset] - X[:, subset].mean(axis=0)
    G = np.eye(n_clusters)[labels]
    L = G / G.sum(axis=0) @ G.T
    return beta * (Sn * L).sum() / np.linalg.norm(Sn) + (1 - beta) * (Xs @ Xs.T * L).sum() / np.linalg.norm(Xs @ Xs.T)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("shape", [(60, 30), (25, 90)])
def test_the_objective_is_the_printed_one_and_never_rises(beta, shape):
    X, _ = blobs(*shape, noise=2.0)
    model = normalized(X, 8, beta=beta)
    S = knn_graph(X, 5, "binary", include_self=True).toarray()
    expected = objective(X, S, model.labels_, model.subset(8), 4, beta)
    assert model.objective_ == pytest.approx(-expected, rel=1e-10)
    assert (np.diff(model.trace_) <= 1e-12).all() and model.status_ == "converged"
    np.testing.assert_allclose(model.indicators_.T @ model.indicators_, np.eye(4), atol=1e-15)
    np.testing.assert_array_equal(model.indicators_.argmax(axis=1), model.labels_)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_at_the_end_no_swap_of_features_and_no_move_of_a_sample_improves(seed, beta):
    X, _ = blobs(30, 15, 3, seed, noise=2.0)
    S = knn_graph(X, 5, "binary", include_self=True).toarray()
    model = normalized(X, 5, n_clusters=3, beta=beta)
    labels, subset = model.labels_, model.subset(5)
    best = objective(X, S, labels, subset, 3, beta)
    for place, new in itertools.product(range(5), np.setdiff1d(np.arange(15), subset)):
        swapped = subset.copy()
        swapped[place] = new
        assert objective(X, S, labels, swapped, 3, beta) <= best + 1e-10
    for sample, cluster in itertools.product(range(30), range(3)):
        moved = labels.copy()
        moved[sample] = cluster
        if len(set(moved)) == 3:
            assert objective(X, S, moved, subset, 3, beta) <= best + 1e-10


def test_the_feature_step_mostly_finds_the_best_of_all_subsets():
    reached = 0
    for seed in range(20):
        X, labels = blobs(20, 9, 3, seed, noise=1.5)
        S = knn_graph(X, 5, "binary", include_self=True)
        problem = Problem(X, S, 4, 3, 10.0, 0.5)
        state = problem.start(labels % 3)
        subset = problem.sweep(state).subset
        dense = S.toarray()
        values = {s: objective(X, dense, labels % 3, list(s), 3, 0.5) for s in itertools.combinations(range(9), 4)}
        reached += values[tuple(sorted(subset))] >= max(values.values()) - 1e-12
    assert reached >= 15


def test_a_copy_of_a_chosen_feature_is_passed_over_for_one_that_tells_more():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    first, second = np.eye(3)[labels, 0], np.eye(3)[labels, 1]
    X = np.column_stack([first, first, second, rng.random(60)]) + 1e-3 * rng.random((60, 4))
    subset = set(normalized(X, 2, n_clusters=3, beta=0.5, init=labels).subset(2))
    assert 2 in subset and subset != {0, 1}


def test_more_starts_never_give_a_worse_objective():
    X, _ = blobs(noise=2.5)
    values = [normalized(X, 8, n_starts=n).objective_ for n in (1, 2, 4, 8)]
    assert (np.diff(values) <= 0).all()


def test_given_labels_are_the_start():
    X, labels = blobs(noise=2.0)
    model = normalized(X, 8, init=labels, max_iter=1)
    problem = Problem(X, knn_graph(X, 5, "binary", include_self=True), 8, 4, 10.0, 0.5)
    assert model.trace_[0] == pytest.approx(problem.start(labels).value, rel=1e-12)
    with pytest.raises(ValueError, match="present"):
        normalized(X, 8, init=np.zeros(len(X), dtype=int))


@pytest.mark.parametrize("beta", [0.1, 0.9])
@pytest.mark.parametrize("shape", [(150, 30), (90, 200)])
def test_without_an_array_of_all_pairs_the_result_is_the_same(monkeypatch, beta, shape):
    X, _ = blobs(*shape, noise=2.0)
    dense = normalized(X, 8, n_starts=6, beta=beta)
    monkeypatch.setattr(kernels, "DENSE_SAMPLES", 0)
    factored = normalized(X, 8, n_starts=6, beta=beta)
    assert factored.objective_ == pytest.approx(dense.objective_, rel=1e-12)
    assert set(factored.subset(8)) == set(dense.subset(8))
    np.testing.assert_array_equal(factored.labels_, dense.labels_)


def test_all_vectors_of_a_repeated_eigenvalue_are_found():
    # Twelve complete graphs: the largest eigenvalue is there 12 times, all others are 0, and F adds to one of them.
    graph = sparse.csr_array(np.kron(np.eye(12), np.ones((30, 30))))
    F = np.random.default_rng(0).standard_normal((360, 1))
    dense = DenseKernel(graph.toarray() + F @ F.T)
    factored = FactoredKernel(graph, F)
    first, second = (kernel.leading_eigenvectors(12) for kernel in (dense, factored))
    np.testing.assert_allclose(second @ second.T, first @ first.T, atol=1e-8)
    np.testing.assert_allclose(factored.diagonal, dense.diagonal, rtol=1e-12)
    assert factored.norm == pytest.approx(dense.norm, rel=1e-12)


def test_moves_in_a_factored_kernel_are_those_in_an_array():
    rng = np.random.default_rng(0)
    graph = knn_graph(rng.random((80, 3)), 4, "binary", include_self=True)
    F, labels = rng.standard_normal((80, 5)), np.arange(80) % 4
    dense = kernel_kmeans(DenseKernel(graph.toarray() + F @ F.T), labels, 4)
    np.testing.assert_array_equal(kernel_kmeans(FactoredKernel(graph, F), labels, 4), dense)
    assert not np.array_equal(dense, labels)
