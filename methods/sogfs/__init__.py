"""SOGFS: a sparse projection, and a graph with as many components as clusters that is learned with it."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, check_init, check_number, whole
from ufs_bench.methods.core.loop import SETTLED, iterate, iterate_best, ranking_change
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import TRIAL_SWEEPS
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.smallest import varying_centered
from ufs_bench.methods.sogfs.problem import Problem, first_graph, n_components

SEARCHES, SEARCH_SWEEPS = 30, 3  # weights of the indicators that are tried, at most, and the sweeps with each
SMALLEST = 1e-12  # share of the data's mean square below which no weight of a graph goes


class SOGFS(BaseSelector):
    """Project the samples by few features so that they stay near their neighbours in a graph, which is learned.

        min_{W, S, F}  sum_ij (||W'x_i - W'x_j||^2 s_ij + alpha s_ij^2) + gamma ||W||_21 + 2 lambda_ tr F'L_S F

    subject to W'W = I, F'F = I, rows of S on the unit simplex, and no loops in S; L_S = D - (S + S') / 2.  For a large
    lambda_ S falls into n_clusters components.  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Columns of F, in [1, n_samples].
    n_columns : int or None, default=None
        Of W, 1 or more; as many as features vary at most.  None: n_clusters.
    gamma : float, default=1.0
        Weight of the sparsity, above 0.
    alpha : float or None, default=None
        Weight against a graph with few edges, above 0.  None: by the number of neighbours (see Notes).
    lambda_ : float or None, default=None
        Weight of the components, above 0.  None: searched (see Notes).
    n_neighbors : int, default=5
        1 or more; k = min(n_neighbors, n_samples - 2).
    init : ndarray of shape (n_features, m), default=None
        W0 in the place of all starts, m being the columns of W.
    max_iter : int, default=300
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        Converged when in three sweeps on end the objective changes by at most this share, and the scores, as a vector,
        by at most its square root (`methods.core.loop.ranking_change`); 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||; 0 for a constant feature.
    coef_ : ndarray of shape (n_features, m)
        W, up to a rotation.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        F.
    graph_ : csr_array of shape (n_samples, n_samples)
        S.
    alpha_, lambda_weight_ : float
        The two weights.
    n_components_ : int
        Of S.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), for the last lambda_; never rises, and ends
        above `objective_` by at most gamma n_features 1e-6.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong shape.

    Notes
    -----
    *A sweep*: W, the smallest eigenvectors of 2 X'L_S X + gamma D, D = diag(1 / (2 sqrt(||w_j||^2 + eps))), with D
    extrapolated and the plain one taken where that would raise the objective (`methods.core.reweighting`); F, the
    smallest eigenvectors of L_S; then S, row by row the projection of -(||W'x_i - W'x_j||^2 + lambda_ ||f_i - f_j||^2)
    / (2 alpha) on the simplex (`methods.core.optimal_graph`).  Each is exact for the others.

    *alpha* is the mean over the samples of the largest weight with which distances in all features have k neighbours,
    times m / n_features, the share of the distances that a projection on m of n_features directions keeps.  *lambda_*
    begins there, and is doubled where S has fewer components than n_clusters after a few sweeps, halved where it has
    more, by ever smaller factors once it has been passed.  Both are then fixed.

    *Starts* are those of UDFS: without sparsity, and all but confined to the features with the least X'L_S X; each does
    some sweeps, the lowest goes on.  Where it ends, a further start has weights that differ less.

    *Cost*: with fewer samples than features O(n_samples^2 n_features) a sweep, and no (n_features, n_features) array;
    otherwise one Cholesky factor of that size; and O(n_samples^2 (m + n_clusters)) for the graph.  Deterministic.

    *Differs from the paper*: the eigenproblem there is that of X'L_S X + gamma D, which minimises the printed
    objective for 2 gamma; here it is that of the formula.  The weight alpha of the paper is one for every sample, from
    distances of the present projection; here it is fixed, so that every sweep lowers one objective.  D is smoothed and
    extrapolated.  A constant feature costs nothing in this model, and would be taken first; here it gets score 0.  No
    program of the authors is known to us.

    *Known pathologies*: the objective wants a *small* projection, so that features that hardly vary are the cheapest.
    With fewer samples than features there is a space on which X'L_S X is zero, of n_features - n_samples + 1 dimensions
    at least: for a small gamma W lies there, XW = 0, and S follows F alone (`docs/methods/sogfs.md`).  At large gamma W
    has one feature per column.  Many minima.  On ORL the ranking still moves where the stop is met: 27 of the first 30
    features stay at a tolerance of 1e-4 of it.

    References
    ----------
    Nie, Zhu & Li. Unsupervised feature selection with structured graph optimization. AAAI 2016.
    """

    arrays = {"nd": 8, "mm": 5, "nn": 1}
    bounds = {"gamma": above(0)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        n_columns=None,
        gamma=1.0,
        alpha=None,
        lambda_=None,
        n_neighbors=5,
        init=None,
        max_iter=300,
        tol=1e-6,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_columns = n_columns
        self.gamma = gamma
        self.alpha = alpha
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        if self.n_columns is not None:
            whole(1).check("n_columns", self.n_columns, X)
        for name in ("alpha", "lambda_"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0, open_low=True)
        check_init(self.init, (X.shape[1], self.n_columns or self.n_clusters))

    def _solve(self, X, rng):
        kept, data = varying_centered(X)
        m = min(self.n_columns or self.n_clusters, max(len(kept), 1))
        scores, coef = np.zeros(X.shape[1]), np.zeros((X.shape[1], m))
        S, weight = shared(X, first_graph, self.n_neighbors)
        alpha = self.alpha or max(
            weight * m / max(len(kept), 1), SMALLEST * float((data**2).mean() if len(kept) else 1)
        )
        lambda_ = self.lambda_ or alpha
        learned = {"coef_": coef, "graph_": S.copy(), "alpha_": alpha, "lambda_weight_": lambda_}
        learned |= {"embedding_": np.eye(len(X), self.n_clusters), "n_components_": n_components(S)}
        if not len(kept):
            return Solution(scores, learned=learned)
        problem = Problem(data, S, self.n_clusters, m, alpha, self.gamma, lambda_)
        loop = {"tol": self.tol, "residual": ranking_change, "patience": SETTLED}
        starts = problem.starts()
        if self.init is not None:
            starts = [problem.state(np.asarray(self.init, dtype=float)[kept][:, :m], starts[0].F, S)]
        if self.lambda_ is None:
            starts = [_with_components(problem, starts, loop)]
        restart = None if self.init is not None else problem.restart
        loop |= {"trial": TRIAL_SWEEPS, "restart": restart, "max_iter": self.max_iter}
        state, trace = iterate_best(problem.sweep, starts, **loop)
        scores[kept], coef[kept] = row_norms(state.W), state.W
        learned |= {"embedding_": state.F, "graph_": state.S, "lambda_weight_": problem.lambda_}
        learned["n_components_"] = n_components(state.S)
        return Solution(scores, trace, learned=learned, objective=problem.printed(state))


def _with_components(problem, starts, loop):
    """Return a state whose graph has as many components as clusters, where a weight of the indicators leads to one."""
    state, _ = iterate_best(problem.sweep, starts, trial=SEARCH_SWEEPS, max_iter=SEARCH_SWEEPS, **loop)
    step, before = np.log(2.0), 0
    for _ in range(SEARCHES):
        missing = int(np.sign(problem.n_clusters - n_components(state.S)))
        if missing == 0:
            break
        if missing == -before:  # passed
            step /= 2
        before = missing
        state = problem.with_weight(state, problem.lambda_ * np.exp(missing * step))
        state, _ = iterate(problem.sweep, state, max_iter=SEARCH_SWEEPS, **loop)
    return problem.with_weight(state, problem.lambda_)
