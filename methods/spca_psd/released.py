"""SPCA-PSD as its released program computes it: the free minimiser for fixed weights, then its nearest PSD matrix."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, solve

from ufs_bench.methods.core.prox import row_norms, row_weights

EPS = np.finfo(float).eps  # under the root of a column's norm, in the program
RIDGE, WIDE_RIDGE = (
    1e-3,
    1e-2,
)  # added to the system, with fewer features than samples and otherwise; not in the objective


def change(previous, state):
    """Return the change of the objective as it is, not as a share."""
    return abs(previous.value - state.value)


class State(NamedTuple):
    """Omega and the objective there."""

    omega: np.ndarray
    value: float


class Problem:
    """The program's sweep: Omega = (S - eta/2 I) (S + lambda_ diag(w) + ridge I)^-1, made symmetric and projected.

    Parameters
    ----------
    X, lambda_, eta
        As in `methods.spca_psd.paper.Problem`.
    """

    def __init__(self, X, lambda_, eta):
        Xc = X - X.mean(axis=0)
        self.S, self.lambda_, self.eta = Xc.T @ Xc, lambda_, eta
        self.ridge = WIDE_RIDGE if X.shape[1] >= X.shape[0] else RIDGE

    def start(self, diagonal):
        return self.state(np.diag(diagonal))

    def state(self, omega):
        product = omega @ self.S
        fit = np.trace(self.S) - 2 * np.trace(product) + np.vdot(product, omega)
        return State(omega, float(fit + self.lambda_ * row_norms(omega).sum() + self.eta * np.trace(omega)))

    def sweep(self, state):
        system, right = self.S.copy(), self.S.copy()
        system.flat[:: len(system) + 1] += self.lambda_ * row_weights(state.omega, EPS) + self.ridge
        right.flat[:: len(right) + 1] -= self.eta / 2
        free = solve(system, right, assume_a="pos", overwrite_a=True, overwrite_b=True)
        values, vectors = eigh((free + free.T) / 2, driver="evd")
        kept = vectors[:, values > 0]
        return self.state((kept * values[values > 0]) @ kept.T)

    def optimum(self, state):
        """Return Omega of a state."""
        return state.omega
