"""The rows of a graph that adapts to an embedding, compiled: `methods.core.optimal_graph` says what they are.

Row i of V is ``v_i = s_i - scale d_i``, and row i of G its projection on the simplex, ``max(v_i - t_i, 0)``.  The
threshold of a part of a row is never above that of the whole row.  So the entries of S in a row give a lower bound of
t_i, and only the entries above this bound are looked at again.

A graph with an entry for every pair is *full*: its row pointers are multiples of n_samples, and its columns are never
read, so that they need not be there.
"""

import numpy as np

from methods.core.compiled import compiled

CHUNK = 512  # samples whose distances are added up together, in the innermost cache


@compiled()
def adapt(Yt, graph, scale, most):
    """Return the threshold of every row of V, and the projection G.

    Parameters
    ----------
    Yt : ndarray of shape (n_columns, n_samples)
        The embedding, transposed.
    graph : tuple of ndarray
        indptr, indices and data of S, a csr_array or full.
    scale : float
    most : int
        Entries of G beyond which the rest of it is not written.

    Returns
    -------
    thresholds : ndarray of shape (n_samples,)
    smooth : float
        ``sum_ij s_ij d_ij``.
    nnz : int
        Entries of G.
    ends, columns, values : ndarray
        The arrays of G, where it has no more than `most` entries.
    """
    n, (indptr, indices, data) = Yt.shape[1], graph
    v, near, where = np.empty(n), np.empty(n + 1), np.empty(n + 1, np.int32)
    thresholds, smooth, nnz = np.empty(n), 0.0, 0
    ends, columns, values = np.zeros(n + 1, np.int64), np.empty(n, np.int32), np.empty(n)
    for i in range(n):
        own = data[indptr[i] : indptr[i + 1]]
        _distances(Yt, i, v)
        if len(own) == n:
            smooth += _dot(own, v)
            for j in range(n):
                near[j] = v[j] = own[j] - scale * v[j]
        else:
            its = indices[indptr[i] : indptr[i + 1]]
            for p in range(len(own)):
                smooth += own[p] * v[its[p]]
            for j in range(n):
                v[j] *= -scale
            for p in range(len(own)):
                v[its[p]] += own[p]
                near[p] = v[its[p]]
        bound, count = _threshold(near, len(own)), 0
        for j in range(n):  # `count` moves on only past an entry that is kept: the next one overwrites any other
            near[count], where[count] = v[j], j
            count += v[j] >= bound
        thresholds[i] = t = _threshold(near, count)
        if nnz > most:
            for p in range(count):
                nnz += near[p] > t
            continue
        if nnz + count >= len(values):
            columns, values = np.append(columns, np.empty(nnz + n, np.int32)), np.append(values, np.empty(nnz + n))
        for p in range(count):  # `nnz` moves on only past an entry above t, as `count` does above
            columns[nnz], values[nnz] = where[p], near[p] - t
            nnz += near[p] > t
        ends[i + 1] = nnz
    return thresholds, smooth, nnz, ends, columns[:nnz].copy(), values[:nnz].copy()


@compiled()
def symmetric(Yt, graph, scale, thresholds, H):
    """Write (G + G') / 2 to an array, for a symmetric S, and return how far G is from it.

    Parameters
    ----------
    Yt, graph, scale
        As in `adapt`.
    thresholds : ndarray of shape (n_samples,)
    H : ndarray of shape (n_samples, n_samples)
        Written to.  It may be the array of a full S.

    Returns
    -------
    float
        ``||G - H||_F^2``.
    """
    n, (indptr, indices, data) = Yt.shape[1], graph
    v, skew = np.empty(n), 0.0
    for i in range(n):
        own, row, t = data[indptr[i] : indptr[i + 1]], H[i], thresholds[i]
        _distances(Yt, i, v)
        if len(own) == n:
            for j in range(n):
                v[j] = own[j] - scale * v[j]
        else:
            for j in range(n):
                v[j] *= -scale
            for p in range(len(own)):
                v[indices[indptr[i] + p]] += own[p]
        for j in range(n):
            g, other = max(v[j] - t, 0.0), max(v[j] - thresholds[j], 0.0)
            row[j] = (g + other) / 2
            skew += ((g - other) / 2) ** 2
    return skew


@compiled()
def _distances(Yt, i, v):
    """Write the squared distances of sample i to all samples to v, two columns of the embedding at a time."""
    m, n = Yt.shape
    for first in range(0, n, CHUNK):
        part = v[first : first + CHUNK]
        part[:] = 0.0
        for k in range(0, m - 1, 2):
            one, two, y, z = Yt[k, first:], Yt[k + 1, first:], Yt[k, i], Yt[k + 1, i]
            for j in range(len(part)):
                part[j] += (one[j] - y) * (one[j] - y) + (two[j] - z) * (two[j] - z)
        if m % 2:
            one, y = Yt[m - 1, first:], Yt[m - 1, i]
            for j in range(len(part)):
                part[j] += (one[j] - y) * (one[j] - y)


@compiled()
def _dot(v, w):
    total = 0.0
    for j in range(len(v)):
        total += v[j] * w[j]
    return total


@compiled()
def _threshold(v, n):
    """Return the t for which max(v[:n] - t, 0) sums to 1, or -inf where n is 0.

    That sum is convex and piecewise linear in t, so that Newton's method from below ends after a few steps.
    """
    if n == 0:
        return -np.inf
    largest = v[0]
    for j in range(n):
        largest = v[j] if v[j] > largest else largest
    t, fewest = -1.0, n + 1
    while True:
        count, excess = 0, 0.0
        for j in range(n):
            over = (v[j] - largest) - t
            count += over > 0
            excess += max(over, 0.0)
        # The number of entries above t falls from step to step.  Only entries within rounding of t may come and go for
        # ever, so that a step that does not lower the number is the last.
        if count >= fewest or count == 0:
            return t + largest
        t += (excess - 1) / count
        fewest = count
