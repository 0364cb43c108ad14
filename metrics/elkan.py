"""Lloyd's steps compiled: Elkan's bounds prove nearly every label, and the definition settles the rest.

A label is *defined* by `_settle`: squared distances in float64 to the means of the clusters, summed in a fixed order.
The rest only proves what the definition gives.  Every sample keeps an upper bound of the distance to its own centre and
a lower bound for every other; a centre that moves by p changes them by p at most (Elkan 2003).  Where upper < lower for
all other centres the label is certain.  Elsewhere distances are computed in float32, whose error widens the bounds,
and labels that are open even then are settled.  So float32, its coordinates and products of several restarts at once
decide how long it takes, and never a label.

Arrays are copied in loops: the error messages of assignments of whole arrays take two seconds of compilation.
All that is compiled is in one file: Numba's cache on disk notices changes only in the file of the called function.
"""

import numpy as np
from numba import njit

BLOCK = 512  # samples whose bounds are handled together, in the innermost cache
UNIT = 2.0**-53  # rounding of float64
DRIFT = 2.0**-26  # sums of clusters are built anew before rounding moves a centre by more than this
INF = np.float32(np.inf)


def _compiled(**flags):
    def decorate(function):
        try:
            return njit(cache=True, nogil=True, **flags)(function)
        except RuntimeError:  # neither the checkout nor the user's cache can be written: each process compiles
            return njit(nogil=True, **flags)(function)

    return decorate


@_compiled()
def lloyd(X, points, norms, starts, products, max_iter, limits, state, result):
    """Run restarts one after the other, so that the bounds of one stay in the cache; write the labels to `result`.

    X is centred, of norms at most 1, and defines the labels.  `points` are in float32, with the same distances but for
    rounding, perhaps in fewer coordinates; `norms` are squared.  `starts` has the samples that are the first centres,
    a restart a row, and `products` (n_restarts, n_clusters, n_samples) theirs with all samples: lower bounds take their
    place.  `state` is a `metrics.restart.State`, whose arrays are written anew.
    """
    for restart in range(len(starts)):
        lower = products[restart]
        _begin(state, lower, X, points, norms, starts[restart], limits)
        for step in range(max_iter + 1):
            changed = _assign(state, lower, X, points, limits)
            if step == max_iter or (step > 0 and changed == 0):
                break
            _update(state, X, points, limits)
        for i in range(len(X)):
            result[restart, i] = state.labels[i]


@_compiled()
def _begin(state, lower, X, points, norms, start, limits):
    """Return centres at samples, and the bounds that their products with all samples give."""
    state.members[:] = -1
    state.sums[:] = 0
    state.added[:] = 0
    state.moved[:] = 0
    state.known[:] = True
    state.upper[:] = INF
    error, above = np.float32(limits.product), np.float32(limits.absolute + limits.margin)
    two, zero = np.float32(2), np.float32(0)
    for k in range(len(start)):
        for j in range(X.shape[1]):
            state.means[k, j] = X[start[k], j]
        for j in range(points.shape[1]):
            state.centres[k, j] = state.centres32[k, j] = points[start[k], j]
        row, norm = lower[k], norms[start[k]]
        for i in range(len(row)):
            square = norms[i] + norm - two * row[i]
            if square < state.upper[i]:
                state.upper[i] = square
                state.labels[i] = k
            row[i] = np.sqrt(max(square - error, zero))
    for i in range(len(norms)):
        state.upper[i] = np.sqrt(max(state.upper[i] + error, zero)) + above
        lower[state.labels[i], i] = INF


@_compiled()
def _assign(state, lower, X, points, limits):
    """Bring bounds and labels from the former centres to the present ones; count the labels that change."""
    labels, upper, centres32 = state.labels, state.upper, state.centres32
    grow, shrink = np.float32(1 + limits.relative), np.float32(1 - limits.relative)
    below, above = np.float32(limits.absolute), np.float32(limits.absolute + limits.margin)
    least, distances, nearest = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    second, rows = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.int64)
    pairs, former = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    changed = 0
    # Lists are filled without branches, and distances computed before they are compared: the processor never waits.
    for first in range(0, len(labels), BLOCK):
        size = min(BLOCK, len(labels) - first)
        _age(state, lower, first, size, least)
        n_rows = 0
        for t in range(size):
            rows[n_rows] = first + t
            n_rows += upper[first + t] >= least[t]
        for t in range(n_rows):
            distances[t] = _distance(points, rows[t], centres32, labels[rows[t]])
        n_open = 0
        for t in range(n_rows):
            i, distance = rows[t], distances[t]
            upper[i] = distance * grow + above
            rows[n_open], nearest[n_open], second[n_open], former[n_open] = i, distance, INF, labels[i]
            n_open += upper[i] >= least[i - first]
        for k in range(len(lower)):
            n_pairs = 0
            for t in range(n_open):
                pairs[n_pairs] = t
                n_pairs += lower[k, rows[t]] <= upper[rows[t]]
            for p in range(n_pairs):
                distances[p] = _distance(points, rows[pairs[p]], centres32, k)
            for p in range(n_pairs):
                t, distance = pairs[p], distances[p]
                i = rows[t]
                if distance < nearest[t]:
                    lower[labels[i], i] = nearest[t] * shrink - below
                    second[t] = min(second[t], nearest[t])
                    labels[i], nearest[t], upper[i] = k, distance, distance * grow + above
                    lower[k, i] = INF
                else:
                    lower[k, i] = distance * shrink - below
                    second[t] = min(second[t], distance)
        for t in range(n_open):
            i = rows[t]
            if upper[i] >= second[t] * shrink - below:
                k = _settle(i, state, lower, X, points, limits)
                if k != labels[i]:
                    lower[labels[i], i] = nearest[t] * shrink - below
                    labels[i], upper[i] = k, _distance(points, i, centres32, k) * grow + above
                    lower[k, i] = INF
            changed += labels[i] != former[t]
    return changed


@_compiled()
def _age(state, lower, first, size, least):
    """Widen the bounds of a block by how far the centres moved, rounded outwards; `least` gets the lowest ones."""
    inwards, outwards = np.float32(1 - 2.0**-22), np.float32(1 + 2.0**-22)
    least[:size] = INF
    for k in range(len(lower)):
        row, moved = lower[k, first : first + size], state.moved[k]
        for t in range(len(row)):
            bound = (row[t] - moved) * inwards
            row[t] = bound
            least[t] = min(least[t], bound)
    upper, labels = state.upper[first : first + size], state.labels[first : first + size]
    for t in range(len(upper)):
        upper[t] = (upper[t] + state.moved[labels[t]]) * outwards


@_compiled(fastmath={"reassoc", "contract", "nsz"})
def _distance(points, i, centres, k):
    """Return a distance in float32, its terms added in the order that the compiler takes.

    That order may differ between two processes and two processors.  Here, and nowhere else in this project, it may: the
    bounds of errors hold for all orders, and labels that they do not prove are settled in float64.
    """
    total = np.float32(0)
    for j in range(points.shape[1]):
        difference = points[i, j] - centres[k, j]
        total += difference * difference
    return np.sqrt(total)


@_compiled()
def _square(points, i, centres, k):
    """Return a squared distance in float64, with the additions in the same order on every machine."""
    a = b = c = d = 0.0
    whole = points.shape[1] // 4 * 4
    for j in range(0, whole, 4):
        a += (points[i, j] - centres[k, j]) ** 2
        b += (points[i, j + 1] - centres[k, j + 1]) ** 2
        c += (points[i, j + 2] - centres[k, j + 2]) ** 2
        d += (points[i, j + 3] - centres[k, j + 3]) ** 2
    for j in range(whole, points.shape[1]):
        a += (points[i, j] - centres[k, j]) ** 2
    return (a + b) + (c + d)


@_compiled()
def _settle(i, state, lower, X, points, limits):
    """Return the label by its definition: the first centre whose squared distance is within a tie of the smallest."""
    n_clusters = len(lower)
    squares = np.full(n_clusters, np.inf)
    for k in range(n_clusters):
        if k == state.labels[i] or lower[k, i] <= state.upper[i]:
            squares[k] = _square(points, i, state.centres, k)
    limit = squares.min() + limits.tie + 2 * limits.blur
    if (squares <= limit).sum() > 1:
        for k in range(n_clusters):
            squares[k] = _square(X, i, _mean(state, X, k), k) if squares[k] <= limit else np.inf
        limit = squares.min() + limits.tie
    return np.argmax(squares <= limit)


@_compiled()
def _mean(state, X, k):
    """Return all means, with that of cluster k brought up to date (once a step at most), its members added in order."""
    if not state.known[k]:
        state.means[k] = 0
        for i in range(len(X)):
            if state.members[i] == k:
                for j in range(X.shape[1]):
                    state.means[k, j] += X[i, j]
        for j in range(X.shape[1]):
            state.means[k, j] /= state.counts[k]
        state.known[k] = True
    return state.means


@_compiled()
def _update(state, X, points, limits):
    """Move every centre to the mean of its samples, after every empty cluster has taken one."""
    members = state.labels.copy()
    counts = np.zeros_like(state.counts)
    for k in members:
        counts[k] += 1
    _fill(state, X, members, counts, limits.tie)
    for i in range(len(members)):
        old, new = state.members[i], members[i]
        if old != new:
            _add(state, new, points, i, 1)
            if old >= 0:
                _add(state, old, points, i, -1)
            state.members[i] = new
    for k in range(len(counts)):
        state.counts[k] = counts[k]
        if state.added[k] * len(members) * UNIT > DRIFT * counts[k]:
            state.sums[k], state.added[k] = 0, 0
            for i in range(len(members)):
                if members[i] == k:
                    _add(state, k, points, i, 1)
        square = 0.0
        for j in range(points.shape[1]):
            coordinate = state.sums[k, j] / counts[k]
            square += (coordinate - state.centres[k, j]) ** 2
            state.centres[k, j] = state.centres32[k, j] = coordinate
        state.moved[k] = np.sqrt(square) * (1 + 2.0**-20)


@_compiled()
def _add(state, k, points, i, sign):
    for j in range(points.shape[1]):
        state.sums[k, j] += sign * points[i, j]
    state.added[k] += 1
    state.known[k] = False


@_compiled()
def _fill(state, X, members, counts, tie):
    """Give every empty cluster the sample farthest from the centre it was assigned to."""
    if counts.min() > 0:
        return
    squares = np.empty(len(members))
    for i in range(len(members)):
        squares[i] = _square(X, i, _mean(state, X, members[i]), members[i])
    for k in range(len(counts)):
        if counts[k] == 0:
            shared = counts[members] > 1
            sample = np.argmax(shared & (squares >= squares[shared].max() - tie))
            counts[members[sample]] -= 1
            counts[k] += 1
            members[sample] = k
