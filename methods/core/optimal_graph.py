"""A graph that adapts to an embedding, and least squares with its Laplacian."""

import weakref

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from methods.core import adapted_rows
from methods.core.boxes import boxes
from methods.core.graphs import affinity_graph
from methods.core.sparse_products import times

DENSE_SAMPLES = 600  # up to here, and beyond the share below, dense factors are as fast
DENSE_SHARE = 0.02
FEW = 32  # entries a row that G has room for at first
SPARE = 4  # graphs of which arrays are kept
FULL = 4  # a symmetric graph with more than 1 / FULL of the pairs on one side is kept as an array of all pairs


def row_stochastic_graph(X, affinity, n_neighbors):
    """Weights of the neighbourhood graph with rows that sum to 1; a sample without an edge gets a loop.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Not symmetric.
    """
    S = affinity_graph(X, affinity, n_neighbors)
    degrees = S.sum(axis=1)
    S = S + sparse.diags_array((degrees == 0).astype(float))
    return sparse.csr_array(sparse.diags_array(1 / np.where(degrees == 0, 1.0, degrees)) @ S)


class Adapted:
    """The G that minimises ``sum_ij g_ij ||y_i - y_j||^2 / 2 + gamma ||G - S||_F^2``, rows of G on the unit simplex.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_columns)
    S : csr_array or ndarray of shape (n_samples, n_samples)
        An ndarray is symmetric, to the last bit, in the order of C.
    gamma : float
        Above 0.
    symmetric : bool, default=False
        Whether S is, to the last bit.
    spare : list, default=None
        Of arrays to write `symmetric` to.  The arrays of a csr_array that it returns join them as soon as that is
        deleted, and those of G at once, so that a loop with one list asks the system for memory in its first rounds
        alone: with millions of entries that takes longer than the arithmetic.  Whoever gives a list must not keep an
        array of a graph beyond the graph.

    Attributes
    ----------
    distance : float
        ||G - S||_F^2.
    smoothness : float
        ``sum_ij s_ij ||y_i - y_j||^2 / 2``, which is tr Y'LY for the Laplacian L of (S + S') / 2.

    Notes
    -----
    Row i is the projection of ``v_i = s_i - d_i / (4 gamma)`` on the simplex, d_i its squared distances: it keeps the
    entries above a threshold.  At most O(n_samples^2 n_columns), a row at a time (`methods.core.adapted_rows`).
    """

    def __init__(self, Y, S, gamma, symmetric=False, spare=None):
        self.full = S if isinstance(S, np.ndarray) else None
        self.is_symmetric = symmetric or self.full is not None
        self.graph = _arrays(S)
        self.spare = spare
        self.Y, self.Yt, self.scale = Y, np.ascontiguousarray(Y.T), 1 / (4 * gamma)
        self.boxes = boxes(self.Yt if self.full is None else self.Yt[:, :1].copy())  # of a full S nothing is skipped
        self.found = np.empty((len(Y), 4))
        # G is not written where S is full, which it mostly stays, nor beyond what `symmetric` wants of it.
        n = len(Y)
        most = n**2 // FULL if self.is_symmetric else np.inf
        self.arrays = self._adapt(self.full is None, most)
        self.nnz = int(self.found[:, 1].sum())
        self.distance, self.smoothness = float(self.found[:, 2].sum()), float(self.found[:, 3].sum() / 2)

    def rows(self):
        """G, a csr_array."""
        if self.arrays is None:
            self.arrays = self._adapt()
        return _csr(*self.arrays)

    def symmetric(self):
        """H = (G + G') / 2, the sums of its rows, HY, and ||G - H||_F^2.

        H is a csr_array, or an ndarray where S is symmetric and H has many entries: that of S where S is one, which is
        overwritten, since such arrays are large: ask for `rows` before, then.
        """
        n = len(self.Y)
        sums = np.empty((n, 2))
        if self.is_symmetric and FULL * self.nnz > n**2:
            H, smoothed = np.empty((n, n)) if self.full is None else self.full, np.empty(self.Y.shape)
            thresholds = np.ascontiguousarray(self.found[:, 0])
            adapted_rows.symmetric_full(self.Yt, self.graph, self.scale, thresholds, H, sums, smoothed)
        else:
            G = self.rows()
            arrays = self._empty(min(2 * self.nnz, n**2))  # every entry of G makes two of H at most
            adapted_rows.symmetric(_arrays(G), _arrays(sparse.csr_array(G.T)), *arrays, sums)
            H = _csr(*arrays)
            smoothed = times(H, self.Y)
            if self.spare is not None:
                self.spare.append(self.arrays)
                self.arrays = None  # what `rows` would return is soon written over
                weakref.finalize(H, self.spare.append, arrays).atexit = False
        return H, sums[:, 0], smoothed, float(sums[:, 1].sum())

    def _adapt(self, write=True, most=np.inf):
        """Find the thresholds; the arrays of G, or None where it is not wanted or seems to have more."""
        n, row = len(self.Y), 0
        arrays = self._empty(min(FEW * n, n**2) if write else 0)
        arrays[0][0] = 0
        known = self.Yt, self.graph, self.boxes, self.scale
        while (row := adapted_rows.adapt(*known, row, write, self.found, *arrays)) < n:
            end = arrays[0][row]
            expected = int(1.2 * end * n / (row + 1))  # as many in the other rows as in those before
            if expected > most:
                write = False
            else:
                arrays = self._longer(arrays, end, max(expected, 2 * len(arrays[1])))
        return arrays if write else None

    def _longer(self, arrays, end, nnz):
        """Arrays with more room, and what stands in these."""
        longer = self._empty(nnz)
        longer[0][:] = arrays[0]
        for new, old in zip(longer[1:], arrays[1:], strict=True):
            new[:end] = old[:end]
        return longer

    def _empty(self, nnz):
        fit = [arrays for arrays in self.spare or () if len(arrays[1]) > nnz and arrays[1].dtype == _kind(nnz)]
        if not fit:
            return _empty(len(self.Y), nnz)
        best = min(fit, key=lambda arrays: len(arrays[1]))
        self.spare[:] = [arrays for arrays in self.spare if arrays is not best][-SPARE:]
        return best


def without_zeros(full):
    """An ndarray of all pairs as a csr_array."""
    arrays = _empty(len(full), np.count_nonzero(full))
    adapted_rows.without_zeros(full, *arrays)
    return _csr(*arrays)


def _kind(nnz):
    return np.int32 if nnz < 2**31 else np.int64


def _empty(n, nnz):
    """Arrays for a csr_array, with room for one entry that is written in vain."""
    return np.empty(n + 1, _kind(nnz)), np.empty(nnz + 1, _kind(nnz)), np.empty(nnz + 1)


def _csr(indptr, columns, values):
    n, nnz = len(indptr) - 1, indptr[-1]
    S = sparse.csr_array((values[:nnz], columns[:nnz], indptr), shape=(n, n))
    S.has_canonical_format = True  # known, where scipy would look through all columns
    return S


def _arrays(S):
    """indptr, sorted indices and data, read-only all of them, so that loops are compiled for one kind of array."""
    if isinstance(S, np.ndarray):
        kind = _kind(S.size)
        arrays = np.arange(0, S.size + 1, len(S), dtype=kind), np.empty(0, kind), S.reshape(-1)
    else:
        if not S.has_canonical_format:
            S = S.copy()
            S.sum_duplicates()
        arrays = S.indptr, S.indices, S.data
    views = tuple(array.view() for array in arrays)
    for view in views:
        view.flags.writeable = False
    return views


def adapted_graph(Y, S, gamma):
    """The rows of `Adapted`: a csr_array of shape (n_samples, n_samples)."""
    return Adapted(Y, S, gamma).rows()


def symmetric_laplacian(G):
    """``D - (G + G') / 2`` with D the row sums of ``(G + G') / 2``."""
    A = (G + G.T) / 2
    return sparse.csr_array(sparse.diags_array(A.sum(axis=1)) - A)


def smoother(L, lambda_):
    """A function that multiplies by (L + lambda_ I)^-1, from one factorisation: sparse where L is.

    Raises
    ------
    numpy.linalg.LinAlgError
    """
    n = L.shape[0]
    if n <= DENSE_SAMPLES or L.nnz > DENSE_SHARE * n**2:
        K = L.toarray()
        K.flat[:: n + 1] += lambda_
        factor = cho_factor(K, lower=True, overwrite_a=True)
        return lambda V: cho_solve(factor, V)
    K = sparse.csc_array(L + lambda_ * sparse.eye_array(n))
    factor = splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return factor.solve
