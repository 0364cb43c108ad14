"""UFSOL as the released program computes it."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.starts import kmeans_labels
from ufs_bench.methods.ufsol import paper

patience = 1  # sweep that changes nothing, as in the program
SQUARED = False  # the distances of the triplets
ZERO_ROW = 2e6  # weight of a row that is exactly zero, in the program


def scaled(X):
    """Return samples scaled to unit norm; a sample of zeros stays."""
    norms = row_norms(X)
    return X / np.where(norms > 0, norms, 1.0)[:, None]


def features(X):
    """Return all features, as they are."""
    return slice(None), X


def change(previous, current):
    """Return the turn of W's column space, ||P - P'||_F of the two projectors: signs of columns do not matter."""
    shared = np.linalg.norm(previous.W.T @ current.W) ** 2
    return np.sqrt(max(2 * (previous.W.shape[1] - shared), 0.0))


class State(NamedTuple):
    """A projection, the labels that it was computed for, and the objective there."""

    W: np.ndarray
    labels: np.ndarray
    value: float


class Problem:
    """The program's sweep, with the blocks of `paper.Problem`: labels by K-means on XW, weights 1 / (2 ||w_j||), W.

    No block is checked for descent.
    """

    is_sparse = False

    def __init__(self, *args):
        self.blocks = paper.Problem(*args)

    def starts(self, X, W=None):
        """Return the first columns of the identity, unless W is given."""
        if W is None:
            W = np.eye(self.blocks.X.shape[1], self.blocks.n_columns)
        return [self.state(W, self.labels(W))]

    def state(self, W, labels):
        value = self.blocks.gram(labels).form(W) + self.blocks.beta * float(row_norms(W).sum())
        return State(W, labels, value)

    def printed(self, state):
        """Return the traced value."""
        return state.value

    def labels(self, W):
        return kmeans_labels(self.blocks.X @ W, self.blocks.n_clusters, self.blocks.seed)

    def step_w(self, W, labels):
        norms = row_norms(W)
        weights = np.divide(0.5, norms, out=np.full(len(norms), ZERO_ROW), where=norms > 0)
        # The step is for weights beta / (2 s).
        return self.blocks.solve(0.5 / weights, self.blocks.gram(labels), labels, None).W

    def sweep(self, state):
        W = self.step_w(state.W, state.labels)
        return self.state(W, self.labels(W))
