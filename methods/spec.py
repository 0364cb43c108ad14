"""SPEC: features that agree with the smooth directions of a graph over the samples."""

from functools import partial

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import check_count, check_flag, count_of, whole
from ufs_bench.methods.core.graphs import affinity_graph, laplacian
from ufs_bench.methods.core.loop import Trace
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import column_blocks
from ufs_bench.methods.core.spectral import smooth_vectors

FULL = 6  # arrays of all pairs of samples that a full graph and its eigenvectors take


class SPEC(BaseSelector):
    """Rank every feature by itself, by how its values follow the spectrum of the normalised graph Laplacian.

    With the weights S of a graph, D = diag(S 1) and Ln = I - D^-1/2 S D^-1/2 with eigenvalues lam_1 = 0 <= lam_2 <= ...
    and eigenvectors u_i, a feature f counts as f^ = D^1/2 f / ||D^1/2 f||, and a_i = (f^'u_i)^2, which sum to 1:

        "phi1"    sum_i a_i lam_i^p  =  f^'Ln^p f^            small is good,
        "phi3"    sum_{1<i<=k} a_i (2^p - lam_i^p)            large is good.

    The paper's phi2 is "phi1" with ``center=True``, and for p = 1 the Laplacian score of the same graph.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples]; used for `n_vectors`.
    variant : {"phi1", "phi3"}, default="phi3"
    n_vectors : int or {"clusters", "twice_clusters"}, default=None
        k of "phi3", in [2, n_samples]; it counts u_1, which is left out.  None is "clusters".  The words
        stand for n_clusters and 2 n_clusters, or 2 where that is less.  At most the number of samples with an edge
        counts.
    power : int, default=1
        p, 1 or more.
    center : bool, default=False
        Whether the D-weighted mean is taken off each feature first, so that a_1 = 0.
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused otherwise.
    affinity : {"heat", "binary", "full"} or array of shape (n_samples, n_samples), default="heat"
        "full": exp(-dist^2 / (2 t^2)) for all pairs, each sample with itself included, t their mean distance.  The
        others: weights of the graph of nearest neighbours (`methods.core.graphs.affinity_graph`).

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        -phi1, or phi3.  A constant feature gets -2^p, or 0: no other scores less.
    status_ : str
        "collapsed" where all features are constant.

    Raises
    ------
    ValueError
        For a parameter out of its range, for an affinity that is no weight matrix over the samples, and for "full"
        with a sparse X.

    Notes
    -----
    "phi1" is a quadratic form, O(p nnz(S) n_features) without any eigenvector; "phi3" needs the k - 1 smoothest vectors
    after the first (`methods.core.spectral.smooth_vectors`).  Both are computed from centred features, as Ln u_1 = 0,
    so that a large mean loses no digits.  Samples without an edge do not count.  A sparse X stays so: its features are
    written out some at a time, and "full" is refused.

    *Differs from the paper*: a constant feature has the best phi1 of all, 0, and 0 / 0 once it is centred; here it
    comes last.  The paper leaves the similarity open.

    *Differs from the released programs*: the best-known Python program sorts phi1 and phi2 in descending and phi3 in
    ascending order, and so ranks the worst features first (docs/methods/spec.md).  The authors' returns phi and no
    ranking.  Both compute these numbers.  The similarity that the Python program takes by default, exp(-dist^2), is I
    on grey levels of 0 to 255, and every phi is then 0.

    *Known pathologies*: a constant added to a feature changes both scores.  Uncentred, phi1 favours features of small
    variance over squared mean, over a full graph almost by that alone, and phi3 those of large
    (docs/methods/spec.md).  Features are scored one by one, so near-duplicates of a good one all rank high.

    References
    ----------
    Zhao & Liu. Spectral feature selection for supervised and unsupervised learning. ICML 2007.
    """

    takes_sparse = True
    bounds = {"power": whole(1)}
    choices = {"variant": ("phi1", "phi3"), "affinity": ("heat", "binary", "full")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        variant="phi3",
        n_vectors=None,
        power=1,
        center=False,
        n_neighbors=5,
        affinity="heat",
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.variant = variant
        self.n_vectors = n_vectors
        self.power = power
        self.center = center
        self.n_neighbors = n_neighbors
        self.affinity = affinity

    def _check(self, X):
        check_flag("center", self.center)
        check_count("n_vectors", self.n_vectors, ("clusters", "twice_clusters"), X.shape[0], "n_samples", low=2)
        if sparse.issparse(X) and self._full:
            raise ValueError("affinity='full' needs a dense X: take 'heat' or 'binary', whose graphs are sparse.")

    @property
    def arrays(self):
        """The arrays that `BaseSelector.memory` counts: a full graph has an entry for every pair of samples."""
        return {"nd": 6, "nn": FULL if self._full else 0.25}  # 0.25 is room for the factors of a sparse Laplacian

    @property
    def _full(self):
        return isinstance(self.affinity, str) and self.affinity == "full"

    def _solve(self, X, rng):
        S = shared(X, full_graph) if self._full else affinity_graph(X, self.affinity, self.n_neighbors)
        joined = S.sum(axis=1) > 0
        S, X = S[joined][:, joined], X[joined]
        if self.variant == "phi1":
            least, score = -(2.0**self.power), partial(roughness, S=S, power=self.power)
        else:
            k = max(2, count_of(self.n_vectors, self.n_clusters, self.n_features_to_select_))
            least, score = 0.0, partial(closeness, *smooth_part(X, S, min(k, X.shape[0]), self.power))
        scores, constant = [], []
        for part in column_blocks(X):
            F = unit_features(part, S.sum(axis=1), self.center)
            constant.append(~F.any(axis=0))
            scores.append(np.where(constant[-1], least, score(F)))
        return Solution(np.concatenate(scores), Trace().collapsed_if(np.concatenate(constant).all()))


def full_graph(X):
    """Return heat weights exp(-dist^2 / (2 t^2)) of all pairs of samples, t their mean distance; 1 on the diagonal."""
    distances = pdist(X)
    t = distances.mean() or 1.0
    return sparse.csr_array(squareform(np.exp(-((distances / t) ** 2) / 2)) + np.eye(len(X)))


def unit_features(X, degrees, center):
    """Return f^ without its part along u_1, column by column: zero for a constant feature.

    `degrees` is the diagonal of D, above 0.  With `center` what is left has unit length, and not f^ itself.
    """
    size = np.abs(X).max(axis=0)
    X = X / np.where(size > 0, size, 1.0)
    F = X - X[0]  # exactly zero for a constant feature
    F -= degrees @ F / degrees.sum()
    root = np.sqrt(degrees)[:, None]
    F *= root
    length = np.linalg.norm(F if center else root * X, axis=0)
    return F / np.where(length > 0, length, 1.0)


def roughness(F, S, power):
    """Return -phi1 = -f'Ln^power f for every column f of F, which the part along u_1 adds nothing to."""
    Ln = laplacian(S, normalized=True)
    for _ in range(power // 2):
        F = Ln @ F
    return -np.einsum("ij,ij->j", F, Ln @ F if power % 2 else F)


def smooth_part(X, S, k, power):
    """Return u_2 ... u_k as columns and 2^power - lam^power; X turns those of equal eigenvalue (`smooth_vectors`)."""
    U = smooth_vectors(S, k - 1, X) * np.sqrt(S.sum(axis=1))[:, None]
    values = np.clip(np.einsum("ik,ik->k", U, laplacian(S, normalized=True) @ U), 0.0, 2.0)
    return U, 2.0**power - values**power


def closeness(U, weights, F):
    """Return phi3 for every column of F."""
    return weights @ (U.T @ F) ** 2
