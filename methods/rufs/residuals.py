"""The row norms of XW - G and GF - X, and the gradient of the first, from one pass over X."""

import numpy as np

from methods.core.compiled import compiled
from methods.core.sparse_products import times

# Multiplications in a product of matrices up to which BLAS does not copy its factors first; the rows of X that it takes
# are then still in the cache for the second product.
SMALL = 10**6
CHUNK = 1024  # features of a row at a time: they stay in the innermost cache


def regression(X, W, G, alpha, beta, slope=True):
    """``alpha sum_i ||(XW - G)_i|| + beta sum_j ||w_j||`` and its gradient in W, where a row that is 0 adds nothing.

    Parameters
    ----------
    X : ndarray in C order of shape (n_samples, n_features)
    W : ndarray of shape (n_features, n_columns)
    G : ndarray of shape (n_samples, n_columns)
    alpha, beta : float
    slope : bool, default=True
        False: the value alone, in half the time.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_features, n_columns)
        Without `slope`, of no meaning.
    """
    W, G = np.ascontiguousarray(W), np.ascontiguousarray(G)
    return blocks_of_rows(X, W, G, alpha, beta, slope, max(SMALL // W.size // 8, 1) * 8)


def sparse_regression(X, features, W, G, alpha, beta):
    """The same for csr_arrays X and features = X': the value, and a function that gives the gradient."""
    rest, gradient = times(X, W) - G, np.array(W, order="C")
    value = to_lengths(gradient, beta) + to_lengths(rest, alpha)
    return value, lambda: gradient + times(features, rest)


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
    return squares_of_rows(X, G.data, G.indices, G.indptr, np.ascontiguousarray(F))


@compiled(fastmath={"reassoc", "contract"})
def to_length(row, length):
    """Give a row this length, unless it is 0; return its norm, times the length."""
    square = 0.0
    for k in range(len(row)):
        square += row[k] * row[k]
    norm = np.sqrt(square)
    if norm > 0:
        for k in range(len(row)):
            row[k] *= length / norm
    return length * norm


@compiled(fastmath={"reassoc", "contract"})
def to_lengths(rows, length):
    """`to_length` of all rows, summed."""
    total = 0.0
    for i in range(len(rows)):
        total += to_length(rows[i], length)
    return total


@compiled(fastmath={"reassoc", "contract"})
def blocks_of_rows(X, W, G, alpha, beta, slope, height):
    """`regression` of a dense X, `height` rows at a time."""
    gradient = W.copy()
    value = to_lengths(gradient, beta)
    pull, rests = np.empty(W.shape), np.empty((height, W.shape[1]))
    for start in range(0, len(X), height):
        block = X[start : start + height]
        rest = rests[: len(block)]
        np.dot(block, W, rest)
        for i in range(len(block)):
            for k in range(W.shape[1]):
                rest[i, k] -= G[start + i, k]
            value += to_length(rest[i], alpha)
        if slope:
            np.dot(block.T, rest, pull)
            gradient += pull
    return value, gradient


@compiled(fastmath={"reassoc", "contract"})
def squares_of_rows(X, data, indices, indptr, F):
    """`data_squares` for the parts of G."""
    squares, rests = np.zeros(len(X)), np.empty(CHUNK)
    for low in range(0, X.shape[1], CHUNK):
        rest = rests[: X.shape[1] - low]
        for i in range(len(X)):
            subtract(X[i, low : low + CHUNK], data, indices, indptr[i], indptr[i + 1], F, low, rest)
            for j in range(len(rest)):
                squares[i] += rest[j] * rest[j]
    return squares


@compiled(fastmath={"reassoc", "contract"})
def subtract(x, data, indices, first, end, F, low, rest):
    """A row of GF - X, for the features from `low` on."""
    for j in range(len(rest)):
        rest[j] = -x[j]
    while first + 1 < end:
        one, two = F[indices[first], low : low + CHUNK], F[indices[first + 1], low : low + CHUNK]
        a, b = data[first], data[first + 1]
        for j in range(len(rest)):
            rest[j] += a * one[j] + b * two[j]
        first += 2
    if first < end:
        one, a = F[indices[first], low : low + CHUNK], data[first]
        for j in range(len(rest)):
            rest[j] += a * one[j]
