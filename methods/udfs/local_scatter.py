"""The local scatter of UDFS: what of every neighbourhood a projection has to keep apart."""

import numpy as np
from scipy import sparse
from scipy.linalg import helmert

from ufs_bench.methods.core.graphs import BLOCK, nearest_neighbors


def neighborhood_spectra(X, n_neighbors):
    """Return principal axes of every sample and its neighbours, centred: what `local_scatter` needs for any ridge.

    With k = min(n_neighbors, n_samples - 1): `members` (n_samples, k + 1), the sample and its k nearest others;
    `values` (n_samples, k), eigenvalues of H X_i X_i' H on the complement of the constant vector, X_i (k + 1,
    n_features) being the members and H = I - 11'/(k + 1); `vectors` (n_samples, k + 1, k), whose columns sum to zero.
    """
    n, d = X.shape
    members = nearest_neighbors(X, min(n_neighbors, n - 1) + 1, include_self=True)
    size = members.shape[1]
    contrasts = helmert(size)  # orthonormal rows, orthogonal to the constant vector
    values, vectors = np.empty((n, size - 1)), np.empty((n, size, size - 1))
    height = max(1, BLOCK // (size * max(size, d)))
    for start in range(0, n, height):
        rows = slice(start, start + height)
        Z = contrasts @ (X[members[rows]] - X[rows, None])
        found, turn = np.linalg.eigh(Z @ Z.transpose(0, 2, 1))
        values[rows], vectors[rows] = np.maximum(found, 0.0), contrasts.T @ turn
    return members, values, vectors


def local_scatter(members, values, vectors, ridge):
    """Return L = sum_i S_i H (H X_i X_i' H + ridge I)^-1 H S_i', S_i placing the members of neighbourhood i.

    From the three arrays of `neighborhood_spectra`, for a ridge above 0.  A symmetric, positive semidefinite csr_array
    whose rows and columns sum to zero.
    """
    n, size = members.shape
    blocks = (vectors / (values + ridge)[:, None]) @ vectors.transpose(0, 2, 1)
    rows, columns = np.repeat(members, size, axis=1), np.tile(members, (1, size))
    L = sparse.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n)).tocsr()
    return ((L + L.T) / 2).tocsr()
