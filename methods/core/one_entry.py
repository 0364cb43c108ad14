"""Arrays V that have one entry in each row: v_i in the column labels_i."""

import numpy as np
from scipy import sparse


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
    rows = np.repeat(np.arange(len(labels)), np.diff(L.indptr))
    kept = labels[rows] == labels[L.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[L.indptr].astype(L.indptr.dtype)
    return sparse.csr_array((L.data[kept], L.indices[kept], ends), shape=L.shape)
