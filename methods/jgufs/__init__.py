"""JGUFS: a graph, clusters that are smooth over it, and the features that predict them, learned together."""

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, between, check_init
from ufs_bench.methods.core.indicators import indicator_change
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.ridge import smallest_collapsing_weight
from ufs_bench.methods.jgufs import paper, released

VARIANTS = {"paper": paper, "released": released}


class JGUFS(BaseSelector):
    """A graph that adapts to the clusters, clusters that are smooth over it, and features that predict them.

    Minimises over S, F >= 0 and W

        ||S - A||_F^2 + alpha tr F'L_S F + beta (||XW - F||_F^2 + gamma ||W||_21) + lambda/2 ||F'F - I||_F^2,

    rows of S on the unit simplex: A (n_samples, n_samples) the nearest-neighbour graph with rows scaled to sum 1, L_S =
    D - (S + S')/2, F (n_samples, n_clusters) the relaxed cluster indicators, W (n_features, n_clusters) their
    regression on the features.  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    alpha : float, default=1.0
        Weight of the smoothness over the graph, above 0.
    beta : float, default=1.0
        Weight of the regression, above 0.
    gamma : float, default=1.0
        Weight of the row sparsity, above 0.
    lambda_ : float, default=1e7
        Weight of the orthogonality of F, in (0, 1e20).
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    n_neighbors : int, default=5
        Nearest neighbours that the graph joins to a sample, 1 or more.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of A (`methods.core.graphs.affinity_graph`).
    init : ndarray of shape (n_samples, n_clusters), default=None
        F0; "paper": 0 or more, columns are scaled to unit norm; "released": taken as it is.  None: see Notes.
    max_iter : int, default=200
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        "paper": converged when neither the objective nor the part that beta multiplies, which is what W minimises,
        changes by more than this share in a sweep.  "released": when the traced value does not.
    random_state : int, RandomState or None, default=None
        Of K-means.  "released" has no random part.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    labels_ : ndarray of shape (n_samples,) of int
        The largest entry of each row of F.
    coef_ : ndarray of shape (n_features, n_clusters)
        W.
    indicators_ : ndarray of shape (n_samples, n_clusters)
        F.
    graph_ : csr_array of shape (n_samples, n_samples)
        S; "released": made symmetric.
    indicator_change_ : float
        How far F is from its start, in [0, 1] (`methods.core.indicators.indicator_change`).
    objective_ : float
        "paper": of the formula above, without any smoothing.  "released": the last of `trace_`.
    trace_ : ndarray
        "paper": the objective, ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), at the full lambda; never rises, and ends
        above `objective_` by at most beta gamma n_features 1e-6.  "released": what the program prints, which may rise.
    status_ : str
        "collapsed" where all samples end in one cluster, or W = 0 is optimal for the last F: gamma >= 2 max_j
        ||x_j'F||.  The scores are then what the smoothing leaves, and rank by ||x_j'F||.

    Raises
    ------
    ValueError
        For a parameter out of its range, an affinity that is no weight matrix over the samples, or more clusters than
        samples with an edge.

    Notes
    -----
    *Start*: labels by K-means on the n_clusters smallest eigenvectors of the normalised Laplacian, rows of unit norm;
    F their one-hot indicators plus 0.2, columns of unit norm; the weights of the features those of W = 1.  A second
    start comes from there by up to five sweeps for each lambda = sqrt(beta) (1, 10, 100, ...) below the full one, which
    count in neither `trace_` nor `n_iter_`.  The fit is the one whose objective ends lower: the second is run first,
    the other left where 30 times the largest gain of its last three sweeps would not bring it there.

    *One sweep*: row i of S is the projection of a_i - (alpha/4) d_i on the simplex, d_i the squared distances of f_i to
    the rows of F.  With W eliminated as in NDFS, F has to lower tr F'RF + lambda/2 ||F'F - I||^2 for R F = alpha L_S F
    + beta (F - X W(F)) (`methods.core.indicators`).  Then W, reweighted (`methods.core.reweighting`).

    *Differs from the paper*: its (4) and (5) have alpha/2 d_i where the objective says alpha/4; its R, in (11), has
    2 XGX', not the gradient once W is eliminated; F by a multiplicative rule there, (14), whose columns are scaled
    afterwards; A's rows do not sum to 1, so that ||S - A||^2 is mostly a constant that S cannot lower.

    *Differs from the released program* ("released" is that program): all of these; besides, S, made symmetric, takes
    the place of A in every sweep; F starts from eigenvectors of D - A, negative entries included; D starts as I; the
    bandwidth of the graph is the mean of all distances; the traced value has the last sweep's Laplacian and no penalty.
    Here alone the eigenvectors are signed by their sum of cubes, and turned as in `methods.core.spectral` where the
    graph is not connected.

    *Permuted samples or features* give nearly the same selection: the quasi-Newton steps of F amplify rounding, and so
    a run may end in another minimum.  "released": the same, ties and rounding aside.

    *Known pathologies*: a lower objective need not mean better clusters.  A large gamma collapses W.  "released": at
    lambda = 1e7 F never leaves the signed eigenvectors that it starts from, so that alpha and beta are all but inert.
    Measured in docs/methods/jgufs.md.

    References
    ----------
    Peng, Zhang, Kong, Nie & Cichocki. Joint structured graph learning and unsupervised feature selection. ICASSP 2019:
    model (2), S (3)-(5), W (6)-(9), F (10)-(14), Algorithm 1.
    """

    bounds = {"alpha": above(0), "beta": above(0), "gamma": above(0), "lambda_": between(0, 1e20)}
    choices = {"variant": tuple(VARIANTS), "affinity": ("heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=1.0,
        gamma=1.0,
        lambda_=1e7,
        variant="paper",
        n_neighbors=5,
        affinity="heat",
        init=None,
        max_iter=200,
        tol=1e-6,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.lambda_ = lambda_
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        check_init(self.init, (len(X), self.n_clusters), low=0 if self.variant == "paper" else None)

    @property
    def arrays(self):
        """The arrays that `BaseSelector.memory` counts: a sparse Laplacian and its factors.

        The learned graph may fill up: it is counted by its edges, and for "released" as an array, too.
        """
        return {"nd": 10, "mm": 4, "nn": 2.5 if self.variant == "released" else 1.0}

    @property
    def graph_(self):
        """The learned graph S, made sparse when it is first read, as that takes longer than a sweep of "released"."""
        if not isinstance(self._graph, sparse.csr_array):
            self._graph = sparse.csr_array(self._graph)
        return self._graph

    def _solve(self, X, rng):
        variant, seed = VARIANTS[self.variant], int(rng.integers(2**31))
        graph = self.affinity, self.n_neighbors, variant.bandwidth
        F = variant.first(X, self.n_clusters, seed, *graph) if self.init is None else np.array(self.init, dtype=float)
        weights = self.alpha, self.beta, self.gamma, self.lambda_
        problem = variant.Problem(X, variant.adjacency(X, *graph), *weights)
        first = problem.start(F)
        state, trace = None, None
        for start in problem.starts(F, self.tol) if self.max_iter else [first]:
            residual = problem.change if state is None else problem.unless_behind(state.value)
            end = iterate(problem.sweep, start, residual=residual, max_iter=self.max_iter, tol=self.tol)
            if state is None or end[0].value < state.value:
                state, trace = end
        labels = state.F.argmax(axis=1)
        one_cluster = self.n_clusters > 1 and np.ptp(labels) == 0
        trace = trace.collapsed_if(one_cluster or self.gamma >= smallest_collapsing_weight(X, state.F))
        learned = {
            "coef_": state.W,
            "indicators_": state.F,
            "_graph": state.S,
            "indicator_change_": indicator_change(first.F, state.F),
        }
        return Solution(row_norms(state.W), trace, labels, learned, problem.printed(state))
