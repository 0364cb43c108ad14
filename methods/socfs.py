"""SOCFS: features that span a projection with orthogonal, non-negative cluster indicators."""

from dataclasses import replace

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.loop import COLLAPSED, iterate
from methods.core.ordinal_graphs import triplet_laplacian
from methods.core.prox import row_norms
from methods.core.ridge import smallest_collapsing_weight
from methods.core.shared import shared
from methods.core.socfs_blocks import Problem, without_means
from methods.core.starts import kmeans_labels, scaled_indicator


class SOCFS(BaseSelector):
    """Project the samples, with few features, on cluster indicators that are orthogonal and almost non-negative.

        min  ||X_c W - E B'||_F^2 + lambda_ ||W||_21 + lambda2 ||H - E||_F^2 + triplet_weight tr W'X_c'L X_c W

    over W, B, E, H subject to E'E = I, B'B = I, H >= 0.  X_c are the centred data, B the orthogonal basis and E the
    indicators of the clusters, H their non-negative copy.  The last term, absent by default, asks that for each sample
    a nearer neighbour stays nearer than a farther one in the projection; L is the Laplacian of the graph of these
    triplets (`methods.core.ordinal_graphs.triplet_laplacian`).  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    lambda_ : float, default=1.0
        Weight of the sparsity, above 0.
    lambda2 : float, default=1.0
        Weight of the non-negativity, above 0.
    triplet_weight : float, default=0.0
        0 or more.
    n_neighbors : int, default=5
        Of the triplets, 1 or more: k = min(n_neighbors, n_samples - 1).  Unused where triplet_weight is 0.
    init : tuple of four ndarrays, default=None
        W0 (n_features, n_clusters), B0 (n_clusters, n_clusters), E0 and H0 (n_samples, n_clusters).  Only the first
        sweep's weights and targets come from them.  None: E0 = H0 from K-means, W0 the ridge regression of E0 with all
        features weighted alike, B0 the best for both.
    max_iter : int, default=300
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-5
        Stop when a sweep lowers the objective by at most this share; 0 or more.
    random_state : int, Generator or None, default=None
        Of K-means in the start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    labels_ : ndarray of shape (n_samples,) of int
        Where each row of E is largest.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12); never rises.
    status_ : str
        "collapsed" where W = 0 is the optimum for the last E and B, at lambda_ >= 2 max_j ||x_j'E B'|| (x_j centred).
        The ranking is then meaningless: what is left of W is the smoothing.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    *A sweep*: five cycles of (a) E, the polar factor of X_c W B + lambda2 H, and H = max(E, 0), in turn, until no
    entry of E changes by more than 1e-6 or 50 times; (b) B, the polar factor of W'X_c'E; (c) W, the weighted ridge
    regression of E B'.  Then the weights 1 / (2 sqrt(||w_j||^2 + eps)) from W, extrapolated where that does not raise
    the objective (`methods.core.reweighting`).  Every step is the exact minimum over its block.

    *Differs from the paper*: smoothing, extrapolation, several cycles for one factorisation, and a start from K-means.
    With one plain cycle a sweep it ends elsewhere, mostly higher: PIE10P, lambda_ = 1e-4, .11 against .03.

    *Differs from the released program*: it starts from uniform random arrays, does one cycle a sweep with always 50
    steps (a), and a fixed number of sweeps.  Those steps from the same start give the same arrays.

    *Known pathologies*: the problem is far from convex; two K-means starts share 48 of the 100 best features on PIE10P
    and 58 on UMIST.  X_c W cannot hold the constant vector, which the indicators of a partition span, so that the
    objective rewards an E without it: indicators of a few samples each.  At lambda_ = 1 this is kept in check, at .01
    the columns of E have 2 to 5 samples on PIE10P, and below the labels mean nothing.  At lambda_ = 1e-4 and less most
    fits end with max_iter (UMIST, ORL, COIL20), or at 1e-6 with the first sweep, as the start is stationary within the
    tolerance (PIE10P, ORL, ALLAML).

    References
    ----------
    Han & Kim. Unsupervised simultaneous orthogonal basis clustering feature selection. CVPR 2015.
    The triplet term: Guo, Guo, Kong & He. Unsupervised feature selection with ordinal locality. ICME 2017, equation
    (2), and section 5.1, where SOCFS with it is a baseline.
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        lambda_=1.0,
        lambda2=1.0,
        triplet_weight=0.0,
        n_neighbors=5,
        init=None,
        max_iter=300,
        tol=1e-5,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.lambda_ = lambda_
        self.lambda2 = lambda2
        self.triplet_weight = triplet_weight
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        check_number("lambda_", self.lambda_, 0, open_low=True)
        check_number("lambda2", self.lambda2, 0, open_low=True)
        check_number("triplet_weight", self.triplet_weight, 0)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        (n, d), c = X.shape, self.n_clusters
        shapes = [(d, c), (c, c), (n, c), (n, c)]
        if self.init is not None and [np.shape(array) for array in self.init] != shapes:
            raise ValueError(f"init must be (W0, B0, E0, H0) of shapes {shapes}.")

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        centered = shared(X, without_means)
        L = shared(X, triplet_laplacian, self.n_neighbors) if self.triplet_weight else None
        problem = Problem(centered, self.lambda_, self.lambda2, L, self.triplet_weight)
        if self.init is None:
            start = problem.start(scaled_indicator(shared(X, kmeans_labels, self.n_clusters, seed), self.n_clusters))
        else:
            start = problem.state(*(np.array(array, dtype=float) for array in self.init))
        state, trace = iterate(problem.sweep, start, lambda state: state.value, max_iter=self.max_iter, tol=self.tol)
        if self.lambda_ >= smallest_collapsing_weight(centered, state.E @ state.B.T):
            trace = replace(trace, status=COLLAPSED)
        return Solution(row_norms(state.W), trace, state.E.argmax(axis=1))
