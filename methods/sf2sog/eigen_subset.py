"""The h features whose principal submatrix has the smallest eigenvalues, by block swaps."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

ROUNDING = 1e-13  # of the squared data: what a sum of eigenvalues is computed to
WORTHWHILE = 1e-6  # share that a swap must lower the sum by
TRIED = 5  # features on either side of the swap of a single one


@dataclass(frozen=True)
class Subset:
    """Features and the smallest eigenvectors of their principal submatrix.

    Attributes
    ----------
    features : ndarray of shape (h,) of int
        Increasing.
    values : ndarray of shape (c,)
        The c smallest eigenvalues.
    vectors : ndarray of shape (h, c)
    floor : float
        What the sum of the values is computed to: below, it is zero.
    """

    features: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    floor: float

    @property
    def total(self):
        """Sum of the eigenvalues; exactly 0 up to the floor."""
        total = float(np.maximum(self.values, 0.0).sum())
        return total if total > self.floor else 0.0


class Quadratic:
    """The matrix B = X'Q, of which only the parts asked for are computed; positive semidefinite, X'X - B as well.

    Parameters
    ----------
    X, Q : ndarray of shape (n_samples, n_features)
    """

    def __init__(self, X, Q):
        self.X, self.Q = X, Q
        self.squares = np.einsum("ij,ij->j", X, X)
        self.diagonal = np.maximum(np.einsum("ij,ij->j", X, Q), 0.0)

    def subset(self, features, n_vectors):
        """The `Subset` of these features."""
        features = np.sort(features)
        B = self.X[:, features].T @ self.Q[:, features]
        values, vectors = eigh((B + B.T) / 2, subset_by_index=(0, n_vectors - 1))
        return Subset(features, values, vectors, ROUNDING * float(self.squares[features].sum()))

    def gains(self, subset):
        """By how much each feature outside would lower each eigenvalue if it joined with that vector alone, summed.

        The smaller eigenvalue of [[lambda_k, b], [b, B_jj]] is below lambda_k by (sqrt(D^2 + 4 b^2) - D) / 2 with
        D = B_jj - lambda_k and b = B_jS w_k.  Zero for the features of the subset.
        """
        b = self.X.T @ (self.Q[:, subset.features] @ subset.vectors)
        D = self.diagonal[:, None] - subset.values
        gains = ((np.sqrt(D**2 + 4 * b**2) - D) / 2).sum(axis=1)
        gains[subset.features] = 0.0
        return gains


def swapped(B, subset):
    """Swap features as long as that lowers the sum of the smallest eigenvalues by a worthwhile share.

    Parameters
    ----------
    B : Quadratic
    subset : Subset
        The start.

    Returns
    -------
    Subset
        Its total is that of the start or less.

    Notes
    -----
    A block of p features with the smallest rows in the eigenvectors leaves for the p outside with the largest
    `Quadratic.gains`; p begins at h / 4 and is halved when the block does not lower the total.  It ends when no swap of
    one of the five first to leave for one of the five first to join does.
    """
    size = min(max(1, subset.vectors.shape[0] // 4), len(B.diagonal) - subset.vectors.shape[0])
    while size >= 1:
        better = _better(B, subset, size)
        if better is None:
            size //= 2
        else:
            subset = better
    return subset


def _better(B, subset, size):
    """The first worthwhile swap of a block of this size, or None."""
    weight = np.einsum("ij,ij->i", subset.vectors, subset.vectors)
    leaving = subset.features[np.argsort(weight, kind="stable")]
    gains = B.gains(subset)
    gains[subset.features] = -1.0
    joining = np.argsort(-gains, kind="stable")[: len(gains) - len(leaving)]
    blocks = [(leaving[:size], joining[:size])]
    if size == 1:
        blocks = [
            (leaving[[i]], joining[[j]])
            for i in range(min(TRIED, len(leaving)))
            for j in range(min(TRIED, len(joining)))
        ]
    for out, into in blocks:
        kept = np.setdiff1d(subset.features, out)
        candidate = B.subset(np.concatenate([kept, into]), subset.vectors.shape[1])
        if candidate.total < (1 - WORTHWHILE) * subset.total:
            return candidate
    return None
