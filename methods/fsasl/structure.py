"""The two graphs of FSASL: sparse codes of each sample by all others, and its nearest neighbours."""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from ufs_bench.methods.core.compiled import compiled
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.core.prox import project_simplex

CODE_TOL, CODE_SWEEPS = 1e-5, 1000  # of coordinate descent: share of the largest code, and an end for a slow one
# Products that the codes of all samples take, from nothing (some 5 to 10 CPU seconds) and from the last ones (1 or 2);
# the last visit to all of them is finished.
FIRST_WORK, CODE_WORK = 5e10, 2.5e8
FEW_COLUMNS = 4  # times as many samples, and codes are found by the columns instead of the inner products of all pairs


def code_penalties(K, ratio):
    """Return the penalty of the codes of every sample: a share of the one from which on all of its codes are zero.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Inner products of the samples.
    ratio : float

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    sizes = np.abs(K)
    np.fill_diagonal(sizes, 0.0)
    return ratio * sizes.max(axis=1)


def sparse_codes(Y, penalties, start=None):
    """Return the codes by all other samples that minimise ``||y_i - sum_j s_ij y_j||^2 / 2 + penalty_i sum_j |s_ij|``.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_columns)
    penalties : ndarray of shape (n_samples,)
        0 or more.
    start : ndarray of shape (n_samples, n_samples), optional
        Codes near the solution.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Row i has the codes of sample i; its diagonal is zero.  Where many samples are coded, and with many columns,
        no sample takes more than its share of a stated work.
    """
    n, m = Y.shape
    S, work = (np.zeros((n, n)), FIRST_WORK / n) if start is None else (start.copy(), CODE_WORK / n)
    if m * FEW_COLUMNS < n:
        _descend_in_columns(np.ascontiguousarray(Y), (Y**2).sum(axis=1), penalties, S, CODE_TOL, CODE_SWEEPS, work)
    else:
        _descend(Y @ Y.T, penalties, S, CODE_TOL, CODE_SWEEPS, work)
    return S


@compiled()
def _descend(K, penalties, S, tol, most, work):
    """Do coordinate descent for one sample after the other; S is overwritten.

    After a visit to all coordinates only those with a code are visited, until they stand still, and then all again.
    """
    n = len(K)
    rest = np.empty(n)  # inner products of what is left of the sample with all samples
    for i in range(n):
        s, penalty = S[i], penalties[i]
        rest[:] = K[i]
        for j in range(n):
            if s[j] != 0.0:
                for k in range(n):
                    rest[k] -= s[j] * K[j, k]
        every, done = True, 0
        for _ in range(most):
            largest, step = 0.0, 0.0
            for j in range(n):
                if j == i or K[j, j] <= 0.0 or (not every and s[j] == 0.0):
                    continue
                inner = rest[j] + s[j] * K[j, j]
                new = (max(inner - penalty, 0.0) - max(-inner - penalty, 0.0)) / K[j, j]
                change = new - s[j]
                if change != 0.0:
                    for k in range(n):
                        rest[k] -= change * K[j, k]
                    s[j] = new
                    done += n
                step, largest = max(step, abs(change)), max(largest, abs(new))
            still = step <= tol * largest
            if (still and every) or done > work:
                break
            every = still


@compiled()
def _descend_in_columns(Y, squares, penalties, S, tol, most, work):
    """Do the same with what is left of a sample itself, which has few entries."""
    n, m = Y.shape
    rest = np.empty(m)
    for i in range(n):
        s, penalty = S[i], penalties[i]
        rest[:] = Y[i]
        for j in range(n):
            if s[j] != 0.0:
                for k in range(m):
                    rest[k] -= s[j] * Y[j, k]
        every, done = True, 0
        for _ in range(most):
            largest, step = 0.0, 0.0
            for j in range(n):
                if j == i or squares[j] <= 0.0 or (not every and s[j] == 0.0):
                    continue
                inner = s[j] * squares[j]
                for k in range(m):
                    inner += Y[j, k] * rest[k]
                new = (max(inner - penalty, 0.0) - max(-inner - penalty, 0.0)) / squares[j]
                change = new - s[j]
                if change != 0.0:
                    for k in range(m):
                        rest[k] -= change * Y[j, k]
                    s[j] = new
                done += m
                step, largest = max(step, abs(change)), max(largest, abs(new))
            still = step <= tol * largest
            if (still and every) or done > work:
                break
            every = still


def global_laplacian(S):
    """Return (I - S)'(I - S), rows of S being the codes: ``tr Y'LY = ||Y - SY||^2``."""
    rest = -S
    rest.flat[:: len(S) + 1] += 1.0
    return rest.T @ rest


def local_weights(Y, neighbors, reg):
    """Return the rows on the simplex that minimise ``sum_j (||y_i - y_j||^2 p_ij + reg p_ij^2)`` over the neighbours.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_columns)
    neighbors : ndarray of shape (n_samples, k) of int
    reg : float
        Above 0.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
    """
    n, k = neighbors.shape
    distances = ((Y[neighbors] - Y[:, None]) ** 2).sum(axis=2)
    values = project_simplex(-distances / (2 * reg))
    return sparse.csr_array((values.ravel(), (np.repeat(np.arange(n), k), neighbors.ravel())), shape=(n, n))


def first_codes(X, ratio):
    """Return the codes of the samples as they are."""
    return sparse_codes(X, code_penalties(X @ X.T, ratio))


def first_neighbors(X, n_neighbors):
    """Return the heat-kernel graph of the released program, whose width is the mean distance of all pairs."""
    n = len(X)
    width = float(pdist(X).mean()) * (n - 1) / n  # with the zeros of the samples with themselves
    return knn_graph(X, n_neighbors, "heat", width or None)
