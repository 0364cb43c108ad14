"""Smooth vectors over a neighbourhood graph: the generalised eigenvectors of its Laplacian."""

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ufs_bench.methods.core.graphs import laplacian
from ufs_bench.methods.core.linalg import sparse_factor

DENSE_SAMPLES = 300  # up to here a dense eigendecomposition is as fast
DENSE_SHARE = 0.05  # with a larger share of non-zero weights, sparse factors fill up
SHIFT = 1e-6  # makes the Laplacian definite; what it does to the null space is projected out


def smooth_vectors(S, n_vectors, X, weighted=True):
    """Return solutions y of L y = lambda D y with the smallest eigenvalues, the constant one left out.

    S holds symmetric non-negative weights, D = diag(S 1), L = D - S; without `weighted`, D on the right side is I, and
    so it is below: the ordinary eigenvectors of D - S.  The columns of Y (n_samples, n_vectors) come smallest
    eigenvalue first; Y'DY = I and Y'D1 = 0; the sign of a column is arbitrary.  Zero for the samples without an edge,
    of which the equation says nothing; ValueError where too few have one.

    Where the graph falls into q components, eigenvalue 0 has q vectors, constant on each component.  The constant one
    is projected out, the other q - 1 are kept.  The equation leaves their rotation open; here they are the principal
    axes of X' within their space, largest first, which do not depend on the order of the samples or of the features.

    The others come from the normalised Laplacian, as u = D^1/2 y orthogonal to that null space: from a dense solver for
    a small or dense graph, else by Lanczos on the inverse from a fixed start.
    """
    degrees = S.sum(axis=1)
    joined = np.flatnonzero(degrees > 0)
    if n_vectors > len(joined) - 1:
        raise ValueError(
            f"n_vectors={n_vectors} must be less than {len(joined)}, the number of samples with an edge: "
            "lower n_clusters, or raise n_neighbors."
        )
    root = np.sqrt(degrees[joined]) if weighted else np.ones(len(joined))
    S = S[joined][:, joined]
    n_components, member = connected_components(S, directed=False)
    null = np.zeros((len(joined), n_components))
    null[np.arange(len(joined)), member] = root
    sizes = np.linalg.norm(null, axis=0)
    null /= sizes
    flat = null @ null_space(sizes[None, :])  # orthogonal to D^1/2 1, which is null @ sizes
    image = X[joined].T @ (flat / root[:, None])
    flat = flat @ np.linalg.eigh(image.T @ image)[1][:, ::-1]
    U = flat[:, :n_vectors]
    missing = n_vectors - U.shape[1]
    if missing:
        U = np.hstack([U, _smallest_above_zero(laplacian(S, normalized=weighted), null, missing)])
    Y = np.zeros((len(degrees), n_vectors))
    Y[joined] = U / root[:, None]
    return Y


def _smallest_above_zero(L, null, n_vectors):
    """Return eigenvectors of the Laplacian L for its smallest eigenvalues off the orthonormal null space."""
    n = len(null)
    if n > DENSE_SAMPLES and L.nnz <= DENSE_SHARE * n**2 and n_vectors < n / 4:
        try:
            return _lanczos(L, null, n_vectors)
        except ArpackNoConvergence:
            pass  # the dense solver needs no luck, only time
    above = 2 * L.diagonal().max() + 1  # all eigenvalues of L
    moved = L.toarray() + above * (null @ null.T)
    return eigh(moved, subset_by_index=[0, n_vectors - 1])[1]


def _lanczos(L, null, n_vectors):
    n = len(null)
    factors = sparse_factor(L, SHIFT)

    def project(v):
        return v - null @ (null.T @ v)

    inverse = LinearOperator((n, n), matvec=lambda v: project(factors.solve(project(v.ravel()))), dtype=float)
    start = project(np.random.default_rng(0).standard_normal(n))
    values, vectors = eigsh(inverse, n_vectors, which="LA", v0=start)
    return vectors[:, np.argsort(-values, kind="stable")]
