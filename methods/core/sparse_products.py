"""Products of a sparse array with a few columns."""

import numpy as np
from scipy import sparse

from methods.core.compiled import compiled


def times(A, F):
    """Return AF, faster than scipy does where A is sparse: four entries of a row are added to the sum at a time.

    Parameters
    ----------
    A : csr_array or ndarray of shape (m, n)
    F : ndarray of shape (n, n_columns)

    Returns
    -------
    ndarray of shape (m, n_columns)
    """
    if not sparse.issparse(A):
        return A @ F
    product = np.empty((A.shape[0], F.shape[1]))
    arrays = tuple(array.view() for array in (A.data, A.indices, A.indptr, np.ascontiguousarray(F)))
    for array in arrays:  # so that loops are compiled for one kind of array
        array.flags.writeable = False
    _times(*arrays, product)
    return product


def transposed_times(X, features, F):
    """Return X'F, for X of shape (n, d), and features the csr_array X' to multiply by where that pays, or None."""
    # For a dense X the transpose of a product of transposes takes half the time.
    return (F.T @ X).T if features is None else times(features, F)


@compiled()
def _times(data, indices, indptr, F, product):
    """Write AF: the terms t of a row in the order of its entries, as ``(t + t) + (t + t)``, then one by one."""
    for i in range(len(product)):
        row, p, last = product[i], np.int64(indptr[i]), np.int64(indptr[i + 1])
        row[:] = 0.0
        while p + 4 <= last:
            # Without a sign it is not asked whether an index counts from the end.
            one, two = F[np.uint32(indices[p])], F[np.uint32(indices[p + 1])]
            three, four = F[np.uint32(indices[p + 2])], F[np.uint32(indices[p + 3])]
            a, b, c, d = data[p], data[p + 1], data[p + 2], data[p + 3]
            for k in range(len(row)):
                row[k] += (a * one[k] + b * two[k]) + (c * three[k] + d * four[k])
            p += 4
        while p < last:
            one, a = F[np.uint32(indices[p])], data[p]
            for k in range(len(row)):
                row[k] += a * one[k]
            p += 1
