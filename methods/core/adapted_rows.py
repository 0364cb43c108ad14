"""The rows of a graph that adapts to an embedding, compiled: `methods.core.optimal_graph` says what they are.

Row i of V is ``v_i = s_i - scale d_i``, and row i of G its projection on the simplex, ``max(v_i - t_i, 0)``.  The
entries of S in a row give a bound that t_i cannot be below, and the more of the others are looked at, the higher it
is: few of them are near enough to be kept, and whole boxes of samples (`methods.core.boxes`) are too far.

A graph with an entry for every pair is *full*: its row pointers are multiples of n_samples, and its columns are never
read, so that they need not be there.
"""

import numpy as np

from methods.core.boxes import LEAF, first_bit, lower_bounds, within
from methods.core.compiled import compiled

CHUNK = 512  # entries of a row whose distances are added up together, in the innermost cache
ROUNDING = 1e-12  # more than the threshold may be below its bound where ties make them the same
WORD = 8  # marks that are looked through together


@compiled()
def adapt(Yt, graph, boxes, scale, first_row, write, result, ends, columns, values):
    """Threshold of every row of V, what its row of G is worth, and that row.

    Parameters
    ----------
    Yt : ndarray of shape (n_columns, n_samples)
        The embedding, transposed.
    graph : tuple of ndarray
        indptr, indices and data of S, a csr_array or full.
    boxes : methods.core.boxes.Boxes
        Of Yt; not used where S is full.
    scale : float
    first_row : int
        Where to begin.
    write : bool
        Whether G is wanted.
    result : ndarray of shape (n_samples, 4)
        Written to: threshold; entries above it; ``||g_i - s_i||^2``; ``sum_j s_ij d_ij``.
    ends, columns, values : ndarray
        Written to, where G is wanted: row pointers, columns and values of G.

    Returns
    -------
    int
        The row that has no room in columns and values, or n_samples.
    """
    n = Yt.shape[1]
    indptr, indices, data = graph
    v, kept, where = np.empty(n), np.empty(n + 1), np.empty(n + 1, np.int64)
    marks, taken, lower = np.zeros(n // WORD + 1, np.uint64), np.zeros(n, np.bool_), np.empty(len(boxes.members))
    end = ends[first_row] if write and first_row else 0
    for i in range(first_row, n):
        first, last = indptr[i], indptr[i + 1]
        own, count = data[first:last], last - first
        if count == n:
            _distances(Yt, i, v)
            if write:
                for j in range(n):
                    where[j] = j
        else:
            _distances_to(Yt, i, indices[first:last], v)
            for p in range(count):
                where[p] = j = indices[first + p]
                taken[j] = True
        smooth = _dot(own, v)
        for p in range(count):
            kept[p] = own[p] - scale * v[p]
        bound, stop = -np.inf, count
        if count < n:
            bound, stop = _near(Yt, i, boxes, scale, lower, taken, kept, where, count)
            for p in range(count):
                taken[where[p]] = False
        t = _threshold(kept, stop, bound)
        above = _above(kept, stop, t)
        if write:
            if end + above >= len(columns):
                return i
            stop = _ordered(v, marks, t, kept, where, count, stop)
            ends[i + 1] = end = _merged(kept, where, count, stop, t, columns, values, end)
        moved = _moved(kept, own, count, stop, t)
        result[i, 0], result[i, 1], result[i, 2], result[i, 3] = t, above, moved, smooth
    return n


@compiled()
def symmetric(graph, transposed, result, columns, values, sums):
    """H = (G + G') / 2, as the arrays of a csr_array.

    Parameters
    ----------
    graph, transposed : tuple of ndarray
        The arrays of G and of its transpose.
    result, columns, values : ndarray
        Written to: row pointers, columns and values, the last two longer than is needed.
    sums : ndarray of shape (n_samples, 2)
        Written to: the sum of a row of H, and ``||g_i - h_i||^2``.
    """
    ends, own, weights = graph
    other_ends, others, other_weights = transposed
    skew = np.empty(len(sums))
    result[0] = end = 0
    for i in range(len(sums)):
        p, last, q, other_last, first = ends[i], ends[i + 1], other_ends[i], other_ends[i + 1], end
        while p < last or q < other_last:
            left = q == other_last or (p < last and own[p] <= others[q])
            right = p == last or (q < other_last and others[q] <= own[p])
            columns[end] = own[p] if left else others[q]
            g, other = weights[p] if left else 0.0, other_weights[q] if right else 0.0
            values[end], skew[end - first] = (g + other) / 2, (g - other) / 2
            end, p, q = end + 1, p + left, q + right
        result[i + 1] = end
        sums[i, 0], sums[i, 1] = _sum(values[first:end], end - first), _squares(skew, end - first)


@compiled()
def symmetric_full(Yt, graph, scale, t, result, sums, smoothed):
    """`symmetric` for a symmetric S, into an array of all pairs.

    Parameters
    ----------
    Yt, graph, scale
        As in `adapt`.
    t : ndarray of shape (n_samples,)
        The thresholds.
    result : ndarray of shape (n_samples, n_samples)
        Written to: H.  It may be the array of a full S.
    sums : ndarray
        As in `symmetric`.
    smoothed : ndarray of shape (n_samples, n_columns)
        Written to: H Y.
    """
    m, n = Yt.shape
    indptr, indices, data = graph
    v = np.empty(n)
    for i in range(n):
        first, last = indptr[i], indptr[i + 1]
        _distances(Yt, i, v)
        v *= -scale
        if last - first == n:
            _add(v, data[first:last])
        else:
            for p in range(first, last):
                v[indices[p]] += data[p]
        sums[i], smoothed[i] = 0.0, 0.0
        for begin in range(0, n, CHUNK):
            row, w = result[i, begin : begin + CHUNK], v[begin : begin + CHUNK]
            _two_sided(w, t[i], t[begin : begin + CHUNK], row)
            sums[i, 0] += _sum(row, len(row))
            sums[i, 1] += _squares(w, len(row))
            for k in range(m):
                smoothed[i, k] += _dot(row, Yt[k, begin : begin + CHUNK])


@compiled()
def _add(v, w):
    for j in range(len(v)):
        v[j] += w[j]


@compiled()
def _two_sided(v, t, others, row):
    """Half the sum of what v is above t and above others to row, half the difference to v."""
    for j in range(len(v)):
        g, other = max(v[j] - t, 0.0), max(v[j] - others[j], 0.0)
        row[j], v[j] = (g + other) / 2, (g - other) / 2


@compiled()
def without_zeros(full, result, columns, values):
    """A full graph as the arrays of a csr_array, and one entry in vain."""
    result[0] = end = 0
    for i in range(len(full)):
        for j in range(len(full)):
            columns[end], values[end] = j, full[i, j]
            end += full[i, j] > 0
        result[i + 1] = end


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
def _distances_to(Yt, i, others, v):
    """Squared distances of sample i to some, with the sums of `_distances`."""
    m, n = Yt.shape[0], len(others)
    for p in range(n):
        v[p] = 0.0
    for k in range(0, m - 1, 2):
        one, two, y, z = Yt[k], Yt[k + 1], Yt[k, i], Yt[k + 1, i]
        for p in range(n):
            j = np.uint32(others[p])  # without a sign it is not asked whether it counts from the end
            v[p] += (one[j] - y) * (one[j] - y) + (two[j] - z) * (two[j] - z)
    if m % 2:
        one, y = Yt[m - 1], Yt[m - 1, i]
        for p in range(n):
            j = np.uint32(others[p])
            v[p] += (one[j] - y) * (one[j] - y)


@compiled()
def _near(Yt, i, boxes, scale, lower, taken, kept, where, count):
    """Append ``-scale`` times the distances that may be above the threshold to kept and where; its bound and the end.

    The first `count` entries, which stay, are those of S, which are `taken`.
    """
    bound = _threshold(kept, count, -np.inf) if count else -np.inf
    reach = _reach(bound, scale)
    end = enough = count
    lower_bounds(Yt, i, boxes.low, boxes.high, lower)
    home, v, one = boxes.home[i], np.empty(LEAF), np.uint64(1)
    for step in range(2 * len(lower)):  # outwards from its own leaf: the nearest are mostly there
        leaf = home - (step + 1) // 2 if step % 2 else home + step // 2
        if leaf < 0 or leaf >= len(lower) or not lower[leaf] < reach:
            continue
        bits = within(Yt, i, boxes.members, leaf, reach, v)
        while bits:
            p = first_bit(bits)
            bits &= bits - one
            j = boxes.order[leaf * LEAF + p]
            kept[end], where[end] = -scale * v[p], j
            end += not taken[j]
        if end > 2 * enough + CHUNK // WORD:
            bound = _threshold(kept, end, bound)
            reach = _reach(bound, scale)
            enough = count
            for p in range(count, end):
                kept[enough], where[enough] = kept[p], where[p]
                enough += -kept[p] < scale * reach
            end = enough
    return bound, end


@compiled()
def _ordered(v, marks, t, kept, where, count, stop):
    """Those of the entries from `count` that are above t, in the order of the samples; the new end."""
    flags, lowest, highest = marks.view(np.uint8), len(v), -1
    for p in range(count, stop):
        j = where[p]
        if kept[p] > t:
            v[j], flags[j], lowest, highest = kept[p], 1, min(lowest, j), max(highest, j)
    return _gather(marks, lowest // WORD, highest // WORD + 1, v, where, kept, count)


@compiled()
def _reach(bound, scale):
    """From this distance on no entry that S has not is above the bound."""
    return (ROUNDING * (1 + abs(bound)) - bound) / scale


@compiled()
def _gather(marks, first, last, v, columns, values, end):
    """Append what is marked in some words to columns and values, in order, and clear the marks; the new end.

    They must be longer than that: what is not marked is written as well, and then written over.
    """
    flags = marks.view(np.uint8)
    for word in range(first, last):
        if marks[word]:
            for j in range(word * WORD, min((word + 1) * WORD, len(v))):
                columns[end], values[end] = j, v[j]
                end += flags[j]
            marks[word] = 0
    return end


@compiled()
def _merged(kept, where, count, stop, t, columns, values, end):
    """Write what is above t, of two increasing lists of samples, in one, and one entry in vain; the new end."""
    p, q = 0, count
    while p < count or q < stop:
        left = q == stop or (p < count and where[p] < where[q])
        r = p if left else q
        columns[end], values[end] = where[r], kept[r] - t
        end, p, q = end + (kept[r] > t), p + left, q + (not left)
    return end


@compiled()
def _threshold(v, n, t):
    """The t for which max(v[:n] - t, 0) sums to 1, from a t that is no higher.

    That sum is convex and piecewise linear in t, so that Newton's method from below ends after a few steps.
    """
    largest = _largest(v, n)
    t = max(t - largest, max((_sum(v, n) - n * largest - 1) / n, -1.0))
    fewest = n + 1
    while True:
        count, excess = _excess(v, n, largest, t)
        # They fall from step to step, but for entries within rounding of t, which may come and go for ever.
        if count >= fewest or count == 0:
            return t + largest
        t += (excess - 1) / count
        fewest = count


# Sums over a row: in an order that the compiler chooses once, so that they are done in vector registers.
_SUMS = {"fastmath": {"reassoc", "nsz"}}


@compiled(fastmath={"reassoc", "nsz", "nnan"})  # no row has a nan, and for one a maximum would go entry by entry
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
    total, count = 0.0, 0
    for j in range(n):
        over = (v[j] - largest) - t
        count += over > 0
        total += max(over, 0.0)
    return count, total


@compiled(**_SUMS)
def _squares(v, n):
    total = 0.0
    for j in range(n):
        total += v[j] * v[j]
    return total


@compiled(**_SUMS)
def _moved(v, own, count, n, t):
    """||max(v[:n] - t, 0) - (own, 0)||^2."""
    total = 0.0
    for j in range(count):
        total += (max(v[j] - t, 0.0) - own[j]) ** 2
    for j in range(count, n):
        total += max(v[j] - t, 0.0) ** 2
    return total


@compiled()
def _above(v, n, t):
    count = 0
    for j in range(n):
        count += v[j] > t
    return count
