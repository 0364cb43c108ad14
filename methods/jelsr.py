"""JELSR: an embedding of the samples and its sparse regression on the features, learned together."""

from dataclasses import replace

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.graphs import affinity_graph, laplacian
from methods.core.jelsr_problem import Problem
from methods.core.loop import COLLAPSED, iterate
from methods.core.prox import row_norms
from methods.core.shared import shared


class JELSR(BaseSelector):
    """Embed the samples so that neighbours stay close and few features explain the embedding.

        min_{Y, W}  tr Y'LY + beta (||X W - Y||_F^2 + alpha ||W||_21)   subject to   Y'Y = I,

    L the Laplacian of a nearest-neighbour graph.  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Columns of Y and W, in [1, n_samples].
    alpha : float, default=1.0
        Weight of the sparsity, above 0.
    beta : float, default=1.0
        Weight of the regression against the graph, above 0.
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).
    normalized : bool, default=False
        L = I - D^-1/2 S D^-1/2 instead of D - S.
    init : ndarray of shape (n_features, n_clusters), default=None
        The W that gives the first weights.  None: all features weighted alike, D = I.
    max_iter : int, default=500
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        Stop when a sweep lowers the objective by at most this share; 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12); never rises.
    status_ : str
        "collapsed" where W = 0 is the optimum for the last Y, at alpha >= 2 max_j ||x_j'Y||.  The ranking is then
        meaningless: what is left of W is the smoothing.

    Raises
    ------
    ValueError
        For a parameter out of its range, and for an affinity that is no weight matrix over the samples.

    Notes
    -----
    *A sweep*: with D = diag(1 / (2 sqrt(||w_j||^2 + eps))) and P = (X'X + alpha D)^-1 X' the best W for Y is P Y, which
    leaves Y as the n_clusters smallest eigenvectors of L + beta (I - X P): both at once, and exact for D.  Then D from
    W.  This plain scheme is slow, so D is extrapolated, and the plain step taken where that would raise the objective
    (`methods.core.reweighting`).

    *Cost*: with fewer samples than features one (n_samples, n_samples) eigenproblem, and no (n_features, n_features)
    array.  Otherwise, above 600 samples, one Cholesky factor of that size and a few eigenvectors, started from the last
    ones: with K = L + beta I, factored once and sparse, and Z = K^-1 X,

        (L + beta (I - X P))^-1 = K^-1 + beta Z (alpha D + X'LZ)^-1 Z'.

    Deterministic.

    *Differs from the paper*: plain reweighting there, here smoothed, extrapolated and stopped by a tolerance.  On
    PIE10P 50 sweeps end as low as 200 plain ones.

    *Differs from released programs*: one of them drops an eigenvector in each sweep, which is not the minimum over Y;
    the other does these sweeps, plain ones from D = I, and the same numbers come out.

    *Known pathologies*: no eigenvector is dropped, so one column of Y is nearly constant where the features can
    express a constant, and a feature that is constant but not zero can be selected for it.  W = 0 from about alpha = 16
    on PIE10P and 36 on UMIST.  The problem is not convex; it is followed from one start.

    References
    ----------
    Hou, Nie, Li, Yi & Wu. Joint embedding learning and sparse regression: a framework for unsupervised feature
    selection. IEEE Trans. Cybernetics 44(6), 2014.
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=1.0,
        n_neighbors=5,
        affinity="heat",
        normalized=False,
        init=None,
        max_iter=500,
        tol=1e-6,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.normalized = normalized
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        check_number("alpha", self.alpha, 0, open_low=True)
        check_number("beta", self.beta, 0, open_low=True)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        shape = X.shape[1], self.n_clusters
        if self.init is not None and np.shape(self.init) != shape:
            raise ValueError(f"init of shape {np.shape(self.init)} must have the shape {shape}.")

    def _solve(self, X, rng):
        if isinstance(self.affinity, str):
            L = shared(X, graph_laplacian, self.affinity, self.n_neighbors, self.normalized)
        else:
            L = graph_laplacian(X, self.affinity, self.n_neighbors, self.normalized)
        problem = Problem(X, L, self.n_clusters, self.alpha, self.beta)
        state, trace = iterate(
            problem.sweep,
            problem.start(self.init),
            lambda state: state.value,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if 2 * row_norms(X.T @ state.Y).max() <= self.alpha:
            trace = replace(trace, status=COLLAPSED)
        return Solution(row_norms(state.W), trace)


def graph_laplacian(X, affinity, n_neighbors, normalized):
    """Laplacian of the neighbourhood graph."""
    return laplacian(affinity_graph(X, affinity, n_neighbors), normalized)
