"""UDFS: a sparse projection in which every sample is told apart from its neighbours' scatter."""

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.local_scatter import local_scatter, neighborhood_spectra
from methods.core.loop import iterate
from methods.core.prox import row_norms
from methods.core.shared import shared
from methods.core.udfs_problem import Problem


class UDFS(BaseSelector):
    """Features of the row-sparse projection with the least local scatter that is not discriminative.

        min_W  tr W'MW + gamma ||W||_21   subject to   W'W = I,
        M = X' [sum_i S_i H (H X_i X_i' H + lambda_ I)^-1 H S_i'] X,

    X_i (k + 1, n_features) a sample and its k nearest, H their centring, S_i their places among all samples.  The term
    of neighbourhood i is small where its total scatter is explained by the projection.  A feature's score is the norm
    of its row of W (n_features, n_clusters).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Columns of W, in [1, n_samples].  No more than the features that are not constant are used.
    gamma : float, default=1.0
        Weight of the sparsity, above 0.
    lambda_ : float, default=1.0
        Ridge of the local scatter, above 0, in squared units of X.
    n_neighbors : int, default=5
        1 or more; k = min(n_neighbors, n_samples - 1).
    init : ndarray of shape (n_features, n_clusters), default=None
        W0, with which the first weights are made.  None: see Notes.
    max_iter : int, default=200
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        Stop when a sweep lowers the objective by at most this share; 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||; 0 for a constant feature.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12); never rises.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong shape.

    Notes
    -----
    *A sweep*: with D = diag(1 / (2 sqrt(||w_j||^2 + eps))), gamma tr W'DW touches the second term from above, so that
    the n_clusters smallest eigenvectors of M + gamma D lower the objective; they are the exact minimum for this D.
    Then D from W, extrapolated, and the plain D taken where that would raise the objective
    (`methods.core.reweighting`).

    *Start*: the n_clusters smallest eigenvectors of M + t diag(1 / std_j), with t so small that the second term only
    decides what M leaves open: with fewer samples than features, M is zero on a space of n_features - n_samples
    dimensions at least.

    *Cost*: with fewer samples than features O(n_samples^2 n_features) a sweep, and no (n_features, n_features) array
    (`methods.core.smallest`); otherwise one Cholesky factor of that size.  The neighbourhoods are analysed once per
    data set, for every gamma and lambda_.  Deterministic.

    *Differs from the paper*: it begins with D = I, which leaves the first step to rounding wherever M has a null space:
    the choice then depends on the order of the features.  It does plain sweeps.  A constant feature costs nothing in
    this model, and would be taken first; here it gets score 0.

    *Differs from a widely used program*: that one places the neighbourhoods wrongly in the sum over i, which changes M,
    and takes one parameter for both gamma and lambda_.

    *Permuted features or samples* give the same selection: 100 of 100 on UMIST, ORL, PIE10P, COIL20, ALLAML, PIX10P and
    Isolet for gamma in {.01, 1, 100, 1e6}, min-max scaled.

    *Known pathologies*: at large gamma W ends with one feature per column (20 rows above 1e-6 on UMIST at gamma = 100,
    n_clusters = 20); the others are ranked by what they would lower, not by their part in W.  There the problem has
    many minima, and the start is not in the basin of the best: on UMIST at gamma = 100 it ends at 2028.5, while the
    coordinate vectors of the n_clusters features with the smallest M_jj have 2017.3; so it is from gamma = 1 on PIE10P
    (11.89, 11.25) and ALLAML (2.27, 2.00).  A feature that hardly varies has a small M_jj: of the 100 best on COIL20
    and USPS at gamma = 1, 56 and 72 are among the 100 with the smallest variance.  With fewer samples than features
    a small gamma does not matter (1e-6 and 1e-4 share 99, 97, 89 of 100 on UMIST, PIE10P, ALLAML): W minimises ||W||_21
    on the null space of M, which takes more than 100 sweeps on PIE10P and ALLAML.

    *Convergence*: at gamma = lambda_ = 1 in 7 to 35 sweeps on UMIST, PIE10P, ORL, COIL20, Isolet, ALLAML, PIX10P, USPS
    and MNIST.

    References
    ----------
    Yang, Shen, Ma, Huang & Zhou. l2,1-norm regularized discriminative feature selection for unsupervised learning.
    IJCAI 2011.
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        gamma=1.0,
        lambda_=1.0,
        n_neighbors=5,
        init=None,
        max_iter=200,
        tol=1e-6,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        check_number("gamma", self.gamma, 0, open_low=True)
        check_number("lambda_", self.lambda_, 0, open_low=True)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        shape = X.shape[1], self.n_clusters
        if self.init is not None and np.shape(self.init) != shape:
            raise ValueError(f"init of shape {np.shape(self.init)} must have the shape {shape}.")

    def _solve(self, X, rng):
        varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
        scores = np.zeros(X.shape[1])
        if not len(varying):
            return Solution(scores)
        L = local_scatter(*shared(X, neighborhood_spectra, self.n_neighbors), self.lambda_)
        centered = X[:, varying] - X[:, varying].mean(axis=0)  # the same M, with less rounding
        problem = Problem(centered, L, min(self.n_clusters, len(varying)), self.gamma)
        W = None if self.init is None else np.array(self.init, dtype=float)[varying]
        state, trace = iterate(
            problem.sweep, problem.start(W), lambda state: state.value, max_iter=self.max_iter, tol=self.tol
        )
        scores[varying] = row_norms(state.W)
        return Solution(scores, trace)
