"""RUFS as its released program computes it: its start, its further penalties and its own projected L-BFGS."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.graphs import affinity_graph, mean_distance
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.ridge import weighted_ridge
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import sparse_features_where_it_pays, sparse_where_it_pays, transposed_times
from ufs_bench.methods.core.starts import indicator
from ufs_bench.methods.rufs.descent import descend
from ufs_bench.methods.rufs.local_learning import kernel_graph_laplacian
from ufs_bench.methods.rufs.residuals import data_squares, over, regression

ROW_PENALTY = 1e-4  # weight of sum_j ||F_:j||, which is not in the paper
SUM_PENALTY = 0.1  # weight of sum G, which is not in the paper
CANCELS = 1e-2  # share of ||x_i|| below which (GF - X)_i is not left as a difference of two products
first = indicator  # of labels: G0


def local_laplacian(X, n_neighbors):
    """Return the program's regulariser: its kernel is the heat graph itself, zero on the diagonal."""
    return shared(X, heat_laplacian, n_neighbors)


def graph_laplacian(X, affinity, n_neighbors, bandwidth=None):
    """Return the local-learning regulariser whose kernel is a weight matrix, its ridge the same for every sample."""
    return kernel_graph_laplacian(affinity_graph(X, affinity, n_neighbors, bandwidth))


def heat_laplacian(X, n_neighbors):
    """Return `graph_laplacian` with the mean of all distances for the bandwidth."""
    return graph_laplacian(X, "heat", n_neighbors, mean_distance)


class State(NamedTuple):
    """W, G, F, the objective there, and the gradients (projected) that each block's solver ended with."""

    W: np.ndarray
    G: np.ndarray
    F: np.ndarray
    value: float
    first: float  # Frobenius norm of all gradients at the start
    gradients: tuple = ()  # of W, G, F


class Problem:
    """The blocks of the released program for one data set and one setting.

    A block stops at a step that lowers its function by less than `decrease`, an absolute number.  So does W at a
    gradient of the Frobenius norm `small`, and G where its projected gradient is this share of the spectral norm of its
    first one.  The two defaults are the author's, as far as his results show them; a copy of the program in wide use
    has 0.1 for both.
    """

    def __init__(self, X, L, nu, alpha, beta, zeta, decrease=1e-4, small=1e-3):
        self.X, self.L = np.ascontiguousarray(X), nu * L
        few = shared(X, sparse_where_it_pays)
        self.factor = self.X if few is None else few  # the same, to multiply by
        self.features = shared(X, sparse_features_where_it_pays)
        self.lengths = row_norms(self.X)
        self.alpha, self.beta, self.zeta = float(alpha), float(beta), zeta
        self.decrease, self.small = decrease, small

    def start(self, G):
        """Start at F, clipped least squares raised by a fifth of its mean positive entry, and W, ridge regression."""
        centers = np.maximum(np.linalg.lstsq(G, self.X, rcond=None)[0], 0.0)
        F = centers + 0.2 * centers.sum() / max(np.count_nonzero(centers), 1)
        W = weighted_ridge(self.X, G, np.full(self.X.shape[1], self.beta / self.alpha))
        return self.state(W, G, F)

    def state(self, W, G, F):
        """Return the three as a start."""
        return State(W, G, F, self.value(W, G, F), np.linalg.norm(_stack(self.gradients(W, G, F))))

    @staticmethod
    def change(_, state):
        """Return the spectral norm of the blocks' last gradients, as a share of the norm at the start."""
        return np.linalg.norm(_stack(state.gradients), 2) / max(state.first, np.finfo(float).tiny)

    @staticmethod
    def printed(state):
        """Return the traced value."""
        return state.value

    @staticmethod
    def scores(state):
        """Return ||w_j||."""
        return row_norms(state.W)

    def sweep(self, state):
        """Update W, G and F, in the order of Algorithm 3: the whole algorithm."""
        W, gradient_w = self.step_w(state.W, state.G)  # (12)
        at_g = self.block_g(state.F, self.factor @ W)  # (10)
        G, gradient_g = descend(
            at_g,
            state.G,
            self.decrease,
            small=self.small * np.linalg.norm(at_g(state.G)[1](), 2),
            bounded=True,
        )
        # (11); the residual norms of the start weigh every later gradient of F too.
        at_f = self.block_f(G, self.misfits(G, state.F))
        F, gradient_f = descend(at_f, state.F, self.decrease, bounded=True)
        return State(W, G, F, self.value(W, G, F), state.first, (gradient_w, gradient_g, gradient_f))

    def step_w(self, W, G):
        """Return W and the gradient there."""
        return descend(self.block_w(G), W, self.decrease, small=self.small)

    def value(self, W, G, F):
        """Return the paper's (8), with the two further penalties."""
        value_g, _ = self.block_g(F, self.factor @ W)(G)
        return self.beta * row_norms(W).sum() + value_g + ROW_PENALTY * row_norms(F.T).sum()

    def misfits(self, G, F):
        """Return ||(GF - X)_i||, of shape (n_samples,)."""
        return np.sqrt(data_squares(self.X, self.factor, self.lengths**2, G, F))

    def gradients(self, W, G, F):
        """Return the gradients in W, G and F, as the program takes them before its first sweep."""
        at_f = self.block_f(G, self.misfits(G, F))
        at = self.block_w(G)(W), self.block_g(F, self.factor @ W)(G), at_f(F)
        return tuple(gradient() for _, gradient in at)

    # Each of these gives a function of the block: its value, and what computes the gradient from the same products.

    def block_w(self, G):
        return lambda W: regression(self.factor, self.features, W, G, self.alpha, self.beta)

    def block_g(self, F, XW):
        """Return the function of G for given F and XW.

        With F' = QR, ||g_i F - x_i||^2 = ||g_i R' - x_i Q||^2 + ||x_i - x_i QQ'||^2, in which only the first part,
        with few columns, depends on G.
        """
        Q, R = np.linalg.qr(F.T)
        XQ = self.X @ Q
        outside = self.X - XQ @ Q.T
        outside = np.einsum("ij,ij->i", outside, outside)
        identity = np.eye(XW.shape[1])

        def at(G):
            rest, away, LG, apart = G @ R.T - XQ, G.T @ G - identity, self.L @ G, G - XW
            norms, between = np.sqrt(np.einsum("ij,ij->i", rest, rest) + outside), row_norms(apart)
            value = (
                norms.sum()
                + SUM_PENALTY * G.sum()
                + np.vdot(G, LG)
                + self.alpha * between.sum()
                + self.zeta / 4 * np.vdot(away, away)
            )
            return (
                value,
                lambda: (
                    over(rest, norms) @ R
                    + SUM_PENALTY
                    + 2 * LG
                    + self.alpha * over(apart, between)
                    + self.zeta * (G @ away)
                ),
            )

        return at

    def block_f(self, G, weights):
        """Return the function of F for given G.

        Its gradient divides each sample by its weight, the residual norm of the first F, however far F moves; so does
        the program.
        """
        close = weights < CANCELS * self.lengths
        scaled = np.divide(G, weights[:, None], out=np.zeros_like(G), where=(weights > 0)[:, None])
        near, scaled_near, X_near = G[close], scaled[close].T, self.X[close]
        scaled[close] = 0.0
        inner, outer = scaled.T @ G, transposed_times(self.X, self.features, scaled).T

        def at(F):
            columns = row_norms(F.T)
            return (
                self.misfits(G, F).sum() + ROW_PENALTY * columns.sum(),
                lambda: inner @ F - outer + scaled_near @ (near @ F - X_near) + ROW_PENALTY * over(F.T, columns).T,
            )

        return at


def _stack(gradients):
    gradient_w, gradient_g, gradient_f = gradients
    return np.vstack([gradient_f.T, gradient_g, gradient_w])
