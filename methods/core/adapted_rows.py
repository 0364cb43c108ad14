"""The rows of a graph that adapts to an embedding, compiled: `methods.core.optimal_graph` says what they are.

Row i of V is ``v_i = s_i - scale d_i``, and row i of G its projection on the simplex, ``max(v_i - t_i, 0)``.  The
threshold of a part of a row is never above that of the whole row.  So the entries of S in a row, and some near samples,
give a lower bound of t_i, and only samples that are near enough for it are looked at: in the column where sample i has
its largest entry they stand side by side.

A graph with an entry for every pair is *full*: its row pointers are multiples of n_samples, its columns are never read.

The order of every sum is written down, so that its bytes do not depend on what the compiler makes of a loop.
"""

import numpy as np

from ufs_bench.methods.core.compiled import compiled

CHUNK = 512  # samples whose distances are added up together, in the innermost cache
LANES = 16  # sums that run side by side: number q adds up every 16th term from the q-th, and at the end they are added
NEAR = 64  # samples to either side that give the bound
ROUNDING = 1e-12  # by which the threshold may be below its bound


@compiled()
def adapt(Y, columns, orders, graph, scale, most):
    """Return the threshold of every row of V, and the projection G, for an S that is not full.

    `graph` is indptr, indices and data of S; `columns` holds, for each sample, a column of the embedding Y in which few
    others are near it, and `orders` the samples in increasing order of each column of Y.  Returned are the thresholds,
    ``sum_j s_ij d_ij`` and ``||g_i - s_i||^2`` of every row, the number of entries of G, and its arrays: indptr,
    indices in no order, and data.  Of more than `most` entries the rest is not written.
    """
    (n, m), (indptr, indices, data), nnz = Y.shape, graph, 0
    Z, v, near, where = np.empty((m, n)), np.empty(n), np.empty(n + LANES), np.empty(n + LANES, np.int32)
    taken, sums = np.zeros(n, np.bool_), np.empty((2, LANES))
    thresholds, smooth, moved, starts = np.empty(n), np.empty(n), np.empty(n), np.zeros(n + 1, np.int64)
    counts, found, values = np.zeros(n, np.int64), np.empty(2 * n, np.int32), np.empty(2 * n)
    for k in range(m):
        order = orders[k]
        for r in range(n):
            for q in range(m):
                Z[q, r] = Y[order[r], q]
        for r in range(n):
            i = order[r]
            if columns[i] != k:
                continue
            y, first, count, total = Y[i], indptr[i], indptr[i + 1] - indptr[i], 0.0
            own, its = data[first : first + count], indices[first : first + count]
            for p in range(count):
                j, d = np.uint32(its[p]), 0.0  # without a sign it is not asked whether it counts from the end
                for q in range(0, m - 1, 2):
                    d += (Y[j, q] - y[q]) * (Y[j, q] - y[q]) + (Y[j, q + 1] - y[q + 1]) * (Y[j, q + 1] - y[q + 1])
                if m % 2:
                    d += (Y[j, m - 1] - y[m - 1]) * (Y[j, m - 1] - y[m - 1])
                total += own[p] * d
                near[p], where[p], taken[j] = own[p] - scale * d, its[p], True
            smooth[i] = total
            low, high = max(r - NEAR, 0), min(r + NEAR, n)
            stop = _nearer(Z[:, low:high], order[low:high], y, np.inf, scale, taken, v, near, where, count)
            bound = _threshold(near, stop, -np.inf, sums)
            reach = (ROUNDING * (1 + abs(bound)) - bound) / scale  # from this distance on an entry is below the bound
            low = np.searchsorted(Z[k], y[k] - np.sqrt(max(reach, 0.0)))
            high = np.searchsorted(Z[k], y[k] + np.sqrt(max(reach, 0.0)), side="right")
            stop = _nearer(Z[:, low:high], order[low:high], y, reach, scale, taken, v, near, where, count)
            for p in range(count):
                taken[its[p]] = False
            thresholds[i] = t = _threshold(near, stop, bound, sums)
            moved[i] = _moved(near, own, stop, t)
            starts[i] = nnz
            if nnz > most:
                for p in range(stop):
                    nnz += near[p] > t
                continue
            if nnz + stop >= len(values):
                found, values = (
                    np.append(found, np.empty(len(found) + n, np.int32)),
                    np.append(values, np.empty(len(values) + n)),
                )
            for p in range(stop):  # `nnz` moves on only past an entry above t: the next one overwrites any other
                found[nnz], values[nnz] = where[p], near[p] - t
                nnz += near[p] > t
            counts[i] = nnz - starts[i]
    ends = np.zeros(n + 1, np.int64)
    ends[1:] = np.cumsum(counts)
    others, weights = np.empty(ends[n], np.int32), np.empty(ends[n])
    for i in range(n):
        first = starts[i]
        for p in range(counts[i]):
            others[ends[i] + p], weights[ends[i] + p] = found[first + p], values[first + p]
    return thresholds, smooth, moved, nnz, ends, others, weights


@compiled()
def _nearer(Z, order, y, reach, scale, taken, v, near, where, count):
    """Append to near and where the samples of Z, in this order, nearer than reach and not taken; return the end."""
    _distances(Z, y, v)
    for p in range(len(order)):  # `count` moves on only past such a sample
        near[count], where[count] = -scale * v[p], order[p]
        count += (v[p] < reach) & (not taken[order[p]])
    return count


@compiled()
def adapt_full(Y, graph, scale, most):
    """Do what `adapt` does, for a full S."""
    n, data, nnz = len(Y), graph[2], 0
    Yt, near, sums = Y.T.copy(), np.empty(n + LANES), np.empty((2, LANES))
    thresholds, smooth, moved = np.empty(n), np.empty(n), np.empty(n)
    ends, columns, values = np.zeros(n + 1, np.int64), np.empty(2 * n, np.int32), np.empty(2 * n)
    for i in range(n):
        own = data[i * n : (i + 1) * n]
        _distances(Yt, Y[i], near)
        smooth[i] = _dot(own, near, n, sums)
        for j in range(n):
            near[j] = own[j] - scale * near[j]
        thresholds[i] = t = _threshold(near, n, -np.inf, sums)
        moved[i] = _moved(near, own, n, t)
        if nnz > most:
            for j in range(n):
                nnz += near[j] > t
            continue
        if nnz + n >= len(values):
            columns, values = (
                np.append(columns, np.empty(len(columns) + n, np.int32)),
                np.append(values, np.empty(len(values) + n)),
            )
        for j in range(n):
            columns[nnz], values[nnz] = j, near[j] - t
            nnz += near[j] > t
        ends[i + 1] = nnz
    return thresholds, smooth, moved, nnz, ends, columns[:nnz].copy(), values[:nnz].copy()


@compiled()
def symmetric(Y, graph, scale, thresholds, H):
    """Write (G + G') / 2 to the array H, for a symmetric S, and return ``||G - H||_F^2``.

    The thresholds are those of `adapt`; S may be full, and H may be its array.
    """
    n, (indptr, indices, data) = len(Y), graph
    Yt, v, sums, skew = Y.T.copy(), np.empty(n + LANES), np.empty((2, LANES)), 0.0
    for i in range(n):
        own, row, t = data[indptr[i] : indptr[i + 1]], H[i], thresholds[i]
        _distances(Yt, Y[i], v)
        if len(own) == n:
            for j in range(n):
                v[j] = own[j] - scale * v[j]
        else:
            for j in range(n):
                v[j] *= -scale
            for p in range(len(own)):
                v[indices[indptr[i] + p]] += own[p]
        for j in range(n):
            g, other = v[j] - t, v[j] - thresholds[j]
            g, other = g if g > 0 else 0.0, other if other > 0 else 0.0
            row[j], v[j] = (g + other) / 2, (g - other) / 2
        skew += _dot(v, v, n, sums)
    return skew


@compiled()
def mean(graph, transposed):
    """Return (G + G') / 2 as the arrays of a csr_array, the sums of its rows, and ``||G - H||_F^2``, H being this mean.

    `graph` and `transposed` are indptr, sorted indices and data of G and of its transpose.
    """
    ends, own, weights = graph
    other_ends, others, other_weights = transposed
    result, sums, skew, nnz = np.zeros_like(ends), np.zeros(len(ends) - 1), 0.0, 0
    columns, values = np.empty(2 * len(own), np.int32), np.empty(2 * len(own))
    for i in range(len(sums)):
        p, last, q, other_last, total = ends[i], ends[i + 1], other_ends[i], other_ends[i + 1], 0.0
        while p < last or q < other_last:
            left = q == other_last or (p < last and own[p] <= others[q])
            right = p == last or (q < other_last and others[q] <= own[p])
            g, other = weights[p] if left else 0.0, other_weights[q] if right else 0.0
            columns[nnz], values[nnz] = own[p] if left else others[q], (g + other) / 2
            total += values[nnz]
            skew += ((g - other) / 2) ** 2
            nnz, p, q = nnz + 1, p + left, q + right
        result[i + 1], sums[i] = nnz, total
    return result, columns[:nnz].copy(), values[:nnz].copy(), sums, skew


@compiled()
def _distances(Z, y, v):
    """Write the squared distances of a sample y to the columns of Z to v, two entries of a sample at a time."""
    m, n = Z.shape
    for first in range(0, n, CHUNK):
        part = v[first : min(first + CHUNK, n)]
        part[:] = 0.0
        for k in range(0, m - 1, 2):
            one, two, a, b = Z[k, first:], Z[k + 1, first:], y[k], y[k + 1]
            for j in range(len(part)):
                part[j] += (one[j] - a) * (one[j] - a) + (two[j] - b) * (two[j] - b)
        if m % 2:
            one, a = Z[m - 1, first:], y[m - 1]
            for j in range(len(part)):
                part[j] += (one[j] - a) * (one[j] - a)


@compiled()
def _dot(v, w, n, sums):
    lanes = sums[0]
    lanes[:] = 0.0
    for p in range(0, n - LANES + 1, LANES):
        for q in range(LANES):
            lanes[q] += v[p + q] * w[p + q]
    for p in range(n - n % LANES, n):
        lanes[p % LANES] += v[p] * w[p]
    return _total(lanes)


@compiled()
def _total(lanes):
    total = 0.0
    for q in range(LANES):
        total += lanes[q]
    return total


@compiled()
def _moved(near, own, count, t):
    """Return ``||g - s||^2`` for a row of G, max(near[:count] - t, 0), and its row of S, whose entries come first."""
    total = 0.0
    for p in range(count):
        g = near[p] - t
        g = g if g > 0 else 0.0
        g -= own[p] if p < len(own) else 0.0
        total += g * g
    return total


@compiled()
def _threshold(v, n, t, sums):
    """Return the t for which max(v[:n] - t, 0) sums to 1, from a t that is no higher; v has room for `LANES` more.

    That sum is convex and piecewise linear in t, so that Newton's method from below ends after a few steps.
    """
    largest = v[0]
    for j in range(n):
        largest = v[j] if v[j] > largest else largest
    v[n : n + LANES] = -np.inf
    excess, above = sums[0], sums[1]
    t, fewest = max(t - largest, -1.0), n + 1
    while True:
        sums[:] = 0.0
        for p in range(0, n, LANES):
            for q in range(LANES):
                over = (v[p + q] - largest) - t
                excess[q] += over if over > 0 else 0.0
                above[q] += 1.0 if over > 0 else 0.0
        count = _total(above)
        # The number of entries above t falls from step to step.  Only entries within rounding of t may come and go for
        # ever, so that a step that does not lower the number is the last.
        if count >= fewest or count == 0:
            return t + largest
        t += (_total(excess) - 1) / count
        fewest = count
