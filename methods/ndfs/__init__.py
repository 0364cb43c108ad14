"""NDFS: non-negative spectral clusters, and the features that predict them."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, between, check_choice, check_init
from ufs_bench.methods.core.graphs import affinity_graph, graph_laplacian
from ufs_bench.methods.core.indicators import indicator_change
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.ridge import smallest_collapsing_weight
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import graph_labels, indicator, kmeans_labels
from ufs_bench.methods.ndfs import paper, released

VARIANTS = {"paper": paper, "released": released}
LIFT = 0.2  # added to every entry of the start: a zero would stay zero


class NDFS(BaseSelector):
    """Clusters that are smooth over a graph and non-negative, and features that predict them, learned together.

    Minimises over F >= 0 and W

        tr F'LF + alpha (||XW - F||_F^2 + beta ||W||_21) + gamma/2 ||F'F - I||_F^2,

    F (n_samples, n_clusters) the relaxed cluster indicators, W (n_features, n_clusters) their regression on the
    features, L the normalised Laplacian of a nearest-neighbour graph.  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    alpha : float, default=1.0
        Weight of the regression against the graph, above 0.
    beta : float, default=1.0
        Weight of the row sparsity, above 0.
    gamma : float, default=1e8
        Weight of the orthogonality of F, in (0, 1e20).
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    n_neighbors : int, default=5
        Nearest neighbours that the graph joins to a sample, 1 or more.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).
    init : "kmeans" or ndarray of shape (n_samples, n_clusters), default=None
        F0, 0 or more; "paper" scales its columns to unit norm.  None: from spectral clustering.  "kmeans": from K-means
        on the samples themselves, by `methods.core.starts.kmeans_labels`.
    max_iter : int, default=300
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        "paper": converged when neither the objective nor the part that alpha multiplies, which is what W minimises,
        changes by more than this share in each of three sweeps on end.  "released": when the traced value does not in
        one.
    random_state : int, RandomState or None, default=None
        Of K-means, and of the entries that "released" starts from.

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
    indicator_change_ : float
        How far F is from its start, in [0, 1] (`methods.core.indicators.indicator_change`).
    objective_ : float
        "paper": of the formula above, without any smoothing.  "released": the last of `trace_`.
    trace_ : ndarray
        "paper": the objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), which is what descends; never rises,
        and ends above `objective_`.  "released": tr F'MF + gamma/4 ||F'F - I||^2 with the M of each sweep.
    status_ : str
        "collapsed" where W = 0 is optimal for the last F: beta >= 2 max_j ||x_j'F||.  The scores are then what the
        smoothing leaves, and rank by ||x_j'F||.

    Raises
    ------
    ValueError
        For a parameter out of its range, an affinity that is no weight matrix over the samples, or more clusters than
        samples with an edge.

    Notes
    -----
    *Start*: labels by K-means on the n_clusters smallest eigenvectors of L, rows of unit norm, or on X; F their one-hot
    indicators plus 0.2, columns of unit norm; the weights of the features those of W = 1.

    *One sweep*: D = diag(1 / (2 s)) from the row norms s of W; then W(F) = (X'X + beta D)^-1 X'F leaves F to lower
    tr F'MF + gamma/2 ||F'F - I||^2 with M F = L F + alpha (F - X W(F)).  Where gamma is large, a step from an F with
    several entries in a row costs more than it gains.  So F is first brought to one entry a row: its columns are turned
    on the sphere by projected L-BFGS, which keeps them orthogonal, and rows change column where that pays.  Then all
    entries are free for 30 steps (`methods.core.indicators`).  No step raises the objective.  D is extrapolated where
    that helps (`methods.core.reweighting`).

    *Differs from the paper*: its rule for F is multiplicative, with all of MF in the denominator and columns scaled
    afterwards; it need not descend, as MF has many negative entries, and at gamma = 1e8 it does not leave its start.

    *Differs from the released program* ("released" is that program): the paper's rule; F starts uniform in (0, 1) with
    the label's entry set to 1, and 0.2 added; W is that of the F before the last step; the graph's bandwidth is the
    square of the median distance; gamma/4 in the traced value, where the step belongs to gamma/2.  Here alone the
    random entries are drawn in the order of the samples' distances to the mean, so that how they are stored does not
    matter.

    *Permuted samples or features* give the same selection, ties and rounding aside.

    *Known pathologies*: the minimum is a local one, and depends on the start.  alpha matters only from where alpha beta
    is a share of tr F'LF; below it steps along alpha move hardly any feature.  Where alpha is a hundredth of gamma,
    rows have several entries, the steps are slow, and max_iter may be reached.  "released": max_iter is reached nearly
    everywhere, and another seed selects other features.  Measured in docs/methods/ndfs.md.

    References
    ----------
    Li, Yang, Liu, Zhou & Lu. Unsupervised feature selection using nonnegative spectral analysis. AAAI 2012.
    """

    arrays = {"nd": 10, "mm": 4, "nn": 0.25}  # the last is room for the factors of a sparse Laplacian
    bounds = {"alpha": above(0), "beta": above(0), "gamma": between(0, 1e20)}
    choices = {"variant": tuple(VARIANTS), "affinity": ("heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=1.0,
        gamma=1e8,
        variant="paper",
        n_neighbors=5,
        affinity="heat",
        init=None,
        max_iter=300,
        tol=1e-6,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        if isinstance(self.init, str):
            check_choice("init", self.init, ("kmeans",), or_array=True)
        else:
            check_init(self.init, (len(X), self.n_clusters), low=0)

    def _solve(self, X, rng):
        variant, seed = VARIANTS[self.variant], int(rng.integers(2**31))
        graph = self.affinity, self.n_neighbors, variant.bandwidth
        if self.init is None or isinstance(self.init, str):
            spectral = (graph_labels, self.n_clusters, seed, affinity_graph, *graph)
            labels = shared(X, *(spectral if self.init is None else (kmeans_labels, self.n_clusters, seed)))
            F = variant.first(indicator(labels, self.n_clusters), X, rng) + LIFT
        else:
            F = np.array(self.init, dtype=float)
        problem = variant.Problem(X, shared(X, graph_laplacian, *graph), self.alpha, self.beta, self.gamma)
        start = problem.start(F)
        loop = {"max_iter": self.max_iter, "tol": self.tol, "residual": problem.change, "patience": variant.patience}
        state, trace = iterate(problem.sweep, start, **loop)
        trace = trace.collapsed_if(self.beta >= smallest_collapsing_weight(X, state.F))
        change = indicator_change(start.F, state.F)
        learned = {"coef_": state.W, "indicators_": state.F, "indicator_change_": change}
        return Solution(row_norms(state.W), trace, state.F.argmax(axis=1), learned, problem.printed(state))
