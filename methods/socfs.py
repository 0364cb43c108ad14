"""SOCFS: features that span a projection with orthogonal, non-negative cluster indicators."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least
from ufs_bench.methods.core.linalg import polar_factor
from ufs_bench.methods.core.loop import SETTLED, iterate, ranking_change
from ufs_bench.methods.core.ordinal_graphs import triplet_laplacian
from ufs_bench.methods.core.prox import row_norms, smoothing
from ufs_bench.methods.core.reweighting import EPS, Memory, log_scale, no_memory, reweighted
from ufs_bench.methods.core.ridge import WeightedRidge, smallest_collapsing_weight
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import kmeans_labels, scaled_indicator

INNER_STEPS = 50  # steps of E and H for the same W, at most
INNER_TOL = 1e-6  # change of an entry of E at which they end
CYCLES = 5  # steps of (E, H, B) and W in a sweep, for the same weights: they share its one factorisation


class SOCFS(BaseSelector):
    """Project the samples, with few features, on cluster indicators that are orthogonal and almost non-negative.

        min  ||X_c W - E B'||_F^2 + lambda_ ||W||_21 + lambda2 ||H - E||_F^2 + triplet_weight tr W'X_c'L X_c W

    over W, B, E, H subject to E'E = I, B'B = I, H >= 0.  X_c are the centred data, B the orthogonal basis and E the
    indicators of the clusters, H their non-negative copy.  The last term, absent by default, asks that for each sample
    a nearer neighbour stays nearer than a farther one in the projection; L is the Laplacian of the graph of these
    triplets (`methods.core.ordinal_graphs.triplet_laplacian`).  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    lambda_ : float, default=1.0
        Weight of the sparsity, above 0.
    lambda2 : float, default=1.0
        Weight of the non-negativity, above 0.
    triplet_weight : float, default=0.0
        0 or more.
    n_neighbors : int, default=5
        Of the triplets, 1 or more: k = min(n_neighbors, n_samples - 1).  Unused where triplet_weight is 0.
    init : tuple of four ndarrays, default=None
        W0 (n_features, n_clusters), B0 (n_clusters, n_clusters), E0 and H0 (n_samples, n_clusters).  Only the first
        sweep's weights and targets come from them.  None: E0 = H0 from K-means, W0 the ridge regression of E0 with all
        features weighted alike, B0 the best for both.
    max_iter : int, default=500
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        Converged when in three sweeps on end the objective changes by at most this share, and the scores, as a vector,
        by at most its square root (`methods.core.loop.ranking_change`); 0 or more.
    random_state : int, Generator or None, default=None
        Of K-means in the start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    coef_ : ndarray of shape (n_features, n_clusters)
        W.
    basis_ : ndarray of shape (n_clusters, n_clusters)
        B.
    indicators_, nonnegative_ : ndarray of shape (n_samples, n_clusters)
        E, and its non-negative copy H.
    labels_ : ndarray of shape (n_samples,) of int
        Where each row of E is largest.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12); never rises, and ends above `objective_` by at
        most lambda_ n_features 1e-6.
    status_ : str
        "collapsed" where W = 0 is the optimum for the last E and B, at lambda_ >= 2 max_j ||x_j'E B'|| (x_j centred).
        The ranking is then meaningless: what is left of W is the smoothing.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    *A sweep*: five cycles of (a) E, the polar factor of X_c W B + lambda2 H, and H = max(E, 0), in turn, until no
    entry of E changes by more than 1e-6 or 50 times; (b) B, the polar factor of W'X_c'E; (c) W, the weighted ridge
    regression of E B'.  Then the weights 1 / (2 sqrt(||w_j||^2 + eps)) from W, extrapolated where that does not raise
    the objective (`methods.core.reweighting`).  Every step is the exact minimum over its block.

    *Differs from the paper*: the paper does one plain cycle per sweep, without smoothing or extrapolation, from an
    arbitrary start.  Here several cycles share one factorisation, and the start is from K-means.

    *Differs from the released program*: it starts from uniform random arrays, does one cycle a sweep with always 50
    steps (a), and a fixed number of sweeps.  Those steps from the same start give the same arrays.

    *Known pathologies*: far from convex; two seeds of K-means lead to quite different selections, and at small lambda_
    a fit from perturbed arrays may end much lower.  X_c W cannot hold the constant vector, which the indicators of a
    partition span, so that the objective rewards an E without it: at small lambda_ the columns of E are indicators of a
    few samples each, of one in the end, and `labels_` mean nothing; a lower minimum is then no better one.  A fit may
    stand all but still for hundreds of sweeps and then fall by a hundredth; it ends before, "converged", with a
    quarter of its first features not those of the end (`docs/methods/socfs.md`).

    References
    ----------
    Han & Kim. Unsupervised simultaneous orthogonal basis clustering feature selection. CVPR 2015.
    The triplet term: Guo, Guo, Kong & He. Unsupervised feature selection with ordinal locality. ICME 2017, equation
    (2), and section 5.1, where SOCFS with it is a baseline.
    """

    arrays = {"nd": 8, "mm": 4}
    bounds = {"lambda_": above(0), "lambda2": above(0), "triplet_weight": at_least(0)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        lambda_=1.0,
        lambda2=1.0,
        triplet_weight=0.0,
        n_neighbors=5,
        init=None,
        max_iter=500,
        tol=1e-6,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.lambda_ = lambda_
        self.lambda2 = lambda2
        self.triplet_weight = triplet_weight
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def builds_graph(self):
        """True with the triplets, which alone need the neighbours of all samples."""
        return self.triplet_weight > 0

    def _check(self, X):
        (n, d), c = X.shape, self.n_clusters
        shapes = [(d, c), (c, c), (n, c), (n, c)]
        if self.init is not None and [np.shape(array) for array in self.init] != shapes:
            raise ValueError(f"init must be (W0, B0, E0, H0) of shapes {shapes}.")

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        centered = shared(X, without_means)
        L = shared(X, triplet_laplacian, self.n_neighbors) if self.triplet_weight else None
        problem = Problem(centered, self.lambda_, self.lambda2, L, self.triplet_weight)
        if self.init is None:
            start = problem.start(scaled_indicator(shared(X, kmeans_labels, self.n_clusters, seed), self.n_clusters))
        else:
            start = problem.state(*(np.array(array, dtype=float) for array in self.init))
        loop = {"max_iter": self.max_iter, "tol": self.tol, "residual": ranking_change, "patience": SETTLED}
        state, trace = iterate(problem.sweep, start, **loop)
        trace = trace.collapsed_if(self.lambda_ >= smallest_collapsing_weight(centered, state.E @ state.B.T))
        learned = {"coef_": state.W, "basis_": state.B, "indicators_": state.E, "nonnegative_": state.H}
        return Solution(row_norms(state.W), trace, state.E.argmax(axis=1), learned, problem.printed(state))


@dataclass(frozen=True)
class State:
    """The four blocks, the objective there, and where the next sweep starts."""

    W: np.ndarray
    XW: np.ndarray
    B: np.ndarray
    E: np.ndarray
    H: np.ndarray
    value: float
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that W comes from
    memory: Memory = None


class Problem:
    """The objective for given centred data, and its minimisation block by block."""

    def __init__(self, X, lambda_, lambda2, L=None, triplet_weight=0.0):
        self.X, self.lambda_, self.lambda2 = X, lambda_, lambda2
        self.L, self.triplet_weight = L, triplet_weight
        self.cycles, self.inner_steps, self.inner_tol = CYCLES, INNER_STEPS, INNER_TOL
        self.root = None
        if L is None:
            self.ridge = WeightedRidge(X)
            return
        n, d = X.shape
        K = sparse.eye_array(n) + triplet_weight * L
        if n < d:
            # With K = R'R the W step is a ridge regression of R^-T F on R X.
            self.root = cholesky(K.toarray())
            self.ridge = WeightedRidge(self.root @ X)
        else:
            self.ridge = WeightedRidge(X)
            self.ridge.gram = X.T @ (K @ X)  # in place of X'X; the right side stays X'F

    def start(self, E):
        W = self.factor(np.full(self.X.shape[1], 0.5))(E)
        return self.state(W, self.basis(self.fitted(W), E), E, E)

    def sweep(self, state):
        """Update D = diag(1 / (2 s)), and `cycles` times E with H, B and W for this D: the whole algorithm."""
        first = self.around(state.XW, state.B, state.E, state.H)

        def solve(s):
            best, (B, E, H), XW = self.factor(s), first, None
            for _ in range(self.cycles):
                if XW is not None:
                    B, E, H = self.around(XW, B, E, H)  # E = polar(XWB + lambda2 H), H = max(E, 0); B = polar(W'X'E)
                W = best(E @ B.T)  # W = (X'X + lambda_ D)^-1 X'E B'
                XW = self.fitted(W)
            return State(W, XW, B, E, H, self.value(W, XW, B, E, H))

        return reweighted(solve, state)  # s_j = ||w_j||, smoothed; extrapolated

    def state(self, W, B, E, H):
        XW = self.fitted(W)
        return State(W, XW, B, E, H, self.value(W, XW, B, E, H), np.full(len(W), np.log(0.5)), no_memory(len(W)))

    def fitted(self, W):
        """Return XW, which E, B and the value all need."""
        return (W.T @ self.X.T).T

    def value(self, W, XW, B, E, H):
        value = ((XW - E @ B.T) ** 2).sum() + self.lambda2 * ((H - E) ** 2).sum()
        value += self.lambda_ * np.exp(log_scale(W)).sum()
        if self.L is not None:
            value += self.triplet_weight * (XW * (self.L @ XW)).sum()
        return float(value)

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.lambda_ * smoothing(state.W, EPS)

    def indicators(self, XW, B, E, H):
        """Return E and H, found in turn, each the best for the other, for given W and B."""
        XWB = XW @ B
        for _ in range(self.inner_steps):
            previous, E = E, polar_factor(XWB + self.lambda2 * H)
            H = np.maximum(E, 0.0)
            if np.abs(E - previous).max() < self.inner_tol:
                break
        return E, H

    def around(self, XW, B, E, H):
        """Return the best B for given W, and E and H, which are improved before."""
        E, H = self.indicators(XW, B, E, H)
        return self.basis(XW, E), E, H

    def factor(self, s):
        """Return the W step for the weights 1 / (2 s): a function of the target F."""
        ridge = self.ridge.factor(self.lambda_ / (2 * s))
        if self.root is None:
            return ridge.coefficients
        return lambda F: ridge.coefficients(solve_triangular(self.root, F, trans=1, check_finite=False))

    def basis(self, XW, E):
        """Return the best B."""
        return polar_factor(XW.T @ E)


def without_means(X):
    """Return X with the mean of every feature subtracted."""
    return X - X.mean(axis=0)
