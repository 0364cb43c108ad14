"""EUFS by a penalty on the orthogonality of U."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.bounded import minimize_nonnegative
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.prox import oblique, row_norms, smooth_l21, smoothing
from ufs_bench.methods.core.reweighting import reweight_block

EPS = 1e-10  # under every root of an l21 norm
PENALTIES = tuple(10.0**power for power in range(1, 8))
# All penalties but the last only prepare the next one's start.
WARM_SWEEPS, WARM_TOL = 20, 1e-3


class State(NamedTuple):
    """U, V, the penalty they belong to, and the penalised objective."""

    U: np.ndarray
    V: np.ndarray
    zeta: float
    value: float


class Problem:
    """The penalised objective for one data set and one setting, smoothed, and its two blocks.

    `max_iter` and `tol` are for the sweeps at each penalty but the last, unless `WARM_SWEEPS` and `WARM_TOL` end them
    before.
    """

    residual = None  # the change of the objective

    # Steps per block and sweep.
    reweightings = 3
    quasi_newton = 30

    def __init__(self, X, L, alpha, beta, max_iter=WARM_SWEEPS, tol=WARM_TOL):
        self.X, self.L, self.alpha, self.beta = X, L, alpha, beta
        self.max_iter, self.tol = min(max_iter, WARM_SWEEPS), max(tol, WARM_TOL)
        self.squares = np.einsum("ij,ij->i", X, X)

    def start(self, U):
        """Return the state to which all penalties but the last lead, from U and V = X'U."""
        state = self.state(U, self.X.T @ U, PENALTIES[0])
        for zeta in PENALTIES[1:]:
            state, _ = iterate(self.sweep, state, max_iter=self.max_iter, tol=self.tol)
            state = self.state(state.U, state.V, zeta)
        return state

    def sweep(self, state):
        """Update U, then V: the whole algorithm at one zeta; neither step raises the objective."""
        U = self.step_u(state.U, state.V, state.zeta)  # all terms but beta ||V||_21, U >= 0, by projected L-BFGS
        V = self.step_v(U, state.V)  # ||X - UV'||_21 + beta ||V||_21: v_j = (U'RU + beta q_j I)^-1 U'R x_j
        return self.state(U, V, state.zeta)

    def scores(self, state):
        """Return ||v_j||, and all zero where V = 0 is optimal for this U."""
        scores = row_norms(state.V)
        return np.zeros_like(scores) if self.beta >= smallest_collapsing_beta(self.X, state.U) else scores

    def state(self, U, V, zeta):
        """Return U, V and the smoothed ||X - UV'||_21 + alpha tr U'LU + beta ||V||_21 + zeta/4 ||U'U - I||^2."""
        return State(U, V, zeta, self.value_v(U, V) + self.value_u(U, zeta))

    def printed(self, state):
        """Return the penalised objective at a state, without the smoothing."""
        return state.value - smoothing(self.X - state.U @ state.V.T, EPS) - self.beta * smoothing(state.V, EPS)

    def value_u(self, U, zeta):
        return self.alpha * np.vdot(U, self.L @ U) + zeta / 4 * oblique(U)

    def value_v(self, U, V):
        return smooth_l21(self.X - U @ V.T, EPS) + self.beta * smooth_l21(V, EPS)

    def step_u(self, U, V, zeta):
        """Improve U by projected L-BFGS; one evaluation costs O(n_samples n_clusters^2) and a product with L."""
        XV, VV = self.X @ V, V.T @ V
        identity = np.eye(U.shape[1])

        def function(U):
            slope = U @ VV - XV  # the gradient of half the squared residuals
            squared = self.squares + np.einsum("ik,ik->i", U, slope - XV)
            fit = np.sqrt(np.maximum(squared, 0.0) + EPS)
            LU = self.L @ U
            away = U.T @ U - identity
            value = fit.sum() + self.alpha * np.vdot(U, LU) + zeta / 4 * np.vdot(away, away)
            return value, slope / fit[:, None] + 2 * self.alpha * LU + zeta * (U @ away)

        candidate = minimize_nonnegative(function, U, self.quasi_newton)
        # The expansion of the squares loses digits where the fit is all but exact, so that the true value decides.
        old, new = (self.value_u(at, zeta) + smooth_l21(self.X - at @ V.T, EPS) for at in (U, candidate))
        return candidate if new < old else U

    def step_v(self, U, V):
        """Improve V by reweighting; one eigendecomposition of U'RU serves the system of every feature."""

        def measure(V):
            rest = self.X - U @ V.T
            return smooth_l21(rest, EPS) + self.beta * smooth_l21(V, EPS), rest

        def step(V, rest):
            weighted = U / np.sqrt(np.einsum("ij,ij->i", rest, rest) + EPS)[:, None]
            values, vectors = np.linalg.eigh(weighted.T @ U)
            target = (self.X.T @ weighted) @ vectors
            ridge = self.beta / np.sqrt(np.einsum("ij,ij->i", V, V) + EPS)
            return (target / (np.maximum(values, 0.0) + ridge[:, None])) @ vectors.T

        return reweight_block(V, measure, step, self.reweightings)


def smallest_collapsing_beta(X, U):
    """Return max_j ||sum_i x_ij u_i / ||x_i|| ||: from this beta on V = 0 minimises ||X - UV'||_21 + beta ||V||_21.

    A sample with x_i = 0 could only hold V at zero, and is left out.
    """
    norms = row_norms(X)[:, None]
    return float(row_norms(X.T @ np.divide(U, norms, out=np.zeros_like(U), where=norms > 0)).max())
