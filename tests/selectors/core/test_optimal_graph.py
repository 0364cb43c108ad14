"""Graphs that follow an embedding: projections of rows on the simplex, sparse or not, and factors of Laplacians."""

import os
import subprocess
import sys

import numpy as np
import pytest
from samples import squared_distances
from samples import uneven as sample
from scipy import sparse

from ufs_bench.methods.core.optimal_graph import (
    FULL,
    adapted_graph,
    adapted_laplacian,
    row_stochastic_graph,
    smoother,
    symmetric_adapted_graph,
    symmetric_laplacian,
)
from ufs_bench.methods.core.prox import project_simplex


@pytest.mark.parametrize("n_samples", [20, 300])
@pytest.mark.parametrize("gamma", [1e-6, 1e-1, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 0.0])
def test_the_graph_is_the_projection_of_whole_rows(n_samples, scale, gamma):
    X = sample(n_samples, 6)
    Y = scale * np.vstack([X[:-20, :3], X[:20, :3]])  # equal rows too
    S = row_stochastic_graph(X, "heat", 5)
    squared = squared_distances(Y)
    whole = project_simplex(S.toarray() - squared / (4 * gamma))
    # The rounding of a distance is divided by gamma as well.
    settings = {"atol": 1e-12 + 1e-15 / gamma}
    adapted = adapted_graph(Y, S, gamma)
    np.testing.assert_allclose(adapted.toarray(), whole, **settings)
    assert adapted.has_canonical_format


@pytest.mark.parametrize("n_samples", [20, 300])
@pytest.mark.parametrize("gamma", [1e-6, 1e-1, 1e6])
@pytest.mark.parametrize("full", [False, True])
def test_a_symmetric_graph_is_the_mean_of_the_projection_and_its_transpose(n_samples, full, gamma):
    X = sample(n_samples, 6)
    Y, S = X[:, :3], row_stochastic_graph(X, "heat", 5)
    S = sparse.csr_array((S + S.T) / 2)
    squared = squared_distances(Y)
    whole = project_simplex(S.toarray() - squared / (4 * gamma))
    given = S.toarray() if full else S
    H, smoothness, skew = symmetric_adapted_graph(Y, given, gamma)
    assert isinstance(H, np.ndarray) == (FULL * np.count_nonzero(whole) > n_samples**2)
    if full and isinstance(H, np.ndarray):
        assert H is given
    H = H if isinstance(H, np.ndarray) else H.toarray()
    np.testing.assert_allclose(H, (whole + whole.T) / 2, atol=1e-12 + 1e-15 / gamma)
    np.testing.assert_array_equal(H, H.T)
    assert skew == pytest.approx(((whole - whole.T) ** 2).sum() / 4, abs=1e-12)
    assert smoothness == pytest.approx((S.toarray() * squared).sum() / 2)


def test_an_array_of_all_pairs_that_empties_is_a_sparse_graph_again():
    Y = np.zeros((60, 1))
    Y[20:, 0] = 1e3 * np.arange(1, 41)  # 20 samples at one place, and 40 far from all
    whole = project_simplex(1 / 60 - squared_distances(Y) / 4)
    H = symmetric_adapted_graph(Y, np.full((60, 60), 1 / 60), 1.0)[0]
    assert isinstance(H, sparse.csr_array)
    np.testing.assert_allclose(H.toarray(), (whole + whole.T) / 2, atol=1e-12)


def test_a_graph_with_edges_in_any_order_is_taken_for_what_it_is():
    Y, S = sample(12, 3), np.random.default_rng(0).random((12, 12))
    turned = sparse.csr_array(
        (S[:, ::-1].ravel(), np.tile(np.arange(12)[::-1], 12), np.arange(0, 145, 12)), shape=(12, 12)
    )
    assert not turned.has_sorted_indices
    expected = adapted_graph(Y, sparse.csr_array(S), 0.5).toarray()
    np.testing.assert_array_equal(adapted_graph(Y, turned, 0.5).toarray(), expected)
    np.testing.assert_allclose(expected, project_simplex(S - squared_distances(Y) / 2), atol=1e-12)


def test_sparse_and_dense_factors_agree(monkeypatch):
    G = row_stochastic_graph(sample(200, 5), "heat", 2)
    L, right = symmetric_laplacian(G), np.random.default_rng(2).normal(size=(200, 3))
    dense = smoother(L, 0.3)(right)
    monkeypatch.setattr("ufs_bench.methods.core.optimal_graph.DENSE_SAMPLES", 0)
    np.testing.assert_allclose(smoother(L, 0.3)(right), dense, atol=1e-12)


BYTES = """
import sys
from hashlib import sha256
import numpy as np
from scipy import sparse
from ufs_bench.methods.core.optimal_graph import adapted_laplacian, symmetric_adapted_graph

rng, digest = np.random.default_rng(0), sha256()
Y, S = rng.random((40, 5)), rng.random((40, 40)) * (rng.random((40, 40)) < 0.1) + np.eye(40)
S = (S + S.T) / (S + S.T).sum()
for gamma in (1e-3, 10.0):
    G, L, moved = adapted_laplacian(Y, sparse.csr_array(40 * S), gamma)
    H, *sums = symmetric_adapted_graph(Y, sparse.csr_array(S), gamma)
    F, *others = symmetric_adapted_graph(Y, S.copy(), gamma)
    arrays = [G.data, G.indices, L.data, moved, *sums, *others]
    arrays += [part.data if sparse.issparse(part) else part for part in (H, F)]
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow  # cold and warm loops are compared on every push
def test_compiled_sums_are_those_of_the_interpreter_to_the_last_bit():
    runs = [
        subprocess.run([sys.executable, "-c", BYTES], env=os.environ | more, capture_output=True, text=True, check=True)
        for more in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert runs[0].stdout == runs[1].stdout


def test_laplacian_and_distance_are_those_of_the_graph():
    Y, S = sample(80, 4), row_stochastic_graph(sample(80, 4), "heat", 5)
    for gamma in (1e-6, 0.1, 1e6):
        G, L, moved = adapted_laplacian(Y, S, gamma)
        np.testing.assert_allclose(L.toarray(), symmetric_laplacian(G).toarray(), atol=1e-14)
        assert moved == pytest.approx(((G - S).toarray() ** 2).sum(), rel=1e-10)
