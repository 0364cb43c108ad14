"""UDFS: a sparse projection in which every sample is told apart from its neighbours' scatter."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, check_init
from ufs_bench.methods.core.loop import iterate_best
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import TRIAL_SWEEPS
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.udfs import paper, released
from ufs_bench.methods.udfs.local_scatter import local_scatter, neighborhood_spectra

VARIANTS = {"paper": paper, "released": released}


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
        Columns of W, in [1, n_samples].  No more than features ("paper": that are not constant) are used.
    gamma : float, default=1.0
        Weight of the sparsity, above 0.
    lambda_ : float, default=1.0
        Ridge of the local scatter, above 0, in squared units of X.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    n_neighbors : int, default=5
        1 or more; k = min(n_neighbors, n_samples - 1).
    init : ndarray of shape (n_features, n_clusters), default=None
        W0, with which the first weights are made, in the place of all starts.  None: see Notes.
    max_iter : int, default=500
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-7
        "paper": converged when in three sweeps on end the objective changes by at most this share, and the scores, as a
        vector, by at most its square root (`methods.core.loop.ranking_change`).  "released": when the objective does
        not in one.  0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||; "paper": 0 for a constant feature.
    coef_ : ndarray of shape (n_features, n_clusters)
        W, up to a rotation; fewer columns where fewer features vary.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), from the start that is kept; never rises, and
        ends above `objective_` by at most gamma n_features 1e-6.  "released": 2.2e-16 in the place of 1e-12.

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

    *Starts*: (a) the n_clusters smallest eigenvectors of M + t diag(1 / std_j), with t so small that the second term
    only decides what M leaves open: with fewer samples than features, M is zero on a space of n_features - n_samples
    dimensions at least.  (b) The W for weights that all but confine it to the m features with the smallest M_jj,
    m = 1, 2 and 8 times n_clusters.  Each does 10 sweeps, and the lowest goes on.  Where it ends, a further start has
    weights no more than about 1 / .3 apart, and so on while that lowers the objective by 1e-4 of it
    (`methods.core.reweighting`).

    *Cost*: with fewer samples than features O(n_samples^2 n_features) a sweep, and no (n_features, n_features) array
    (`methods.core.smallest`); otherwise one Cholesky factor of that size.  The neighbourhoods are analysed once per
    data set, for every gamma and lambda_.  Deterministic.

    *Differs from the paper*: the paper begins with D = I, which leaves the first step to rounding wherever M has a null
    space, so that the choice depends on the order of the features; and it does plain sweeps.  A constant feature costs
    nothing in this model, and would be taken first; here it gets score 0.

    *Differs from the released program* ("released" is that program): it begins with D = I and does 20 plain sweeps, of
    which the first is the start here; and it leaves constant features in, which cost nothing and come first where M is
    zero for nothing else.  It has gamma and lambda_ as the paper has them, lambda_ = 1000 unless it is told.  Where M
    leaves the start open (see below), here alone it is start (a), so that neither the order of the features nor the
    machine decides.

    *Differs from a widely used program*, which is not the authors': that one places the neighbourhoods wrongly in the
    sum over i, which changes M, and takes one parameter for both gamma and lambda_.

    *Known pathologies*: at large gamma W ends with one feature per column; the others are ranked by what they would
    lower, not by their part in W.  The problem has many minima, and another start may end lower
    (`docs/methods/udfs.md`).  A feature that hardly varies has a small M_jj and is preferred, the more so the lower the
    objective.  With fewer samples than features a small gamma does not matter: W then minimises ||W||_21 on the null
    space of M.  "released": with n_features >= n_samples + n_clusters, equal weights ask for n_clusters orthonormal
    vectors of that null space, and any will do.  The program takes those that LAPACK happens to return, on another
    machine others, and 20 sweeps do not forget them.

    References
    ----------
    Yang, Shen, Ma, Huang & Zhou. l2,1-norm regularized discriminative feature selection for unsupervised learning.
    IJCAI 2011.
    """

    arrays = {"nd": 8, "mm": 4}
    bounds = {"gamma": above(0), "lambda_": above(0)}
    choices = {"variant": tuple(VARIANTS)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        gamma=1.0,
        lambda_=1.0,
        variant="paper",
        n_neighbors=5,
        init=None,
        max_iter=500,
        tol=1e-7,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.lambda_ = lambda_
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        check_init(self.init, (X.shape[1], self.n_clusters))

    def _solve(self, X, rng):
        variant = VARIANTS[self.variant]
        kept, data = variant.features(X)
        scores, coef = np.zeros(X.shape[1]), np.zeros((X.shape[1], min(self.n_clusters, len(kept))))
        if not len(kept):
            return Solution(scores, learned={"coef_": coef})
        L = local_scatter(*shared(X, neighborhood_spectra, self.n_neighbors), self.lambda_)
        problem = variant.Problem(data, L, coef.shape[1], self.gamma)
        own = self.init is not None
        starts = [problem.state(np.array(self.init, dtype=float)[kept])] if own else problem.starts()
        state, trace = iterate_best(
            problem.sweep, starts,
            trial=TRIAL_SWEEPS, restart=None if own else problem.restart,
            max_iter=self.max_iter, tol=self.tol, residual=variant.change, patience=variant.patience,
        )  # fmt: skip
        scores[kept], coef[kept] = row_norms(state.W), state.W
        return Solution(scores, trace, learned={"coef_": coef}, objective=problem.printed(state))
