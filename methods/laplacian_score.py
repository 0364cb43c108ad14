"""Laplacian score: features that vary smoothly over a neighbourhood graph."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.graphs import affinity_graph
from ufs_bench.methods.core.sparse_data import column_blocks


class LaplacianScore(BaseSelector):
    """Rank every feature by itself, by how well it keeps the neighbourhoods of the samples.

    With the weights S of a nearest-neighbour graph, D = diag(S 1), L = D - S, and the feature f centred by its weighted
    mean, f~ = f - (f'D1 / 1'D1) 1, the Laplacian score is

        L_r = f~'L f~ / f~'D f~,

    small where samples joined by heavy edges have similar values.  ``scores_`` holds 1 - L_r.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 - L_r, in [-1, 1].  A constant feature, for which L_r is 0 / 0, gets -1: no other scores less.

    Raises
    ------
    ValueError
        For a parameter out of its range, and for an affinity that is no weight matrix over the samples.

    Notes
    -----
    A closed form, O((nnz(S) + n_samples) n_features).  Given the graph, the scores do not change with the units or the
    origin of a feature.

    *Differs from the paper*: the paper leaves the bandwidth t of the heat weights exp(-dist^2 / t) open; here it is
    tied to the mean length of the edges.

    *Known pathologies*: features are scored one by one, so near-duplicates of a good feature all rank high; and the
    graph comes from all features, so a few with a large scale decide it.

    References
    ----------
    He, Cai & Niyogi. Laplacian score for feature selection. NIPS 2005, section 2.1, equation (1).
    """

    takes_sparse = True
    choices = {"affinity": ("heat", "binary")}

    def __init__(self, n_features_to_select=None, *, n_neighbors=5, affinity="heat"):
        super().__init__(n_features_to_select)
        self.n_neighbors = n_neighbors
        self.affinity = affinity

    def _solve(self, X, rng):
        return Solution(smoothness(X, affinity_graph(X, self.affinity, self.n_neighbors)))


def smoothness(X, S):
    """Return 1 - L_r of every feature: f~'S f~ / f~'D f~, because L = D - S.

    In [-1, 1]; -1 for a feature that is constant over the samples with an edge.  S is symmetric, non-negative and not
    zero.
    """
    joined = S.sum(axis=1) > 0  # the others have no weight in any of the sums
    S = S[joined][:, joined]
    return np.concatenate([_smoothness(part, S) for part in column_blocks(X[joined])])


def _smoothness(X, S):
    """Return `smoothness` over a graph without isolated samples."""
    d = S.sum(axis=1)
    # Differences to one sample, in units of the largest: zero exactly for a constant feature, and no squares that
    # underflow or cancel for the others.
    F = X - X[0]
    size = np.abs(F).max(axis=0)
    constant = size == 0
    F /= np.where(constant, 1.0, size)
    F -= d @ F / d.sum()
    spread = d @ F**2
    return np.where(constant, -1.0, np.einsum("ij,ij->j", F, S @ F) / np.where(constant, 1.0, spread))
