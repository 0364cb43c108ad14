"""UFSOL as the released program computes it."""

from typing import NamedTuple

import numpy as np

from methods.core.prox import row_norms
from methods.core.starts import kmeans_labels
from methods.ufsol.paper import Problem

ZERO_ROW = 2e6  # weight of a row that is exactly zero


class State(NamedTuple):
    """A projection, the labels that it was computed for, and the objective there."""

    W: np.ndarray
    labels: np.ndarray
    value: float


class ReleasedUFSOL:
    """Its sweep: labels by K-means on XW, weights 1 / (2 ||w_j||), W; no block is checked for descent."""

    def __init__(self, X, L, alpha, beta, n_clusters, seed, floor=0.0):
        self.n_columns = min(n_clusters, X.shape[1])
        self.problem = Problem(X, L, alpha, beta, n_clusters, self.n_columns, seed, floor)

    def start(self, W=None):
        """The first columns of the identity."""
        if W is None:
            W = np.eye(self.problem.X.shape[1], self.n_columns)
        return self.state(W, self.labels(W))

    def state(self, W, labels):
        value = self.problem.gram(labels).form(W) + self.problem.beta * float(row_norms(W).sum())
        return State(W, labels, value)

    def labels(self, W):
        return kmeans_labels(self.problem.X @ W, self.problem.n_clusters, self.problem.seed)

    def step_w(self, W, labels):
        norms = row_norms(W)
        weights = np.divide(0.5, norms, out=np.full(len(norms), ZERO_ROW), where=norms > 0)
        # The step is for weights beta / (2 s).
        return self.problem.solve(0.5 / weights, self.problem.gram(labels), labels, None).W

    def sweep(self, state):
        W = self.step_w(state.W, state.labels)
        return self.state(W, self.labels(W))


def turned(previous, current):
    """How far the column space of W has turned: ||P - P'||_F for the two projectors, whatever the signs."""
    shared = np.linalg.norm(previous.W.T @ current.W) ** 2
    return np.sqrt(max(2 * (previous.W.shape[1] - shared), 0.0))


def with_unit_norm(X):
    """Samples scaled to unit norm; a sample of zeros stays."""
    norms = row_norms(X)
    return X / np.where(norms > 0, norms, 1.0)[:, None]
