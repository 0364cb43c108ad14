"""Graphs of ordinal locality: which of a sample's neighbours is nearer, not how near it is; and two to compare with."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ufs_bench.methods.core.graphs import laplacian, nearest_neighbors


def triplet_weights(X, n_neighbors=5, squared=True):
    """Return weights of the triplets (sample, neighbour, other neighbour), scaled to [0, 1] for each sample.

    A csr_array C, not symmetric: c_ij for j in N_i, the k nearest of i, is ``sum_{u in N_i} (d_iu - d_ij)``, equation
    (2) of Guo, Guo, Kong & He (ICME 2017), scaled so that the nearest neighbour has 1 and the farthest 0; a row whose
    neighbours are all equally far is zero, as is the unscaled one.  The distances d are squared in the paper, and not
    in the released program.
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
    """Return the Laplacian of ``(C + C') / 2``, C the `triplet_weights`, as a csr_array.

    Positive semidefinite, as the scaled weights are 0 or more; of the unscaled ones it would be indefinite.
    """
    C = triplet_weights(X, n_neighbors, squared)
    return laplacian(sparse.csr_array((C + C.T) / 2))


def similarity_laplacian(X, n_neighbors=5, sigma=1.0):
    """Return the Laplacian of ``(C + C') / 2``, c_ij = exp(-||x_i - x_j||^2 / sigma) for the neighbours j of i.

    Section 3.3 of Guo et al. has sigma = 1, whatever the units of X.  Weights that underflow are left out.
    """
    neighbors, distances = _neighborhoods(X, n_neighbors)
    C = _placed(np.exp(-distances / sigma), neighbors)
    return laplacian(sparse.csr_array((C + C.T) / 2))


def max_margin_laplacian(n_samples):
    """Return ``11'/n - I``, by which ``tr Y'LY`` is the total scatter of Y with the opposite sign, as an operator.

    Section 3.3 of Guo et al.
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
