"""UDFS: a sparse projection in which every sample is told apart from its neighbours' scatter."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import helmert

from methods.core.base import BaseSelector, Solution
from methods.core.checks import above, check_init
from methods.core.confined import TRIAL_SWEEPS, close_scales, confined_scales
from methods.core.graphs import BLOCK, nearest_neighbors
from methods.core.loop import SETTLED, iterate_best, ranking_change
from methods.core.prox import row_norms, smoothing
from methods.core.reweighting import EPS, Memory, log_scale, no_memory, safeguarded
from methods.core.shared import shared
from methods.core.smallest import (
    DenseGram,
    WideGram,
    smallest_eigenvectors,
    tie_breaking_weights,
    varying_centered,
)


class UDFS(BaseSelector):
    """Features of the row-sparse projection with the least local scatter that is not discriminative.

        min_W  tr W'MW + gamma ||W||_21   subject to   W'W = I,
        M = X' [sum_i S_i H (H X_i X_i' H + lambda_ I)^-1 H S_i'] X,

    X_i (k + 1, n_features) a sample and its k nearest, H their centring, S_i their places among all samples.  The term
    of neighbourhood i is small where its total scatter is explained by the projection.  A feature's score is the norm
    of its row of W (n_features, n_clusters).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Columns of W, in [1, n_samples].  No more than the features that are not constant are used.
    gamma : float, default=1.0
        Weight of the sparsity, above 0.
    lambda_ : float, default=1.0
        Ridge of the local scatter, above 0, in squared units of X.
    n_neighbors : int, default=5
        1 or more; k = min(n_neighbors, n_samples - 1).
    init : ndarray of shape (n_features, n_clusters), default=None
        W0, with which the first weights are made, in the place of all starts.  None: see Notes.
    max_iter : int, default=500
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-7
        Converged when in three sweeps on end the objective changes by at most this share, and the scores, as a vector,
        by at most its square root (`methods.core.loop.ranking_change`); 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||; 0 for a constant feature.
    coef_ : ndarray of shape (n_features, n_clusters)
        W, up to a rotation; fewer columns where fewer features vary.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), from the start that is kept; never rises, and
        ends above `objective_` by at most gamma n_features 1e-6.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong shape.

    Notes
    -----
    *A sweep*: with D = diag(1 / (2 sqrt(||w_j||^2 + eps))), gamma tr W'DW touches the second term from above, so that
    the n_clusters smallest eigenvectors of M + gamma D lower the objective; they are the exact minimum for this D.
    Then D from W, extrapolated, and the plain D taken where that would raise the objective
    (`methods.core.reweighting`).

    *Starts*: (a) the n_clusters smallest eigenvectors of M + t diag(1 / std_j), with t so small that the second term
    only decides what M leaves open: with fewer samples than features, M is zero on a space of n_features - n_samples
    dimensions at least.  (b) The W for weights that all but confine it to the m features with the smallest M_jj,
    m = 1, 2 and 8 times n_clusters.  Each does 10 sweeps, and the lowest goes on.  Where it ends, a further start has
    weights no more than about 1 / .3 apart, and so on while that lowers the objective by 1e-4 of it
    (`methods.core.confined`).

    *Cost*: with fewer samples than features O(n_samples^2 n_features) a sweep, and no (n_features, n_features) array
    (`methods.core.smallest`); otherwise one Cholesky factor of that size.  The neighbourhoods are analysed once per
    data set, for every gamma and lambda_.  Deterministic.

    *Differs from the paper*: the paper begins with D = I, which leaves the first step to rounding wherever M has a null
    space, so that the choice depends on the order of the features; and it does plain sweeps.  A constant feature costs
    nothing in this model, and would be taken first; here it gets score 0.

    *Differs from a widely used program*: that one places the neighbourhoods wrongly in the sum over i, which changes M,
    and takes one parameter for both gamma and lambda_.

    *Known pathologies*: at large gamma W ends with one feature per column; the others are ranked by what they would
    lower, not by their part in W.  The problem has many minima, and another start may end lower
    (`docs/methods/udfs.md`).  A feature that hardly varies has a small M_jj and is preferred, the more so the lower the
    objective.  With fewer samples than features a small gamma does not matter: W then minimises ||W||_21 on the null
    space of M.

    References
    ----------
    Yang, Shen, Ma, Huang & Zhou. l2,1-norm regularized discriminative feature selection for unsupervised learning.
    IJCAI 2011.
    """

    arrays = {"nd": 8, "mm": 4}
    bounds = {"gamma": above(0), "lambda_": above(0)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        gamma=1.0,
        lambda_=1.0,
        n_neighbors=5,
        init=None,
        max_iter=500,
        tol=1e-7,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def _check(self, X):
        check_init(self.init, (X.shape[1], self.n_clusters))

    def _solve(self, X, rng):
        varying, centered = varying_centered(X)
        scores, coef = np.zeros(X.shape[1]), np.zeros((X.shape[1], min(self.n_clusters, len(varying))))
        if not len(varying):
            return Solution(scores, learned={"coef_": coef})
        L = local_scatter(*shared(X, neighborhood_spectra, self.n_neighbors), self.lambda_)
        problem = Problem(centered, L, coef.shape[1], self.gamma)
        own = self.init is not None
        starts = [problem.state(np.array(self.init, dtype=float)[varying])] if own else problem.starts()
        state, trace = iterate_best(
            problem.sweep, starts,
            trial=TRIAL_SWEEPS, restart=None if own else problem.restart,
            max_iter=self.max_iter, tol=self.tol, residual=ranking_change, patience=SETTLED,
        )  # fmt: skip
        scores[varying], coef[varying] = row_norms(state.W), state.W
        return Solution(scores, trace, learned={"coef_": coef}, objective=problem.printed(state))


@dataclass(frozen=True)
class State:
    """A projection, the objective there, and where the next sweep starts."""

    W: np.ndarray
    value: float
    log_s: np.ndarray = None  # of the weights 1 / (2 s) that W comes from
    memory: Memory = None
    guess: np.ndarray = None  # W and a few vectors more


class Problem:
    """``tr W'X'LXW + gamma sum_j sqrt(||w_j||^2 + eps)`` for W'W = I, and its minimisation by reweighting.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    L : csr_array of shape (n_samples, n_samples)
        Positive semidefinite.
    n_columns : int
        Of W; in [1, n_features].
    gamma : float
    """

    def __init__(self, X, L, n_columns, gamma):
        self.X, self.L, self.n_columns, self.gamma = X, L, n_columns, gamma
        self.gram = WideGram(X, L.__matmul__)
        if len(X) >= X.shape[1]:
            self.gram = DenseGram(self.gram.toarray())

    def starts(self):
        """The problem without sparsity, and those that are all but confined to the features that cost least."""
        scales = confined_scales(self.gram.diagonal(), self.n_columns)
        return [self.subspace_start(), *(self.solve(s, None) for s in scales)]

    def subspace_start(self):
        guess = smallest_eigenvectors(self.gram, tie_breaking_weights(self.gram, self.X), self.n_columns)
        return self.state(guess[:, : self.n_columns], guess)

    def restart(self, state):
        return self.solve(close_scales(state.W), state.guess)

    def state(self, W, guess=None):
        return State(W, self.value(W), guess=guess)

    def value(self, W):
        return self.gram.form(W) + self.gamma * float(np.exp(log_scale(W)).sum())

    def printed(self, state):
        """The objective at a state, without the smoothing."""
        return state.value - self.gamma * smoothing(state.W, EPS)

    def solve(self, s, guess):
        """The best W for the weights 1 / (2 s)."""
        guess = smallest_eigenvectors(self.gram, self.gamma / (2 * s), self.n_columns, guess)
        return self.state(guess[:, : self.n_columns], guess)

    def sweep(self, state):
        plain = log_scale(state.W)
        if state.log_s is None:
            new, log_s, memory = self.solve(np.exp(plain), state.guess), plain, no_memory(len(plain))
        else:
            memory = state.memory.remember(state.log_s, plain)
            new, log_s, memory = safeguarded(lambda s: self.solve(s, state.guess), memory, state.value)
        return replace(new, log_s=log_s, memory=memory)


def neighborhood_spectra(X, n_neighbors):
    """Principal axes of every sample and its neighbours, centred: what `local_scatter` needs for any ridge.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_neighbors : int
        1 or more; k = min(n_neighbors, n_samples - 1).

    Returns
    -------
    members : ndarray of shape (n_samples, k + 1) of int
        The sample and its k nearest others.
    values : ndarray of shape (n_samples, k)
        Eigenvalues of H X_i X_i' H on the complement of the constant vector; X_i (k + 1, n_features) are the members,
        H = I - 11'/(k + 1).
    vectors : ndarray of shape (n_samples, k + 1, k)
        The eigenvectors; their columns sum to zero.
    """
    n, d = X.shape
    members = nearest_neighbors(X, min(n_neighbors, n - 1) + 1, include_self=True)
    size = members.shape[1]
    contrasts = helmert(size)  # orthonormal rows, orthogonal to the constant vector
    values, vectors = np.empty((n, size - 1)), np.empty((n, size, size - 1))
    height = max(1, BLOCK // (size * max(size, d)))
    for start in range(0, n, height):
        rows = slice(start, start + height)
        Z = contrasts @ (X[members[rows]] - X[rows, None])
        found, turn = np.linalg.eigh(Z @ Z.transpose(0, 2, 1))
        values[rows], vectors[rows] = np.maximum(found, 0.0), contrasts.T @ turn
    return members, values, vectors


def local_scatter(members, values, vectors, ridge):
    """L = sum_i S_i H (H X_i X_i' H + ridge I)^-1 H S_i', S_i placing the members of neighbourhood i.

    Parameters
    ----------
    members, values, vectors
        From `neighborhood_spectra`.
    ridge : float
        Above 0.

    Returns
    -------
    L : csr_array of shape (n_samples, n_samples)
        Symmetric, positive semidefinite; rows and columns sum to zero.
    """
    n, size = members.shape
    blocks = (vectors / (values + ridge)[:, None]) @ vectors.transpose(0, 2, 1)
    rows, columns = np.repeat(members, size, axis=1), np.tile(members, (1, size))
    L = sparse.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n)).tocsr()
    return ((L + L.T) / 2).tocsr()
