"""Sparse data: what a fit sees of a sparse X, where few non-zeros make a dense X worth multiplying as a sparse one."""

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.compiled import compiled
from ufs_bench.methods.core.shared import shared

BLOCK = 2**22  # numbers in a dense block of columns: 32 MB
SPARSE = 0.25  # up to this share of non-zero entries X is multiplied as a sparse array
SPARSE_FACTOR = 0.45  # the same where all that is multiplied by are the few columns of a regression


def read_only(X):
    """Return X as data that a fit cannot change: a view; if sparse, a canonical csr_array without stored zeros."""
    if not sparse.issparse(X):
        X = X.view()
        X.flags.writeable = False
        return X
    X = sparse.csr_array(X)
    if not (X.has_canonical_format and np.all(X.data)):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    data, indices, ends = X.data.view(), X.indices.view(), X.indptr.view()
    for part in (data, indices, ends):
        part.flags.writeable = False
    X = sparse.csr_array((data, indices, ends), shape=X.shape)
    X.has_canonical_format = True
    return X


def column_blocks(X):
    """Yield the features, some at a time, as dense arrays (n_samples, width), from left to right.

    An X that is dense comes at once.
    """
    if not sparse.issparse(X):
        yield X
        return
    columns, width = sparse.csc_array(X), max(1, BLOCK // X.shape[0])
    for start in range(0, X.shape[1], width):
        yield columns[:, start : start + width].toarray(order="C")


def sparse_where_it_pays(X, share=SPARSE):
    """Return X as a csr_array to multiply by; None where more than this share of its entries is not zero."""
    return sparse.csr_array(X) if np.count_nonzero(X) <= share * X.size else None


def sparse_features_where_it_pays(X, share=SPARSE):
    """Return X' as a csr_array, where `sparse_where_it_pays`."""
    few = shared(X, sparse_where_it_pays, share)
    return None if few is None else sparse.csr_array(few.T)


@compiled()
def weighted_gram(data, indices, indptr, sample_weights, n_features):
    """Return the upper triangle of X' diag(sample_weights) X, X being the parts of a csr_array with sorted indices."""
    gram = np.zeros((n_features, n_features))
    for i in range(len(sample_weights)):
        end = indptr[i + 1]
        for a in range(indptr[i], end):
            row, value = gram[indices[a]], sample_weights[i] * data[a]
            for b in range(a, end):
                row[indices[b]] += value * data[b]
    return gram


def times(A, F):
    """Return AF, faster than scipy does where A is a csr_array: four entries of a row are added at a time."""
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
