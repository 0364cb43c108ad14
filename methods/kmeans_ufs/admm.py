"""The paper's solver of K-means UFS: the bilinear ADMM of Sun, Ding & Fan (2024), Algorithm 1, and its start."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.linalg import complete_basis, polar_factor, principal_axes
from ufs_bench.methods.core.prox import row_norms

LARGEST_PENALTY = 1e7  # mu grows in every sweep; far beyond, its terms drown the others in rounding


def leading_basis(Z, features):
    """Return the first h right singular vectors of Z, completed by coordinate vectors of h features beyond its rank."""
    values, loadings = principal_axes(Z, min(len(features), *Z.shape))
    # Values are squares of singular values, which lose half of the digits: below 1e-12 they are rounding.
    rank = np.count_nonzero(values > 1e-12 * values[0])
    return complete_basis(polar_factor(loadings[:, :rank]), features)


class State(NamedTuple):
    """An iterate of the ADMM.

    W and Gamma are two halves of F = V + Gamma / mu: by (26) W is F on the kept rows and 0 elsewhere, so that (18)
    leaves Gamma = 0 on the kept rows and mu F elsewhere.
    """

    U: np.ndarray
    Omega: np.ndarray
    F: np.ndarray
    kept: np.ndarray  # mask of the rows of F that are W
    rows: np.ndarray  # indices of the h largest rows, ascending
    mu: float  # the penalty that F was made with
    next_mu: float
    unchanged: int  # sweeps since the rows changed
    value: float  # -sum of A_jj over the rows


class Problem:
    """min -tr V'AV with V = U = W, U'U = I, h non-zero rows of W, ||V||_F^2 = h, for A = loadings @ loadings.T."""

    def __init__(self, loadings, mu0, rho, patience):
        self.loadings, self.mu0, self.rho, self.patience = loadings, mu0, rho, patience
        self.gain = np.einsum("jk,jk->j", loadings, loadings)

    def start(self, V):
        """Start at V = U = W, with orthonormal columns and no multipliers: W is all of V."""
        rows, everything = largest_rows(V, V.shape[1]), np.ones(len(V), dtype=bool)
        return State(V, np.zeros_like(V), V, everything, rows, self.mu0, self.mu0, 0, -self.gain[rows].sum())

    def sweep(self, state):
        """Update V, U, W, then the multipliers and the penalty."""
        loadings, mu, h = self.loadings, state.next_mu, state.F.shape[1]
        V = loadings @ (loadings.T @ state.U)  # (29), Q before its scaling
        V += mu * state.U
        V -= state.Omega
        V += np.where(state.kept, mu, -state.mu)[:, None] * state.F  # mu W - Gamma
        V *= np.sqrt(h) / np.linalg.norm(V)
        Omega = mu * V + state.Omega
        U = polar_factor(loadings @ (loadings.T @ V) + Omega)  # (31)
        Omega -= mu * U  # (17)
        V += np.where(state.kept, 0.0, state.mu / mu)[:, None] * state.F
        rows = largest_rows(V, h)  # (26)
        kept = np.zeros(len(V), dtype=bool)
        kept[rows] = True
        unchanged = state.unchanged + 1 if np.array_equal(rows, state.rows) else 0
        next_mu = min(self.rho * mu, LARGEST_PENALTY)  # (19)
        return State(U, Omega, V, kept, rows, mu, next_mu, unchanged, -self.gain[rows].sum())

    def residual(self, previous, state):
        """Return the sweeps for which the rows must still stay unchanged."""
        return self.patience - state.unchanged


def largest_rows(F, h):
    """Return the indices, ascending, of the h rows of largest norm; ties by index."""
    return np.sort(np.argsort(-row_norms(F), kind="stable")[:h])
