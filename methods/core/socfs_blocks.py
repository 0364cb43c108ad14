"""The blocks of SOCFS (`methods.socfs`), each minimised exactly, and the sweep that they make up."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular

from methods.core.linalg import polar_factor
from methods.core.reweighting import Memory, log_scale, no_memory, safeguarded
from methods.core.ridge import WeightedRidge

INNER_STEPS = 50  # of E and H for the same W, at most
INNER_TOL = 1e-6  # change of an entry of E at which they end
CYCLES = 5  # of (E, H, B) and W for the same weights, in a sweep: they share its one factorisation


@dataclass(frozen=True)
class State:
    """The four blocks, the objective there, and where the next sweep starts."""

    W: np.ndarray
    B: np.ndarray
    E: np.ndarray
    H: np.ndarray
    value: float
    log_s: np.ndarray  # of the weights 1 / (2 s) that W comes from
    memory: Memory


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
        return self.state(W, self.basis(W, E), E, E)

    def state(self, W, B, E, H):
        return State(W, B, E, H, self.value(W, B, E, H), np.full(len(W), np.log(0.5)), no_memory(len(W)))

    def value(self, W, B, E, H):
        XW = self.X @ W
        value = ((XW - E @ B.T) ** 2).sum() + self.lambda2 * ((H - E) ** 2).sum()
        value += self.lambda_ * np.exp(log_scale(W)).sum()
        if self.L is not None:
            value += self.triplet_weight * (XW * (self.L @ XW)).sum()
        return float(value)

    def indicators(self, W, B, E, H):
        """E and H in turn, each the best for the other, for given W and B."""
        XWB = self.X @ W @ B
        for _ in range(self.inner_steps):
            previous, E = E, polar_factor(XWB + self.lambda2 * H)
            H = np.maximum(E, 0.0)
            if np.abs(E - previous).max() < self.inner_tol:
                break
        return E, H

    def factor(self, s):
        """The W step for the weights 1 / (2 s): a function of the target F."""
        ridge = self.ridge.factor(self.lambda_ / (2 * s))
        if self.root is None:
            return ridge.coefficients
        return lambda F: ridge.coefficients(solve_triangular(self.root, F, trans=1, check_finite=False))

    def basis(self, W, E):
        """The best B."""
        return polar_factor(W.T @ (self.X.T @ E))

    def sweep(self, state):
        memory = state.memory
        plain = log_scale(state.W)
        E, H = self.indicators(state.W, state.B, state.E, state.H)
        B = self.basis(state.W, E)

        def solve(s):
            best = self.factor(s)
            new = [best(E @ B.T), B, E, H]
            for _ in range(self.cycles - 1):
                new[2:] = self.indicators(*new)
                new[1] = self.basis(new[0], new[2])
                new[0] = best(new[2] @ new[1].T)
            return State(*new, self.value(*new), np.log(s), memory)

        new, log_s, memory = safeguarded(solve, memory.remember(state.log_s, plain), state.value)
        return replace(new, log_s=log_s, memory=memory)


def without_means(X):
    """X with the mean of every feature subtracted."""
    return X - X.mean(axis=0)
