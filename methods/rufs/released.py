"""RUFS as its released program computes it: its start, its further penalties and its own projected L-BFGS."""

from typing import NamedTuple

import numpy as np

from methods.core.graphs import affinity_graph
from methods.core.local_learning import kernel_graph_laplacian, mean_distance
from methods.core.prox import row_norms
from methods.core.ridge import weighted_ridge
from methods.core.shared import shared
from methods.core.starts import indicator

ROW_PENALTY = 1e-4  # of sum_j ||F_:j||, not in the paper
SUM_PENALTY = 0.1  # of sum G, not in the paper
MEMORY = 10  # pairs of the L-BFGS
ARMIJO = 0.2
LARGEST_INNER = 100_000  # steps of a block; the program has no bound
first = indicator  # of labels: G0


def local_laplacian(X, n_neighbors):
    """The program's regulariser: its kernel is the heat graph itself, zero on the diagonal."""
    return shared(X, heat_laplacian, n_neighbors)


def graph_laplacian(X, affinity, n_neighbors, bandwidth=None):
    """The local-learning regulariser whose kernel is a weight matrix, its ridge the same for every sample."""
    return kernel_graph_laplacian(affinity_graph(X, affinity, n_neighbors, bandwidth))


def heat_laplacian(X, n_neighbors):
    """`graph_laplacian` with the mean of all distances for the bandwidth."""
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

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    L : csr_array of shape (n_samples, n_samples)
    nu, alpha, beta, zeta : float
        As in `methods.rufs.RUFS`.
    decrease : float, default=1e-4
        A block stops at a step that lowers its function by less (an absolute number).
    small : float, default=1e-3
        So does W at a gradient of this Frobenius norm, and G where its projected gradient is this share of the spectral
        norm of its first one.  The two defaults are the author's, as far as his results show them; a copy of the
        program in wide use has 0.1 for both.
    """

    def __init__(self, X, L, nu, alpha, beta, zeta, decrease=1e-4, small=1e-3):
        self.X, self.L = X, nu * L
        self.alpha, self.beta, self.zeta = alpha, beta, zeta
        self.decrease, self.small = decrease, small

    def start(self, G):
        """F: the clipped least-squares centres, raised by a fifth of their mean positive entry; W: ridge regression."""
        centers = np.maximum(np.linalg.lstsq(G, self.X, rcond=None)[0], 0.0)
        F = centers + 0.2 * centers.sum() / max(np.count_nonzero(centers), 1)
        W = weighted_ridge(self.X, G, np.full(self.X.shape[1], self.beta / self.alpha))
        return self.state(W, G, F)

    def state(self, W, G, F):
        """The three as a start."""
        return State(W, G, F, self.value(W, G, F), np.linalg.norm(_stack(self.gradients(W, G, F))))

    @staticmethod
    def change(_, state):
        """Spectral norm of the blocks' last gradients, as a share of the norm at the start."""
        return np.linalg.norm(_stack(state.gradients), 2) / max(state.first, np.finfo(float).tiny)

    @staticmethod
    def scores(state):
        """||w_j||."""
        return row_norms(state.W)

    def sweep(self, state):
        """W, then G, then F."""
        X, F = self.X, state.F
        W, gradient_w = self.step_w(state.W, state.G)
        XW = X @ W
        G, gradient_g = descend(
            lambda G: self.at_g(G, F, XW),
            state.G,
            self.decrease,
            small=self.small * np.linalg.norm(self.at_g(state.G, F, XW)[1](), 2),
            bounded=True,
        )
        # The residual norms of the start weigh every later gradient of F too.
        weights = row_norms(G @ F - X)
        F, gradient_f = descend(lambda F: self.at_f(F, G, weights), F, self.decrease, bounded=True)
        return State(W, G, F, self.value(W, G, F), state.first, (gradient_w, gradient_g, gradient_f))

    def step_w(self, W, G):
        """W and the gradient there."""
        return descend(lambda W: self.at_w(W, G), W, self.decrease, small=self.small)

    def value(self, W, G, F):
        """The paper's (8), with the two further penalties."""
        norms = row_norms(G @ F - self.X)  # in the parts of G and of F
        value_g, _ = self.at_g(G, F, self.X @ W)
        value_f, _ = self.at_f(F, G, norms)
        return self.beta * row_norms(W).sum() + value_g + value_f - norms.sum()

    def gradients(self, W, G, F):
        """Of W, G and F, as the program takes them before its first sweep."""
        at = self.at_w(W, G), self.at_g(G, F, self.X @ W), self.at_f(F, G, row_norms(G @ F - self.X))
        return tuple(gradient() for _, gradient in at)

    # Each of these gives the value of a block, and what computes the gradient there from the same products.

    def at_w(self, W, G):
        rest = self.X @ W - G
        norms, own = row_norms(rest), row_norms(W)
        return (
            self.alpha * norms.sum() + self.beta * own.sum(),
            lambda: self.alpha * (self.X.T @ _over(rest, norms)) + self.beta * _over(W, own),
        )

    def at_g(self, G, F, XW):
        rest, away, LG, apart = G @ F - self.X, G.T @ G - np.eye(G.shape[1]), self.L @ G, G - XW
        norms, between = row_norms(rest), row_norms(apart)
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
                _over(rest, norms) @ F.T
                + SUM_PENALTY
                + 2 * LG
                + self.alpha * _over(apart, between)
                + self.zeta * (G @ away)
            ),
        )

    def at_f(self, F, G, weights):
        rest, columns = G @ F - self.X, row_norms(F.T)
        return row_norms(
            rest
        ).sum() + ROW_PENALTY * columns.sum(), lambda: G.T @ _over(rest, weights) + ROW_PENALTY * _over(F.T, columns).T


def descend(at, x, tol, small=0.0, bounded=False):
    """L-BFGS with a halving step and, where `bounded`, projection on x >= 0.

    Parameters
    ----------
    at : callable
        The value at x, and a callable that gives the gradient there.
    x : ndarray
        Start.
    tol : float
        Stops at the first step that changes the value by less; that step is thrown away.
    small : float, default=0.0
        Stops where the Frobenius norm of the (projected) gradient is at most this.
    bounded : bool, default=False

    Returns
    -------
    x : ndarray
    projected : ndarray
        The gradient there, without what points out of the bounds.

    Raises
    ------
    numpy.linalg.LinAlgError
        Where no step is that small, or no value finite.
    """
    pairs = []  # (step, change of the gradient, 1 / their inner product), oldest first
    f, gradient = at(x)
    g = gradient()
    for _ in range(LARGEST_INNER):
        projected = _inward(g, x, g) if bounded else g
        if small > 0 and np.linalg.norm(projected) <= small:
            break
        direction = _two_loops(g, pairs)
        if bounded:
            direction = _inward(direction, x, direction)
        if np.vdot(direction, g) <= 0:
            direction = projected
        t = 1.0
        while True:
            candidate = x - t * direction
            if bounded:
                candidate = np.maximum(candidate, 0.0)
            f_candidate, gradient = at(candidate)
            if not np.isfinite(f_candidate) and t < 1e-300:
                raise np.linalg.LinAlgError("The line search met no finite value.")
            if f_candidate <= f + ARMIJO * np.vdot(g, candidate - x):
                break
            t /= 2
        if abs(f_candidate - f) < tol:
            break
        g_candidate = gradient()
        s, y = candidate - x, g_candidate - g
        product = np.vdot(s, y)
        x, f, g = candidate, f_candidate, g_candidate
        pairs = [*pairs, (s, y, 1 / product)][-MEMORY:] if product else []
    else:
        raise np.linalg.LinAlgError(f"A block does not end within {LARGEST_INNER} steps.")
    return x, projected


def _two_loops(g, pairs):
    """The inverse Hessian of the pairs times g."""
    q, part, factors = g.copy(), np.empty_like(g), []
    for s, y, rho in reversed(pairs):
        factors.append(rho * np.vdot(s, q))
        q -= np.multiply(factors[-1], y, out=part)
    if pairs:
        s, y, rho = pairs[-1]
        q /= rho * np.vdot(y, y)
    for (s, y, rho), factor in zip(pairs, reversed(factors), strict=True):
        q += np.multiply(factor - rho * np.vdot(y, q), s, out=part)
    return q


def _inward(direction, x, sign):
    return np.where((sign < 0) | (x > 0), direction, 0.0)


def _over(M, norms):
    """Rows divided by their norms; one whose norm is zero becomes zero."""
    norms = norms[:, None]
    return np.divide(M, norms, out=np.zeros_like(M), where=norms > 0)


def _stack(gradients):
    gradient_w, gradient_g, gradient_f = gradients
    return np.vstack([gradient_f.T, gradient_g, gradient_w])
