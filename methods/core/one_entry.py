"""Products with arrays V that have one entry in each row: v_i in the column labels_i.

Where only these places of a product X (X'V) are asked for, it costs two passes over X, whatever the number of columns.
"""

import numpy as np
from scipy import sparse

from methods.core.compiled import compiled


def spread(v, labels, n_columns):
    """V itself.

    Parameters
    ----------
    v : ndarray of shape (n,)
    labels : ndarray of int of shape (n,)
        In [0, n_columns).
    n_columns : int

    Returns
    -------
    ndarray of shape (n, n_columns)
    """
    V = np.zeros((len(v), n_columns))
    V[np.arange(len(v)), labels] = v
    return V


def column_sums(X, v, labels, n_columns):
    """V'X.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
    v : ndarray of shape (n,)
    labels : ndarray of int of shape (n,)
        In [0, n_columns).
    n_columns : int

    Returns
    -------
    ndarray of shape (n_columns, d)
    """
    sums = np.zeros((n_columns, X.shape[1]))
    if sparse.issparse(X):
        _add_sparse_rows(X.data, X.indices, X.indptr, v, labels, sums)
    else:
        _add_rows(X, v, labels, sums)
    return sums


def own_products(X, W, labels):
    """(X W')_{i, labels_i}.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
    W : ndarray of shape (n_columns, d)
    labels : ndarray of int of shape (n,)

    Returns
    -------
    ndarray of shape (n,)
    """
    if sparse.issparse(X):
        return _dot_sparse_rows(X.data, X.indices, X.indptr, W, labels)
    return _dot_rows(X, W, labels)


def within(L, labels):
    """The entries of L between rows of the same label, in their order: of all others L V needs none in these places.

    (L V)_{i, labels_i} is then their product with v.

    Parameters
    ----------
    L : csr_array of shape (n, n)
    labels : ndarray of int of shape (n,)

    Returns
    -------
    csr_array of shape (n, n)
    """
    kept = np.empty_like(L.data), np.empty_like(L.indices), np.empty_like(L.indptr)
    nnz = _select_within(L.data, L.indices, L.indptr, labels, *kept)
    return sparse.csr_array((kept[0][:nnz].copy(), kept[1][:nnz].copy(), kept[2]), shape=L.shape)


@compiled()
def _add_rows(X, v, labels, sums):
    for i in range(len(v)):
        if v[i] != 0:
            row, into, entry = X[i], sums[labels[i]], v[i]
            for j in range(len(row)):
                into[j] += entry * row[j]


@compiled()
def _add_sparse_rows(data, indices, indptr, v, labels, sums):
    for i in range(len(v)):
        if v[i] != 0:
            into, entry = sums[labels[i]], v[i]
            for a in range(indptr[i], indptr[i + 1]):
                into[indices[a]] += entry * data[a]


@compiled(fastmath={"reassoc", "contract"})
def _dot_rows(X, W, labels):
    result = np.empty(len(X))
    for i in range(len(X)):
        row, with_it, total = X[i], W[labels[i]], 0.0
        for j in range(len(row)):
            total += row[j] * with_it[j]
        result[i] = total
    return result


@compiled()
def _dot_sparse_rows(data, indices, indptr, W, labels):
    result = np.empty(len(labels))
    for i in range(len(labels)):
        with_it, total = W[labels[i]], 0.0
        for a in range(indptr[i], indptr[i + 1]):
            total += data[a] * with_it[indices[a]]
        result[i] = total
    return result


@compiled()
def _select_within(data, indices, indptr, labels, kept, columns, ends):
    ends[0] = end = 0
    for i in range(len(labels)):
        own = labels[i]
        for a in range(indptr[i], indptr[i + 1]):
            if labels[indices[a]] == own:
                kept[end], columns[end] = data[a], indices[a]
                end += 1
        ends[i + 1] = end
    return end
