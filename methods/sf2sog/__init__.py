"""SF2SOG: a sparse projection of exactly h features, with a graph that adapts to it."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.optimal_graph import adapted_graph, row_stochastic_graph, smoother, symmetric_laplacian
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.sf2sog.eigen_subset import Quadratic, Subset, swapped


class SF2SOG(BaseSelector):
    """Project the samples on h features so that they embed smoothly over a graph that follows the embedding.

        min_{Y, W, G}  tr Y'L_G Y + lambda_ ||X W - Y||_F^2 + gamma ||G - S||_F^2

    subject to W'W = I, h non-zero rows in W, rows of G on the unit simplex; S is the neighbourhood graph of the samples
    with rows that sum to 1 and L_G = D - (G + G') / 2.  The selected features are the non-zero rows of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  It is part of the model: every size needs a fit of its own.
    n_clusters : int, default=2
        In [1, n_samples].  Y and W have c = min(n_clusters, h) columns.
    lambda_ : float, default=1.0
        Weight of the projection against the smoothness, above 0.
    gamma : float, default=1.0
        How much the graph is held back, above 0.
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`), before its rows are scaled.
    init : ndarray of shape (h,) of int, default=None
        The features to start from.  None: those with the smallest x_j'M x_j, see the notes.
    max_iter : int, default=100
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-5
        Stop when a sweep lowers the objective by at most this share; 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 + ||w_j|| for a selected feature, 0 for any other.
    coef_ : ndarray of shape (n_features, c)
        W.
    embedding_ : ndarray of shape (n_samples, c)
        Y.
    graph_ : csr_array of shape (n_samples, n_samples)
        G.
    trace_ : ndarray
        The objective; never rises.
    status_ : str
        "collapsed" where the first two terms are zero: the features can cancel each other, or are constant, and many
        other subsets do as well.  So for every h >= n_samples - 1 + c.

    Raises
    ------
    ValueError
        For a parameter out of its range, an `init` of the wrong form, and for an affinity that is no weight matrix over
        the samples.

    Notes
    -----
    For given W and G the best Y is lambda_ (L_G + lambda_ I)^-1 X W, which leaves lambda_ tr W'BW, B = X'MX and
    M = (L_G + lambda_ I)^-1 L_G: the sum of the c smallest eigenvalues of B on the chosen features, W their vectors.

    *A sweep*: Y, then G, whose rows are projections on the simplex (`methods.core.optimal_graph`), both exact; then
    swaps of features, first of blocks, then of single ones, until no single swap lowers that sum by more than a
    millionth (`methods.sf2sog.eigen_subset`).  So it is at the end, whatever the status.  Other starts may end lower.
    B is never formed: O(n_samples^2 n_features) where G has filled up, less while it is sparse, and O(c h^2
    n_features) for the proof that no swap helps.  Deterministic.

    *Differs from the paper*: there is no public program.  The choice of features usual for this model, minorising and
    keeping the h largest diagonal entries of a projected matrix, does not leave its start; hence the swaps.  Neither
    scaling of L_G nor a zero diagonal of G is in the objective, and so neither is here.

    *Known pathologies*: the objective wants a *small* X W.  Features of little variance are the cheapest, and constant
    ones cost nothing: with c of them, as in MNIST, the fit is "collapsed".  Where gamma is small G becomes I and the
    first two terms 0, whatever the features; where it is large, G hardly moves from S (docs/methods/sf2sog.md).

    References
    ----------
    Wang, Zhang, Bian, Wang, Nie & Li. Sparse and flexible projections for unsupervised feature selection with optimal
    graph. IEEE Trans. Knowledge and Data Engineering, 2022.
    The objective is taken from equation (36) of Sun, Ding & Fan. K-means Derived Unsupervised Feature Selection using
    Improved ADMM. 2024.
    """

    size_in_objective = True
    arrays = {"nd": 10, "mm": 4, "nn": 0.25}  # the last is room for the factors of a sparse Laplacian
    bounds = {"lambda_": above(0), "gamma": above(0)}
    choices = {"affinity": ("heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        lambda_=1.0,
        gamma=1.0,
        n_neighbors=5,
        affinity="heat",
        init=None,
        max_iter=100,
        tol=1e-5,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.lambda_ = lambda_
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _solve(self, X, rng):
        S = shared(X, row_stochastic_graph, self.affinity, self.n_neighbors)
        problem = Problem(X, S, self.n_features_to_select_, self.n_clusters, self.lambda_, self.gamma)
        start = problem.start(self._first_features(X.shape[1]))
        state, trace = iterate(problem.sweep, start, max_iter=self.max_iter, tol=self.tol)
        W = np.zeros((X.shape[1], problem.n_vectors))
        W[state.subset.features] = state.subset.vectors
        scores = np.zeros(X.shape[1])
        scores[state.subset.features] = 1 + np.linalg.norm(state.subset.vectors, axis=1)
        Y = problem.embedding(state.subset, state.smooth)
        learned = {"coef_": W, "embedding_": Y, "graph_": state.G}
        return Solution(scores, trace.collapsed_if(state.subset.total == 0), learned=learned)

    def _first_features(self, n_features):
        if self.init is None:
            return None
        features = np.asarray(self.init)
        h = self.n_features_to_select_
        whole = features.dtype.kind in "iu" and features.shape == (h,)
        if not whole or len(set(features.tolist()) & set(range(n_features))) != h:
            raise ValueError(f"init={self.init!r:.80} must be {h} different features in [0, n_features={n_features}).")
        return features


@dataclass(frozen=True)
class State:
    """Features with W, and the graph; Y follows from them."""

    subset: Subset
    G: sparse.csr_array
    B: Quadratic
    smooth: object  # multiplies by (L_G + lambda_ I)^-1
    value: float
    settled: bool  # True where no swap of features lowers the value


class Problem:
    """The objective for given data, minimised over the features, Y and G in turn."""

    def __init__(self, X, S, size, n_clusters, lambda_, gamma):
        self.X, self.S, self.lambda_, self.gamma = X, S, lambda_, gamma
        self.size, self.n_vectors = size, min(n_clusters, size)

    def start(self, features):
        """Return the state with G = S, and the best W on the features."""
        B, smooth = self._quadratic(self.S)
        if features is None:
            features = np.argsort(B.diagonal, kind="stable")[: self.size]
        return self._state(B.subset(features, self.n_vectors), self.S, B, smooth)

    def sweep(self, state):
        """Update Y and G for the features of the state, then features and W, until no single swap improves them."""
        if state.subset.total == 0:  # what is left to move is rounding
            return state
        subset = state.subset if state.settled else swapped(state.B, state.subset)
        Y = self.embedding(subset, state.smooth)  # lambda_ (L_G + lambda_ I)^-1 X W
        G = adapted_graph(Y, self.S, self.gamma)  # rows s_i - d_i / (4 gamma), projected on the simplex
        B, smooth = self._quadratic(G)  # B = X'(L_G + lambda_ I)^-1 L_G X; W its smallest eigenvectors on the features
        return self._state(swapped(B, B.subset(subset.features, self.n_vectors)), G, B, smooth, settled=True)

    def embedding(self, subset, smooth):
        """Return Y = lambda_ (L_G + lambda_ I)^-1 X W."""
        return self.lambda_ * smooth(self.X[:, subset.features] @ subset.vectors)

    def _quadratic(self, G):
        L = symmetric_laplacian(G)
        smooth = smoother(L, self.lambda_)
        # Q = (L + lambda_ I)^-1 L X; where lambda_ is larger than L the difference would cancel.
        short = self.lambda_ <= L.diagonal().max()
        return Quadratic(self.X, self.X - self.lambda_ * smooth(self.X) if short else smooth(L @ self.X)), smooth

    def _state(self, subset, G, B, smooth, settled=False):
        distance = G - self.S
        value = self.lambda_ * subset.total + self.gamma * float((distance.data**2).sum())
        return State(subset, G, B, smooth, value, settled)
