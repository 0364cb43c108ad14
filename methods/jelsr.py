"""JELSR: an embedding of the samples and its sparse regression on the features, learned together."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, check_init
from ufs_bench.methods.core.graphs import graph_laplacian
from ufs_bench.methods.core.linalg import GUARDS, POWERS, largest_eigenvectors, sparse_factor
from ufs_bench.methods.core.loop import SETTLED, iterate, ranking_change
from ufs_bench.methods.core.prox import row_norms, smoothing
from ufs_bench.methods.core.reweighting import EPS, Memory, log_scale, no_memory, reweighted
from ufs_bench.methods.core.ridge import WeightedRidge
from ufs_bench.methods.core.shared import shared

DENSE_SAMPLES = 600  # up to here the eigenvectors come from a dense matrix


class JELSR(BaseSelector):
    """Embed the samples so that neighbours stay close and few features explain the embedding.

        min_{Y, W}  tr Y'LY + beta (||X W - Y||_F^2 + alpha ||W||_21)   subject to   Y'Y = I,

    L the Laplacian of a nearest-neighbour graph.  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Columns of Y and W, in [1, n_samples].
    alpha : float, default=1.0
        Weight of the sparsity, above 0.
    beta : float, default=1.0
        Weight of the regression against the graph, above 0.
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).
    normalized : bool, default=False
        L = I - D^-1/2 S D^-1/2 instead of D - S.
    init : ndarray of shape (n_features, n_clusters), default=None
        The W that gives the first weights.  None: all features weighted alike, D = I.
    max_iter : int, default=500
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        Converged when in three sweeps on end the objective changes by at most this share, and the scores, as a vector,
        by at most its square root (`methods.core.loop.ranking_change`); 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    coef_ : ndarray of shape (n_features, n_clusters)
        W.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Y.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12); never rises, and ends above `objective_` by at
        most beta alpha n_features 1e-6.
    status_ : str
        "collapsed" where W = 0 is the optimum for the last Y, at alpha >= 2 max_j ||x_j'Y||.  The ranking is then
        meaningless: what is left of W is the smoothing.

    Raises
    ------
    ValueError
        For a parameter out of its range, and for an affinity that is no weight matrix over the samples.

    Notes
    -----
    *A sweep*: with D = diag(1 / (2 sqrt(||w_j||^2 + eps))) and P = (X'X + alpha D)^-1 X' the best W for Y is P Y.  What
    is left is tr Y'(L + beta (I - X P))Y, whose minimum is the n_clusters smallest eigenvectors: W and Y are exact
    together for this D.  Then D from W.  D is extrapolated, and the plain one taken where the extrapolated one would
    raise the objective (`methods.core.reweighting`).

    *Cost*: with fewer samples than features one (n_samples, n_samples) eigenproblem per sweep, and no (n_features,
    n_features) array.  Otherwise, above 600 samples, one Cholesky factor of that size and a few eigenvectors, started
    from the last ones: with K = L + beta I, factored once and sparse, and Z = K^-1 X,

        (L + beta (I - X P))^-1 = K^-1 + beta Z (alpha D + X'LZ)^-1 Z'.

    Deterministic.

    *Differs from the paper*: the paper does plain sweeps.  Here ||w_j|| is smoothed, D extrapolated, and a tolerance
    ends the sweeps.

    *Differs from released programs*: one of them drops an eigenvector in each sweep, which is not the minimum over Y;
    the other does plain sweeps from D = I, and gives the same numbers as ours would.

    *Known pathologies*: no eigenvector is dropped, so one column of Y is nearly constant where the features can
    express a constant, and a feature that is constant but not zero can be selected for it.  A large alpha sets all of W
    to zero.  The problem is not convex, and followed from one start; most others end no lower
    (`docs/methods/jelsr.md`).

    References
    ----------
    Hou, Nie, Li, Yi & Wu. Joint embedding learning and sparse regression: a framework for unsupervised feature
    selection. IEEE Trans. Cybernetics 44(6), 2014.
    """

    arrays = {"nd": 10, "mm": 2, "nn": 0.25}  # the last is room for the factors of a sparse Laplacian
    bounds = {"alpha": above(0), "beta": above(0)}
    choices = {"affinity": ("heat", "binary")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=1.0,
        n_neighbors=5,
        affinity="heat",
        normalized=False,
        init=None,
        max_iter=500,
        tol=1e-6,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.normalized = normalized
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        check_init(self.init, (X.shape[1], self.n_clusters))

    def _solve(self, X, rng):
        L = shared(X, graph_laplacian, self.affinity, self.n_neighbors, None, self.normalized)
        problem = Problem(X, L, self.n_clusters, self.alpha, self.beta)
        loop = {"max_iter": self.max_iter, "tol": self.tol, "residual": ranking_change, "patience": SETTLED}
        state, trace = iterate(problem.sweep, problem.start(self.init), **loop)
        trace = trace.collapsed_if(self.alpha >= problem.collapsing_weight(state))
        learned = {"coef_": state.W, "embedding_": state.Y}
        return Solution(row_norms(state.W), trace, learned=learned, objective=problem.printed(state))


@dataclass(frozen=True)
class State:
    """An embedding, its regression, and where the next sweep starts."""

    Y: np.ndarray
    W: np.ndarray
    value: float
    log_s: np.ndarray = None  # for the weights 1 / (2 s) that Y and W come from
    memory: Memory = None
    guess: np.ndarray = None  # vectors near the next Y and a few more


class Problem:
    """The objective for given data, and its minimisation for given weights of the features."""

    def __init__(self, X, L, n_clusters, alpha, beta):
        self.X, self.L, self.n_clusters, self.alpha, self.beta = X, L, n_clusters, alpha, beta
        n, d = X.shape
        self.ridge = WeightedRidge(X)
        self.dense = n < d or n <= max(DENSE_SAMPLES, (POWERS + 1) * (n_clusters + GUARDS))
        if not self.dense:
            self.K = sparse_factor(L, beta)
            self.Z = self.K.solve(X)
            middle = X.T @ (L @ self.Z)
            self.middle = (middle + middle.T) / 2

    def start(self, W):
        d = self.X.shape[1]
        s = np.full(d, 0.5) if W is None else np.exp(log_scale(np.asarray(W, dtype=float)))
        return replace(self.solve(s, None), log_s=np.log(s), memory=no_memory(d))

    def sweep(self, state):
        """Update D = diag(1 / (2 s)), then Y and W together: the whole algorithm, with `solve`."""
        return reweighted(lambda s: self.solve(s, state.guess), state)  # s_j = ||w_j||, smoothed; extrapolated

    def solve(self, s, guess):
        """Return the best Y and W for this D."""
        ridge = self.ridge.factor(self.alpha / (2 * s))  # P = (X'X + alpha D)^-1 X'
        if self.dense:
            rest = ridge.residual(np.eye(len(self.X)))[0]  # I - X P
            M = self.L.toarray() + self.beta / 2 * (rest + rest.T)
            Y = eigh(M, subset_by_index=(0, self.n_clusters - 1))[1]  # smallest of L + beta (I - X P)
        else:
            guess = self._smallest(s, guess)
            Y = guess[:, : self.n_clusters]
        misfit, W = ridge.residual(Y)  # W = P Y, misfit = Y - X W
        smooth = np.exp(log_scale(W)).sum()
        value = (Y * (self.L @ Y)).sum() + self.beta * ((misfit**2).sum() + self.alpha * smooth)
        return State(Y, W, float(value), guess=guess)

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.beta * self.alpha * smoothing(state.W, EPS)

    def collapsing_weight(self, state):
        """Return the alpha from which on W = 0 is the best for the Y at hand."""
        return 2 * row_norms(self.X.T @ state.Y).max()

    def _smallest(self, s, guess):
        if guess is None:
            shape = len(self.X), self.n_clusters + GUARDS
            guess = np.random.default_rng(0).standard_normal(shape)  # any will do
        system = self.middle.copy()
        system.flat[:: len(system) + 1] += self.alpha / (2 * s)
        # Transposed where that is the order which the factorisation, or a product with few columns, works in.
        factor = cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)

        def inverse(V):
            inner = cho_solve(factor, (V.T @ self.Z).T, check_finite=False)
            return self.K.solve(V) + self.beta * (inner.T @ self.Z.T).T

        return largest_eigenvectors(inverse, guess, self.n_clusters)
