"""Neighbourhood graphs over the samples, and their Laplacians.

A weight matrix S is an (n_samples, n_samples) sparse CSR array, non-negative and exactly symmetric.
"""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from ufs_bench.methods.core.checks import check_number
from ufs_bench.methods.core.shared import shared

BLOCK = 2**22  # numbers in a temporary array: 32 MB


def nearest_neighbors(X, n_neighbors, include_self=False):
    """Return the nearest samples of every sample.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    n_neighbors : int
        1 or more; k = min(n_neighbors, number of candidates), where the candidates are the n_samples - 1 others, and
        the sample itself with `include_self`.
    include_self : bool, default=False
        Whether a sample counts as the first of its own k neighbours.

    Returns
    -------
    ndarray of shape (n_samples, k) of int
        Nearest first, ties by index.

    Notes
    -----
    Candidates come from the expansion of the squared distance, a block of rows at a time; all those within its rounding
    error of the k-th are then ordered by distances computed from differences.  The result is therefore that of
    exhaustive search, whatever the blocks, and a sample with duplicates is never its own neighbour.
    """
    check_number("n_neighbors", n_neighbors, 1, integer=True)
    n = X.shape[0]
    if include_self:
        k = min(n_neighbors, n) - 1
        others = nearest_neighbors(X, k) if k else np.empty((n, 0), dtype=int)
        return np.hstack([np.arange(n)[:, None], others])
    k = min(n_neighbors, n - 1)
    if k < 1:
        raise ValueError(f"n_samples={n} must be at least 2: a sample has no other one as its neighbour.")
    if sparse.issparse(X):  # stays uncentred
        centered, norms = X, X.multiply(X).sum(axis=1)
    else:
        centered = X - X.mean(axis=0)
        norms = np.einsum("ij,ij->i", centered, centered)
    # Four times the bound of the expansion's rounding error (Higham 2002, section 3.1): it enters twice, once in the
    # candidate and once in the k-th, and the distances from differences are rounded too.
    slack = 8 * (X.shape[1] + 4) * np.finfo(float).eps * (norms + norms.max())
    height = max(1, BLOCK // n)
    blocks = [_block_neighbors(X, centered, norms, slack, slice(a, min(a + height, n)), k) for a in range(0, n, height)]
    return np.vstack(blocks)


def knn_graph(X, n_neighbors=5, weights="heat", bandwidth=None, include_self=False):
    """Return weights of the k-nearest-neighbour graph, symmetrised by max (an edge where either end chose the other).

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    n_neighbors : int, default=5
        As in `nearest_neighbors`: k = min(n_neighbors, n_samples - 1) without the sample itself.
    weights : {"heat", "binary"}, default="heat"
        exp(-||x_i - x_j||^2 / (2 t^2)), or 1.
    bandwidth : float or None, default=None
        t > 0, in the units of a distance.  None: the mean distance over the edges of the symmetrised graph (loops
        aside), so that the weights do not depend on the units of the data; all weights are 1 where that mean is zero.
    include_self : bool, default=False
        Whether a sample counts among its own k neighbours; the diagonal is then 1, else 0.

    Returns
    -------
    S : csr_array of shape (n_samples, n_samples)
        Exactly symmetric.  Edges whose weight underflows are left out, so a sample far from all others may be isolated.

    Raises
    ------
    ValueError
        For unknown `weights`, and where `bandwidth` is so small that every weight underflows.
    """
    if weights not in ("heat", "binary"):
        raise ValueError(f"weights={weights!r} must be 'heat' or 'binary'.")
    if bandwidth is not None:
        check_number("bandwidth", bandwidth, 0, open_low=True)
    n = X.shape[0]
    neighbors = nearest_neighbors(X, n_neighbors, include_self)
    rows, columns = np.repeat(np.arange(n), neighbors.shape[1]), neighbors.ravel()
    # Each undirected edge once, so that both directions carry the same weight.
    rows, columns = np.unique([np.minimum(rows, columns), np.maximum(rows, columns)], axis=1)
    loop = rows == columns
    values = np.ones(len(rows))
    if weights == "heat":
        distances = np.sqrt(_pair_distances(X, rows, columns))
        values = _heat(distances, bandwidth, distances[~loop].mean() if not loop.all() else 0.0)
    upper = sparse.coo_array((values, (rows, columns)), shape=(n, n))
    lower = sparse.coo_array((values[~loop], (columns[~loop], rows[~loop])), shape=(n, n))
    S = (upper + lower).tocsr()
    S.eliminate_zeros()
    S.sort_indices()
    return S


def affinity_graph(X, affinity, n_neighbors, bandwidth=None):
    """Return the weight matrix that a method's `affinity` parameter stands for.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    affinity : {"heat", "binary"} or array or sparse array of shape (n_samples, n_samples)
        A name builds `knn_graph`.  An array is the caller's own: non-negative, finite, symmetric.
    n_neighbors : int
        Unused for an array.
    bandwidth : callable, optional
        ``bandwidth(X)`` is that of "heat"; 0 or no function: the default of `knn_graph`.

    Returns
    -------
    S : csr_array of shape (n_samples, n_samples)

    Raises
    ------
    ValueError
        For an unknown name, or an array that is no weight matrix over the samples of X.
    """
    if isinstance(affinity, str):
        if affinity not in ("heat", "binary"):
            raise ValueError(f"affinity={affinity!r} must be 'heat', 'binary' or an (n_samples, n_samples) array.")
        width = bandwidth(X) or None if bandwidth and affinity == "heat" else None
        return shared(X, knn_graph, n_neighbors, affinity, width)
    n = X.shape[0]
    if not sparse.issparse(affinity):
        affinity = np.asarray(affinity)
        if affinity.dtype.kind not in "biuf":
            raise ValueError(
                f"affinity has dtype {affinity.dtype}; it must hold real numbers, or be 'heat' or 'binary'."
            )
    if affinity.shape != (n, n):
        raise ValueError(f"affinity has shape {affinity.shape}; it must be (n_samples, n_samples) = ({n}, {n}).")
    S = sparse.csr_array(affinity, dtype=float)
    if not np.isfinite(S.data).all():
        raise ValueError("affinity holds values that are not finite; replace them by 0, the weight of no edge.")
    if S.nnz and S.data.min() < 0:
        raise ValueError(f"affinity has the weight {S.data.min():g}; weights must be 0 or more.")
    largest = S.data.max() if S.nnz else 0.0
    if largest == 0:
        raise ValueError("affinity has no positive weight; at least one edge is needed.")
    gap = abs(S - S.T).max()
    if gap > 1e-10 * largest:  # more than rounding
        raise ValueError(f"affinity differs from its transpose by {gap:g}; pass numpy.maximum(S, S.T).")
    S = ((S + S.T) / 2).tocsr()
    S.eliminate_zeros()
    S.sort_indices()
    return S


def median_distance(X):
    """Return the median Euclidean distance over all ordered pairs of samples, each with itself included."""
    n, pairs = len(X), pdist(X)
    # The n zeros of the samples with themselves, then every pair twice.
    middle = [max((rank - n) // 2, -1) if rank >= n else -1 for rank in ((n * n - 1) // 2, n * n // 2)]
    pairs.partition(sorted({index for index in middle if index >= 0}))
    return float(np.mean([pairs[index] if index >= 0 else 0.0 for index in middle]))


def mean_distance(X):
    """Return the mean Euclidean distance over all ordered pairs of samples, each with itself included."""
    if sparse.issparse(X):  # stays uncentred
        Z, norms = X, X.multiply(X).sum(axis=1)
    else:
        Z = X - X.mean(axis=0)
        norms = np.einsum("ij,ij->i", Z, Z)
    n = X.shape[0]
    height = max(1, BLOCK // n)
    total = 0.0
    for start in range(0, n, height):
        distances = Z[start : start + height] @ Z[start:].T  # every pair of samples once
        if sparse.issparse(distances):
            distances = distances.toarray()
        distances *= -2
        distances += norms[start:]
        distances += norms[start : start + height, None]
        np.fill_diagonal(distances, 0.0)
        np.sqrt(np.maximum(distances, 0.0, out=distances), out=distances)
        total += 2 * distances.sum() - distances[:, :height].sum()
    return total / n**2


def laplacian(S, normalized=False):
    """Return D - S, or D^-1/2 (D - S) D^-1/2, with D = diag(S 1), for symmetric non-negative weights, as a csr_array.

    The normalised Laplacian is I - D^-1/2 S D^-1/2.  A sample without edges has a zero row, as in D - S: it is a
    component of its own, with eigenvalue 0.  Exactly symmetric, positive semidefinite up to rounding.
    """
    S = sparse.csr_array(S, dtype=float)
    degrees = S.sum(axis=1)
    L = (sparse.diags_array(degrees) - S).tocoo()
    if normalized:
        root = np.sqrt(degrees)
        # Divided by the product of the roots, which is the same number for (i, j) and (j, i).
        scale = root[L.row] * root[L.col]
        L.data = np.divide(L.data, scale, out=np.zeros_like(L.data), where=scale > 0)
    return L.tocsr()


def graph_laplacian(X, affinity, n_neighbors, bandwidth=None, normalized=True):
    """Return the `laplacian` of `affinity_graph`."""
    return laplacian(shared(X, affinity_graph, affinity, n_neighbors, bandwidth), normalized)


def _block_neighbors(X, centered, norms, slack, block, k):
    """Return `nearest_neighbors` of the samples in the slice `block`."""
    products = centered[block] @ centered.T
    if sparse.issparse(products):
        products = products.toarray()
    approximate = norms[block, None] + norms - 2 * products
    own = np.arange(block.start, block.stop)
    approximate[np.arange(len(own)), own] = np.inf
    kth = np.partition(approximate, k - 1, axis=1)[:, k - 1]
    rows, columns = np.nonzero(approximate <= (kth + slack[block])[:, None])
    exact = _pair_distances(X, own[rows], columns)
    order = np.lexsort((columns, exact, rows))
    first = np.searchsorted(rows, np.arange(len(own)))  # where each sample's candidates begin: rows are sorted
    return columns[order][first[:, None] + np.arange(k)]


def _pair_distances(X, rows, columns):
    """Return squared distances of the samples `rows` to `columns`, from differences, a block of pairs at a time."""
    result = np.empty(len(rows))
    height = max(1, BLOCK // max(X.shape[1], 1))
    for start in range(0, len(rows), height):
        pairs = slice(start, start + height)
        difference = X[rows[pairs]] - X[columns[pairs]]
        if sparse.issparse(difference):
            result[pairs] = difference.multiply(difference).sum(axis=1)
        else:
            result[pairs] = np.einsum("ij,ij->i", difference, difference)
    return result


def _heat(distances, bandwidth, mean_distance):
    """Return exp(-distance^2 / (2 t^2)); t = `bandwidth`, or the mean distance where it is None."""
    t = mean_distance if bandwidth is None else bandwidth
    if t == 0:  # all samples are equal
        return np.ones_like(distances)
    with np.errstate(over="ignore"):  # an infinite exponent is a weight of zero
        values = np.exp(-((distances / t) ** 2) / 2)
    if not values[distances > 0].any() and mean_distance > 0:
        raise ValueError(
            f"bandwidth={bandwidth:g} makes every heat weight underflow: the mean edge distance is {mean_distance:g}. "
            "Pass a bandwidth of that size, or None."
        )
    return values
