"""The scatter within fuzzy clusters, without an array of all pairs of features, and the memberships that lower it."""

import numpy as np
from scipy.linalg import eigh

FLAT = 1e-12  # share of the total scatter that is rounding


def normalized(X):
    """Return X with zero means and columns of length 1; a constant column becomes 0."""
    Z = X - X.mean(axis=0)
    Z[:, X.max(axis=0) == X.min(axis=0)] = 0.0  # the mean is rounded
    lengths = np.linalg.norm(Z, axis=0)
    return Z / np.where(lengths > 0, lengths, 1.0)


def memberships(Z, F, fuzziness, centers=None):
    """Return the best memberships for the centres that belong to F.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
    F : ndarray of shape (n_samples, n_clusters)
        Memberships, to the power of `fuzziness`.
    fuzziness : float
        1: each sample belongs to its nearest centre alone.
    centers : ndarray of shape (n_clusters, n_components), optional
        Of clusters to which nothing belongs; they stay at the mean without.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1.
    centers : ndarray of shape (n_clusters, n_components)
    """
    sums = F.sum(axis=0)
    own = np.divide(F.T @ Z, sums[:, None], out=np.zeros((F.shape[1], Z.shape[1])), where=sums[:, None] > 0)
    if centers is not None:
        own[sums == 0] = centers[sums == 0]
    squared = np.einsum("ij,ij->i", Z, Z)[:, None] - 2 * Z @ own.T + np.einsum("ij,ij->i", own, own)
    squared = np.maximum(squared, np.finfo(float).tiny)
    if fuzziness == 1:
        Y = np.zeros_like(F)
        Y[np.arange(len(Z)), squared.argmin(axis=1)] = 1.0
        return Y, own
    logs = -np.log(squared) / (fuzziness - 1)  # the power itself leaves the range of floating point
    Y = np.exp(logs - logs.max(axis=1, keepdims=True))
    return Y / Y.sum(axis=1, keepdims=True), own


class Scatter:
    """S_m = X'(diag(F1) - F diag(F'1)^-1 F')X, and S_t = X'X, for memberships to the power of the fuzziness.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    F : ndarray of shape (n_samples, n_clusters)
    """

    def __init__(self, X, F):
        self.X, self.F = X, F
        self.weights, self.sums = F.sum(axis=1), F.sum(axis=0)

    def middle(self, Z):
        """Return (diag(F1) - F diag(F'1)^-1 F') Z."""
        sums = np.where(self.sums > 0, self.sums, 1.0)
        return self.weights[:, None] * Z - self.F @ ((self.F.T @ Z) / sums[:, None])

    def ratio_on(self, features, n_components, ratio=np.inf):
        """Return W on these features with the least tr W'S_mW / tr W'S_tW, by Dinkelbach's steps, and that ratio."""
        X = self.X[:, features]
        within, total = X.T @ self.middle(X), X.T @ X
        if not total.any():
            return np.eye(len(features), n_components), 0.0
        least = FLAT * np.trace(total)
        # A little above the ratio of all, so that a constant feature, which has neither scatter, is not as good.
        ratio = min(ratio, np.trace(within) / np.trace(total)) * (1 + 1e-9)
        W = np.eye(len(features), n_components)
        while True:
            difference = within - ratio * total
            lowest = eigh((difference + difference.T) / 2, subset_by_index=(0, n_components - 1))[1]
            spread = np.vdot(lowest, total @ lowest)
            if spread <= least:
                return W, float(ratio)
            new = max(np.vdot(lowest, within @ lowest) / spread, 0.0)
            if not new < ratio * (1 - 1e-12):  # a smaller fall is rounding
                return lowest, float(min(new, ratio))
            W, ratio = lowest, new
