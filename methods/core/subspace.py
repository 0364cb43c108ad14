"""A few eigenvectors of a large operator from a good guess: many of them at once, a block at a time."""

import numpy as np
from scipy.linalg import eigh, qr

POWERS = 3  # highest power of the operator in a search space
GUARDS = 6  # vectors carried beyond those wanted, which speed up the last of them


def largest_eigenvectors(apply, start, n_vectors, tol=1e-9, max_restarts=100, above=-np.inf):
    """Return the eigenvectors of a symmetric positive semidefinite operator with the largest eigenvalues.

    Parameters
    ----------
    apply : callable
        ``apply(V)`` is the operator times V of shape (n, m).
    start : ndarray of shape (n, p)
        Any p vectors with n_vectors <= p and (POWERS + 1) p <= n; p = n_vectors + `GUARDS` is a good choice, those of
        the last call are a good guess.
    n_vectors : int
    tol : float, default=1e-9
        Bound on ||A v - lambda v|| over the largest eigenvalue, for each vector wanted.
    max_restarts : int, default=100
    above : float, default=-inf
        Vectors of smaller eigenvalues need not converge.

    Returns
    -------
    ndarray of shape (n, p)
        Orthonormal; the first `n_vectors` columns are the ones wanted, largest eigenvalue first.

    Raises
    ------
    numpy.linalg.LinAlgError
        When they have not converged, or the operator is not finite.

    Notes
    -----
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
