"""The paper's solver of K-means UFS: the bilinear ADMM of Sun, Ding & Fan (2024), Algorithm 1, and its start."""

from typing import NamedTuple

import numpy as np

from methods.core.linalg import complete_basis, polar_factor, principal_axes
from methods.core.loop import iterate

LARGEST_PENALTY = 1e7


def leading_basis(Z, features):
    """The first h right singular vectors of Z, completed by coordinate vectors beyond its rank.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
    features : ndarray of shape (h,) of int
        Coordinates to complete with.

    Returns
    -------
    ndarray of shape (n_features, h)
        Orthonormal columns.
    """
    values, loadings = principal_axes(Z, min(len(features), *Z.shape))
    # Their squares lose half of the digits: smaller singular values than this are rounding.
    rank = np.count_nonzero(values > 1e-12 * values[0])
    return complete_basis(polar_factor(loadings[:, :rank]), features)


class _State(NamedTuple):
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


def bilinear_admm(loadings, start, mu0, rho, patience, max_iter):
    """Algorithm 1 of the paper for min -tr V'AV with V = U = W, U'U = I, h non-zero rows of W, ||V||_F^2 = h.

    Parameters
    ----------
    loadings : ndarray of shape (n_features, k)
        A = loadings @ loadings.T.
    start : ndarray of shape (n_features, h)
        Orthonormal columns.
    mu0, rho, patience, max_iter
        As in `KMeansUFS`.

    Returns
    -------
    row_norms : ndarray of shape (n_features,)
        The h largest are the rows kept.
    trace : Trace
        -sum of A_jj over the kept rows.
    """
    gain = np.einsum("jk,jk->j", loadings, loadings)
    h = start.shape[1]

    def step(state):
        mu = state.next_mu
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
        return _State(U, Omega, V, kept, rows, mu, min(rho * mu, LARGEST_PENALTY), unchanged)  # (19)

    # At the start W is all of V, and there are no multipliers.
    everything = np.ones(len(start), dtype=bool)
    state = _State(start, np.zeros_like(start), start, everything, largest_rows(start, h), mu0, mu0, 0)
    state, trace = iterate(
        step,
        state,
        lambda state: -gain[state.rows].sum(),
        residual=lambda _, state: patience - state.unchanged,
        tol=0,
        max_iter=max_iter,
    )
    return _row_norms(state.F), trace


def largest_rows(F, h):
    """Indices, ascending, of the h rows of largest norm; ties by index."""
    return np.sort(np.argsort(-_row_norms(F), kind="stable")[:h])


def _row_norms(F):
    return np.sqrt(np.einsum("ij,ij->i", F, F))
