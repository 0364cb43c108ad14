"""Arrays V that have one entry in each row: v_i in the column labels_i."""

import numpy as np
from scipy import sparse


def spread(v, labels, n_columns):
    """Return the array V as such, zeros included.

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


def within(L, labels):
    """Return the matrix L without its entries between samples of different labels.

    The entry of L V in row i and column labels_i sums over the rows of V that have their entry in that column.  So it
    is the product of this matrix with v.  The entries keep their order, and the sums their rounding.

    Parameters
    ----------
    L : csr_array of shape (n, n)
    labels : ndarray of int of shape (n,)

    Returns
    -------
    csr_array of shape (n, n)
    """
    rows = np.repeat(np.arange(len(labels)), np.diff(L.indptr))
    kept = labels[rows] == labels[L.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[L.indptr].astype(L.indptr.dtype)
    return sparse.csr_array((L.data[kept], L.indices[kept], ends), shape=L.shape)
