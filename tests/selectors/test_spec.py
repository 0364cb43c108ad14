"""SPEC: both released programs' numbers, its definition by eigenvectors, the Laplacian score in it, special cases."""

import numpy as np
import pytest
from samples import correlated
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import clone

from ufs_bench.methods import SPEC, LaplacianScore
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.spec import full_graph

PAIRS = [f"modern/spec_{data}_s{s}" for data in ("rand60x40", "umist60x40", "pie60x100") for s in (1, 2)]


def spectrum(S):
    """Return the eigenvalues and eigenvectors of the normalised Laplacian, and D^1/2."""
    root = np.sqrt(S.sum(axis=1))
    return *eigh(np.eye(len(S)) - S / np.outer(root, root)), root


@pytest.mark.parametrize("name", PAIRS)
def test_scores_are_those_of_the_released_programs(reference, name):
    pair = reference(name)
    X, W = pair["X"], pair["W"]
    phi1, phi2 = (-SPEC(variant="phi1", center=center, affinity=W).fit(X).scores_ for center in (False, True))
    phi3 = SPEC(n_vectors=5, affinity=W).fit(X).scores_
    for found, wanted in ((phi1, "phi1"), (phi2, "phi2"), (phi3, "phi3_k5")):
        np.testing.assert_allclose(found, pair[wanted], atol=1e-12)
    np.testing.assert_allclose(phi2, 1 - LaplacianScore(affinity=W).fit(X).scores_, atol=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_the_ranking_of_the_python_program_begins_with_its_own_worst_features(reference, name):
    pair = reference(name)
    X, W = pair["X"], pair["W"]
    small_is_good, large_is_good = (pair[f"skfeature_ranking_{phi}_as_released"] for phi in ("phi2", "phi3"))
    assert pair["phi2"][small_is_good[0]] == pair["phi2"].max()
    assert (np.diff(pair["phi2"][small_is_good]) <= 0).all()
    assert pair["phi3_k5"][large_is_good[0]] == pair["phi3_k5"].min()
    assert (np.diff(pair["phi3_k5"][large_is_good]) >= 0).all()
    ours = SPEC(n_vectors=5, affinity=W).fit(X).ranking_
    np.testing.assert_array_equal(ours, large_is_good[::-1])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_scores_are_the_definition_by_all_eigenvectors(power, center):
    X = correlated(40, 12)
    S = knn_graph(X).toarray()
    values, U, root = spectrum(S)
    F = X * root[:, None]
    F = F - np.outer(U[:, 0], U[:, 0] @ F) if center else F
    A = (U.T @ (F / np.linalg.norm(F, axis=0))) ** 2
    np.testing.assert_allclose(A.sum(axis=0), 1)
    settings = {"power": power, "center": center, "affinity": S}
    found = SPEC(variant="phi1", **settings).fit(X).scores_
    np.testing.assert_allclose(found, -(values**power) @ A, atol=1e-12)
    found = SPEC(n_vectors=6, **settings).fit(X).scores_
    np.testing.assert_allclose(found, (2.0**power - values[1:6] ** power) @ A[1:6], atol=1e-12)


def test_the_full_graph_joins_all_pairs_and_each_sample_with_itself():
    X = correlated(15, 12)
    d = np.linalg.norm(X[:, None] - X, axis=2)
    t = d[np.triu_indices(15, 1)].mean()
    np.testing.assert_allclose(full_graph(X).toarray(), np.exp(-((d / t) ** 2) / 2), atol=1e-12)
    for variant in ("phi1", "phi3"):
        model, given = SPEC(variant=variant, affinity="full"), SPEC(variant=variant, affinity=full_graph(X))
        np.testing.assert_allclose(model.fit(X).scores_, given.fit(X).scores_, atol=1e-12)
    assert full_graph(np.ones((4, 2))).toarray().all()


def test_units_of_a_feature_do_not_matter_and_its_origin_only_where_it_is_not_centred():
    X = correlated(40, 12)
    S = knn_graph(X)
    for variant in ("phi1", "phi3"):
        expected = SPEC(variant=variant, affinity=S).fit(X).scores_
        scaled = X * np.logspace(-60, 60, 12)
        np.testing.assert_allclose(SPEC(variant=variant, affinity=S).fit(scaled).scores_, expected, atol=1e-10)
        moved = SPEC(variant=variant, affinity=S).fit(X + 1).scores_
        assert np.abs(moved - expected).max() > 1e-3
        centred = [SPEC(variant=variant, affinity=S, center=True).fit(Z).scores_ for Z in (X, X + 1e4)]
        np.testing.assert_allclose(*centred, atol=1e-8)


@pytest.mark.parametrize("method", [SPEC(variant="phi1"), SPEC(variant="phi3", n_vectors=4), LaplacianScore()])
def test_samples_without_an_edge_do_not_count(method):
    X = correlated(40, 12)
    expected = method.fit(X).scores_
    S = np.zeros((42, 42))
    S[2:, 2:] = knn_graph(X).toarray()
    strays = np.vstack([np.full((2, 12), 1e6), X])
    np.testing.assert_allclose(clone(method).set_params(affinity=S).fit(strays).scores_, expected, atol=1e-10)


def test_a_full_graph_of_sparse_data_is_refused():
    with pytest.raises(ValueError, match="'full' needs a dense X: take 'heat' or 'binary'"):
        SPEC(affinity="full").fit(sparse.csr_array(correlated(40, 12)))
