"""A graph that adapts to an embedding, and least squares with its Laplacian."""

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from methods.core.graphs import affinity_graph
from methods.core.prox import project_simplex

BLOCK = 2**18  # numbers in a temporary array: 2 MB, which stay in the cache
ROUNDING = 1e-9  # of a threshold
DENSE_CANDIDATES = 0.1  # share of a block that may lie above its thresholds, beyond which it is projected whole
DENSE_SAMPLES = 600  # up to here, and beyond the share below, dense factors are as fast
DENSE_SHARE = 0.02


def row_stochastic_graph(X, affinity, n_neighbors):
    """Weights of the neighbourhood graph with rows that sum to 1; a sample without an edge gets a loop.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Not symmetric.
    """
    S = affinity_graph(X, affinity, n_neighbors)
    degrees = S.sum(axis=1)
    S = S + sparse.diags_array((degrees == 0).astype(float))
    return sparse.csr_array(sparse.diags_array(1 / np.where(degrees == 0, 1.0, degrees)) @ S)


def adapted_graph(Y, S, gamma):
    """The G that minimises ``sum_ij g_ij ||y_i - y_j||^2 / 2 + gamma ||G - S||_F^2``, rows of G on the unit simplex.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_columns)
    S : csr_array of shape (n_samples, n_samples)
        Rows on the unit simplex.
    gamma : float
        Above 0.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)

    Notes
    -----
    Row i is the projection of ``v_i = s_i - d_i / (4 gamma)`` on the simplex, d_i its squared distances: it keeps the
    entries above a threshold.  The threshold of the entries where S has an edge alone is no higher, so that what lies
    below that one need not be looked at again.  O(n_samples^2), a block of rows at a time.
    """
    n = len(Y)
    norms = np.einsum("ij,ij->i", Y, Y)[:, None]
    # -d_ij / (4 gamma) as one product.
    left = np.hstack([Y / (2 * gamma), -norms / (4 * gamma), np.ones((n, 1))])
    right = np.hstack([Y, np.ones((n, 1)), -norms / (4 * gamma)])
    height = max(1, BLOCK // n)
    return sparse.vstack([_adapted_rows(left, right, S, a, min(a + height, n)) for a in range(0, n, height)], "csr")


def _adapted_rows(left, right, S, first, last):
    V = left[first:last] @ right.T
    np.minimum(V, 0.0, out=V)
    V[np.arange(last - first), np.arange(first, last)] = 0.0
    edges = S[first:last].tocoo()
    V[edges.row, edges.col] += edges.data
    padded = _padded(V[edges.row, edges.col], edges.row, last - first)
    threshold = padded.max(axis=1) - project_simplex(padded).max(axis=1)
    least = threshold - ROUNDING * (1 + np.abs(threshold))
    near = least[:, None] < V
    if np.count_nonzero(near) > DENSE_CANDIDATES * near.size:
        return sparse.csr_array(project_simplex(V))
    rows, columns = np.divmod(np.flatnonzero(near), near.shape[1])
    padded = project_simplex(_padded(V[rows, columns], rows, last - first))
    counts = np.bincount(rows, minlength=last - first)
    values = padded[np.arange(padded.shape[1]) < counts[:, None]]
    kept = values > 0
    return sparse.csr_array((values[kept], (rows[kept], columns[kept])), shape=V.shape)


def _padded(values, rows, n_rows):
    """Values of sorted rows side by side, filled up with -inf."""
    counts = np.bincount(rows, minlength=n_rows)
    padded = np.full((n_rows, counts.max()), -np.inf)
    padded[np.arange(padded.shape[1]) < counts[:, None]] = values
    return padded


def symmetric_laplacian(G):
    """``D - (G + G') / 2`` with D the row sums of ``(G + G') / 2``."""
    A = (G + G.T) / 2
    return sparse.csr_array(sparse.diags_array(A.sum(axis=1)) - A)


def smoother(L, lambda_):
    """A function that multiplies by (L + lambda_ I)^-1, from one factorisation: sparse where L is.

    Raises
    ------
    numpy.linalg.LinAlgError
    """
    n = L.shape[0]
    if n <= DENSE_SAMPLES or L.nnz > DENSE_SHARE * n**2:
        K = L.toarray()
        K.flat[:: n + 1] += lambda_
        factor = cho_factor(K, lower=True, overwrite_a=True)
        return lambda V: cho_solve(factor, V)
    K = sparse.csc_array(L + lambda_ * sparse.eye_array(n))
    factor = splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return factor.solve
