"""The rows of a graph that adapts to an embedding, compiled: `methods.core.optimal_graph` says what they are.

Row i of V is ``v_i = s_i - scale d_i``, and row i of G its projection on the simplex, ``max(v_i - t_i, 0)``.  A row of
V is cheap, and d_ij = d_ji to the last bit, from differences in a fixed order.  So V is computed anew wherever it is
needed, a row at a time, and there is no array of all pairs.

A graph with an entry for every pair is *full*: its row pointers are multiples of n_samples, and its columns are never
read, so that they need not be there.
"""

import numpy as np

from methods.core.compiled import compiled

CHUNK = 512  # entries of a row whose distances are added up together, in the innermost cache
SPARSE = 4  # a row of S with fewer than 1 / SPARSE of its entries gives a bound of the threshold that is worth its cost
ROUNDING = 1e-9  # more than the threshold may be below its bound where ties make them the same
BLOCK = 32  # entries that are looked through together for one that is kept


@compiled()
def thresholds(Yt, graph, scale, result):
    """The threshold of every row of V, and what its row of G is worth.

    Parameters
    ----------
    Yt : ndarray of shape (n_columns, n_samples)
        The embedding, transposed.
    graph : tuple of ndarray
        indptr, indices and data of S, a csr_array or full.
    scale : float
    result : ndarray of shape (n_samples, 4)
        Threshold; entries above it; ``||g_i - s_i||^2``; ``sum_j s_ij d_ij``.
    """
    n = Yt.shape[1]
    indptr, indices, data = graph
    v, kept = np.empty(n), np.empty(n)
    for i in range(n):
        first, last = indptr[i], indptr[i + 1]
        own, columns, count = data[first:last], indices[first:last], last - first
        _distances(Yt, i, v)
        if count == n:
            result[i, 3] = _dot(own, v)
            v *= -scale
            _add(graph, i, v)
            result[i, 0] = t = _threshold(v, n, -np.inf)
            result[i, 1] = _above(v, n, t, 0.0)
            for j in range(n):
                v[j] = max(v[j] - t, 0.0) - own[j]
            result[i, 2] = _squares(v, n)
            continue
        result[i, 3] = _sparse_dot(own, columns, v)
        v *= -scale
        # First the entries of S, then the others: those that can be above the threshold.
        for p in range(count):
            kept[p] = v[columns[p]] + own[p]
        for p in range(count):
            v[columns[p]] = -np.inf
        bound = _threshold(kept, count, -np.inf) if 0 < SPARSE * count < n else -np.inf
        end = _above_bound(v, bound - ROUNDING * (1 + abs(bound)), kept, count)
        result[i, 0] = t = _threshold(kept, end, bound)
        result[i, 1] = _above(kept, end, t, 0.0)
        for p in range(end):
            kept[p] = max(kept[p] - t, 0.0)
        for p in range(count):
            kept[p] -= own[p]
        result[i, 2] = _squares(kept, end)


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
        v *= -scale
        _add(graph, i, v)
        result[i + 1] = end = _kept(v, t[i], end, columns, values)


@compiled()
def symmetric_rows(Yt, graph, transposed, scale, t, result, columns, values, sums, smoothed):
    """H = (G + G') / 2, as the arrays of a csr_array.

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
        v *= -scale
        w[:] = v
        _add(graph, i, v)
        _add(transposed, i, w)
        for j in range(n):
            g, other = max(v[j] - t[i], 0.0), max(w[j] - t[j], 0.0)
            v[j], w[j] = (g + other) / 2, (g - other) / 2
        sums[i, 0], sums[i, 1] = _sum(v, n), _squares(w, n)
        first, end = end, _kept(v, 0.0, end, columns, values)
        result[i + 1] = end
        for k in range(m):
            smoothed[i, k] = _sparse_dot(values[first:end], columns[first:end], Yt[k])


@compiled()
def symmetric_full(Yt, graph, scale, t, result, sums, smoothed):
    """`symmetric_rows` for a symmetric S, full.

    Parameters
    ----------
    Yt, graph, scale, t, sums, smoothed
        As there.
    result : ndarray of shape (n_samples, n_samples)
        Written to: H.  It may be the array of a full S.
    """
    m, n = Yt.shape
    v, w = np.empty(n), np.empty(n)
    for i in range(n):
        _distances(Yt, i, v)
        v *= -scale
        _add(graph, i, v)
        row = result[i]
        for j in range(n):
            g, other = max(v[j] - t[i], 0.0), max(v[j] - t[j], 0.0)
            row[j], w[j] = (g + other) / 2, (g - other) / 2
        sums[i, 0], sums[i, 1] = _sum(row, n), _squares(w, n)
        for k in range(m):
            smoothed[i, k] = _dot(row, Yt[k])


@compiled()
def without_zeros(full, result, columns, values):
    """A full graph as the arrays of a csr_array."""
    end = 0
    result[0] = 0
    for i in range(len(full)):
        result[i + 1] = end = _kept(full[i], 0.0, end, columns, values)


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
    largest = _largest(v, 0, n)
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
def _above_bound(v, bound, kept, end):
    """Write the entries above the bound to kept from `end` on; the new end."""
    for first in range(0, len(v), BLOCK):
        last = min(first + BLOCK, len(v))
        if _largest(v, first, last) > bound:
            for j in range(first, last):
                if v[j] > bound:
                    kept[end] = v[j]
                    end += 1
    return end


@compiled()
def _kept(v, t, end, columns, values):
    """Write what is above t to columns and values from `end` on; the new end."""
    for j in range(len(v)):
        if v[j] > t:
            columns[end], values[end] = j, v[j] - t
            end += 1
    return end


# Sums over a row: in an order that the compiler chooses once, so that they are done in vector registers.
_SUMS = {"fastmath": {"reassoc", "nsz"}}


@compiled(fastmath={"reassoc", "nsz", "nnan"})  # no row has a nan, and for one a maximum would go entry by entry
def _largest(v, first, last):
    largest = v[first]
    for j in range(first, last):
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
