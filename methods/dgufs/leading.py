"""All eigenpairs of a large symmetric matrix above a threshold, with a proof that none is missing."""

import weakref

import numpy as np
from scipy.linalg import cho_factor, eigh
from scipy.sparse.linalg import ArpackError, eigsh

DENSE = 128  # up to this order a dense eigendecomposition is faster than Lanczos
BLOCK = 2**16  # entries of an array of all pairs that are worked on together
ROUGH = 1e-2  # tolerance of the eigenvalue next to the found ones: it only suggests the level to prove
ROUNDING = 1e-6  # share of the threshold that a proof leaves to rounding


class Pool:
    """Arrays of one shape, each of which is used again as soon as nothing refers to it.

    For a large array the system takes longer to hand out the memory than the program takes to fill it.  A reference to
    a part of an array does not keep the array.
    """

    def __init__(self, *shape):
        self.shape, self.spare = shape, []

    def empty(self):
        """Return an array with anything in it."""
        array = self.spare.pop() if self.spare else np.empty(self.shape)
        lent = array.view()
        weakref.finalize(lent, self.spare.append, array).atexit = False
        return lent


class Ceiling:
    """A proof that a matrix has at most `count` eigenvalues above a level, kept for the matrices that follow it.

    Such a proof costs a Cholesky factorisation.  Matrices of one iteration differ little, and no eigenvalue moves by
    more than the Frobenius norm of their difference (Weyl).  So the proof is given at a level as low as it holds.  It
    serves until the distance between the matrices has used up the room between that level and the threshold.
    """

    def __init__(self, pool):
        self.pool = pool  # arrays of the matrices' shape
        self.matrix, self.count, self.level = None, 0, np.inf

    def holds(self, A, values, vectors, threshold):
        """Return True where it is proved that A has no eigenvalues above the threshold but these."""
        limit = (1 - ROUNDING) * threshold
        if np.vdot(A, A) - (values**2).sum() < limit**2:
            return True
        known = self.matrix is not None and len(values) == self.count and self.level < limit
        if known and distance(A, self.matrix) <= limit - self.level:
            return True
        self.matrix = None  # its memory is needed
        left = deflated(A, values, vectors, self.pool.empty())
        following = -eigsh(left, k=1, which="SA", v0=np.ones(len(A)), tol=ROUGH, return_eigenvectors=False)[0]
        if following > threshold:  # the largest eigenvalue of the rest is no smaller than this Ritz value
            return False
        lowest = min(max(following, 0) + 2 * ROUGH * threshold, threshold)
        for level in sorted({lowest, threshold}):
            if level > lowest:  # the attempt before has overwritten it
                deflated(A, values, vectors, left)
            left.flat[:: len(A) + 1] += level
            try:
                cho_factor(left.T, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                continue
            self.matrix, self.count, self.level = A, len(values), level
            return True
        return False


def deflated(A, values, vectors, left):
    """Write to `left`, and return, these eigenpairs less A: the rest of A with the other sign."""
    for rows in row_blocks(A):
        np.subtract((vectors[rows] * values) @ vectors.T, A[rows], out=left[rows])
    return left


def distance(A, B):
    """Return ``||A - B||_F``."""
    return np.sqrt(sum(np.square(A[rows] - B[rows]).sum() for rows in row_blocks(A)))


def row_blocks(A):
    """Return slices of all rows of A, so few in each that they stay in a cache while several steps work on them."""
    step = max(1, BLOCK // max(A.shape[1], 1))
    return [slice(first, min(first + step, len(A))) for first in range(0, len(A), step)]


def eigenpairs_above(A, threshold, expected=0, ceiling=None):
    """Return all eigenpairs of a symmetric matrix with entries in [0, 1] whose eigenvalue exceeds a threshold above 0.

    `expected`, a guess of their number, and `ceiling`, that of the matrices before this one, affect the time only; A is
    kept in the ceiling, and must not be overwritten later.  LinAlgError where the entries have overflowed.

    No eigenvalue exceeds the largest row sum, which decides most calls.  Otherwise the leading pairs come from Lanczos,
    and that none is missing is certified: the squares of all eigenvalues sum to ||A||_F^2, and what the pairs found
    leave of it is less than the threshold's; or, with these pairs moved down, level * I - A is positive definite, since
    its Cholesky factorisation succeeds, for a level no higher than the threshold, here or for a matrix so near that it
    follows (`Ceiling`).  Where none of these holds, and for small matrices, a dense decomposition computes the
    eigenvalues above the threshold.
    """
    n = len(A)
    bound = A.sum(axis=1).max(initial=0)
    if not np.isfinite(bound):
        raise np.linalg.LinAlgError("the matrix has overflowed.")
    if bound <= threshold:
        return np.empty(0), np.empty((n, 0))
    if n > DENSE:
        ceiling = Ceiling(Pool(n, n)) if ceiling is None else ceiling
        for n_pairs in (max(expected, 1), max(expected, 1) + 4):
            try:
                values, vectors = eigsh(A, k=n_pairs, which="LA", v0=np.ones(n), tol=0)
                above = values > threshold
                values, vectors = values[above], vectors[:, above]
                if ceiling.holds(A, values, vectors, threshold):
                    return values, vectors
            except ArpackError:
                break
    return eigh(A, subset_by_value=(threshold, np.inf))
