"""RUFS as printed: its penalised objective, smoothed, and the three blocks that minimise it."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.bounded import minimize_nonnegative
from ufs_bench.methods.core.graphs import affinity_graph
from ufs_bench.methods.core.loop import largest_change
from ufs_bench.methods.core.prox import row_norms, smooth_l21, smoothing
from ufs_bench.methods.core.reweighting import reweight_block
from ufs_bench.methods.core.ridge import doubly_weighted_ridge
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import sparse_features_where_it_pays, sparse_where_it_pays, transposed_times
from ufs_bench.methods.core.starts import scaled_indicator
from ufs_bench.methods.rufs.local_learning import kernel_graph_laplacian, local_learning_laplacian
from ufs_bench.methods.rufs.residuals import data_squares

EPS = 1e-10  # under every root of an l21 norm
first = scaled_indicator  # of labels: G0


def local_laplacian(X, n_neighbors):
    """Return the local-learning regulariser whose kernel is Gaussian over whole neighbourhoods."""
    return shared(X, local_learning_laplacian, n_neighbors)


def graph_laplacian(X, affinity, n_neighbors):
    """Return the local-learning regulariser whose kernel is a weight matrix, on its own edges."""
    return kernel_graph_laplacian(affinity_graph(X, affinity, n_neighbors), per_neighbor=True)


class State(NamedTuple):
    """W, G and F, the objective there and the part of it that W minimises."""

    W: np.ndarray
    G: np.ndarray
    F: np.ndarray
    value: float
    value_w: float


class Problem:
    """The printed objective for one data set and one setting, smoothed, and its three blocks."""

    # Steps per block and sweep: more of them cost more than they lower the objective.
    reweightings = 3
    quasi_newton = 50
    change = staticmethod(largest_change)

    def __init__(self, X, L, nu, alpha, beta, zeta):
        self.X, self.L = np.ascontiguousarray(X), L
        self.nu, self.alpha, self.beta, self.zeta = map(float, (nu, alpha, beta, zeta))
        self.squares = np.einsum("ij,ij->i", X, X)
        few = shared(X, sparse_where_it_pays)
        self.factor = self.X if few is None else few  # the same, to multiply by
        self.features = shared(X, sparse_features_where_it_pays)

    def start(self, G):
        """Start at F by non-negative least squares, clipped, and W by ridge regression on G."""
        X = self.X
        F = np.maximum(np.linalg.lstsq(G, X, rcond=None)[0], 0.0)
        # Never so small against X'X that the system is singular in double precision.
        ridge = max(self.beta / self.alpha, 1e-12 * self.squares.sum(), np.finfo(float).tiny)
        W = doubly_weighted_ridge(X, G, np.ones(len(X)), np.full(X.shape[1], ridge))
        return self.state(W, G, F)

    def sweep(self, state):
        """Update W, G and F, in the order of Algorithm 3: the whole algorithm; no step raises the objective (9)."""
        W = self.step_w(state.W, state.G)  # alpha ||XW - G||_21 + beta ||W||_21: (12), by reweighting
        G = self.step_g(W, state.G, state.F)  # all terms but beta ||W||_21, G >= 0: (10), by projected L-BFGS
        F = self.step_f(G, state.F)  # ||X - GF||_21, F >= 0: (11), by reweighting, a row of F at a time
        return self.state(W, G, F)

    def state(self, W, G, F):
        """Return the three with the objective, nu tr G'LG + zeta/4 ||G'G - I||^2 and the three smoothed norms."""
        value_w = self.value_w(W, G)
        return State(W, G, F, value_w + self.value_g(G) + self.value_f(G, F), value_w)

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        W, G, F = state[:3]
        smooth_w = self.alpha * smoothing(self.factor @ W - G, EPS) + self.beta * smoothing(W, EPS)
        return state.value - smooth_w - smoothing(self.X - G @ F, EPS)

    def scores(self, state):
        """Return ||w_j||, and 0 for all features where W = 0 is optimal for G."""
        collapsed = is_zero_optimal(self.X, state.G, self.alpha, self.beta)
        return np.zeros(len(state.W)) if collapsed else row_norms(state.W)

    def value_w(self, W, G):
        return self.alpha * smooth_l21(self.factor @ W - G, EPS) + self.beta * smooth_l21(W, EPS)

    def value_g(self, G):
        away = G.T @ G - np.eye(G.shape[1])
        return self.nu * np.vdot(G, self.L @ G) + self.zeta / 4 * np.vdot(away, away)

    def value_f(self, G, F):
        return float(np.sqrt(self.misfits(G, F) + EPS).sum())

    def misfits(self, G, F):
        """Return ||x_i - g_i F||^2, of shape (n_samples,)."""
        return data_squares(self.X, self.factor, self.squares, G, F)

    def step_w(self, W, G):
        """Improve W by reweighting the rows of XW - G and of W."""

        def measure(W):
            rest = self.factor @ W - G
            return self.alpha * smooth_l21(rest, EPS) + self.beta * smooth_l21(W, EPS), rest

        def step(W, rest):
            samples, features = 1 / np.sqrt(_squares(rest) + EPS), self.beta / self.alpha / np.sqrt(_squares(W) + EPS)
            try:
                return doubly_weighted_ridge(self.X, G, samples, features)
            except np.linalg.LinAlgError:  # singular in double precision: nothing to be gained here
                return W

        return reweight_block(W, measure, step, self.reweightings)

    def step_g(self, W, G, F):
        """Improve G by projected L-BFGS."""
        XW = self.factor @ W
        candidate = minimize_nonnegative(self.block_g(XW, F), G, self.quasi_newton)
        # The expansion of the squares loses digits where the fit is all but exact, so that the true value decides.
        old, new = (self.value_g(G) + self.value_f(G, F) + self.alpha * smooth_l21(XW - G, EPS) for G in (G, candidate))
        return candidate if new < old else G

    def block_g(self, XW, F):
        """Return the part of the objective that G is in, and its slope, as a function of G."""
        XF, FF = self.factor @ F.T, F @ F.T

        def at(G):
            LG, fitted, apart, away = self.L @ G, G @ FF - XF, G - XW, G.T @ G - np.eye(len(FF))
            squares = self.squares + np.einsum("ij,ij->i", G, fitted - XF)  # below 0 by rounding alone
            fit, distance = np.sqrt(np.maximum(squares, 0.0) + EPS), np.sqrt(_squares(apart) + EPS)
            value = fit.sum() + self.nu * np.vdot(G, LG) + self.alpha * distance.sum()
            slope = fitted / fit[:, None] + 2 * self.nu * LG + self.alpha * apart / distance[:, None]
            return value + self.zeta / 4 * np.vdot(away, away), slope + self.zeta * (G @ away)

        return at

    def step_f(self, G, F):
        """Improve F by reweighting and coordinate descent over its rows: each has a closed form, max(0, .)."""

        def measure(F):
            roots = np.sqrt(self.misfits(G, F) + EPS)
            return roots.sum(), roots

        def step(F, roots):
            weighted, F = G / roots[:, None], F.copy()
            inner, outer = weighted.T @ G, transposed_times(self.X, self.features, weighted).T
            for _ in range(3):
                for k in np.flatnonzero(np.diag(inner) > 0):
                    np.maximum(F[k] + (outer[k] - inner[k] @ F) / inner[k, k], 0.0, out=F[k])
            return F

        return reweight_block(F, measure, step, self.reweightings)


def _squares(A):
    return np.einsum("ij,ij->i", A, A)


def is_zero_optimal(X, G, alpha, beta):
    """Return True where W = 0 minimises alpha ||XW - G||_21 + beta ||W||_21.

    So where beta >= alpha max_j ||sum_i x_ij g_i / ||g_i|| ||.  The condition is necessary too, unless a sample has g_i
    = 0: such a sample could only hold W at zero, and is left out.
    """
    norms = row_norms(G)[:, None]
    pull = X.T @ np.divide(G, norms, out=np.zeros_like(G), where=norms > 0)
    return bool(beta >= alpha * row_norms(pull).max())
