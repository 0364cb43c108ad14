"""JGUFS: a graph, clusters that are smooth over it, and the features that predict them, learned together."""

from dataclasses import replace

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.graphs import affinity_graph, knn_graph
from methods.core.local_learning import mean_distance
from methods.core.loop import COLLAPSED, iterate, largest_change
from methods.core.optimal_graph import row_stochastic_graph
from methods.core.prox import row_norms
from methods.core.reweighting import log_scale
from methods.core.ridge import WeightedRidge, smallest_collapsing_weight
from methods.core.shared import shared
from methods.core.starts import graph_labels, indicator, spectral_labels
from methods.jgufs.paper import Problem
from methods.jgufs.released import ReleasedProblem, signed_eigenvectors

LIFT = 0.2  # of every entry of the start
WARM_SWEEPS, WARM_TOL = 5, 1e-3  # for each smaller lambda


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
        Weight of the orthogonality of F, above 0.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
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
        argmax of the rows of F.
    trace_ : ndarray
        "paper": the objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), at the full lambda; never rises.
        "released": what the program prints, which may rise.
    status_ : str
        "collapsed" where W = 0 is optimal for the last F: gamma >= 2 max_j ||x_j'F||.  The scores are then what the
        smoothing leaves, and rank by ||x_j'F||.

    Raises
    ------
    ValueError
        For a parameter out of its range, for an affinity that is no weight matrix over the samples, and for more
        clusters than samples with an edge.

    Notes
    -----
    *Start*: labels by K-means on the n_clusters smallest eigenvectors of the normalised Laplacian, rows of unit norm;
    F their one-hot indicators plus 0.2, columns of unit norm; the weights of the features those of W = 1.

    *One sweep*: S, then F, then W.  As tr F'L_S F = 1/2 sum_ij s_ij d_ij with d_ij = ||f_i - f_j||^2, the objective
    is a sum over the rows of S, and row i is exactly the projection of a_i - (alpha/4) d_i on the simplex.  For D =
    diag(1 / (2 s)), s_j = ||w_j|| smoothed, the best W is W(F) = (X'X + gamma D)^-1 X'F; it leaves F to minimise

        tr F'RF + lambda/2 ||F'F - I||^2,   R F = alpha L_S F + beta (F - X W(F)),

    with half the gradient RF + lambda F(F'F - I): 30 steps of projected L-BFGS, R never formed.  Then W(F), and D from
    it, extrapolated where that does not raise the objective (`methods.core.reweighting`).

    *Path*: up to five sweeps for each lambda = sqrt(beta) (1, 10, 100, ...) below the full one, each from the last; at
    the full lambda alone F would not leave its start.  They count in neither `trace_` nor `n_iter_`.

    *Cost*: O(n_samples^2) and one Cholesky factorisation of the smaller side of X per sweep.  S is found a block of
    rows at a time and kept sparse.

    *Differs from the paper*: its (4) and (5) have alpha/2 d_i where the objective says alpha/4; its R, in (11), has
    2 XGX', not the gradient once W is eliminated; F by a multiplicative rule there, (14), whose columns are scaled
    afterwards; A's rows do not sum to 1 (but to 3 to 14 on UMIST and PIE10P), so that ||S - A||^2
    is mostly a constant that S cannot lower.

    *Differs from the released program* ("released" is that program): all of these; besides, S, made symmetric, takes
    the place of A in every sweep; F starts from eigenvectors of D - A, negative entries included; D starts as I; the
    bandwidth of the graph is the mean of all distances; the traced value has the last sweep's Laplacian and no penalty.
    Here alone: the eigenvectors are signed by their sum of cubes, and turned as in `methods.core.spectral` where the
    graph is not connected.

    *Permuted samples or features* give nearly the same selection: the quasi-Newton steps of F amplify rounding, and so
    the path may end in another minimum.  On PIE10P 97 and 98 of 100 features stay, 1 of 210 labels changes, and the
    objective differs by 1e-3.  "released": the same, ties and rounding aside.

    *Known pathologies* (min-max scaled data, defaults): a lower objective need not mean better clusters.  On UMIST
    the path ends at 9.83, where lambda alone ends at 10.21 after 200 sweeps with the labels of the start, and 251 of
    575 labels change for the worse: the accuracy of the learned labels falls from 66 to 51 %.  On PIE10P it rises
    from 48 to 63 %.  At gamma of 100 and more W collapses on most data.  "released": at lambda = 1e7 no entry of F
    moves by more than 4e-6 in 200 sweeps (UMIST, PIE10P), so that its clusters are the signed eigenvectors that it
    starts from, 40 to 50 % of their entries still negative; what goes on changing is A, and max_iter is reached.  W is
    then a regression of that start: steps along alpha and beta move hardly any selected set on seven data sets (the
    audit of ``experiment=jgufs_quick``), gamma alone does.

    References
    ----------
    Peng, Zhang, Kong, Nie & Cichocki. Joint structured graph learning and unsupervised feature selection. ICASSP 2019:
    model (2), S (3)-(5), W (6)-(9), F (10)-(14), Algorithm 1.
    """

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
        for name in ("alpha", "beta", "gamma", "lambda_"):
            check_number(name, getattr(self, name), 0, open_low=True)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        if self.variant not in ("paper", "released"):
            raise ValueError(f"variant={self.variant!r} must be 'paper' or 'released'.")
        if self.init is not None:
            F, shape = np.asarray(self.init, dtype=float), (len(X), self.n_clusters)
            negative = self.variant == "paper" and (F < 0).any()
            if F.shape != shape or not np.isfinite(F).all() or negative:
                raise ValueError(f"init of shape {F.shape} must be finite, 0 or more and of shape {shape}.")

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        solve = self._solve_released if self.variant == "released" else self._solve_paper
        state, trace = solve(X, seed)
        if self.gamma >= smallest_collapsing_weight(X, state.F):
            trace = replace(trace, status=COLLAPSED)
        return Solution(row_norms(state.W), trace, state.F.argmax(axis=1))

    def _solve_paper(self, X, seed):
        A, labels = self._graph_and_labels(X, seed)
        F = np.array(self.init, dtype=float) if labels is None else indicator(labels, self.n_clusters) + LIFT
        lengths = np.linalg.norm(F, axis=0)
        F = F / np.where(lengths > 0, lengths, 1.0)
        ridge, log_s = WeightedRidge(X), None
        for lambda_ in self._path() if self.max_iter else [self.lambda_]:
            last = lambda_ == self.lambda_
            problem = Problem(X, A, self.alpha, self.beta, self.gamma, lambda_, ridge)
            state, trace = iterate(
                problem.sweep,
                problem.start(F, log_s),
                lambda state: state.value,
                residual=largest_change,
                max_iter=self.max_iter if last else WARM_SWEEPS,
                tol=self.tol if last else max(self.tol, WARM_TOL),
            )
            F, log_s = state.F, log_scale(state.W)
        return state, trace

    def _graph_and_labels(self, X, seed):
        """A, and the labels to start from; None for these where the caller gave F0."""
        c, arguments = self.n_clusters, (self.affinity, self.n_neighbors)
        if isinstance(self.affinity, str):
            A = shared(X, row_stochastic_graph, *arguments)
            return A, shared(X, graph_labels, c, seed, affinity_graph, *arguments) if self.init is None else None
        A = row_stochastic_graph(X, *arguments)
        return A, spectral_labels(X, affinity_graph(X, *arguments), c, seed) if self.init is None else None

    def _path(self):
        """sqrt(beta) (1, 10, ...) up to a third of lambda, and lambda."""
        smallest = np.sqrt(self.beta)
        count = max(0, int(np.ceil(np.log10(self.lambda_ / 3 / smallest))))
        return [*(smallest * 10.0 ** np.arange(count)), self.lambda_]

    def _solve_released(self, X, _seed):
        c, graph = self.n_clusters, (released_graph, self.affinity, self.n_neighbors)
        if self.init is not None:
            F = np.array(self.init, dtype=float)
        elif isinstance(self.affinity, str):
            F = shared(X, signed_eigenvectors, c, *graph)
        else:
            F = signed_eigenvectors(X, c, *graph)
        A = shared(X, *graph) if isinstance(self.affinity, str) else released_graph(X, *graph[1:])
        problem = ReleasedProblem(X, self.alpha, self.beta, self.gamma, self.lambda_)
        return iterate(
            problem.sweep, problem.start(F, A), lambda state: state.value, max_iter=self.max_iter, tol=self.tol
        )


def released_graph(X, affinity, n_neighbors):
    """The neighbourhood graph, its bandwidth the mean of all distances."""
    if not isinstance(affinity, str) or affinity != "heat":
        return affinity_graph(X, affinity, n_neighbors)
    return knn_graph(X, n_neighbors, "heat", bandwidth=mean_distance(X) or None)
