"""Centred samples and the products that measures take of them, for arrays and for sparse matrices alike."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from ufs_bench.metrics.kmeans import of_unit_peak, unit_samples

# A column that holds more values than this share of the samples is written out.  In all others the squared mean is at
# most the variance, so that subtracting a mean from a product cancels no digits that count.
FILL = 1 / 2


def centred(X):
    """Return the samples centred, and divided by a power of two so that no square overflows or vanishes.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features), Dense or Sparse

    Returns
    -------
    Dense or Sparse
        `Sparse` where X is sparse: it takes memory in proportion to the values that X holds.  X itself where it is
        centred already.
    """
    if isinstance(X, Dense | Sparse):
        return X
    return _sparse(X) if issparse(X) else Dense(unit_samples(X))


@dataclass(frozen=True)
class Dense:
    """Centred samples in an array."""

    X: np.ndarray

    def sums(self, weights):
        """Return weights @ X, of weights in a sparse or dense array of shape (n, n_samples)."""
        return weights @ self.X

    def times(self, B):
        """Return X @ B, of B with shape (n_features, n)."""
        return self.X @ B

    def products(self, B, rows):
        """Return B @ X[rows].T, of B with shape (n, n_features) and a slice of the samples."""
        return B @ self.X[rows].T

    @cached_property
    def inner_products(self):
        """X @ X.T, the same for every set of features; None with more samples than features, where it saves nothing."""
        return self.X @ self.X.T if self.X.shape[0] <= self.X.shape[1] else None

    def squared_norms(self, rows=slice(None)):
        """Return the squared norm of each sample in a slice."""
        X = self.X[rows]
        return np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class Sparse:
    """Centred samples that are not written out: a sparse array, less the same `shift` (n_features,) in each row."""

    stored: csr_array
    shift: np.ndarray
    inner_products = None

    def sums(self, weights):
        """Return weights @ X, of weights in a sparse or dense array of shape (n, n_samples)."""
        total = self.stored.T @ weights.T
        return (total.toarray() if issparse(total) else total).T - np.outer(weights.sum(axis=1), self.shift)

    def times(self, B):
        """Return X @ B, of B with shape (n_features, n)."""
        return self.stored @ B - self.shift @ B

    def products(self, B, rows):
        """Return B @ X[rows].T, of B with shape (n, n_features) and a slice of the samples."""
        return (self.stored[rows] @ B.T - self.shift @ B.T).T

    def squared_norms(self, rows=slice(None)):
        """Return the squared norm of each sample in a slice."""
        stored = self.stored[rows]
        return stored.power(2).sum(axis=1) - 2 * (stored @ self.shift) + self.shift @ self.shift


def _sparse(X):
    X = csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.data = of_unit_peak(X.data)  # first, so that no sum overflows
    full = np.bincount(X.indices, minlength=X.shape[1]) > FILL * X.shape[0]
    written = X[:, np.flatnonzero(full)].toarray()
    # The order of the columns is no part of any product that is taken over them.
    stored = hstack([X[:, np.flatnonzero(~full)], csr_array(written - written.mean(axis=0))], format="csr")
    means = stored.mean(axis=0)
    means[np.count_nonzero(~full) :] = 0
    # A value and its distance to such a mean differ by a factor of two at most.
    peak = -np.frexp(np.abs(stored.data).max(initial=0))[1]
    stored.data = np.ldexp(stored.data, peak)
    return Sparse(stored, np.ldexp(means, peak))
