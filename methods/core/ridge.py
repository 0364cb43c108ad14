"""Weighted ridge regression that factors no matrix larger than the smaller side of the data."""

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, solve_triangular
from scipy.linalg.lapack import dpotrs, dtrtri

from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import (
    SPARSE_FACTOR,
    sparse_features_where_it_pays,
    sparse_where_it_pays,
    times,
    transposed_times,
    weighted_gram,
)

FEW = 3  # times as many rows cost more, one by one, than all of a diagonal
SPARSE_PAIRS = 0.1  # and up to this one X D^-1 X' is summed over the pairs of non-zeros of each feature


def weighted_ridge(X, F, weights):
    """Return W minimising ``||X W - F||_F^2 + sum_j weights_j ||w_j||^2``, that is (X'X + diag(weights))^-1 X'F.

    LinAlgError when the system is not finite, or too ill-conditioned to be positive definite in double precision.  For
    a loop there is `WeightedRidge`.
    """
    return WeightedRidge(X).factor(weights).coefficients(F)


class WeightedRidge:
    """Weighted ridge regression on the same X, for changing weights and targets.

    The step of every method with an l21 norm of W: there the weights are ``b / (2 sqrt(||w_j||^2 + eps))``, b times
    `methods.core.prox.row_weights`.  Use: ``ridge = WeightedRidge(X)`` once per fit, ``system = ridge.factor(weights)``
    once per sweep, then ``system.coefficients(F)`` and ``system.residual(F)`` as often as needed.

    With D = diag(weights) the coefficients are (X'X + D)^-1 X'F = D^-1 X' (X D^-1 X' + I)^-1 F.  The first system is
    solved where n_samples >= n_features, with X'X computed once per data set, the second elsewhere, in O(n_samples^2
    n_features) and without any (n_features, n_features) array.
    """

    def __init__(self, X):
        self.X = X
        tall = len(X) >= X.shape[1]
        self.gram = shared(X, _gram) if tall else None
        self.sparse = shared(X, sparse_where_it_pays, SPARSE_FACTOR) if tall else None
        self.features = shared(X, sparse_features_where_it_pays, SPARSE_FACTOR) if tall else shared(X, _sparse_features)

    def factor(self, weights):
        """Return the `FactoredRidge` of these weights, all positive; LinAlgError as `weighted_ridge`."""
        if self.gram is None:
            return _WideRidge(self.X, weights, self.features)
        return _TallRidge(self.X, self.gram, weights, self.sparse, self.features)


class FactoredRidge:
    """A weighted ridge regression whose system is factored."""

    def coefficients(self, F):
        """Return W = (X'X + D)^-1 X'F, of shape (n_features, n_columns)."""
        return self.residual(F)[1]

    def residual(self, F):
        """Return F - XW, of shape (n_samples, n_columns), and W.

        ``tr F'(F - XW)`` is the minimum of ``||XW - F||^2 + tr W'DW`` over W.  Without cancellation where n_samples <
        n_features: there F - XW = (X D^-1 X' + I)^-1 F.
        """
        raise NotImplementedError

    def misfit(self, F):
        """Return F - XW alone, which is cheaper where n_samples < n_features."""
        return self.residual(F)[0]

    def misfit_within(self, v, labels, n_columns):
        """Return `misfit` at these n_samples places, of the F with v_i in column labels_i of row i, zeros elsewhere."""
        raise NotImplementedError

    def misfit_diagonal(self, rows):
        """Return these diagonal entries of the matrix K^-1 = I - X (X'X + D)^-1 X' that `misfit` multiplies by."""
        raise NotImplementedError

    def misfit_diagonal_bound(self):
        """Return a lower bound of every entry of that diagonal: 1 / K_ii with K = I + X D^-1 X', shape (n_samples,)."""
        raise NotImplementedError


class _TallRidge(FactoredRidge):
    def __init__(self, X, gram, weights, few=None, features=None):
        """Keep `few` and `features`, X and X' as csr_arrays to multiply by, where that pays."""
        self.X, self.factor, self.features = X, X if few is None else few, features
        self.weights = weights
        system = gram.copy()
        system.flat[:: len(system) + 1] += weights
        self.system = _factored(system)

    def coefficients(self, F):
        return _solved(self.system, transposed_times(self.X, self.features, F), overwrite=True)

    def residual(self, F):
        W = self.coefficients(F)
        return F - ((W.T @ self.X.T).T if self.features is None else times(self.factor, W)), W

    def misfit_within(self, v, labels, n_columns):
        if self.features is None:
            V = sparse.csc_array((v, labels, np.arange(len(v) + 1)), shape=(n_columns, len(v)))
            W = _solved(self.system, (V @ self.X).T, overwrite=True)
        else:
            W = self.coefficients(spread(v, labels, n_columns))
        return v - times(self.factor, W)[np.arange(len(v)), labels]

    def misfit_diagonal(self, rows):
        half = solve_triangular(self.system, self.X[rows].T, lower=True, overwrite_b=True, check_finite=False)
        return 1 - np.einsum("ij,ij->j", half, half)

    def misfit_diagonal_bound(self):
        return 1 / (1 + np.einsum("ij,ij,j->i", self.X, self.X, 1 / self.weights))


class _WideRidge(FactoredRidge):
    def __init__(self, X, weights, features=None):
        """Keep `features`, X' as a csr_array, where that pays."""
        self.root = 1 / np.sqrt(weights)
        if features is None:
            self.scaled = (X * self.root).T
            system = self.scaled.T @ self.scaled  # a product with its own transpose costs half
        else:
            scaled = features.data * np.repeat(self.root, np.diff(features.indptr))
            self.scaled = sparse.csr_array((scaled, features.indices, features.indptr), features.shape)
            system = weighted_gram(scaled, features.indices, features.indptr, np.ones(len(weights)), len(X))
        system.flat[:: len(system) + 1] += 1.0
        self.diagonal = system.diagonal().copy()
        self.system = _factored(system)

    def misfit(self, F):
        return _solved(self.system, F)

    def residual(self, F):
        rest = self.misfit(F)
        return rest, self.root[:, None] * (self.scaled @ rest)

    def misfit_within(self, v, labels, n_columns):
        return self.misfit(spread(v, labels, n_columns))[np.arange(len(v)), labels]

    def misfit_diagonal(self, rows):
        if FEW * len(rows) < len(self.system):
            half = np.eye(len(self.system))[:, rows]
            half = solve_triangular(self.system, half, lower=True, check_finite=False)
        else:
            half = np.tril(dtrtri(self.system, lower=1)[0])[:, rows]
        return np.einsum("ij,ij->j", half, half)

    def misfit_diagonal_bound(self):
        return 1 / self.diagonal


def smallest_collapsing_weight(X, F):
    """Return the smallest b for which W = 0 minimises ``||XW - F||_F^2 + b ||W||_21``: 2 max_j ||x_j'F||.

    From there on reweighting with the smoothing eps ends at ``||w_j|| = q sqrt(eps / (1 - q^2))``, q = 2 ||x_j'F|| / b:
    all rows are of the size of sqrt(eps), and they rank by ||x_j'F||.
    """
    return 2 * float(row_norms(X.T @ F).max())


def _sparse_features(X):
    """Return X' as a csr_array; None where too few entries of X are zero."""
    return sparse.csr_array(X.T) if np.count_nonzero(X) <= SPARSE_PAIRS * X.size else None


def _factored(system):
    if not np.isfinite(system).all():
        raise np.linalg.LinAlgError("The ridge system is not finite.")
    # The transpose of a symmetric matrix is itself, in the order that LAPACK overwrites without a copy.
    return cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)[0]


def _solved(factor, B, overwrite=False):
    """Return the system's inverse times B."""
    return dpotrs(factor, B, lower=1, overwrite_b=overwrite)[0]


def _gram(X):
    return X.T @ X


def spread(v, labels, n_columns):
    """Return the array of shape (len(v), n_columns) that holds v_i in column labels_i of row i, zeros elsewhere."""
    V = np.zeros((len(v), n_columns))
    V[np.arange(len(v)), labels] = v
    return V


def doubly_weighted_ridge(X, F, sample_weights, weights):
    """Return the W that minimises ``sum_i sample_weights_i ||(X W - F)_i||^2 + sum_j weights_j ||w_j||^2``.

    The sample weights are 0 or more, the others positive.  No factorisation is shared between calls: the step of
    methods whose residual is reweighted as well.  LinAlgError as `weighted_ridge`.
    """
    tall = len(X) >= X.shape[1]
    few = shared(X, sparse_where_it_pays) if tall else None
    if few is not None:
        gram = weighted_gram(few.data, few.indices, few.indptr, np.asarray(sample_weights), X.shape[1])
        features = shared(X, sparse_features_where_it_pays)
        return _TallRidge(X, gram, weights, few, features).coefficients(sample_weights[:, None] * F)
    root = np.sqrt(sample_weights)[:, None]
    X, F = root * X, root * F
    return (_TallRidge(X, X.T @ X, weights) if tall else _WideRidge(X, weights)).coefficients(F)
