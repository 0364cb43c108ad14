"""Graphs of ordinal locality: which of a sample's neighbours is nearer, not how near it is; and two to compare with."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from methods.core.graphs import laplacian, nearest_neighbors


def triplet_weights(X, n_neighbors=5, squared=True):
    """Return weights of the triplets (sample, neighbour, other neighbour), scaled to [0, 1] for each sample.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int, default=5
        1 or more; N_i holds the k = min(n_neighbors, n_samples - 1) nearest of sample i.
    squared : bool, default=True
        Whether the distances d are squared, as in the paper; the released program's are not.

    Returns
    -------
    C : csr_array of shape (n_samples, n_samples)
        Not symmetric.  c_ij for j in N_i is ``sum_{u in N_i} (d_iu - d_ij)``, scaled so that the nearest neighbour has
        1 and the farthest 0; a row whose neighbours are all equally far is zero, as is the unscaled one.

    References
    ----------
    Guo, Guo, Kong & He. Unsupervised feature selection with ordinal locality. ICME 2017, equation (2).
    """
    neighbors, distances = _neighborhoods(X, n_neighbors)
    if not squared:
        distances = np.sqrt(distances)
    # The sum is k (mean_u d_iu - d_ij); the scaling to [0, 1] removes both k and the mean.
    farthest = distances.max(axis=1, keepdims=True)
    spread = farthest - distances.min(axis=1, keepdims=True)
    weights = np.divide(farthest - distances, spread, out=np.zeros_like(distances), where=spread > 0)
    return _placed(weights, neighbors)


def triplet_laplacian(X, n_neighbors=5, squared=True):
    """Return the Laplacian of ``(C + C') / 2``, C the `triplet_weights`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int, default=5
    squared : bool, default=True

    Returns
    -------
    L : csr_array of shape (n_samples, n_samples)
        Positive semidefinite, as the scaled weights are 0 or more; of the unscaled ones it would be indefinite.
    """
    C = triplet_weights(X, n_neighbors, squared)
    return laplacian(sparse.csr_array((C + C.T) / 2))


def similarity_laplacian(X, n_neighbors=5, sigma=1.0):
    """Return the Laplacian of ``(C + C') / 2``, c_ij = exp(-||x_i - x_j||^2 / sigma) for the neighbours j of i.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int, default=5
    sigma : float, default=1.0
        Above 0, in squared units of X: the paper's is 1 whatever these are.

    Returns
    -------
    L : csr_array of shape (n_samples, n_samples)
        Positive semidefinite.  Weights that underflow are left out.

    References
    ----------
    Guo, Guo, Kong & He. ICME 2017, section 3.3.
    """
    neighbors, distances = _neighborhoods(X, n_neighbors)
    C = _placed(np.exp(-distances / sigma), neighbors)
    return laplacian(sparse.csr_array((C + C.T) / 2))


def max_margin_laplacian(n_samples):
    """Return ``11'/n - I``, by which ``tr Y'LY`` is the total scatter of Y with the opposite sign.

    Parameters
    ----------
    n_samples : int

    Returns
    -------
    L : LinearOperator of shape (n_samples, n_samples)
        Negative semidefinite; it multiplies without being formed.

    References
    ----------
    Guo, Guo, Kong & He. ICME 2017, section 3.3.
    """

    def apply(Y):
        return Y.mean(axis=0) - Y

    return LinearOperator((n_samples, n_samples), matvec=apply, rmatvec=apply, matmat=apply, dtype=float)


def _neighborhoods(X, n_neighbors):
    """Return the nearest neighbours of every sample, and their squared distances."""
    neighbors = nearest_neighbors(X, n_neighbors)
    distances = np.empty(neighbors.shape)
    for place, column in enumerate(neighbors.T):
        distances[:, place] = ((X - X[column]) ** 2).sum(axis=1)
    return neighbors, distances


def _placed(weights, neighbors):
    n = len(neighbors)
    rows = np.repeat(np.arange(n), neighbors.shape[1])
    C = sparse.csr_array((weights.ravel(), (rows, neighbors.ravel())), shape=(n, n))
    C.eliminate_zeros()
    return C
