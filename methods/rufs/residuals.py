"""The row norms of XW - G and GF - X, and the gradient of the first."""

import numpy as np

from ufs_bench.methods.core.prox import row_norms

# Multiplications in a product of matrices up to which BLAS does not copy its factors first; the rows of X that it takes
# are then still in the cache for the second product.
SMALL = 10**6
CANCELS = 1e-4  # share of ||x_i||^2 below which the expansion of ||x_i - g_i F||^2 loses more than four digits


def regression(X, features, W, G, alpha, beta):
    """Return ``alpha sum_i ||(XW - G)_i|| + beta sum_j ||w_j||``, and a callable for its gradient in W.

    Zero rows add nothing to the gradient.  `features` is X' as a csr_array to multiply by, where that pays, or None.
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
    """Return ||(GF - X)_i||^2, of shape (n_samples,), expanded, and from the difference where the expansion cancels.

    `factor` is X to multiply by, dense or sparse, and `squares` are the ||x_i||^2.
    """
    squared = squares + np.einsum("ik,ik->i", G, G @ (F @ F.T) - 2 * (factor @ F.T))
    lost = squared < CANCELS * squares
    squared[lost] = row_norms(X[lost] - G[lost] @ F) ** 2
    return squared


def over(M, norms):
    """Return rows divided by their norms; one whose norm is zero becomes zero."""
    norms = norms[:, None]
    return np.divide(M, norms, out=np.zeros_like(M), where=norms > 0)
