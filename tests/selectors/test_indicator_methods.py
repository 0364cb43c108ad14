"""EUFS, JGUFS, NDFS, RUFS, and others that learn indicators or W: what is true of each of them, in every variant."""

from functools import partial

import numpy as np
import pytest
from samples import clusters, peak_bytes

from ufs_bench.methods import DGUFS, EUFS, FSSL, JGUFS, NDFS, RUFS, SPDFS, UDFS, UFSOL
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.ufsol import GRAPHS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

VARIANTS = ["paper", "released"]


@pytest.mark.parametrize(
    ("cls", "settings", "least"),
    [
        (NDFS, {"beta": 0.3, "tol": 1e-5}, 5),
        (NDFS, {"beta": 0.3, "tol": 1e-5, "variant": "released"}, 5),
        (JGUFS, {"gamma": 0.3}, 5),
        (RUFS, {}, 6),
        (EUFS, {}, 6),
        (EUFS, {"solver": "admm"}, 6),
        (SPDFS, {}, 6),
        (DGUFS, {"solver": "normalized"}, 6),
    ],
)
def test_informative_features_come_first(cls, settings, least):
    X = clusters(60, 20, rest=0.0 if cls is EUFS else 1.0)
    chosen = cls(6, n_clusters=3, random_state=0, **settings).fit(X).subset(6)
    assert len(set(chosen) & set(range(10))) >= least


@pytest.mark.parametrize(
    ("cls", "settings", "rise"),  # the largest rise of the trace, as a share; None where it may rise
    [
        (NDFS, {"tol": 1e-4, "max_iter": 2000}, 1e-12),
        (NDFS, {"tol": 1e-4, "max_iter": 2000, "variant": "released"}, None),
        (JGUFS, {"tol": 1e-4}, 1e-12),
        (JGUFS, {"tol": 1e-4, "variant": "released"}, None),
        (RUFS, {"tol": 1e-2}, 1e-10),
        (RUFS, {"tol": 1e-2, "variant": "released"}, 1e-10),
        (EUFS, {"beta": 0.1, "max_iter": 100}, None),
        (EUFS, {"beta": 0.1, "solver": "admm"}, None),
    ],
)
@pytest.mark.parametrize(("n_samples", "n_features", "n_clusters"), [(6, 9, 6), (9, 1, 1), (20, 5, 1), (9, 4, 5)])
def test_extreme_shapes_fit(cls, settings, rise, n_samples, n_features, n_clusters):
    X = clusters(n_samples, n_features, rest=0.0 if cls is EUFS else 1.0)
    fit = cls(n_features, n_clusters=n_clusters, random_state=0, **settings).fit(X)
    assert set(fit.labels_) <= set(range(n_clusters))
    assert fit.scores_.any()
    assert rise is None or (np.diff(fit.trace_) <= rise * np.abs(fit.trace_[:-1])).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("cls", "settings"),
    [
        (NDFS, {"beta": 0.1, "max_iter": 50, "tol": 1e-3}),
        (JGUFS, {"gamma": 0.1, "max_iter": 50, "tol": 1e-3}),
        (RUFS, {"beta": 0.1, "max_iter": 20}),
    ],
)
def test_what_a_fit_learned_is_public(cls, settings, variant):
    fitted = cls(5, n_clusters=3, variant=variant, random_state=0, **settings).fit(clusters(30, 8))
    np.testing.assert_array_equal(fitted.scores_, row_norms(fitted.coef_))
    np.testing.assert_array_equal(fitted.labels_, fitted.indicators_.argmax(axis=1))
    assert 0 <= fitted.indicator_change_ <= 1
    assert cls is not JGUFS or fitted.graph_.shape == (30, 30)


@pytest.mark.parametrize(
    ("cls", "settings"),
    [
        *((NDFS, {"gamma": 10.0, "variant": variant}) for variant in VARIANTS),
        *((JGUFS, {"alpha": 50.0, "variant": variant}) for variant in VARIANTS),
        (EUFS, {}),
        (FSSL, {}),
        (RUFS, {"nu": 50.0, "zeta": 10.0}),
        (UFSOL, {}),
    ],
)
def test_affinity_of_the_caller_is_the_graph(cls, settings):
    X = clusters(40, 12)
    S = knn_graph(X, 3, "binary")
    seed = {} if cls is FSSL else {"random_state": 0}
    make = partial(cls, n_clusters=3, max_iter=5, tol=0, **seed, **settings)
    first, second = (make(affinity=given).fit(X) for given in (S, S.toarray()))
    np.testing.assert_array_equal(first.scores_, second.scores_)
    np.testing.assert_array_equal(first.scores_, make(affinity="binary", n_neighbors=3).fit(X).scores_)
    assert not np.allclose(first.scores_, make().fit(X).scores_)


@pytest.mark.parametrize(
    ("cls", "settings"),
    [
        *((EUFS, {"solver": solver}) for solver in ("penalty", "admm")),
        *((cls, {"variant": variant}) for cls in (RUFS, UFSOL) for variant in VARIANTS),
    ],
)
def test_start_given_is_the_start_taken(cls, settings):
    X, rng = clusters(40, 12), np.random.default_rng(3)
    G, F, W = rng.uniform(size=(40, 3)), rng.uniform(size=(3, 12)), np.linalg.qr(rng.normal(size=(12, 3)))[0]
    init = {EUFS: G, RUFS: (G, F, W), UFSOL: W}[cls]
    fit = cls(n_clusters=3, init=init, max_iter=0, tol=0, random_state=0, **settings).fit(X)
    np.testing.assert_allclose(fit.scores_, row_norms(X.T @ G if cls is EUFS else W))
    assert cls is UFSOL or (fit.labels_ == G.argmax(axis=1)).all()
    if cls is RUFS:
        np.testing.assert_array_equal(fit.set_params(init=G).fit(X).labels_, G.argmax(axis=1))


WITH_W = [(UDFS, {}), *((UFSOL, {"graph": graph, "random_state": 0}) for graph in GRAPHS)]


@pytest.mark.parametrize("shape", [(9, 2), (9, 1), (8, 20)])
@pytest.mark.parametrize(("cls", "settings"), WITH_W)
def test_w_has_as_many_orthonormal_columns_as_asked_for_or_as_there_are_features(cls, settings, shape):
    scores = cls(1, n_clusters=8, max_iter=5, **settings).fit(clusters(*shape)).scores_
    assert (scores**2).sum() == pytest.approx(min(8, shape[1]))


@pytest.mark.parametrize(
    ("cls", "settings"),
    [*((cls, {"variant": name, "random_state": 0}) for cls in (NDFS, JGUFS) for name in VARIANTS), *WITH_W],
)
def test_wide_data_never_meet_a_features_by_features_array(cls, settings):
    X, method = clusters(20, 2000), cls(n_clusters=3, max_iter=1, tol=1, **settings)
    method.fit(X)  # what is shared is there already
    assert peak_bytes(lambda: method.fit(X)) < 2000**2 * 8 / 4
