"""Reconstruction: the share of the variance of all features that a linear map of the selected ones recovers."""

import numpy as np

from ufs_bench.metrics.centred import centred
from ufs_bench.metrics.kmeans import unit_samples

# Ridges that are tried, as multiples of the mean variance along the directions that the selected features span.
RIDGES = 10.0 ** np.arange(-4, 3)
RANK = 1e-10  # directions of a smaller share of the largest variance are rounding


def reconstruction(selected, X) -> float:
    """Return the share of the variance of all features that leave-one-out ridge regression on some recovers.

    Each sample is predicted from a fit to the others, so that as many features as samples, which would fit any data
    exactly, have no advantage.  The ridge is the best of `RIDGES`; no label is used.

    Parameters
    ----------
    selected : ndarray of shape (n_samples, n_selected)
    X : ndarray or sparse array of shape (n_samples, n_features), or what `metrics.centred.centred` returns for one
        All features, in the scale that they are to be recovered in.  A sparse one is not written out, and has the value
        of the same array to rounding: to 1e-10 with fewer selected features than samples.  With more, the fit nearly
        passes through the samples, and rounding can reach 1e-6, as it does where columns of an array are permuted.

    Returns
    -------
    float
        1 - (sum of squared errors) / (the same of the mean of the other samples): at most 1; below 0 where the mean
        alone is better.  nan where X is constant.

    Notes
    -----
    With the thin singular vectors U of the centred features, s the squared singular values and f = s / (s + ridge), a
    fit is U f U'X, and the error of a left-out sample is its residual over 1 - 1/n - sum_r U_ir^2 f_r (Allen's PRESS).
    O(n_samples n_selected (n_selected + n_features)), or n_samples in the place of n_features where it is smaller and
    X @ X.T is there from another set of features.
    """
    n_samples = len(selected)
    S, X = unit_samples(selected), centred(X)
    norms = X.squared_norms()
    total = norms.sum() / (1 - 1 / n_samples) ** 2
    if not total > 0:
        return np.nan
    U, s = _thin(S)
    # With as many features as samples the fit passes through the samples, and another order of sums shows.
    if S.shape[1] >= n_samples or X.inner_products is None:
        projected = X.sums(U.T)
        cross, gram = X.times(projected.T), projected @ projected.T
    else:
        cross = X.inner_products @ U
        gram = U.T @ cross
    errors = []
    for ridge in RIDGES * s.mean() if len(s) else ():
        f = s / (s + ridge)
        fitted = U * f
        residuals = norms - 2 * np.einsum("ij,ij->i", fitted, cross) + np.einsum("ij,ij->i", fitted @ gram, fitted)
        leverage = 1 / n_samples + np.einsum("ij,ij->i", fitted, U)
        errors.append((np.maximum(residuals, 0) / (1 - leverage) ** 2).sum())
    return float(1 - min(errors, default=total) / total)


def _thin(S):
    """Return left singular vectors and squared singular values of centred features, without those that are rounding."""
    if S.shape[0] <= S.shape[1]:
        s, U = np.linalg.eigh(S @ S.T)
        kept = s > RANK * s[-1]
        return U[:, kept], s[kept]
    s, V = np.linalg.eigh(S.T @ S)
    kept = s > RANK * s[-1]
    return S @ V[:, kept] / np.sqrt(s[kept]), s[kept]
