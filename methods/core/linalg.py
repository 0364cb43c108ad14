"""Factorisations that never form a matrix larger than the smaller side of the data needs."""

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, eigh, qr, solve_triangular, svd
from scipy.linalg.lapack import dtrcon
from scipy.sparse.linalg import aslinearoperator, splu, svds

POWERS = 3  # highest power of the operator in the search space of `largest_eigenvectors`
GUARDS = 6  # vectors carried beyond those wanted, which speed up the last of them
TIED = 1e-10  # share of the largest squared singular value by which two differ where it is rounding


def principal_axes(X, n_components):
    """Return the n_components largest squared singular values of X, largest first, and scaled right singular vectors.

    Column k of the second, (n_features, n_components), is sigma_k p_k: times its transpose it is the best approximation
    of X'X of that rank.  X is an array, a csr_array or a LinearOperator.

    From the eigenvectors of the smaller of XX' and X'X; of an X that is not dense by Lanczos, from a fixed start, to
    full precision.  The signs of the columns are free, and so is their rotation where singular values are equal.  Where
    the last one that is kept equals the next, the space of the equal ones is cut such that neither the order of samples
    and features nor a rotation of the samples matters (`_cut`); by Lanczos it is cut anyhow.
    """
    if not isinstance(X, np.ndarray):
        return _lanczos_axes(aslinearoperator(X), n_components)
    n_samples, n_features = X.shape
    wide = n_samples < n_features
    gram = X @ X.T if wide else X.T @ X
    size = len(gram)
    first = max(size - n_components - 1, 0)  # one more, to see whether the last is a choice
    values, vectors = eigh(gram, subset_by_index=(first, size - 1))
    if size - first > n_components or len(values) < n_components:
        tied = len(values) < size - first or values[1] - values[0] <= TIED * values[-1] < values[1]
        if tied:  # LAPACK may then even give fewer than asked for
            values, vectors = eigh(gram)
            vectors = _cut(values, vectors, size - n_components, X if wide else None)
        values, vectors = values[-n_components:], vectors[:, -n_components:]
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    return values, X.T @ vectors if wide else vectors * np.sqrt(values)


def _cut(values, vectors, first, X):
    """Return the vectors, those whose value equals the one at `first` turned so that those from `first` on are marked.

    By P' diag(p) P, P the equal right singular vectors and p the squared norms of its rows: the largest come last.
    """
    equal = np.flatnonzero(np.abs(values - values[first]) <= TIED * values[-1])
    P = vectors[:, equal]
    right = P if X is None else (X.T @ P) / np.sqrt(values[equal])
    weights = np.einsum("ij,ij->i", right, right)
    turned = vectors.copy()
    turned[:, equal] = P @ eigh(right.T @ (weights[:, None] * right))[1]
    return turned


def _lanczos_axes(X, n_components):
    if n_components == min(X.shape):  # all of them, which Lanczos cannot give
        return principal_axes(X @ np.eye(X.shape[1]), n_components)
    start = np.random.default_rng(0).standard_normal(min(X.shape))
    _, sigma, right = svds(X, n_components, v0=start, return_singular_vectors="vh")
    order = np.argsort(-sigma, kind="stable")
    return sigma[order] ** 2, (sigma[:, None] * right)[order].T


def complete_basis(basis, coordinates):
    """Return h orthonormal columns that begin with those of `basis` and go on with coordinate vectors.

    The h `coordinates` say which, after removal of what the basis already spans, those with most left of them first.
    """
    missing = len(coordinates) - basis.shape[1]
    if missing == 0:
        return basis
    rest = np.zeros((len(basis), len(coordinates)))
    rest[coordinates, np.arange(len(coordinates))] = 1.0
    for _ in range(2):  # the second pass removes the rounding of the first
        rest -= basis @ (basis.T @ rest)
    # At most r of the h coordinate vectors are lost, so that h - r independent columns are always left.
    added, _, _ = qr(rest, mode="economic", pivoting=True)
    return np.hstack([basis, added[:, :missing]])


def sparse_factor(L, shift):
    """Return the factors of L + shift I, for a sparse L that is symmetric and positive semidefinite; they ``solve``."""
    return splu(
        sparse.csc_array(L + shift * sparse.eye_array(L.shape[0])),
        permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True},
    )  # fmt: skip


def polar_factor(M, smallest_rcond=1e-3):
    """Return the matrix with orthonormal columns that is nearest to M: the U maximising tr U'M over U'U = I.

    M is (d, h), h <= d; U is unique where M has full rank.  M = C S with columns of C of unit norm and C'C = R'R gives
    M = (C R^-1)(R S), the first factor orthonormal and the second h x h.  The scaling is what makes the Gram matrix
    safe for columns of very different length; the error is about machine precision over rcond^2, rcond that of C.
    Where it is below `smallest_rcond` the SVD of M is used instead.  LinAlgError for an M that is not finite.
    """
    if not np.isfinite(M).all():
        raise np.linalg.LinAlgError("The polar factor of a matrix that is not finite does not exist.")
    small = _from_gram(M, smallest_rcond)
    if small is not None:
        return M @ small
    U, _, Vt = svd(M, full_matrices=False)
    return U @ Vt


def _from_gram(M, smallest_rcond):
    """Return S^-1 R^-1 polar(R S), which makes M its polar factor; None where the Gram matrix is no safe way to it."""
    length = np.sqrt(np.einsum("ij,ij->j", M, M))
    if not length.all():
        return None
    gram = M.T @ M
    gram /= length
    gram /= length[:, None]
    try:
        R = cholesky(gram)
    except np.linalg.LinAlgError:
        return None
    rcond, _ = dtrcon(R)
    if rcond < smallest_rcond:
        return None
    U, _, Vt = svd(R * length)
    return solve_triangular(R, U @ Vt) / length[:, None]


def largest_eigenvectors(apply, start, n_vectors, tol=1e-9, max_restarts=100, above=-np.inf):
    """Return the eigenvectors of a symmetric positive semidefinite operator with the largest eigenvalues.

    ``apply(V)`` is the operator times V of shape (n, m).  The start is any p vectors with n_vectors <= p and (POWERS +
    1) p <= n; p = n_vectors + `GUARDS` is a good choice, those of the last call are a good guess.  Orthonormal columns
    (n, p) come back, of which the first `n_vectors` are the ones wanted, largest eigenvalue first: ||A v - lambda v||
    is at most `tol` times the largest eigenvalue, for each whose own is larger than `above`.  LinAlgError after
    `max_restarts`, and for an operator that is not finite.

    Rayleigh and Ritz in the block Krylov space of V, AV, ..., restarted from its best p vectors.
    """
    basis = qr(start, mode="economic")[0]
    for _ in range(max_restarts):
        blocks, images = [basis], [apply(basis)]
        for _ in range(POWERS):
            blocks.append(_continuation(images[-1], blocks))
            images.append(apply(blocks[-1]))
            basis, misfit = _best(np.hstack(blocks), np.hstack(images), start.shape[1], n_vectors, above)
            if misfit <= tol:
                return basis
    raise np.linalg.LinAlgError(f"{n_vectors} eigenvectors have not converged after {max_restarts} restarts.")


def _best(space, image, n_kept, n_vectors, above):
    """Return the Ritz vectors of the largest values in a space, and the errors of the first `n_vectors` of them."""
    small = space.T @ image
    values, turn = eigh((small + small.T) / 2)
    turn, values = turn[:, ::-1][:, :n_kept], values[::-1][:n_kept]
    basis = space @ turn
    misfit = image @ turn[:, :n_vectors] - basis[:, :n_vectors] * values[:n_vectors]
    lengths = np.sqrt((misfit**2).sum(axis=0))[values[:n_vectors] > above]
    return basis, lengths.max(initial=0.0) / values[0]


def _continuation(image, blocks):
    """Return an orthonormal basis of what `image` adds to the blocks before."""
    if not np.isfinite(image).all():
        raise np.linalg.LinAlgError("The operator is not finite.")
    for _ in range(2):  # the second pass removes the rounding of the first, and of the factorisation
        for block in blocks:
            image = image - block @ (block.T @ image)
        image = qr(image, mode="economic")[0]
    return image
