"""FSSL: joint feature selection and subspace learning, with a certificate of how far from the optimum it stops."""

from dataclasses import dataclass, replace

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, check_init, fewer_than_samples, whole
from ufs_bench.methods.core.graphs import affinity_graph
from ufs_bench.methods.core.loop import Trace, iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import Memory, no_memory, safeguarded
from ufs_bench.methods.core.ridge import WeightedRidge
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.spectral import smooth_vectors


class FSSL(BaseSelector):
    """Regress the spectral coordinates of the samples on few features, the same ones for all coordinates.

    Two steps.  The coordinates Y, one for each cluster, are the generalised eigenvectors of L y = lambda D y with the
    smallest eigenvalues, the constant one left out (S the weights of a nearest-neighbour graph, D = diag(S 1),
    L = D - S, Y'DY = I).  Then

        min_A  ||A||_21 + mu ||X A - Y||_F^2,

    a convex problem.  A feature's score is the norm of its row of A.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Number of spectral coordinates, in [1, n_samples - 1].
    mu : float, default=1.0
        Weight of the fit, above 0.  All of A is zero up to mu = 1 / (2 max_j ||x_j'Y||).
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).
    init : ndarray of shape (n_features, n_clusters), default=None
        Start of A.  The problem is convex: it decides how long the way is, not where it ends.  None: ridge regression,
        all features weighted alike.
    max_iter : int, default=1000
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-4
        Stop at this relative duality gap; 0 or more.  The objective is then within that share of the optimum.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||a_j||.  A row that the model sets to zero keeps a remainder of about tol, the larger the nearer ||x_j'T|| is
        to the bound at which the row would enter, so that such features rank by nearness.
    coef_ : ndarray of shape (n_features, n_clusters)
        A.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Y, the spectral coordinates.
    duality_gap_ : float
        Of A, without the smoothing, relative to its objective; 0 where A = 0 is the optimum.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        ||A||_21 smoothed as in the notes, plus mu ||XA - Y||^2; never rises.  It ends above `objective_`, by up to a
        tenth of `tol` of it where the fit has done its sweeps, and by more where it was ended before.
    status_ : str
        "collapsed" where A = 0 is the optimum: mu is too small, and the ranking is file order.

    Raises
    ------
    ValueError
        For a parameter out of its range, an affinity that is no weight matrix over the samples, or too few samples with
        an edge.

    Notes
    -----
    *Solver*: ||a_j|| is smoothed to sqrt(||a_j||^2 + eps).  eps falls by a factor of 4 each sweep, from
    (max ||a_j|| / 100)^2 to (0.1 tol objective / n_features)^2, where the smoothing costs at most a tenth of the
    tolerance.  A sweep is one weighted ridge regression (`methods.core.ridge`) with extrapolated weights
    (`methods.core.reweighting`), two where the extrapolation is refused.

    *Certificate*: the residual of A is T / (2 mu) for some T of shape (n_samples, n_clusters); scaled so that
    max_j ||x_j'T|| <= 1, T shows that no A has less than tr T'Y - ||T||^2 / (4 mu).  Deterministic.

    *Differs from the paper*: the paper does plain reweighting.  Here it is smoothed, extrapolated, and ended by the
    gap.  The bandwidth of the heat weights is the mean length of the edges.  No program was released.

    *Known pathologies*: the regression has no intercept, so a constant feature that is not zero can be selected.  Up to
    a bound on mu all of A is zero.  For large mu and more features than samples A fits Y exactly, and a larger mu
    selects much the same (`docs/methods/fssl.md`).

    References
    ----------
    Gu, Li & Han. Joint feature selection and subspace learning. IJCAI 2011.
    """

    bounds = {"n_clusters": whole(1, fewer_than_samples), "mu": above(0)}
    choices = {"affinity": ("heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        mu=1.0,
        n_neighbors=5,
        affinity="heat",
        init=None,
        max_iter=1000,
        tol=1e-4,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        check_init(self.init, (X.shape[1], self.n_clusters))

    def _solve(self, X, rng):
        Y = shared(X, coordinates, self.affinity, self.n_neighbors, self.n_clusters)
        if self.mu * 2 * row_norms(X.T @ Y).max() <= 1:
            A, trace = np.zeros((X.shape[1], Y.shape[1])), Trace(np.array([self.mu * (Y**2).sum()]))
            return Solution(row_norms(A), trace, learned={"coef_": A, "embedding_": Y.copy(), "duality_gap_": 0.0})
        problem = Problem(X, Y, self.mu, self.tol)
        state, trace = iterate(
            problem.sweep,
            problem.start(self.init),
            max_iter=self.max_iter,
            tol=self.tol,
            residual=lambda previous, current: current.gap,
        )
        learned = {"coef_": state.A, "embedding_": Y.copy(), "duality_gap_": state.gap}
        return Solution(state.norms, trace, learned=learned, objective=problem.printed(state))


@dataclass(frozen=True)
class State:
    """A matrix A, and what the next sweep needs of it."""

    A: np.ndarray
    norms: np.ndarray
    misfit: float  # mu ||XA - Y||^2
    gap: float
    eps: float
    value: float  # smoothed by eps
    log_s: np.ndarray = None  # log s of the weights that A comes from
    memory: Memory = None


class Problem:
    """min_A ||A||_21 + mu ||XA - Y||^2, for an optimum that is not A = 0."""

    def __init__(self, X, Y, mu, tol):
        self.X, self.Y, self.mu, self.tol = X, Y, mu, tol
        self.ridge = WeightedRidge(X)

    def start(self, A):
        d = self.X.shape[1]
        if A is None:
            first = self._solve(np.ones(d), 0.0)
        else:
            first = self._state(np.asarray(A, dtype=float), self.Y - self.X @ A, 0.0)
        # Rows below a hundredth of the longest are weighed nearly alike at first, so that none is given up too soon.
        eps = (1e-2 * first.norms.max()) ** 2
        return self._smoothed(first, eps, np.log(np.sqrt(first.norms**2 + eps)), no_memory(d))

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.norms.sum() + state.misfit

    def sweep(self, state):
        # The smoothing adds at most sqrt(eps) for each row: at `floor` all rows add a tenth of what tol allows.
        floor = (0.1 * self.tol * self.printed(state) / len(state.norms)) ** 2
        # A fourth of eps at most halves an s, so that the next weights are near those that A was found for.
        # With tol=0 the floor is zero: sqrt(eps) then stops at 1e-12 of the longest row, where it is rounding.
        eps = min(state.eps, max(state.eps / 4, floor, (1e-12 * state.norms.max()) ** 2))
        bound = self._smoothed(state, eps, None, None).value
        memory = state.memory.remember(state.log_s, np.log(state.norms**2 + eps) / 2)
        new, log_s, memory = safeguarded(lambda s: self._solve(s, eps), memory, bound)
        return self._smoothed(new, eps, log_s, memory)

    def _solve(self, s, eps):
        residual, A = self.ridge.factor(1 / (2 * self.mu * s)).residual(self.Y)
        return self._state(A, residual, eps)

    def _state(self, A, residual, eps):
        norms, misfit = row_norms(A), self.mu * (residual**2).sum()
        T = 2 * self.mu * residual
        fit, square = (T * self.Y).sum(), misfit  # ||T||^2 / (4 mu) is the misfit
        # The dual is quadratic in the scale of T: its best scale, or the largest feasible one.
        scale = min(1 / row_norms(self.X.T @ T).max(), fit / (2 * square))
        primal = norms.sum() + misfit
        gap = (primal - scale * fit + scale**2 * square) / primal
        return self._smoothed(State(A, norms, misfit, gap, eps, 0.0), eps, None, None)

    def _smoothed(self, state, eps, log_s, memory):
        value = float(np.sqrt(state.norms**2 + eps).sum() + state.misfit)
        return replace(state, eps=eps, value=value, log_s=log_s, memory=memory)


def coordinates(X, affinity, n_neighbors, n_clusters):
    """Return the spectral coordinates Y, of shape (n_samples, n_clusters)."""
    return smooth_vectors(affinity_graph(X, affinity, n_neighbors), n_clusters, X)
