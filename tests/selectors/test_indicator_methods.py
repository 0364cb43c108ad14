"""EUFS, JGUFS, NDFS and RUFS have indicators in common: what is true of each of them, in every variant."""

from functools import partial

import numpy as np
import pytest
from samples import clusters, peak_bytes

from ufs_bench.methods import EUFS, JGUFS, NDFS, RUFS
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.core.prox import row_norms

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    ("cls", "settings", "least"),
    [
        (NDFS, {"beta": 0.3, "tol": 1e-5}, 5),
        (NDFS, {"beta": 0.3, "tol": 1e-5, "variant": "released"}, 5),
        (JGUFS, {"gamma": 0.3}, 5),
        (RUFS, {}, 6),
        (EUFS, {}, 6),
        (EUFS, {"solver": "admm"}, 6),
    ],
)
def test_informative_features_come_first(cls, settings, least):
    X = clusters(60, 20, rest=0.0 if cls is EUFS else 1.0)
    chosen = cls(n_clusters=3, random_state=0, **settings).fit(X).subset(6)
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
        (EUFS, {"beta": 0.1}, None),
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


@pytest.mark.parametrize("variant", ["paper", "released"])
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


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize(("cls", "settings"), [(NDFS, {"gamma": 10.0}), (JGUFS, {"alpha": 50.0})])
def test_affinity_of_the_caller_is_the_graph(cls, settings, variant):
    X = clusters(40, 12)
    S = knn_graph(X, 3, "binary")
    make = partial(cls, n_clusters=3, variant=variant, random_state=0, max_iter=5, tol=0, **settings)
    first, second = (make(affinity=given).fit(X) for given in (S, S.toarray()))
    np.testing.assert_array_equal(first.scores_, second.scores_)
    np.testing.assert_array_equal(first.scores_, make(affinity="binary", n_neighbors=3).fit(X).scores_)
    assert not np.allclose(first.scores_, make().fit(X).scores_)


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize(("cls", "max_iter"), [(NDFS, 5), (JGUFS, 3)])
def test_wide_data_never_meet_a_features_by_features_array(cls, max_iter, variant):
    X, make = clusters(20, 3000), partial(cls, n_clusters=3, variant=variant, random_state=0)
    assert peak_bytes(lambda: make(max_iter=max_iter, tol=0).fit(X)) < 3000**2 * 8 / 4
