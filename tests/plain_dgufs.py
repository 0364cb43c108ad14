"""A plain transcription of the sweeps of DGUFS: dense matrices, products with H, an eigendecomposition per sweep."""

import numpy as np

from ufs_bench.methods.core.graphs import knn_graph


def plain_dgufs(X, size, alpha, beta):
    """Run the released program's sweeps as they are written; return the features that Y keeps, ascending, and L."""
    S = knn_graph(X, 5, "binary", include_self=True).toarray()
    X = np.ascontiguousarray(X.T)  # features by samples, as in the paper
    d, n = X.shape
    H = (np.eye(n) - 1 / n) / (n - 1)
    Y, Z, Lambda1 = np.zeros((d, n)), np.zeros((d, n)), np.zeros((d, n))
    L, M, Lambda2 = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    mu = 1e-6
    for _ in range(100):
        kept = _top_rows(X - Y - ((1 - beta) * (Y @ H @ L @ H) - Lambda1) / mu, d - size)[0]
        Z = X - kept
        Y, selected = _top_rows(Z + ((1 - beta) * (Z @ H @ L @ H) + Lambda1) / mu, size)
        A = _rescale(M + ((1 - beta) * _rescale(H @ Y.T @ Z @ H) + beta * S - Lambda2) / mu)
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        values = np.where(values > np.sqrt(2 * alpha / mu), values, 0)
        L = (vectors * values) @ vectors.T
        Q = L + Lambda2 / mu
        P = np.clip(Q, 0, 1)
        M = np.where((Q > 0) & (0.01 / mu < Q**2 - (Q - P) ** 2), P, 0)
        np.fill_diagonal(M, 1)
        Lambda1 = Lambda1 + mu * (Z - Y)
        Lambda2 = Lambda2 + mu * (L - M)
        mu = min(1.1 * mu, 1e10)
    return np.sort(selected), L


def _top_rows(U, n_rows):
    """Return U with all but the rows of largest norm set to zero, and the indices of those rows."""
    rows = np.argsort(-np.linalg.norm(U, axis=1), kind="stable")[:n_rows]
    result = np.zeros_like(U)
    result[rows] = U[rows]
    return result, rows


def _rescale(A):
    """Map off-diagonal entries to [0, 1], and the diagonal to 0."""
    off = ~np.eye(len(A), dtype=bool)
    low, high = A[off].min(), A[off].max()
    A = (A - low) / (high - low)
    np.fill_diagonal(A, 0)
    return A
