"""The local-learning regulariser: how far indicators are from what a kernel regression on the neighbours predicts."""

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.graphs import BLOCK, knn_graph, mean_distance

HUBS = 32  # R'R is formed if it has at most so many times the entries of R; else products take R and R' in turn


def local_learning_laplacian(X, n_neighbors=5, regularization=0.1):
    """Return L = (I - A)'(I - A), where row i of A predicts sample i from its neighbours by kernel ridge regression.

    Row i of A is k_i'(K_i + n_i regularization I)^-1 on N_i, with K_i the Gaussian kernel among the n_i >= n_neighbors
    neighbours N_i of i in the symmetrised graph and k_i that between x_i and them, so that tr G'LG = sum_i ||g_i -
    sum_j A_ij g_j||^2.  The kernel is exp(-dist^2 / (2 t^2)) with t the mean of all n_samples^2 distances, the zeros of
    the diagonal included.  L is exactly symmetric, a csr_array, or `Squared` where some samples are neighbours of so
    many that L has `HUBS` times the entries of A.

    Gu & Zhou. Local learning regularized nonnegative matrix factorization. IJCAI 2009; Qian & Zhai. Robust unsupervised
    feature selection. IJCAI 2013: (4), (5).
    """
    t = mean_distance(X)
    neighbors = knn_graph(X, n_neighbors, "binary")

    def kernel(rows, members):
        # Differences from the centre of the neighbourhood, so that the expansion loses nothing to a common offset.
        Z = X[members] - X[rows][:, None]
        norms = np.einsum("imd,imd->im", Z, Z)
        distances = np.maximum(norms[:, :, None] + norms[:, None] - 2 * Z @ Z.transpose(0, 2, 1), 0.0)
        distances[:, np.arange(members.shape[1]), np.arange(members.shape[1])] = 0.0
        return _gauss(distances, t), _gauss(norms, t)

    return _laplacian(neighbors, kernel, regularization, True, X.shape[1])


def kernel_graph_laplacian(K, regularization=0.1, per_neighbor=False):
    """Return L = (I - A)'(I - A) with a kernel that is known only on the edges of a graph.

    Row i of A is K[i, N_i] (K[N_i, N_i] + regularization I)^-1, N_i the non-zero entries of row i off the diagonal;
    with `per_neighbor` the regularisation of row i is multiplied by n_i.  K is symmetric and taken as it is: zero for
    pairs of neighbours that are not neighbours themselves, and on the diagonal.

    A heat-weighted nearest-neighbour graph in the place of K is no kernel matrix: K[N_i, N_i] is indefinite, the system
    may be near singular, and the largest eigenvalue of L then reaches hundreds or thousands.
    """
    edges = K.copy()
    edges.setdiag(0.0)
    edges.eliminate_zeros()
    n = K.shape[0]

    def kernel(rows, members):
        size = members.shape[1]
        inside = K[np.repeat(members, size, axis=1).ravel(), np.tile(members, (1, size)).ravel()]
        across = K[np.repeat(rows, size), members.ravel()]
        return _values(inside).reshape(len(rows), size, size), _values(across).reshape(len(rows), size)

    return _laplacian(edges, kernel, regularization, per_neighbor, n)


class Squared:
    """The matrix scale * R'R, R being the csr_array `root`, for products ``L @ G`` with arrays, and ``number * L``."""

    def __init__(self, root, scale=1.0):
        self.root, self.transposed, self.scale = root, sparse.csr_array(root.T), scale

    def __matmul__(self, G):
        return self.scale * (self.transposed @ (self.root @ G))

    def __rmul__(self, number):
        return Squared(self.root, number * self.scale)


def _laplacian(graph, kernel, regularization, per_neighbor, width):
    """Return (I - A)'(I - A); samples with equally many neighbours are solved together, a block at a time."""
    n = graph.shape[0]
    counts = np.diff(graph.indptr)
    values = np.zeros(graph.nnz)
    for size in np.unique(counts[counts > 0]):
        alike = np.flatnonzero(counts == size)
        height = max(1, BLOCK // (size * max(size, width)))
        for start in range(0, len(alike), height):
            rows = alike[start : start + height]
            places = graph.indptr[rows][:, None] + np.arange(size)
            inside, across = kernel(rows, graph.indices[places])
            inside = inside + (regularization * (size if per_neighbor else 1)) * np.eye(size)
            values[places] = np.linalg.solve(inside, across[:, :, None])[:, :, 0]
    A = sparse.csr_array((values, graph.indices, graph.indptr), shape=(n, n))
    residual = (sparse.eye_array(n, format="csr") - A).tocsr()
    lengths = np.diff(residual.indptr).astype(float)
    if min((lengths**2).sum(), n**2) > HUBS * lengths.sum():
        return Squared(residual)
    L = (residual.T @ residual).tocsr()
    L = ((L + L.T) / 2).tocsr()
    L.sort_indices()
    return L


def _gauss(squared, t):
    return np.exp(-squared / (2 * t**2)) if t > 0 else np.ones_like(squared)


def _values(picked):
    """Return entries picked from a sparse array, as a dense vector."""
    return picked.toarray().ravel() if sparse.issparse(picked) else np.asarray(picked).ravel()
