"""Data with few non-zero entries as sparse arrays, where that pays."""

import numpy as np
from scipy import sparse

from methods.core.compiled import compiled
from methods.core.shared import shared

SPARSE = 0.25  # up to this share of non-zero entries X is multiplied as a sparse array
SPARSE_FACTOR = 0.45  # the same where all that is multiplied by are the few columns of a regression


def sparse_where_it_pays(X, share=SPARSE):
    """Return X as a csr_array to multiply by; None where too few of its entries are zero.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    share : float, default=0.25
        Up to which the non-zero entries are few.

    Returns
    -------
    csr_array of shape (n_samples, n_features) or None
    """
    return sparse.csr_array(X) if np.count_nonzero(X) <= share * X.size else None


def sparse_features_where_it_pays(X, share=SPARSE):
    """Return X' as a csr_array, where `sparse_where_it_pays`."""
    few = shared(X, sparse_where_it_pays, share)
    return None if few is None else sparse.csr_array(few.T)


@compiled()
def weighted_gram(data, indices, indptr, sample_weights, n_features):
    """Return the upper triangle of X' diag(sample_weights) X, X being the parts of a csr_array with sorted indices.

    Parameters
    ----------
    data, indices, indptr : ndarray
    sample_weights : ndarray of shape (n_samples,)
    n_features : int

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    gram = np.zeros((n_features, n_features))
    for i in range(len(sample_weights)):
        end = indptr[i + 1]
        for a in range(indptr[i], end):
            row, value = gram[indices[a]], sample_weights[i] * data[a]
            for b in range(a, end):
                row[indices[b]] += value * data[b]
    return gram
