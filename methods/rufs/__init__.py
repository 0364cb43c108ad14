"""RUFS: clusters by robust non-negative factorisation, features by robust regression on them."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import Bound, above, at_least, check_init
from ufs_bench.methods.core.indicators import indicator_change
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import kmeans_labels
from ufs_bench.methods.rufs import paper, released

VARIANTS = {"paper": paper, "released": released}


class RUFS(BaseSelector):
    """Robust clusters and the features that predict them, learned together.

    Minimises over G, F >= 0 and W

        ||X - GF||_21 + nu tr G'LG + alpha ||XW - G||_21 + beta ||W||_21 + zeta/4 ||G'G - I||_F^2,

    G (n_samples, n_clusters) the relaxed cluster indicators, F (n_clusters, n_features) the centres, W (n_features,
    n_clusters) the regression of the indicators on the features, L the local-learning regulariser
    (`methods.rufs.local_learning`).  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    nu : float, default=1.0
        Weight of the local-learning term, 0 or more.
    alpha : float, default=1.0
        Weight of the regression, above 0.
    beta : float, default=1.0
        Weight of its row sparsity, above 0.
    zeta : float, default=1e7
        Weight of the orthogonality of G, in [0, 1e20].
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    n_neighbors : int, default=5
        Nearest neighbours that the graph joins to a sample, 1 or more.  Unused with an array.
    affinity : {"local", "heat", "binary"} or array of shape (n_samples, n_samples), default="local"
        "local": the Gaussian kernel over whole neighbourhoods ("released": over edges only).  Otherwise a weight
        matrix, as in `methods.core.graphs.affinity_graph`, that serves as the kernel on its own edges.
    init : ndarray of shape (n_samples, n_clusters) or tuple of three arrays, default=None
        G0, from which F and W follow as in the default start, or (G0, F0, W0), taken as they are.  G0 and F0 are 0 or
        more.  None: G0 from K-means.
    max_iter : int, default=200
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-5
        "paper": converged when neither the objective nor W's part of it (the alpha and beta terms) changes by more
        than this share in a sweep.  "released": when the spectral norm of the gradients that the blocks ended with is
        at most this share of the Frobenius norm at the start.
    random_state : int, RandomState or None, default=None
        Of K-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    labels_ : ndarray of shape (n_samples,) of int
        The largest entry of each row of G.
    coef_ : ndarray of shape (n_features, n_clusters)
        W.
    indicators_ : ndarray of shape (n_samples, n_clusters)
        G.
    centers_ : ndarray of shape (n_clusters, n_features)
        F.
    indicator_change_ : float
        How far G is from its start, in [0, 1] (`methods.core.indicators.indicator_change`).
    objective_ : float
        "paper": of the formula above, without any smoothing.  "released": the last of `trace_`; rounding moves it by a
        factor, where the features stay: not to be compared between machines, or between commits
        (`docs/methods/rufs.md`).
    trace_ : ndarray
        "paper": the objective, every row norm r smoothed to sqrt(r^2 + 1e-10); never rises, and ends above `objective_`
        by at most ((1 + alpha) n_samples + beta n_features) 1e-5.  "released": with the two terms that the program
        adds, and not smoothed.
    status_ : str
        "collapsed" where W = 0 is optimal for the final G: beta >= alpha max_j ||sum_i x_ij g_i / ||g_i|| ||; all
        scores are then 0.  With "released" the scores stay those of the W it ends with, optimal or not.

    Raises
    ------
    ValueError
        For a parameter out of its range, a start that does not fit, or an affinity that is no weight matrix.

    Notes
    -----
    *Start*: K-means labels, G their indicators with columns of unit norm, F = [(G'G)^-1 G'X]_+, W the ridge regression
    of G on X.

    *One sweep*: W by reweighting, W = S X'(X S X' + (beta/alpha) R)^-1 G with S and R the diagonal matrices of the
    current row norms of W and XW - G (the system is n_features x n_features where that is the smaller side); G by
    projected L-BFGS; F by reweighting the samples and exact minimisation over one row of F at a time.  None of the
    three raises the objective.

    *Differs from the paper*: W and F not by L-BFGS; the objective, not the gradient, decides when to stop, as at zeta =
    1e7 the gradient is that of the penalty.

    *Differs from the released program* ("released" is that program): it adds 0.1 sum(G) and 1e-4 sum_j ||F_:j|| to the
    objective; G starts with entries of 1, far from G'G = I, and F is raised by a constant; the kernel of L is the heat
    graph itself, with zeros on the diagonal and between neighbours that are not neighbours themselves, and its ridge
    is not multiplied by the number of neighbours, so that L may be hundreds of times larger and nu is not comparable;
    the row weights in F's gradient stay those of its first step; a block stops at the first step that lowers its
    function by less than 1e-4, and throws that step away; the outer test is met after a sweep or two, as the penalty
    dominates the first gradient: "converged" says no more, and the ranking still moves.  Here alone the objective's
    last term is the Frobenius norm.

    *Permuted samples or features* give the same selection, ties and rounding aside.  "released": nearly the same, as
    some 1000 quasi-Newton steps of W amplify rounding.

    *Known pathologies*: at zeta = 1e7 the labels are those of K-means at the start, so that nu and the local learning
    hardly matter, and W depends on beta / alpha alone.  Where alpha is large and n_samples < n_features, XW = G is
    nearly exact, and max_iter is reached.  "released": its start is so far from G'G = I that the first steps leave
    K-means behind.  Measured in docs/methods/rufs.md.

    References
    ----------
    Qian & Zhai. Robust unsupervised feature selection. IJCAI 2013: local learning (4), (5), model (7), penalised
    objective (8), gradients (10)-(12), Algorithm 3.
    """

    arrays = {"nd": 10, "mm": 4, "nn": 0.25}  # the last is room for the factors of a sparse Laplacian
    bounds = {"nu": at_least(0), "alpha": above(0), "beta": above(0), "zeta": Bound(0, 1e20)}
    choices = {"variant": tuple(VARIANTS), "affinity": ("local", "heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        nu=1.0,
        alpha=1.0,
        beta=1.0,
        zeta=1e7,
        variant="paper",
        n_neighbors=5,
        affinity="local",
        init=None,
        max_iter=200,
        tol=1e-5,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.nu = nu
        self.alpha = alpha
        self.beta = beta
        self.zeta = zeta
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        (n, d), c, given = X.shape, self.n_clusters, self._given()
        if self.init is not None and len(given) not in (1, 3):
            raise ValueError(f"init must be G0 or (G0, F0, W0); it has {len(given)} arrays.")
        for array, shape, low in zip(given, ((n, c), (c, d), (d, c)), (0, 0, None), strict=False):
            check_init(array, shape, low)

    def _solve(self, X, rng):
        variant, seed, given = VARIANTS[self.variant], int(rng.integers(2**31)), self._given()
        problem = variant.Problem(X, self._laplacian(X, variant), self.nu, self.alpha, self.beta, self.zeta)
        if len(given) == 3:
            G, F, W = given
            start = problem.state(W, G, F)
        elif given:
            start = problem.start(*given)
        else:
            start = problem.start(variant.first(shared(X, kmeans_labels, self.n_clusters, seed), self.n_clusters))
        state, trace = iterate(problem.sweep, start, residual=problem.change, max_iter=self.max_iter, tol=self.tol)
        learned = {
            "coef_": state.W,
            "indicators_": state.G,
            "centers_": state.F,
            "indicator_change_": indicator_change(start.G, state.G),
        }
        return Solution(problem.scores(state), trace, state.G.argmax(axis=1), learned, problem.printed(state))

    def _laplacian(self, X, variant):
        if isinstance(self.affinity, str) and self.affinity == "local":
            return variant.local_laplacian(X, self.n_neighbors)
        return variant.graph_laplacian(X, self.affinity, self.n_neighbors)

    def _given(self):
        """Return () or (G0,) or (G0, F0, W0)."""
        if self.init is None:
            return ()
        given = self.init if isinstance(self.init, tuple) else (self.init,)
        return tuple(np.array(array, dtype=float) for array in given)
