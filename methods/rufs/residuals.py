"""The row norms of XW - G and GF - X, and the gradient of the first."""

import numpy as np

from methods.core.prox import row_norms

# Multiplications in a product of matrices up to which BLAS does not copy its factors first; the rows of X that it takes
# are then still in the cache for the second product.
SMALL = 10**6
CANCELS = 1e-4  # share of ||x_i||^2 below which the expansion of ||x_i - g_i F||^2 loses more than four digits


def regression(X, features, W, G, alpha, beta):
    """Return ``alpha sum_i ||(XW - G)_i|| + beta sum_j ||w_j||`` and its gradient in W, to which zero rows add nothing.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    features : csr_array of shape (n_features, n_samples) or None
        X' to multiply by, where that pays.
    W : ndarray of shape (n_features, n_columns)
    G : ndarray of shape (n_samples, n_columns)
    alpha, beta : float

    Returns
    -------
    value : float
    gradient : callable
        Without arguments; of shape (n_features, n_columns).
    """
    own = row_norms(W)
    value, gradient = beta * own.sum(), over(beta * W, own)
    if features is not None:
        rest = X @ W - G
        norms = row_norms(rest)
        return value + alpha * norms.sum(), lambda: gradient + features @ over(alpha * rest, norms)
    height, pull = max(SMALL // W.size // 8, 1) * 8, np.empty_like(W)
    for first in range(0, len(X), height):
        block = X[first : first + height]
        rest = block @ W - G[first : first + height]
        norms = row_norms(rest)
        value += alpha * norms.sum()
        gradient += np.matmul(block.T, over(alpha * rest, norms), out=pull)
    return value, lambda: gradient


def data_squares(X, factor, squares, G, F):
    """Return ||(GF - X)_i||^2, expanded, and from the difference where the expansion cancels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    factor : ndarray or csr_array
        X to multiply by.
    squares : ndarray of shape (n_samples,)
        ||x_i||^2.
    G : ndarray of shape (n_samples, n_clusters)
    F : ndarray of shape (n_clusters, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    squared = squares + np.einsum("ik,ik->i", G, G @ (F @ F.T) - 2 * (factor @ F.T))
    lost = squared < CANCELS * squares
    squared[lost] = row_norms(X[lost] - G[lost] @ F) ** 2
    return squared


def over(M, norms):
    """Return rows divided by their norms; one whose norm is zero becomes zero."""
    norms = norms[:, None]
    return np.divide(M, norms, out=np.zeros_like(M), where=norms > 0)
