"""SF2SOG: exact blocks, a local search that gains, exchanges of features, and where the model has nothing to say."""

import numpy as np
import pytest
from samples import uneven as sample
from scipy import sparse

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.methods import SF2SOG
from ufs_bench.methods.core.optimal_graph import row_stochastic_graph, smoother, symmetric_laplacian
from ufs_bench.methods.sf2sog import Problem, exchange
from ufs_bench.methods.sf2sog.eigen_subset import WORTHWHILE, Quadratic, swapped
from ufs_bench.methods.sf2sog.exchange import Exchange

SHAPES = [(60, 25), (30, 70), (20, 20)]


def objective(X, S, Y, W, G, lambda_, gamma):
    """Return the printed objective."""
    A = (G + G.T) / 2
    L = np.diag(A.sum(axis=1)) - A
    return np.trace(Y.T @ L @ Y) + lambda_ * ((X @ W - Y) ** 2).sum() + gamma * ((G - S) ** 2).sum()


def blocks(problem, state):
    """Return Y, W and G of a state, as arrays."""
    W = np.zeros((problem.X.shape[1], problem.n_vectors))
    W[state.subset.features] = state.subset.vectors
    return problem.embedding(state.subset, state.smooth), W, state.G.toarray()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lambda_", "gamma"), [(1.0, 1.0), (0.01, 100.0), (100.0, 0.1)])
def test_objective_is_the_printed_one_and_never_rises(shape, lambda_, gamma):
    X = sample(*shape)
    S = row_stochastic_graph(X, "heat", 5)
    problem = Problem(X, S, 8, 3, lambda_, gamma)
    state = problem.start(None)
    for _ in range(3):
        new = problem.sweep(state)
        assert new.value <= state.value * (1 + 1e-10)
        assert new.value == pytest.approx(objective(X, S.toarray(), *blocks(problem, new), lambda_, gamma), rel=1e-8)
        state = new
    selector = SF2SOG(8, n_clusters=3, lambda_=lambda_, gamma=gamma).fit(X)
    learned = selector.embedding_, selector.coef_, selector.graph_.toarray()
    assert objective(X, S.toarray(), *learned, lambda_, gamma) == pytest.approx(selector.objective_, rel=1e-8)
    np.testing.assert_array_equal(selector.coef_.any(axis=1), selector.get_support())
    np.testing.assert_allclose(selector.coef_.T @ selector.coef_, np.eye(3), atol=1e-12)
    assert (np.diff(selector.trace_) <= 1e-10 * selector.trace_[:-1]).all()
    assert selector.status_ == "converged"


def totals_after_swaps(X, graph, features, n_vectors, lambda_=1.0):
    """Return the sum of the smallest eigenvalues for the features, and for each set that differs by one of them."""
    L = symmetric_laplacian(graph)
    B = X.T @ smoother(L, lambda_)(L @ X)

    def total(subset):
        return np.linalg.eigvalsh(B[np.ix_(subset, subset)])[:n_vectors].sum()

    outside = np.setdiff1d(np.arange(X.shape[1]), features)
    swaps = [np.append(np.delete(features, i), j) for i in range(len(features)) for j in outside]
    return total(features), np.array([total(subset) for subset in swaps])


@pytest.mark.parametrize("shape", [(60, 25), (30, 40)])
@pytest.mark.parametrize(("size", "n_clusters"), [(8, 3), (8, 1), (4, 4), (1, 2), (12, 5)])
@pytest.mark.parametrize(("gamma", "max_iter"), [(1.0, 100), (1e-2, 1)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_at_the_end_no_swap_of_a_feature_lowers_the_objective(shape, size, n_clusters, gamma, max_iter):
    X = sample(*shape)
    model = SF2SOG(size, n_clusters=n_clusters, gamma=gamma, max_iter=max_iter).fit(X)
    now, others = totals_after_swaps(X, model.graph_, model.subset(size), min(size, n_clusters))
    rounding = 1e-13 * (X**2).sum()  # all that a collapsed fit has left
    assert (now < rounding) == (model.status_ == "collapsed")
    assert others.min() >= now * (1 - 2 * WORTHWHILE) - rounding


def test_at_the_end_no_swap_of_real_features_lowers_the_objective(data_dir):
    X = scale(load_dataset("orl", data_dir).X[:100, :256], "minmax")
    model = SF2SOG(40, n_clusters=10).fit(X)
    now, others = totals_after_swaps(X, model.graph_, model.subset(40), 10)
    assert others.min() >= now * (1 - 2 * WORTHWHILE)


def test_features_given_are_the_start_and_swaps_leave_it():
    X = sample(60, 40)
    init = np.argsort(-X.var(axis=0))[:8]
    selector = SF2SOG(8, n_clusters=3, init=init).fit(X)
    assert selector.objective_ < 0.8 * selector.trace_[0]
    assert set(selector.subset(8)) != set(init)
    for wrong in (init[:3], np.zeros(8, dtype=int), init + 40, init.astype(float)):
        with pytest.raises(ValueError, match="8 different features"):
            SF2SOG(8, init=wrong).fit(X)


def test_subsets_without_cost_collapse():
    X = sample(12, 40)
    assert SF2SOG(14, n_clusters=3).fit(X).status_ == "collapsed"  # n - 1 + c
    assert SF2SOG(10, n_clusters=3).fit(X).status_ == "converged"
    X = sample(60, 25)
    X[:, :3] = 0.5
    constant = SF2SOG(8, n_clusters=3).fit(X)
    assert constant.status_ == "collapsed"
    assert {0, 1, 2} <= set(constant.subset(8))
    assert SF2SOG(8, n_clusters=4).fit(X).status_ == "converged"
    assert SF2SOG(8, n_clusters=3, gamma=1e-9).fit(sample(60, 25)).status_ == "collapsed"


@pytest.mark.parametrize(("shape", "size", "n_clusters"), [((8, 20), 5, 8), ((20, 6), 2, 5), ((20, 6), 6, 3)])
def test_more_clusters_than_features_and_all_features(shape, size, n_clusters):
    selector = SF2SOG(size, n_clusters=n_clusters).fit(sample(*shape))
    chosen = selector.subset(size)
    # W has min(n_clusters, size) orthonormal columns, and its rows are those of the features chosen.
    assert ((selector.scores_[chosen] - 1) ** 2).sum() == pytest.approx(min(n_clusters, size))
    assert np.count_nonzero(selector.scores_) == size


def test_graph_of_the_callers_own_may_have_samples_without_edges():
    X = sample(30, 10)
    S = sparse.lil_array((30, 30))
    S[0, 1] = S[1, 0] = 2.0
    G = row_stochastic_graph(X, sparse.csr_array(S), 5).toarray()
    np.testing.assert_allclose(G.sum(axis=1), 1)
    dense, compressed = (SF2SOG(4, affinity=affinity).fit(X) for affinity in (S.toarray(), S.tocsr()))
    np.testing.assert_array_equal(dense.scores_, compressed.scores_)
    assert dense.status_ == "collapsed"  # one edge costs one direction, and W has another


def test_no_swap_helps_at_the_end_although_the_features_that_join_are_ranked_by_blocks(monkeypatch):
    n_features, h, n_vectors = 120, 4, 3
    monkeypatch.setattr(exchange, "BLOCK", 20 * n_vectors * (h - 1))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, n_features))
        quadratic = Quadratic(X, X)
        found = swapped(quadratic, quadratic.subset(rng.choice(n_features, h, replace=False), n_vectors))
        outside = np.setdiff1d(np.arange(n_features), found.features)
        others = np.array([[*np.delete(found.features, i), j] for i in range(h) for j in outside])
        totals = np.linalg.eigvalsh((X.T @ X)[others[:, :, None], others[:, None]])[:, :n_vectors].sum(axis=1)
        assert totals.min() >= found.total * (1 - 2 * WORTHWHILE)


def semidefinite(kind, n_features=30, h=10):
    """Return a positive semidefinite matrix whose first h features are coupled as `kind` says."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, n_features)) * rng.uniform(0.2, 1, n_features)
    B = X.T @ X / 60
    vectors = np.linalg.qr(rng.normal(size=(h, h)))[0]
    if kind == "equal":  # not to be told apart
        B[:h, :h] = vectors @ np.diag([0.1] * 3 + list(np.linspace(0.3, 1, h - 3))) @ vectors.T
        B[:h, h:] *= 0.2
        B += 1e-3 * np.eye(n_features)
    elif kind != "any":  # the first features are nearly eigenvectors
        B[:3, 3:h] *= kind
        B[3:h, :3] *= kind
        B[range(3), range(3)] *= 0.2
        B[:h, h:] *= 0.2
        B[h:, :h] *= 0.2
        B += 0.05 * np.eye(n_features)
    B = np.triu(B) + np.triu(B, 1).T
    assert np.linalg.eigvalsh(B)[0] > 0
    return B


KINDS = ["any", "equal", 0.0, 1e-12, 1e-6, 1e-4, 1e-2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_features_that_may_join_are_those_that_lower_the_total(kind):
    B = semidefinite(kind)
    chosen = np.arange(10)
    exchange = Exchange(B[:10], chosen, np.diag(B), 3)
    now = np.linalg.eigvalsh(B[:10, :10])[:3].sum()
    helped = 0
    for leaving in range(10):
        after = {
            new: np.linalg.eigvalsh(B[np.ix_(s, s)])[:3].sum()
            for new in range(10, 30)
            for s in [np.append(np.delete(chosen, leaving), new)]
        }
        better = sorted((new for new in after if after[new] < now), key=after.get)
        assert list(exchange.joining(leaving, now)) == better
        helped += len(better)
    assert 0 < helped < 200
