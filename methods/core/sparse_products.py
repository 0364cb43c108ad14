"""Products of a sparse matrix with a few columns, the columns side by side in the registers of the processor."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from scipy import sparse

from methods.core.compiled import all_of, compiled


def times(A, F):
    """A F.

    Every entry is added up as scipy does it, in the same order, and comes out the same to the last bit, in a half to a
    quarter of the time.

    Parameters
    ----------
    A : csr_array or ndarray of shape (m, n)
    F : ndarray of shape (n, n_columns)

    Returns
    -------
    ndarray of shape (m, n_columns)
    """
    compressed = sparse.issparse(A) and A.format == "csr" and A.dtype == F.dtype == float
    if not compressed or F.ndim < 2 or F.shape[1] < 2 or A.shape[1] != len(F):
        return A @ F
    n_columns = F.shape[1]
    product = np.empty((A.shape[0], n_columns))
    arrays = tuple(array.view() for array in (A.data, A.indices, A.indptr, np.ascontiguousarray(F)))
    for array in arrays:  # so that loops are compiled for one kind of array
        array.flags.writeable = False
    loop = _by_two if n_columns < 4 else _by_four if n_columns < 8 else _by_eight
    loop(*arrays, product)
    return product


def transposed_times(X, features, F):
    """X'F.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    features : csr_array of shape (d, n) or None
        X' to multiply by, where that pays.
    F : ndarray of shape (n, n_columns)

    Returns
    -------
    ndarray of shape (d, n_columns)
    """
    # Of a full X the transpose of a product of transposes takes half the time.
    return (F.T @ X).T if features is None else times(features, F)


def _row_of(*widths):
    """A function that writes groups of columns, of these widths, of a row of the product; one loop over the row of A.

    Its arguments are the data and indices of A, where the row begins and ends there, F, its number of columns, the
    first column of each group, the product, and where its row begins.  Numba leaves such sums in memory.
    """

    @intrinsic
    def write(typing, data, indices, begin, end, F, n_columns, columns, product, row):
        signature = types.void(data, indices, begin, end, F, n_columns, columns, product, row)
        vectors = [ir.VectorType(ir.DoubleType(), width) for width in widths]

        def generate(context, builder, signature, arguments):
            data, indices, begin, end, F, n_columns, columns, product, row = arguments

            def pointer(place):
                return context.make_array(signature.args[place])(context, builder, arguments[place]).data

            def group(base, start, column, vector):
                at = builder.gep(base, [builder.add(start, column)])
                return builder.bitcast(at, vector.as_pointer())

            sums = [cgutils.alloca_once_value(builder, ir.Constant(one, [0.0] * one.count)) for one in vectors]
            firsts = [builder.extract_value(columns, k) for k in range(len(widths))]
            groups = list(zip(sums, firsts, vectors, strict=True))
            data, indices, F, product = pointer(0), pointer(1), pointer(4), pointer(7)
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(begin.type, 1)) as (place, _):
                entry = builder.load(builder.gep(data, [place]))
                column = builder.sext(builder.load(builder.gep(indices, [place])), begin.type)
                start = builder.mul(column, n_columns)
                for total, first, vector in groups:
                    part = builder.load(group(F, start, first, vector), align=8)
                    part = builder.fmul(all_of(builder, entry, vector), part)
                    builder.store(builder.fadd(builder.load(total), part), total)
            for total, first, vector in groups:
                builder.store(builder.load(total), group(product, row, first, vector), align=8)
            return context.get_dummy_value()

        return signature, generate

    return write


_two, _four, _fours, _eight, _eights, _three = (
    _row_of(*widths) for widths in ((2,), (4,), (4, 4), (8,), (8, 8), (8, 8, 8))
)
_eight_two, _eight_four, _eights_two, _eights_four, _three_two = (
    _row_of(*widths) for widths in ((8, 2), (8, 4), (8, 8, 2), (8, 8, 4), (8, 8, 8, 2))
)


@compiled()
def _by_two(data, indices, indptr, F, product):
    """2 or 3 columns; where the number is no multiple of the width, here and below, the last group overlaps."""
    c = F.shape[1]
    for i in range(len(product)):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        for k in range(0, c, 2):
            _two(data, indices, begin, end, F, c, (min(k, c - 2),), product, i * c)


@compiled()
def _by_four(data, indices, indptr, F, product):
    c = F.shape[1]
    for i in range(len(product)):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        if c > 4:
            _fours(data, indices, begin, end, F, c, (0, c - 4), product, i * c)
        else:
            _four(data, indices, begin, end, F, c, (0,), product, i * c)


@compiled()
def _by_eight(data, indices, indptr, F, product):
    """8 columns or more: 24 at a time, and the last up to 26 by what is next to their number."""
    c = F.shape[1]
    for i in range(len(product)):
        begin, end, row = np.int64(indptr[i]), np.int64(indptr[i + 1]), i * c
        k = 0
        while c - k > 26:
            _three(data, indices, begin, end, F, c, (k, k + 8, k + 16), product, row)
            k += 24
        left = c - k
        if left <= 8:
            _eight(data, indices, begin, end, F, c, (c - 8,), product, row)
        elif left <= 10:
            _eight_two(data, indices, begin, end, F, c, (k, c - 2), product, row)
        elif left <= 12:
            _eight_four(data, indices, begin, end, F, c, (k, c - 4), product, row)
        elif left <= 16:
            _eights(data, indices, begin, end, F, c, (k, c - 8), product, row)
        elif left <= 18:
            _eights_two(data, indices, begin, end, F, c, (k, k + 8, c - 2), product, row)
        elif left <= 20:
            _eights_four(data, indices, begin, end, F, c, (k, k + 8, c - 4), product, row)
        elif left <= 24:
            _three(data, indices, begin, end, F, c, (k, k + 8, c - 8), product, row)
        else:
            _three_two(data, indices, begin, end, F, c, (k, k + 8, k + 16, c - 2), product, row)
