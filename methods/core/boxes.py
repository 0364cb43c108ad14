"""Samples in the leaves of a k-d tree, each within a box, so that those that are far need not be looked at.

The loops over them are compiled with `methods.core.adapted_rows`, the one file that Numba watches: a change here goes
with one there.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from methods.core.compiled import all_of, compiled

FEWEST = 16  # of so many leaves one at least goes to either side
LEAF = 32  # samples, whose distances to another take a few vector registers


class Boxes(NamedTuple):
    """Place p is in leaf ``p // LEAF``; all leaves are full but for the last, which inf fills up."""

    order: np.ndarray  # of shape (n_samples,): the sample at each place
    home: np.ndarray  # of shape (n_samples,): the leaf of each
    members: np.ndarray  # of shape (n_leaves, n_columns, LEAF): the samples
    low: np.ndarray  # of shape (n_columns, n_leaves): the bounds of the boxes
    high: np.ndarray


def boxes(Yt):
    """The samples of a transposed embedding, halved again and again where they are widest; O(n_samples log^2).

    Parameters
    ----------
    Yt : ndarray of shape (n_columns, n_samples)

    Returns
    -------
    Boxes
    """
    return Boxes(*_boxes(Yt))


@compiled()
def _boxes(Yt):
    m, n = Yt.shape
    count = -(-n // LEAF)
    order, home = np.arange(n), np.empty(n, np.int64)
    ends = [n]  # of the parts that are still to be halved, in turn
    first = 0
    while ends:
        leaves = -(-(ends[-1] - first) // LEAF)
        if leaves < 2:
            first = ends.pop()
            continue
        part = order[first : ends[-1]]
        widest, width = 0, -1.0
        for k in range(m):
            y = Yt[k]
            low = high = y[part[0]]
            for j in part:
                low, high = min(low, y[j]), max(high, y[j])
            if high - low > width:
                widest, width = k, high - low
        y = Yt[widest][part]
        rank = np.argsort(y)
        part[:] = part[rank]
        below = np.searchsorted(y[rank], y[rank[0]] + width / 2)  # far groups are parted there, large or small
        least = max(1, leaves // FEWEST)
        ends.append(first + LEAF * min(max((below + LEAF // 2) // LEAF, least), leaves - least))
    members = np.full((count, m, LEAF), np.inf)
    low, high = np.full((m, count), np.inf), np.full((m, count), -np.inf)
    for p in range(n):
        j, leaf = order[p], p // LEAF
        home[j] = leaf
        for k in range(m):
            y = Yt[k, j]
            members[leaf, k, p % LEAF] = y
            low[k, leaf], high[k, leaf] = min(low[k, leaf], y), max(high[k, leaf], y)
    return order, home, members, low, high


@compiled()
def lower_bounds(Yt, i, low, high, lower):
    """What no squared distance of sample i to a box is below, to the last bit: the sums are those of `within`."""
    m = len(Yt)
    for b in range(len(lower)):
        lower[b] = 0.0
    for k in range(0, m - 1, 2):
        y, z = Yt[k, i], Yt[k + 1, i]
        for b in range(len(lower)):
            one, two = max(low[k, b] - y, y - high[k, b], 0.0), max(low[k + 1, b] - z, z - high[k + 1, b], 0.0)
            lower[b] += one * one + two * two
    if m % 2:
        y = Yt[m - 1, i]
        for b in range(len(lower)):
            one = max(low[m - 1, b] - y, y - high[m - 1, b], 0.0)
            lower[b] += one * one


@intrinsic
def within(typing, Yt, i, members, leaf, reach, v):
    """Write the squared distances of sample i to a leaf to v; a bit for each that is below `reach`, from the lowest.

    Two columns at a time, in the registers of the processor; Numba leaves such sums in memory.
    """
    signature = types.uint64(Yt, i, members, leaf, reach, v)
    vector = ir.VectorType(ir.DoubleType(), LEAF)

    def generate(context, builder, signature, arguments):
        Y, members, v = (
            context.make_array(signature.args[place])(context, builder, arguments[place]) for place in (0, 2, 5)
        )
        i, leaf, reach = arguments[1], arguments[3], arguments[4]
        m, n = cgutils.unpack_tuple(builder, Y.shape)
        one, two, width = (ir.Constant(m.type, value) for value in (1, 2, LEAF))
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LEAF))
        leaf_first = builder.mul(builder.mul(leaf, m), width)

        def square(k):
            y = builder.load(builder.gep(Y.data, [builder.add(builder.mul(k, n), i)]))
            at = builder.gep(members.data, [builder.add(leaf_first, builder.mul(k, width))])
            away = builder.fsub(
                builder.load(builder.bitcast(at, vector.as_pointer()), align=8), all_of(builder, y, vector)
            )
            return builder.fmul(away, away)

        with cgutils.for_range(builder, builder.sdiv(m, two)) as pair:
            k = builder.mul(pair.index, two)
            both = builder.fadd(square(k), square(builder.add(k, one)))
            builder.store(builder.fadd(builder.load(total), both), total)
        with builder.if_then(builder.trunc(m, ir.IntType(1))):
            builder.store(builder.fadd(builder.load(total), square(builder.sub(m, one))), total)
        distances = builder.load(total)
        builder.store(distances, builder.bitcast(v.data, vector.as_pointer()), align=8)
        near = builder.fcmp_ordered("<", distances, all_of(builder, reach, vector))
        return builder.zext(builder.bitcast(near, ir.IntType(LEAF)), ir.IntType(64))

    return signature, generate


@intrinsic
def first_bit(typing, bits):
    """The place of the lowest bit that is set in a uint64, which is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate
