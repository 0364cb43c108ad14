"""The rows of a graph that adapts to an embedding, compiled: `methods.core.optimal_graph` says what they are.

Row i of V is ``v_i = s_i - scale d_i``, and row i of G its projection on the simplex, ``max(v_i - t_i, 0)``.  A row of
V is cheap, and d_ij = d_ji to the last bit, from differences in a fixed order.  So V is computed anew wherever it is
needed, a row at a time, and there is no array of all pairs.

A row with an entry for every column is *full*, and is read and written without its columns.
"""

import numpy as np

from methods.core.compiled import compiled

CHUNK = 512  # entries of a row whose distances are added up together, in the innermost cache
SPARSE = 4  # a row of S with fewer than 1 / SPARSE of its entries gives a bound of the threshold that is worth its cost
FULL = 2  # a row with more than 1 / FULL of its entries is made full


@compiled()
def thresholds(Yt, graph, scale, result):
    """The threshold of every row of V, and what its row of G is worth.

    Parameters
    ----------
    Yt : ndarray of shape (n_columns, n_samples)
        The embedding, transposed.
    graph : tuple of ndarray
        indptr, indices and data of S, a csr_array.
    scale : float
    result : ndarray of shape (n_samples, 4)
        Threshold; entries above it; ``||g_i - s_i||^2``; ``sum_j s_ij d_ij``.
    """
    n = Yt.shape[1]
    indptr, indices, data = graph
    v, edges = np.empty(n), np.empty(n)
    for i in range(n):
        first, last = indptr[i], indptr[i + 1]
        own = data[first:last]
        full = last - first == n
        _distances(Yt, i, v)
        result[i, 3] = _dot(own, v) if full else _sparse_dot(own, indices[first:last], v)
        for j in range(n):
            v[j] *= -scale
        _add(graph, i, v)
        t = -np.inf
        if SPARSE * (last - first) < n:
            for p in range(first, last):
                edges[p - first] = v[indices[p]]
            t = _threshold(edges, last - first, t)
        result[i, 0] = t = _threshold(v, n, t)
        result[i, 1] = _above(v, n, t, 0.0)
        for j in range(n):
            v[j] = max(v[j] - t, 0.0)
        _subtract(own, indices[first:last], full, v)
        result[i, 2] = _squares(v, n)


@compiled()
def rows(Yt, graph, scale, t, result, columns, values):
    """G, as the arrays of a csr_array.

    Parameters
    ----------
    Yt, graph, scale
        As in `thresholds`.
    t : ndarray of shape (n_samples,)
        The thresholds.
    result, columns, values : ndarray
        Written to: row pointers, columns and values, the last two long enough.
    """
    n, end = Yt.shape[1], 0
    v = np.empty(n)
    result[0] = 0
    for i in range(n):
        _distances(Yt, i, v)
        for j in range(n):
            v[j] *= -scale
        _add(graph, i, v)
        for j in range(n):
            v[j] = max(v[j] - t[i], 0.0)
        result[i + 1] = end = _kept(v, end, columns, values)


@compiled()
def symmetric_rows(Yt, graph, transposed, scale, t, result, columns, values, sums, smoothed):
    """H = (G + G') / 2, as the arrays of a csr_array; full rows hold their zeros too.

    Parameters
    ----------
    Yt, graph, scale, t, result, columns, values
        As in `rows`.
    transposed : tuple of ndarray
        The arrays of the transpose of S.
    sums : ndarray of shape (n_samples, 2)
        Written to: the sum of a row of H, and ``||g_i - h_i||^2``.
    smoothed : ndarray of shape (n_samples, n_columns)
        Written to: H Y.
    """
    m, n = Yt.shape
    end = 0
    v, w = np.empty(n), np.empty(n)
    result[0] = 0
    for i in range(n):
        _distances(Yt, i, v)
        for j in range(n):
            v[j] *= -scale
            w[j] = v[j]
        _add(graph, i, v)
        _add(transposed, i, w)
        for j in range(n):
            g, other = max(v[j] - t[i], 0.0), max(w[j] - t[j], 0.0)
            v[j], w[j] = (g + other) / 2, (g - other) / 2
        sums[i, 0], sums[i, 1] = _sum(v, n), _squares(w, n)
        first = end
        if FULL * _above(v, n, 0.0, 0.0) > n:
            for j in range(n):
                columns[first + j], values[first + j] = j, v[j]
            result[i + 1] = end = first + n
            for k in range(m):
                smoothed[i, k] = _dot(v, Yt[k])
        else:
            result[i + 1] = end = _kept(v, first, columns, values)
            for k in range(m):
                smoothed[i, k] = _sparse_dot(values[first:end], columns[first:end], Yt[k])


@compiled()
def _distances(Yt, i, v):
    """Squared distances of sample i to all."""
    n, m = Yt.shape[1], Yt.shape[0]
    for first in range(0, n, CHUNK):
        last = min(first + CHUNK, n)
        part = v[first:last]
        for j in range(len(part)):
            part[j] = 0.0
        for k in range(0, m - 1, 2):
            one, two, y, z = Yt[k, first:last], Yt[k + 1, first:last], Yt[k, i], Yt[k + 1, i]
            for j in range(len(part)):
                part[j] += (one[j] - y) * (one[j] - y) + (two[j] - z) * (two[j] - z)
        if m % 2:
            one, y = Yt[m - 1, first:last], Yt[m - 1, i]
            for j in range(len(part)):
                part[j] += (one[j] - y) * (one[j] - y)


@compiled()
def _add(graph, i, v):
    """Row i of a sparse array added to v."""
    indptr, indices, data = graph
    first, last = indptr[i], indptr[i + 1]
    if last - first == len(v):
        for j in range(len(v)):
            v[j] += data[first + j]
    else:
        for p in range(first, last):
            v[indices[p]] += data[p]


@compiled()
def _subtract(own, indices, full, v):
    """A row of a sparse array taken from v."""
    if full:
        for j in range(len(v)):
            v[j] -= own[j]
    else:
        for p in range(len(own)):
            v[indices[p]] -= own[p]


@compiled()
def _sparse_dot(own, indices, v):
    total = 0.0
    for p in range(len(own)):
        total += own[p] * v[indices[p]]
    return total


@compiled()
def _threshold(v, n, t):
    """The t for which max(v[:n] - t, 0) sums to 1, from a t that is no higher.

    That sum is convex and piecewise linear in t, so that Newton's method from below ends after a few steps.
    """
    largest = _largest(v, n)
    t = max(t - largest, max((_sum(v, n) - n * largest - 1) / n, -1.0))
    fewest = n + 1
    while True:
        count = _above(v, n, largest, t)
        # They fall from step to step, but for entries within rounding of t, which may come and go for ever.
        if count >= fewest or count == 0:
            return t + largest
        t += (_excess(v, n, largest, t) - 1) / count
        fewest = count


@compiled()
def _kept(v, end, columns, values):
    """Write the entries above 0 to columns and values from `end` on; the new end."""
    for j in range(len(v)):
        if v[j] > 0:
            columns[end], values[end] = j, v[j]
            end += 1
    return end


# Sums over a row: in an order that the compiler chooses once, so that they are done in vector registers.
_SUMS = {"fastmath": {"reassoc", "nsz"}}


@compiled(**_SUMS)
def _largest(v, n):
    largest = v[0]
    for j in range(n):
        largest = v[j] if v[j] > largest else largest
    return largest


@compiled(**_SUMS)
def _dot(v, w):
    total = 0.0
    for j in range(len(v)):
        total += v[j] * w[j]
    return total


@compiled(**_SUMS)
def _sum(v, n):
    total = 0.0
    for j in range(n):
        total += v[j]
    return total


@compiled(**_SUMS)
def _excess(v, n, largest, t):
    total = 0.0
    for j in range(n):
        total += max((v[j] - largest) - t, 0.0)
    return total


@compiled(**_SUMS)
def _squares(v, n):
    total = 0.0
    for j in range(n):
        total += v[j] * v[j]
    return total


@compiled()
def _above(v, n, largest, t):
    count = 0
    for j in range(n):
        count += (v[j] - largest) > t
    return count
