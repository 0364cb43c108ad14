"""MCFS as the released program computes it: its bandwidth, its eigenvectors and its choice among knots."""

import numpy as np
from scipy.linalg import eigh

from ufs_bench.methods.core.graphs import mean_distance

bandwidth = mean_distance  # over all pairs of samples
last_knot = True  # takes the last knot with m coefficients, before the path has the largest size
UNIT = 1e-12  # an eigenvalue nearer to 1 than this belongs to vectors that are constant on each component
SAME = 1e-14  # a unit vector whose product with the constant one is nearer to 1 than this is that vector
DENSE_SAMPLES = 1600  # up to here the program takes LAPACK's dsyev


def coordinates(S, n_vectors, X):
    """Return the eigenvectors D^-1/2 u of D^-1/2 S D^-1/2 u = lambda u of the largest eigenvalues, without the first.

    S holds symmetric non-negative weights, D = diag(S 1).  ValueError for a sample without an edge, by whose degree the
    program divides.

    Where the graph falls into q components, eigenvalue 1 has q vectors, and the solver returns any basis of them.
    D^1/2 1 takes the place of the first, unless it is one of them, and the others are made orthogonal to it in their
    order.  What they span then depends on that basis, and with it on rounding, where fewer than q - 1 are wanted; and
    so do the single vectors always.  `methods.core.spectral.smooth_vectors`, which "paper" takes, leaves nothing open.
    """
    degrees = S.sum(axis=1)
    if not degrees.all():
        alone = np.count_nonzero(degrees == 0)
        raise ValueError(f"{alone} samples have no edge: raise n_neighbors, or take variant='paper'.")
    half, n = degrees**-0.5, len(degrees)
    matrix = half[:, None] * S.toarray() * half
    solver = {"driver": "ev"} if n <= DENSE_SAMPLES else {"subset_by_index": (n - n_vectors - 1, n - 1)}
    values, vectors = eigh(np.maximum(matrix, matrix.T), **solver)
    largest = np.argsort(-values, kind="stable")[: n_vectors + 1]
    values, U = values[largest], vectors[:, largest]
    n_unit = int(np.argmin(np.append(np.abs(values - 1) < UNIT, False)))
    if n_unit > 1:
        constant = 1 / half / np.linalg.norm(1 / half)
        among = np.flatnonzero(np.abs(U[:, :n_unit].T @ constant - 1) < SAME)
        for k in among:
            U[:, k], U[:, 0] = U[:, 0].copy(), constant
        if not len(among):
            U[:, 0] = constant
            for k in range(1, n_unit):
                U[:, k] -= U[:, :k] @ (U[:, :k].T @ U[:, k])
                U[:, k] /= np.linalg.norm(U[:, k])
    return half[:, None] * U[:, 1:]
