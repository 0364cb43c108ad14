"""The paper's solver of EUFS: an alternating direction method with a growing penalty."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.linalg import polar_factor
from ufs_bench.methods.core.prox import prox_l21, row_norms

LARGEST_PENALTY = 1e10  # mu grows in every sweep; far beyond, its terms drown the others in rounding


class State(NamedTuple):
    """U, V, the copies E = X - UV' and Z = U, the multipliers, the penalty of the next sweep, and the objective."""

    U: np.ndarray
    V: np.ndarray
    E: np.ndarray
    Z: np.ndarray
    Y1: np.ndarray
    Y2: np.ndarray
    mu: float
    value: float  # ||X - UV'||_21 + alpha tr U'LU + beta ||V||_21, whatever the signs of U


class Problem:
    """Sweeps over E, V, Z >= 0, U with U'U = I, and the multipliers; parameters as in `EUFS`, L a csr_array."""

    def __init__(self, X, L, alpha, beta, mu0, rho):
        self.X, self.L, self.alpha, self.beta, self.mu0, self.rho = X, L, alpha, beta, mu0, rho
        self.size = max(np.linalg.norm(X), np.finfo(float).tiny)

    def start(self, U):
        """Return the start: V = X'U, all else zero or a copy."""
        V, zeros = self.X.T @ U, np.zeros_like(self.X)
        return State(U, V, zeros, U, np.zeros_like(U), zeros, self.mu0, self.value(U, V))

    def sweep(self, state):
        """Update E, V, Z, U, the multipliers and mu, in this order: the whole algorithm."""
        X, L, U, mu = self.X, self.L, state.U, state.mu
        shifted = X + state.Y2 / mu
        E = prox_l21(shifted - U @ state.V.T, 1 / mu)
        rest = shifted - E
        V = prox_l21(rest.T @ U, self.beta / mu)
        Z = np.maximum(U - state.Y1 / mu - (self.alpha / mu) * (L @ U), 0.0)
        U = polar_factor(state.Y1 / mu + Z - (self.alpha / mu) * (L @ Z) + rest @ V)
        Y1 = state.Y1 + mu * (Z - U)
        Y2 = state.Y2 + mu * (X - U @ V.T - E)
        return State(U, V, E, Z, Y1, Y2, min(self.rho * mu, LARGEST_PENALTY), self.value(U, V))

    def printed(self, state):
        """Return the objective at a state, which nothing smooths."""
        return state.value

    def value(self, U, V):
        fit = row_norms(self.X - U @ V.T).sum()
        return fit + self.alpha * np.vdot(U, self.L @ U) + self.beta * row_norms(V).sum()

    def residual(self, _, state):
        """Return the larger distance of a copy from what it copies: ||Z - U|| / ||U|| or ||X - UV' - E|| / ||X||."""
        U, V, E, Z = state[:4]
        return max(np.linalg.norm(Z - U) / np.linalg.norm(U), np.linalg.norm(self.X - U @ V.T - E) / self.size)

    def scores(self, state):
        return row_norms(state.V)
