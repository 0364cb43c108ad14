"""The paper's solver of EUFS: an alternating direction method with a growing penalty."""

from typing import NamedTuple

import numpy as np

from methods.core.linalg import polar_factor
from methods.core.loop import iterate
from methods.core.prox import prox_l21, row_norms

LARGEST_PENALTY = 1e10


class State(NamedTuple):
    """U, V, the copies E = X - UV' and Z = U, the multipliers, and the penalty of the next sweep."""

    U: np.ndarray
    V: np.ndarray
    E: np.ndarray
    Z: np.ndarray
    Y1: np.ndarray
    Y2: np.ndarray
    mu: float


def admm(X, L, U, alpha, beta, *, mu0, rho, max_iter, tol):
    """Sweeps over E, V, Z >= 0, U with U'U = I, and the multipliers.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    L : csr_array of shape (n_samples, n_samples)
    U : ndarray of shape (n_samples, n_clusters)
        Start; V starts at X'U.
    alpha, beta : float
        As in `EUFS`.
    mu0, rho : float
        Penalty of the first sweep, and its growth.
    max_iter : int
    tol : float
        Converged when ||Z - U||_F <= tol ||U||_F and ||X - UV' - E||_F <= tol ||X||_F.

    Returns
    -------
    state : State
    trace : Trace
        ||X - UV'||_21 + alpha tr U'LU + beta ||V||_21, whatever the signs of U.
    """
    size = max(np.linalg.norm(X), np.finfo(float).tiny)

    def step(state):
        U, V, mu = state.U, state.V, state.mu
        shifted = X + state.Y2 / mu
        E = prox_l21(shifted - U @ V.T, 1 / mu)
        rest = shifted - E
        V = prox_l21(rest.T @ U, beta / mu)
        Z = np.maximum(U - state.Y1 / mu - (alpha / mu) * (L @ U), 0.0)
        U = polar_factor(state.Y1 / mu + Z - (alpha / mu) * (L @ Z) + rest @ V)
        Y1 = state.Y1 + mu * (Z - U)
        Y2 = state.Y2 + mu * (X - U @ V.T - E)
        return State(U, V, E, Z, Y1, Y2, min(rho * mu, LARGEST_PENALTY))

    def objective(state):
        U, V = state.U, state.V
        return row_norms(X - U @ V.T).sum() + alpha * np.vdot(U, L @ U) + beta * row_norms(V).sum()

    def infeasibility(_, state):
        U, V, E, Z = state[:4]
        return max(np.linalg.norm(Z - U) / np.linalg.norm(U), np.linalg.norm(X - U @ V.T - E) / size)

    start = State(U, X.T @ U, np.zeros_like(X), U, np.zeros_like(U), np.zeros_like(X), mu0)
    return iterate(step, start, objective, residual=infeasibility, max_iter=max_iter, tol=tol)
