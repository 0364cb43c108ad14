"""The score of DUFS for a given Gram matrix of gated samples, and its derivative, by matrix products."""

import numpy as np

LEAST_DISTANCE = 1e-8  # a median squared distance below it counts as 1


def walk_score(K, scale_factor, n_neighbors, middle):
    """Return the share of the samples' squared length that two steps of a random walk between neighbours leave.

    With D the squared distances that belong to K, s the median or the mean over the samples of the squared distance to
    the k-th nearest other, W = exp(-D / (scale_factor s)) and P = diag(W 1)^-1 W, it is tr(P^2 K).

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        YY', or its expectation; symmetric.
    scale_factor : float
        Above 0.
    n_neighbors : int
        k, of which n_samples - 1 at most are used.
    middle : {"median", "mean"}
        The derivative of a median rests on the two samples in the middle, and jumps where others take their place.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_samples, n_samples)
        G, symmetric, with tr(G dK) the change of the value for a small symmetric dK.

    Notes
    -----
    Three products of (n_samples, n_samples) matrices.  s counts as a function of K, too; exact but where distances tie.
    """
    n = len(K)
    D = distances(K)
    s, neighbors, shares = _middle_distance(D, min(n_neighbors, n - 1), middle)
    width = scale_factor * s
    W = np.exp(-D / width)
    total = W.sum(axis=1)
    P = W / total[:, None]
    PK = P @ K
    value = np.vdot(P, PK.T)
    by_P = (PK + K @ P).T
    by_W = by_P - np.einsum("ij,ij->i", by_P, P)[:, None]
    by_W /= total[:, None]
    by_W *= W
    by_D = by_W / -width
    by_s = np.vdot(by_W, D) / (width * s)
    by_D[np.arange(n), neighbors] += by_s * shares
    by_D += by_D.T
    by_D /= 2
    G = P @ P
    G = (G + G.T) / 2
    G -= 2 * by_D
    G.flat[:: n + 1] += 2 * by_D.sum(axis=1)
    return value, G


def distances(K):
    """Return the squared distances that belong to a Gram matrix.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
    """
    size = np.diag(K)
    D = np.maximum(size[:, None] + size - 2 * K, 0.0)
    np.fill_diagonal(D, 0.0)
    return D


def mean_distance(D, k):
    """Return the mean over the samples of the squared distance to the k-th nearest other; 1 for one that is all but 0.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_samples)
    k : int
        In [1, n_samples - 1].

    Returns
    -------
    float
    """
    if k == 1:  # less work than a partition
        np.fill_diagonal(D, np.inf)
        s = D.min(axis=1).mean()
        np.fill_diagonal(D, 0.0)
    else:
        s = np.partition(D, k, axis=1)[:, k].mean()
    return s if s >= LEAST_DISTANCE else 1.0


def _middle_distance(D, k, middle):
    """Return the median or mean of the k-th smallest distances to others, who these are, and the part of each in it."""
    n = len(D)
    distance = np.partition(D, k, axis=1)[:, k]
    neighbors = (distance[:, None] == D).argmax(axis=1)  # of those at equal distances the first: any will do
    shares = np.full(n, 1 / n)
    if middle == "median":
        order = np.argsort(distance, kind="stable")[(n - 1) // 2 : n // 2 + 1]
        shares = np.zeros(n)
        shares[order] = 1 / len(order)
    s = shares @ distance
    return (s, neighbors, shares) if s >= LEAST_DISTANCE else (1.0, neighbors, np.zeros(n))
