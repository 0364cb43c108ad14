"""`objective_` is the value of the formula that the docstring of a method prints, whatever its loop descends."""

import numpy as np
import pytest
from samples import SHAPES, clusters

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.methods import EUFS, FSSL, JELSR, JGUFS, NDFS, RUFS, SOCFS, UDFS, UFSOL
from ufs_bench.methods.core.graphs import graph_laplacian
from ufs_bench.methods.core.optimal_graph import row_stochastic_graph
from ufs_bench.methods.core.ordinal_graphs import triplet_laplacian
from ufs_bench.methods.rufs.local_learning import local_learning_laplacian
from ufs_bench.methods.ufsol import GRAPHS

NEIGHBOURS = 5  # the default of all of them


@pytest.fixture
def X(data_dir):
    return scale(load_dataset("umist", data_dir, download=False).X[:60, ::8], "minmax")


def l21(W):
    return sum(np.linalg.norm(row) for row in W)


def squared(A):
    return (A**2).sum()


def orthogonality(F):
    return squared(F.T @ F - np.eye(F.shape[1]))


def heat_laplacian(X, normalized=True):
    return graph_laplacian(X, "heat", NEIGHBOURS, None, normalized)


def ndfs(X, fit):
    F, W = fit.indicators_, fit.coef_
    value = np.trace(F.T @ heat_laplacian(X) @ F) + fit.alpha * (squared(X @ W - F) + fit.beta * l21(W))
    return value + fit.gamma / 2 * orthogonality(F)


def jgufs(X, fit):
    F, W, S, A = fit.indicators_, fit.coef_, fit.graph_.toarray(), row_stochastic_graph(X, "heat", NEIGHBOURS).toarray()
    both = (S + S.T) / 2
    value = squared(S - A) + fit.alpha * np.trace(F.T @ (np.diag(both.sum(axis=1)) - both) @ F)
    value += fit.beta * (squared(X @ W - F) + fit.gamma * l21(W))
    return value + fit.lambda_ / 2 * orthogonality(F)


def jelsr(X, fit):
    Y, W = fit.embedding_, fit.coef_
    value = np.trace(Y.T @ heat_laplacian(X, normalized=False) @ Y)
    return value + fit.beta * (squared(X @ W - Y) + fit.alpha * l21(W))


def socfs(X, fit):
    W, E = fit.coef_, fit.indicators_
    XW = (X - X.mean(axis=0)) @ W
    value = squared(XW - E @ fit.basis_.T) + fit.lambda_ * l21(W) + fit.lambda2 * squared(fit.nonnegative_ - E)
    return value + fit.triplet_weight * np.trace(XW.T @ triplet_laplacian(X, NEIGHBOURS) @ XW)


def udfs(X, fit):
    value = fit.gamma * l21(fit.coef_)
    for x in X:
        group = X[np.argsort(np.linalg.norm(X - x, axis=1), kind="stable")[: NEIGHBOURS + 1]]
        size = len(group)
        H = np.eye(size) - 1 / size
        middle = H @ np.linalg.solve(H @ group @ group.T @ H + fit.lambda_ * np.eye(size), H)
        value += np.trace((group @ fit.coef_).T @ middle @ (group @ fit.coef_))
    return value


def ufsol(X, fit):
    XW = X @ fit.coef_
    within = sum(squared(XW[fit.labels_ == k] - XW[fit.labels_ == k].mean(axis=0)) for k in set(fit.labels_))
    laplacian, _ = GRAPHS[fit.graph](X, NEIGHBOURS, True)
    return within + fit.beta * l21(fit.coef_) + fit.alpha * np.trace(XW.T @ (laplacian @ XW))


def eufs(X, fit):
    U, V = fit.indicators_, fit.loadings_
    value = l21(X - U @ V.T) + fit.alpha * np.trace(U.T @ heat_laplacian(X) @ U) + fit.beta * l21(V)
    return value + 1e7 / 4 * orthogonality(U)


def rufs(X, fit):
    G, F, W = fit.indicators_, fit.centers_, fit.coef_
    value = l21(X - G @ F) + fit.nu * np.trace(G.T @ local_learning_laplacian(X, NEIGHBOURS) @ G)
    return value + fit.alpha * l21(X @ W - G) + fit.beta * l21(W) + fit.zeta / 4 * orthogonality(G)


def fssl(X, fit):
    return l21(fit.coef_) + fit.mu * squared(X @ fit.coef_ - fit.embedding_)


# Beside the default a setting at which what the loop descends is far above the formula.
CASES = [
    (NDFS, ndfs, {"alpha": 1e4}),
    (JGUFS, jgufs, {"beta": 1e3, "gamma": 1e3}),
    (JELSR, jelsr, {"alpha": 10.0, "beta": 1e3}),
    (SOCFS, socfs, {"lambda_": 1e4}),
    (SOCFS, socfs, {"lambda_": 1e4, "triplet_weight": 1.0}),
    (UDFS, udfs, {"gamma": 1e4}),
    (UFSOL, ufsol, {"beta": 1e4}),
    (EUFS, eufs, {"beta": 1e6}),
    (RUFS, rufs, {"alpha": 1e6}),
    (FSSL, fssl, {"mu": 10.0}),
]


def fitted(cls, X, **setting):
    common = {"n_clusters": 3, "max_iter": 20} | ({} if cls in (FSSL, JELSR, UDFS) else {"random_state": 0})
    return cls(**common, **setting).fit(X)


@pytest.mark.parametrize(("cls", "formula", "setting"), CASES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_reported_is_that_of_the_formula_without_smoothing(X, cls, formula, setting):
    for point in ({}, setting):
        fit = fitted(cls, X, **point)
        assert fit.objective_ == pytest.approx(formula(X, fit), rel=1e-9)
        assert fit.objective_ <= fit.trace_[-1]
    assert fit.trace_[-1] > fit.objective_ * (1 + 1e-6)  # far enough above to be told from rounding


DESCENTS = [
    *((NDFS, ndfs, {"alpha": a, "beta": b, "gamma": 1e8}) for a, b in [(1e-3, 1e-3), (1.0, 0.1), (1e4, 1e-3)]),
    *((NDFS, ndfs, {"alpha": a, "beta": 10.0, "gamma": 10.0}) for a in (1e-3, 1e4)),
    (JGUFS, jgufs, {"alpha": 1e-3, "beta": 1e-3, "gamma": 1e-2, "lambda_": 1.0}),
    (JGUFS, jgufs, {"alpha": 1e3, "beta": 1e-3}),
    (JGUFS, jgufs, {"alpha": 1e3, "beta": 1e3, "gamma": 1e-2, "lambda_": 1.0}),
    *((JELSR, jelsr, {"alpha": a, "beta": b}) for a, b in [(1e-3, 1e3), (1e-1, 1.0), (10.0, 1e-3), (10.0, 1e3)]),
    *((UDFS, udfs, {"gamma": gamma}) for gamma in (1e-6, 1e-2, 1e4)),
    *((SOCFS, socfs, {"lambda_": 5.0, "triplet_weight": weight}) for weight in (0.0, 1e-3, 100.0)),
    (SOCFS, socfs, {"lambda_": 1e-6}),
    *((UFSOL, ufsol, {"alpha": a, "beta": b}) for a, b in [(1e-4, 1.0), (1.0, 1e-4), (100.0, 0.1), (1.0, 1e4)]),
    *((UFSOL, ufsol, {"graph": graph}) for graph in GRAPHS),
]


PLACES = [(*case, shape) for case in DESCENTS for shape in SHAPES]
# Beyond 200 features the eigenvectors of these are those of an iteration.
PLACES += [(*case, (20, 210)) for case in DESCENTS if case[0] in (UDFS, UFSOL)]


@pytest.mark.parametrize(("cls", "formula", "setting", "shape"), PLACES)
def test_a_fit_of_any_weights_never_rises_and_reports_its_formula(cls, formula, setting, shape):
    X = clusters(*shape)
    fit = fitted(cls, X, **setting)
    assert (np.diff(fit.trace_) <= 1e-10 * np.abs(fit.trace_[:-1])).all()
    assert fit.objective_ == pytest.approx(formula(X, fit), rel=1e-8)


@pytest.mark.parametrize("cls", [NDFS, JGUFS, UFSOL, RUFS])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_released_program_reports_the_last_of_what_it_traces(X, cls):
    fit = fitted(cls, X, variant="released")
    assert fit.objective_ == fit.trace_[-1]
