"""EUFS: clusters and the features behind them by one sparse, robust factorisation of the data."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, check_init
from ufs_bench.methods.core.graphs import graph_laplacian
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import kmeans_labels, scaled_indicator
from ufs_bench.methods.eufs import admm, penalty


class EUFS(BaseSelector):
    """The features that a robust, sparse factorisation of the data into clusters needs.

    Minimises over U and V

        ||X - UV'||_21 + alpha tr U'LU + beta ||V||_21   subject to   U'U = I, U >= 0,

    U (n_samples, n_clusters) the relaxed cluster indicators, V (n_features, n_clusters), L the normalised Laplacian of
    the nearest-neighbour graph.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
    n_clusters : int, default=2
        In [1, n_samples].
    alpha : float, default=1.0
        Weight of the graph, 0 or more.
    beta : float, default=0.01
        Weight of the row sparsity of V, above 0.
    solver : {"penalty", "admm"}, default="penalty"
        "penalty": ours, for zeta/4 ||U'U - I||_F^2 with growing zeta.  "admm": the paper's.
    mu0 : float, default=1e-3
        Penalty of the first sweep, above 0.  This and `rho` concern "admm" only.
    rho : float, default=1.1
        Growth of the penalty per sweep, 1 or more; it stops at 1e10.
    n_neighbors : int, default=5
        k = min(n_neighbors, n_samples - 1).  Unused where `affinity` is an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph.
    init : ndarray of shape (n_samples, n_clusters), default=None
        U0, 0 or more.  None: indicators of K-means, columns of unit norm.
    max_iter : int, default=300
        Largest number of sweeps, 0 or more; "penalty": at the last zeta (at most 20 at each one before).
    tol : float, default=1e-5
        "penalty": converged when a sweep changes the objective by at most this share.  "admm": when ||Z - U||_F and
        ||X - UV' - E||_F are at most this share of ||U||_F and ||X||_F, Z >= 0 and E being the copies of U and X - UV'.
    random_state : int, RandomState or None, default=None
        Of K-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||v_j||.
    indicators_ : ndarray of shape (n_samples, n_clusters)
        U.
    loadings_ : ndarray of shape (n_features, n_clusters)
        V.
    objective_ : float
        Of the formula above, without any smoothing, at a U that need not be feasible: "penalty" adds zeta/4
        ||U'U - I||_F^2 for the last zeta, 1e7; "admm" takes U whatever the signs of its entries.
    trace_ : ndarray
        "penalty": the penalised objective, row norms r smoothed to sqrt(r^2 + 1e-10), during the last zeta; its first
        entry is where the smaller ones led.  It ends above `objective_` by at most (n_samples + beta n_features) 1e-5.
        "admm": the objective above, whatever the signs of U; free to rise.
    n_iter_ : int
        Sweeps in `trace_`.
    labels_ : ndarray of shape (n_samples,) of int
        argmax of the rows of U.
    status_ : str
        "collapsed" where V = 0 is optimal for the final U: beta >= max_j ||sum_i x_ij u_i / ||x_i|| ||.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    *Start*: U0 as in `init`, V0 = X'U0.

    *"penalty"*: for zeta = 10, 1e2, ..., 1e7, sweeps of two blocks: U by projected L-BFGS; V by reweighting,
    v_j = (U'RU + beta q_j I)^-1 U'R x_j with R = diag(1/||x_i - V u_i||) and q_j = 1/||v_j||, one eigendecomposition of
    U'RU for all features.  Neither raises the objective at the current zeta.  O(n_samples n_features n_clusters) each.
    zeta is not scaled with the data: on data far larger than [0, 1] the last one holds U'U = I less tightly.

    *Differs from the paper*: "penalty" solves the paper's problem by another route than the paper's ADMM.  "admm" takes
    the paper's updates; mu stops at 1e10, and L Z carries alpha/mu.

    *Differs from the released program*: the only public one loses that factor and bounds mu from the wrong side,
    returns V = 0 on all data, and so selects by file order.

    *Permuted samples or features* give the same selection up to rounding, which the growing penalty amplifies.

    *Known pathologies* (`docs/methods/eufs.md` has numbers): V = 0 is optimal from a beta on that most of the usual
    grid exceeds; hence the default.  Below that, ||v_j|| follows ||x_j||: on non-negative, uncentred data the first
    features are those of largest norm, whatever beta and the start.  With "penalty" and alpha = 1e6, a tenth of the
    last zeta, columns of U may vanish: the graph outweighs U'U = I, and `objective_` is mostly penalty.  The ADMM
    freezes V when mu has outgrown the data, within 100 sweeps, and U meets U >= 0 only later: it ends at max_iter with
    negative entries in U, and the objective it reports is no feasible one's.

    References
    ----------
    Wang, Tang & Liu. Embedded unsupervised feature selection. AAAI 2015.
    """

    arrays = {"nd": 10, "nn": 0.25}  # the last is room for the factors of a sparse Laplacian
    bounds = {"alpha": at_least(0), "beta": above(0), "mu0": above(0), "rho": at_least(1)}
    choices = {"solver": ("penalty", "admm"), "affinity": ("heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=0.01,
        solver="penalty",
        mu0=1e-3,
        rho=1.1,
        n_neighbors=5,
        affinity="heat",
        init=None,
        max_iter=300,
        tol=1e-5,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.solver = solver
        self.mu0 = mu0
        self.rho = rho
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        check_init(self.init, (len(X), self.n_clusters), low=0)

    def _solve(self, X, rng):
        seed, L = int(rng.integers(2**31)), shared(X, graph_laplacian, self.affinity, self.n_neighbors)
        if self.init is None:
            U = scaled_indicator(shared(X, kmeans_labels, self.n_clusters, seed), self.n_clusters)
        else:
            U = np.array(self.init, dtype=float)
        if self.solver == "admm":
            problem = admm.Problem(X, L, self.alpha, self.beta, self.mu0, self.rho)
        else:
            problem = penalty.Problem(X, L, self.alpha, self.beta, self.max_iter, self.tol)
        loop = {"max_iter": self.max_iter, "tol": self.tol, "residual": problem.residual}
        state, trace = iterate(problem.sweep, problem.start(U), **loop)
        learned = {"indicators_": state.U, "loadings_": state.V}
        return Solution(problem.scores(state), trace, state.U.argmax(axis=1), learned, problem.printed(state))
