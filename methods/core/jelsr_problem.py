"""The objective of JELSR (`methods.jelsr`) for given data, and the sweep that lowers it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse.linalg import splu

from methods.core.reweighting import Memory, log_scale, no_memory, safeguarded
from methods.core.ridge import WeightedRidge
from methods.core.subspace import GUARDS, POWERS, largest_eigenvectors

DENSE_SAMPLES = 600  # up to here the eigenvectors come from a dense matrix


@dataclass(frozen=True)
class State:
    """An embedding, its regression, and where the next sweep starts."""

    Y: np.ndarray
    W: np.ndarray
    value: float
    log_s: np.ndarray = None  # of the weights 1 / (2 s) that Y and W come from
    memory: Memory = None
    guess: np.ndarray = None  # vectors near the next Y and a few more


class Problem:
    """The objective for given data, and its minimisation for given weights of the features."""

    def __init__(self, X, L, n_clusters, alpha, beta):
        self.X, self.L, self.n_clusters, self.alpha, self.beta = X, L, n_clusters, alpha, beta
        n, d = X.shape
        self.ridge = WeightedRidge(X)
        self.dense = n < d or n <= max(DENSE_SAMPLES, (POWERS + 1) * (n_clusters + GUARDS))
        if not self.dense:
            self.K = splu(
                sparse.csc_array(L + beta * sparse.eye_array(n)),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
            self.Z = self.K.solve(X)
            middle = X.T @ (L @ self.Z)
            self.middle = (middle + middle.T) / 2

    def start(self, W):
        d = self.X.shape[1]
        s = np.full(d, 0.5) if W is None else np.exp(log_scale(np.asarray(W, dtype=float)))
        return replace(self.solve(s, None), log_s=np.log(s), memory=no_memory(d))

    def sweep(self, state):
        memory = state.memory.remember(state.log_s, log_scale(state.W))
        new, log_s, memory = safeguarded(lambda s: self.solve(s, state.guess), memory, state.value)
        return replace(new, log_s=log_s, memory=memory)

    def solve(self, s, guess):
        """The best Y and W for the weights 1 / (2 s)."""
        ridge = self.ridge.factor(self.alpha / (2 * s))
        if self.dense:
            rest = ridge.residual(np.eye(len(self.X)))[0]  # I - X P
            M = self.L.toarray() + self.beta / 2 * (rest + rest.T)
            Y = eigh(M, subset_by_index=(0, self.n_clusters - 1))[1]
        else:
            guess = self._smallest(s, guess)
            Y = guess[:, : self.n_clusters]
        misfit, W = ridge.residual(Y)
        smooth = np.exp(log_scale(W)).sum()
        value = (Y * (self.L @ Y)).sum() + self.beta * ((misfit**2).sum() + self.alpha * smooth)
        return State(Y, W, float(value), guess=guess)

    def _smallest(self, s, guess):
        if guess is None:
            shape = len(self.X), self.n_clusters + GUARDS
            guess = np.random.default_rng(0).standard_normal(shape)  # any will do
        system = self.middle.copy()
        system.flat[:: len(system) + 1] += self.alpha / (2 * s)
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

        def inverse(V):
            return self.K.solve(V) + self.beta * (self.Z @ cho_solve(factor, self.Z.T @ V, check_finite=False))

        return largest_eigenvectors(inverse, guess, self.n_clusters)
