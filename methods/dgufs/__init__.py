"""Dependence guided unsupervised feature selection (DGUFS)."""

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, between, whole
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.dgufs import kernels, normalized, released

SOLVERS = {"released": released, "normalized": normalized}


class DGUFS(BaseSelector):
    """Features and clusters that depend on each other and on the neighbourhood graph.

    S is the 0/1 graph of the nearest samples, L an (n, n) matrix that says which samples share a cluster, s a set of
    m = `n_features_to_select` features, X_s their columns; H subtracts column means.  The authors' program, for eq. (5)
    of [1]_, over L with entries in {0, 1} and a unit diagonal::

        "released"    min_{L, s}  - beta <S, L> - (1 - beta) <H X_s X_s' H, L> / (n - 1)^2 + alpha rank(L)

    A model of our own, over projectors L = GG' on `n_clusters` non-empty clusters (G_ik = 1 / sqrt(n_k) for the n_k
    samples of cluster k, else 0), with ``S_n = D^-1/2 S D^-1/2`` and ``D = diag(S 1)``::

        "normalized"  min_{L, s}  - beta <S_n, L> / ||S_n||_F - (1 - beta) <H X_s X_s' H, L> / ||H X_s X_s' H||_F

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        m.  It is part of the model: every size needs a fit of its own.
    n_clusters : int, default=2
        In [1, n_samples].  "released" uses it for the labels only.
    alpha : float, default=10.0
        Weight of the rank, above 0.  "normalized" has no such term and ignores it.
    beta : float, default=0.5
        In (0, 1): weight of the graph against the features.
    solver : {"released", "normalized"}, default="released"
    n_neighbors : int, default=5
        Neighbours of a sample, itself among them: k = min(n_neighbors, n_samples).
    n_starts : int, default=6
        "normalized" only; 1 or more.  The best of so many starts is kept.  The first two are spectral, of the graph and
        of both terms over all features, and involve no chance; more come from random centres.
    init : dict, array or None, default=None
        "released": a dict with any of "Y", "Z", "Lambda1" (n_samples, n_features), "L", "M", "Lambda2" (n_samples,
        n_samples), L symmetric, and "mu" above 0; what is missing is zero (mu: 1e-6).
        "normalized": labels (n_samples,), each of 0, ..., n_clusters - 1 present; replaces all starts.
    max_iter : int, default=100
        Sweeps; 1 or more.
    tol : float, default=0.0
        "released": stop when no entry of Z - Y and L - M exceeds it; 0 does all `max_iter` sweeps, as the program does.
        "normalized": stop when a sweep lowers the objective by at most this share; 0: when it changes nothing.
    random_state : int, Generator or None, default=None
        "normalized" with n_starts > 2 only.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        In [1, 2] for a selected feature, at most 1 for any other.  "released": 1 + ||y_j|| / max ||y||, and 0.
        "normalized": 1 + r_j and r_j, r_j the share of the feature's variance that is between the clusters.
    labels_ : ndarray of shape (n_samples,) of int
        "released": argmax_j |V_ij| sqrt(xi_j) over the n_clusters leading eigenpairs (xi, V) of L.
        "normalized": the clusters, numbered by first appearance; none is empty.
    indicators_ : ndarray of shape (n_samples, q)
        L = indicators_ @ indicators_.T.  "released": eigenvectors times the roots of their eigenvalues, q = rank(L).
        "normalized": G, q = n_clusters; column k belongs to the label k.
    trace_ : ndarray
        The objective.  "released" does not lower it steadily: L is not binary on the way.
    status_ : str
        "collapsed": all samples have one label although n_clusters > 1, or no feature depends on the labels.

    Raises
    ------
    ValueError
        For parameters out of range, and for an `init` of the wrong form.

    Notes
    -----
    *Differs from the paper ("released").*  Algorithm 2 as printed overflows within a few sweeps.  The program rescales
    the off-diagonal entries of HY'ZH, and of the matrix before the rank step, to [0, 1] with a zero diagonal in each
    sweep; updates Z before Y, and L before M; puts an l0 penalty of weight .005 on M (section 4.3); and does 100 sweeps
    with mu = 1e-6 * 1.1^t.  Ours computes the same numbers, to rounding.  Of features of equal norm the first goes.

    *Known pathologies ("released").*  From its zero start Y keeps what X - Z drops, the m features of **smallest
    norm**, and over the paper's grid nothing changes that: the selection is that of `min_norm`, all samples get one
    label, and the fit is "collapsed" (docs/methods/dgufs.md).  At an alpha far below that grid the iterates grow until
    they overflow.  Eq. (5) itself is degenerate: S >= 0, so one single cluster maximises <S, L> at the smallest rank.

    *Why "normalized".*  Scaled indicators take away the reward for one big cluster and fix the rank, so alpha drops
    out.  Both terms are cosines between kernels up to a constant, the second one the centred kernel alignment [2]_:
    beta weighs like with like, and the unit of X does not matter.  A feature that repeats the chosen ones adds more to
    the second norm than to the numerator, and is passed over.  A sweep swaps features until no single swap lowers the
    objective given L, then moves samples until no single move does given s: both hold at convergence, and neither
    proves a global optimum.

    *Known pathologies ("normalized").*  Where m is larger than what the clusters need, features of little variance
    fill up: they disturb the alignment least.  Constant features have no part, and come last.

    *Permuted samples or features* give the same selection, ties and rounding aside; another `random_state` need not
    (docs/methods/dgufs.md).

    References
    ----------
    .. [1] J. Guo and W. Zhu, "Dependence guided unsupervised feature selection", AAAI 2018.  Eqs. (5), (8), (9),
       (12) to (16), section 4.3.
    .. [2] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
       JMLR 13, 2012.
    """

    size_in_objective = True
    bounds = {"alpha": above(0), "beta": between(0, 1), "n_starts": whole(1), "max_iter": whole(1)}
    choices = {"solver": tuple(SOLVERS)}
    dense_samples = kernels.DENSE_SAMPLES

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=10.0,
        beta=0.5,
        solver="released",
        n_neighbors=5,
        n_starts=6,
        init=None,
        max_iter=100,
        tol=0.0,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.solver = solver
        self.n_neighbors = n_neighbors
        self.n_starts = n_starts
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def arrays(self):
        """The arrays that `BaseSelector.memory` counts: similarities, their splittings and the multipliers."""
        return {"nd": 4, "nn": 12} if self.solver == "released" else {"nd": 6, "nn": 0.25, "ss": 4}

    def _check(self, X):
        if self.init is not None:
            SOLVERS[self.solver].check_init(self.init, X.shape, self.n_clusters)

    def _solve(self, X, rng):
        S = shared(X, knn_graph, self.n_neighbors, "binary", None, True)
        problem = SOLVERS[self.solver].Problem(X, S, self.n_features_to_select_, self.n_clusters, self.alpha, self.beta)
        starts = problem.starts(self.n_starts, rng) if self.init is None else [self.init]
        loop = {"max_iter": self.max_iter, "tol": self.tol, "residual": problem.residual}
        runs = [iterate(problem.sweep, problem.start(start), **loop) for start in starts]
        state, trace = min(runs, key=lambda run: run[0].value)
        scores, labels, indicators = problem.learned(state)
        collapsed = self.n_clusters > 1 and not labels.any()
        return Solution(scores, trace.collapsed_if(collapsed), labels, {"indicators_": indicators})
