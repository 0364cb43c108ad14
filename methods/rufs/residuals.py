"""The row norms of XW - G and GF - X, and the gradient of the first."""

import numpy as np

from methods.core.prox import row_norms
from methods.core.ridge import transposed_times

BLOCK = 2**17  # entries of GF - X at a time: they stay in a cache


def regression(X, features, W, G, alpha, beta):
    """``alpha sum_i ||(XW - G)_i|| + beta sum_j ||w_j||`` and its gradient in W, where a row that is 0 adds nothing.

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
    rest = X @ W - G
    norms, own = row_norms(rest), row_norms(W)

    def gradient():
        return transposed_times(X, features, over(alpha * rest, norms)) + over(beta * W, own)

    return alpha * norms.sum() + beta * own.sum(), gradient


def data_squares(X, G, F):
    """||(GF - X)_i||^2, of shape (n_samples,).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    G : csr_array of shape (n_samples, n_clusters)
    F : ndarray of shape (n_clusters, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    squares, height = np.empty(len(X)), max(1, BLOCK // X.shape[1])
    for first in range(0, len(X), height):
        rest = G[first : first + height] @ F - X[first : first + height]
        squares[first : first + height] = np.einsum("ij,ij->i", rest, rest)
    return squares


def over(M, norms):
    """Rows divided by their norms; one whose norm is zero becomes zero."""
    norms = norms[:, None]
    return np.divide(M, norms, out=np.zeros_like(M), where=norms > 0)
