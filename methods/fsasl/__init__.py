"""FSASL: a sparse projection that keeps how samples code each other, and which are neighbours, both learned with it."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, between
from ufs_bench.methods.core.graphs import laplacian
from ufs_bench.methods.core.linalg import principal_axes
from ufs_bench.methods.core.loop import SETTLED, iterate, ranking_change
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.fsasl import paper, released
from ufs_bench.methods.fsasl.structure import first_codes, first_neighbors

RANK = 1e-10  # share of the largest squared singular value of X above which one counts


class FSASL(BaseSelector):
    """Project the samples by few features so that they code each other as sparsely, and stay with their neighbours.

        min_{W, S, P}  lambda1 (||XW - SXW||_F^2 + 2 sum_i a_i ||s_i||_1)
                       + lambda2 / 2 sum_ij (||W'x_i - W'x_j||^2 p_ij + r p_ij^2) + lambda3 ||W||_21

    subject to W'X'XW = I, a zero diagonal of S, and rows of P on the unit simplex with n_neighbors entries at most.  A
    feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Columns of W, in [1, n_samples]; no more than the rank of X are used.
    lambda1, lambda2 : float, default=1.0
        Weights of codes and neighbours, 0 or more.
    lambda3 : float, default=1.0
        Weight of the sparsity, above 0.
    ratio : float, default=0.01
        Penalty of a code over the one from which on it is zero, in (0, 1).
    n_neighbors : int, default=5
        1 or more; k = min(n_neighbors, n_samples - 1).
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    max_work : float, default=2.7e11
        Only of "paper": above 0.  At most max_work / (n_samples^2 (n_samples + n_features)) sweeps are done, but one:
        2.7e11 are 20 to 40 CPU seconds, 84 sweeps for 814 samples of 4029 features and 7 for 3000 of 784.
    max_iter : int, default=200
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        "paper": converged when in three sweeps on end the objective changes by at most this share, and the scores, as a
        vector, by at most its square root (`methods.core.loop.ranking_change`).  "released": when the objective does
        not in one.  0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    coef_ : ndarray of shape (n_features, m)
        W, up to a rotation, m being n_clusters or the rank of X.
    objective_ : float
        Of the formula above, without any smoothing.  "released": of its regression, with it.
    trace_ : ndarray
        The objective with smoothed ||w_j||; never rises, up to 1e-5 of the codes.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    *Start*: codes of the samples as they are, a heat-kernel graph of their neighbours, and all features weighted alike
    give the first W; its XW gives a_i, `ratio` of the largest |y_i'y_j|, and r, the mean of the weights with which a
    sample has n_neighbors neighbours.  Both are then fixed.

    *A sweep*: W, the smallest generalised eigenvectors of X'LX + lambda3 D and X'X for L of both graphs, with D =
    diag(1 / (2 ||w_j||)) smoothed and extrapolated (`methods.core.reweighting`); S by coordinate descent, sample by
    sample from the last codes; and P, projections on the simplex over the nearest.

    *Cost*: with fewer samples than features the eigenproblem is one of n_samples: with B = X (lambda3 D)^-1 X' the
    vectors XW are the largest of (I + B L)^-1 B.  Otherwise one of n_features.  Codes take O(n_samples^2) a step and
    memory for three arrays of all pairs; the first ones, of whole samples, cost most.  No codes take more than a stated
    work (`methods.fsasl.structure`); beyond some 4000 samples a single visit to all pairs does.  Deterministic.

    *Differs from the paper*: its codes have a penalty of their own in every sweep; here penalties are fixed, so that
    one objective is lowered.  D is smoothed and extrapolated, and a tolerance ends the sweeps.

    *Differs from the released program* ("released" is that program at its defaults): it does a single sweep, and does
    not solve for W under W'X'XW = I.  It takes the n_clusters smallest eigenvectors of lambda1 (I - S)'(I - S) +
    lambda2 L as coordinates Y, S and L of the samples as they are, and ten reweighted ridge regressions of Y on X, with
    lambda3 ||W||_21; the first has all weights 1.  Nothing adapts to the selection.

    *Known pathologies*: W'X'XW = I does not centre: one column of XW is nearly constant where the features can express
    a constant, and a constant feature may be selected for it.  With fewer samples than features XW can be any vectors
    at all, so that the graphs alone choose XW, and W is the sparsest that gives it.  At large lambda3 W has few
    features.  On ORL the ranking still moves where the stop is met: 27 of the first 30 features stay at a tolerance of
    1e-4 of it.  Not convex, and followed from one start (`docs/methods/fsasl.md`).

    References
    ----------
    Du & Shen. Unsupervised feature selection with adaptive structure learning. KDD 2015.
    """

    arrays = {"nd": 6, "mm": 6, "nn": 9}
    bounds = {
        "lambda1": at_least(0),
        "lambda2": at_least(0),
        "lambda3": above(0),
        "ratio": between(0, 1),
        "max_work": above(0),
    }
    choices = {"variant": ("paper", "released")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        lambda1=1.0,
        lambda2=1.0,
        lambda3=1.0,
        ratio=0.01,
        n_neighbors=5,
        variant="paper",
        max_work=2.7e11,
        max_iter=200,
        tol=1e-6,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.lambda3 = lambda3
        self.ratio = ratio
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.max_work = max_work
        self.max_iter = max_iter
        self.tol = tol

    def _solve(self, X, rng):
        spectrum = shared(X, principal_axes, min(X.shape))[0]
        m = min(self.n_clusters, int(np.sum(spectrum > RANK * spectrum[0])))
        if m == 0:
            coef = np.zeros((X.shape[1], 1))
            return Solution(np.zeros(X.shape[1]), learned={"coef_": coef})
        S, P = shared(X, first_codes, self.ratio), shared(X, first_neighbors, self.n_neighbors)
        loop = {"max_iter": self.max_iter, "tol": self.tol}
        if self.variant == "released":
            Y = released.coordinates(laplacian(P), S, self.lambda1, self.lambda2, self.n_clusters)
            problem = released.Problem(X, Y, self.lambda3)
            state, trace = iterate(problem.sweep, problem.start(), **loop)
            return Solution(row_norms(state.W), trace, learned={"coef_": state.W})
        unit = float(np.sqrt(spectrum[:m].mean()))
        weights = self.lambda1, self.lambda2, self.lambda3 / unit
        problem = paper.Problem(X / unit, S, P, m, weights, self.ratio, self.n_neighbors)
        most = max(1, int(min(self.max_work / (len(X) ** 2 * sum(X.shape)), self.max_iter)))
        loop |= {"residual": ranking_change, "patience": SETTLED, "max_iter": min(self.max_iter, most)}
        state, trace = iterate(problem.sweep, problem.start, **loop)
        W = state.W / unit
        return Solution(row_norms(W), trace, learned={"coef_": W}, objective=problem.printed(state))
