"""Symmetric kernels over the samples, which may be indefinite: as arrays, or as a sparse graph plus a product FF'.

A kernel K has a `diagonal`, a Frobenius `norm`, `leading_eigenvectors`, and ``sums(G, labels)`` over the clusters of a
partition with one-hot rows G (n_clusters, n_samples), which follow as samples move: ``all()`` is G @ K, ``of(i)`` its
column i, and ``move(i, source, target)`` is called before the label of sample i changes.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from ufs_bench.methods.core.linalg import GUARDS, POWERS, largest_eigenvectors

DENSE_SAMPLES = 600  # above, an array of all pairs takes longer, and two to four times as long from 1500 on
TOL, RESTARTS = 1e-9, 10  # for the blocks of vectors, and for Lanczos


class DenseKernel:
    """A kernel as a symmetric array."""

    def __init__(self, K):
        self.K = K
        self.diagonal = K.diagonal()
        self.norm = np.linalg.norm(K)

    def leading_eigenvectors(self, n_vectors):
        """Return the eigenvectors of the largest eigenvalues, of shape (n_samples, n_vectors)."""
        n = len(self.K)
        return eigh(self.K, subset_by_index=(n - n_vectors, n - 1))[1]

    def sums(self, G, labels):
        """Return the sums over the clusters."""
        return _DenseSums(self.K, G @ self.K)


class FactoredKernel:
    """``K = graph + F F'`` without an array of all pairs: a symmetric csr_array and F (n_samples, m)."""

    def __init__(self, graph, F):
        self.graph, self.F = graph, F
        self.diagonal = graph.diagonal() + np.einsum("ij,ij->i", F, F)
        cross = np.einsum("ij,ij->", graph @ F, F)
        self.norm = np.sqrt(np.linalg.norm(graph.data) ** 2 + 2 * cross + gram_norm(F) ** 2)

    def __matmul__(self, V):
        return self.graph @ V + self.F @ (self.F.T @ V)

    def leading_eigenvectors(self, n_vectors):
        """Return what `DenseKernel.leading_eigenvectors` returns, by iteration from a fixed start.

        At least one eigenvalue must be positive.  Blocks of vectors come first, because they find all vectors of a
        repeated eigenvalue; they converge slowly where many other eigenvalues are close, and Lanczos takes over.
        """
        n, p = self.F.shape[0], n_vectors + GUARDS
        if (POWERS + 1) * p > n:
            return DenseKernel(self @ np.eye(n)).leading_eigenvectors(n_vectors)
        start = np.random.default_rng(0).standard_normal((n, p))
        try:
            return largest_eigenvectors(self.__matmul__, start, n_vectors, TOL, RESTARTS)[:, :n_vectors]
        except np.linalg.LinAlgError:
            operator = LinearOperator((n, n), matvec=self.__matmul__, dtype=float)
            n_kept = min(n - 1, max(3 * n_vectors, 40))  # scipy's own is max(2 n_vectors + 1, 20)
            return eigsh(operator, n_vectors, which="LA", v0=start[:, 0], ncv=n_kept, tol=TOL)[1]

    def sums(self, G, labels):
        """Return the sums over the clusters; `labels` is read again at every visit."""
        return _FactoredSums(self.graph, self.F, G @ self.F, labels)


class _DenseSums:
    def __init__(self, K, table):
        self.K, self.table = K, table

    def all(self):
        return self.table

    def of(self, sample):
        return self.table[:, sample]

    def move(self, sample, source, target):
        self.table[target] += self.K[sample]
        self.table[source] -= self.K[sample]


class _FactoredSums:
    def __init__(self, graph, F, centres, labels):
        self.graph, self.F, self.centres, self.labels = graph, F, centres, labels  # centres times their sizes

    def all(self):
        G = (self.labels == np.arange(len(self.centres))[:, None]).astype(float)
        return self.centres @ self.F.T + (self.graph @ G.T).T

    def of(self, sample):
        row = slice(*self.graph.indptr[sample : sample + 2])
        near = self.labels[self.graph.indices[row]]
        return self.centres @ self.F[sample] + np.bincount(near, self.graph.data[row], len(self.centres))

    def move(self, sample, source, target):
        self.centres[target] += self.F[sample]
        self.centres[source] -= self.F[sample]


def gram_norm(F):
    """Return ||F F'||_F, from the smaller of FF' and F'F."""
    return np.linalg.norm(F @ F.T if F.shape[0] < F.shape[1] else F.T @ F)
