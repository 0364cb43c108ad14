"""Data that come as a sparse array: what a fit sees of them, and their features as dense blocks."""

import numpy as np
from scipy import sparse

BLOCK = 2**22  # numbers in a dense block of columns: 32 MB


def read_only(X):
    """Return X as data that a fit cannot change: a view; if sparse, a canonical csr_array without stored zeros.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Left as it is.

    Returns
    -------
    ndarray or csr_array
    """
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
    """Return the features, some at a time, as dense arrays: for results that belong to one feature each.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)

    Yields
    ------
    ndarray of shape (n_samples, width)
        From left to right; an X that is dense at once.
    """
    if not sparse.issparse(X):
        yield X
        return
    columns, width = sparse.csc_array(X), max(1, BLOCK // X.shape[0])
    for start in range(0, X.shape[1], width):
        yield columns[:, start : start + width].toarray(order="C")
