"""A graph that adapts to an embedding, and least squares with its Laplacian."""

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from ufs_bench.methods.core import adapted_rows
from ufs_bench.methods.core.graphs import affinity_graph
from ufs_bench.methods.core.linalg import sparse_factor

DENSE_SAMPLES = 600  # up to here, and beyond the share below, dense factors are as fast
DENSE_SHARE = 0.02
FULL = 4  # a symmetric graph with more than 1 / FULL of the pairs on one side is kept as an array of all pairs


def row_stochastic_graph(X, affinity, n_neighbors):
    """Return weights of the neighbourhood graph with rows that sum to 1; a loop for a sample without an edge."""
    S = affinity_graph(X, affinity, n_neighbors)
    degrees = S.sum(axis=1)
    S = S + sparse.diags_array((degrees == 0).astype(float))
    return sparse.csr_array(sparse.diags_array(1 / np.where(degrees == 0, 1.0, degrees)) @ S)


def adapted_graph(Y, S, gamma):
    """Return G minimising ``sum_ij g_ij ||y_i - y_j||^2 / 2 + gamma ||G - S||_F^2``, rows of G on the unit simplex.

    Row i is the projection of ``v_i = s_i - d_i / (4 gamma)`` on the simplex, d_i its squared distances: it keeps the
    entries above a threshold.  At most O(n_samples^2 n_columns), a row at a time (`methods.core.adapted_rows`).
    """
    return adapted_laplacian(Y, S, gamma)[0]


def adapted_laplacian(Y, S, gamma):
    """Return the G of `adapted_graph`, its Laplacian as of `symmetric_laplacian`, and ``||G - S||_F^2``."""
    _, _, moved, _, *arrays = _adapted(Y, S, 1 / (4 * gamma), len(Y) ** 2)
    G, transposed = _sorted(*arrays)
    *arrays, degrees, _ = adapted_rows.mean(_arrays(G), _arrays(transposed))
    return G, _laplacian(degrees, _csr(*arrays)), float(moved.sum())


def symmetric_adapted_graph(Y, S, gamma):
    """Return H = (G + G') / 2 for the G of `adapted_graph` and a symmetric S, its smoothness and ``||G - H||_F^2``.

    The smoothness is ``sum_ij s_ij ||y_i - y_j||^2 / 2``, which is tr Y'LY for the Laplacian L of S.  S is symmetric to
    the last bit, a csr_array or an array in the order of C.  H is an array where it has many entries: that of S where S
    is one, which is overwritten, since such arrays are large.
    """
    n, full = len(Y), isinstance(S, np.ndarray)
    scale, most = 1 / (4 * gamma), n**2 // FULL
    thresholds, smooth, _, nnz, *arrays = _adapted(Y, S, scale, 0 if full else most)  # a full S mostly stays so
    if nnz > most:
        H = S if full else np.empty((n, n))
        skew = adapted_rows.symmetric(np.ascontiguousarray(Y), _arrays(S), scale, thresholds, H)
    else:
        arrays = _adapted(Y, S, scale, most)[4:] if full else arrays
        *arrays, _, skew = adapted_rows.mean(*map(_arrays, _sorted(*arrays)))
        H = _csr(*arrays)
    return H, float(smooth.sum() / 2), float(skew)


def _adapted(Y, S, scale, most):
    """Return what `methods.core.adapted_rows.adapt` does."""
    Y = np.ascontiguousarray(Y)
    if isinstance(S, np.ndarray):
        return adapted_rows.adapt_full(Y, _arrays(S), scale, most)
    orders = np.ascontiguousarray(Y.argsort(axis=0, kind="stable").T)
    return adapted_rows.adapt(Y, np.abs(Y).argmax(axis=1), orders, _arrays(S), scale, most)


def _sorted(ends, columns, values):
    """Return the graph with sorted columns, and its transpose: what transposes it sorts."""
    transposed = _csr(ends, columns, values, sorted_columns=False).tocsc()
    transposed = _csr(transposed.indptr, transposed.indices, transposed.data)
    back = transposed.tocsc()
    return _csr(back.indptr, back.indices, back.data), transposed


def _csr(ends, columns, values, sorted_columns=True):
    S = sparse.csr_array((values, columns, ends), shape=(len(ends) - 1, len(ends) - 1))
    if sorted_columns:
        S.has_canonical_format = True  # known, where scipy would look through all columns
    return S


def _arrays(S):
    """Return indptr, sorted indices and data, all read-only, so that loops are compiled for one kind of array."""
    if isinstance(S, np.ndarray):
        arrays = np.arange(0, S.size + 1, len(S)), np.empty(0, np.int32), S.reshape(-1)
    else:
        if not S.has_canonical_format:
            S = S.copy()
            S.sum_duplicates()
        arrays = S.indptr.astype(np.int64), S.indices.astype(np.int32, copy=False), S.data
    views = tuple(array.view() for array in arrays)
    for view in views:
        view.flags.writeable = False
    return views


def symmetric_laplacian(G):
    """Return ``D - (G + G') / 2`` with D the row sums of ``(G + G') / 2``."""
    A = (G + G.T) / 2
    return sparse.csr_array(sparse.diags_array(A.sum(axis=1)) - A)


def _laplacian(degrees, H):
    """Return D - H; H is overwritten where it has all of its diagonal."""
    own = H.indices == np.repeat(np.arange(len(degrees)), np.diff(H.indptr))
    if np.count_nonzero(own) < len(degrees):
        return sparse.csr_array(sparse.diags_array(degrees) - H)
    np.negative(H.data, out=H.data)
    H.data[own] += degrees
    return H


def smoother(L, lambda_):
    """Return a function that multiplies by (L + lambda_ I)^-1, from one factorisation: sparse where L is."""
    n = L.shape[0]
    if n <= DENSE_SAMPLES or L.nnz > DENSE_SHARE * n**2:
        K = L.toarray()
        K.flat[:: n + 1] += lambda_
        factor = cho_factor(K, lower=True, overwrite_a=True)
        return lambda V: cho_solve(factor, V)
    return sparse_factor(L, lambda_).solve
