"""The weights of the features for a given partition, and how much of each feature lies between its clusters."""

import numpy as np

from ufs_bench.methods.core.starts import indicator

STEPS = 100  # of the bisection: the threshold is then exact to the last bit


def means(X, labels, n_clusters):
    """Return the mean of each cluster, of shape (n_clusters, n_features), and the sizes; every cluster has a sample."""
    members = indicator(labels, n_clusters)
    sizes = members.sum(axis=0)
    return (members.T @ X) / sizes[:, None], sizes


def between(X, labels, n_clusters):
    """Return the sum of squares between clusters of every feature, sum_k n_k mean_kj^2, for centred features.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred.
    labels : ndarray of shape (n_samples,) of int
    n_clusters : int

    Returns
    -------
    ndarray of shape (n_features,)
    """
    centers, sizes = means(X, labels, n_clusters)
    return sizes @ centers**2


def best_weights(B, s):
    """Return the w that maximises ``w'B`` over w >= 0, ||w||_2 <= 1 and ||w||_1 <= s, and the scores.

    Parameters
    ----------
    B : ndarray of shape (n_features,)
        0 or more.
    s : float
        1 or more.

    Returns
    -------
    w : ndarray of shape (n_features,)
        In proportion to max(B - threshold, 0), the threshold being the least for which ||w||_1 <= s.  Features that tie
        for the largest B, and are too many for s, have equal weights.
    scores : ndarray of shape (n_features,)
        (B - threshold) in the same proportion: w where it is positive, else 0 or less and larger for a larger B.
    """
    largest = B.max(initial=0.0)
    if largest == 0:
        return np.zeros_like(B), np.zeros_like(B)
    B = B / largest
    low, high = 0.0, 1.0

    def is_too_long(threshold):
        kept = np.maximum(B - threshold, 0.0)
        return kept.sum() > s * np.sqrt(kept @ kept)

    if is_too_long(low):
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if is_too_long(middle) else (low, middle)
    kept = np.maximum(B - low, 0.0)  # of `high` all may be zero
    size = max(np.sqrt(kept @ kept), kept.sum() / s)
    return kept / size, (B - low) / size
