"""DUFS as the released program computes it: a gate drawn for each entry of X, and plain gradient descent."""

from dataclasses import dataclass

import numpy as np

from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.dufs.gates import loss
from ufs_bench.methods.dufs.walk_score import walk_score

SPREAD = 0.01  # standard deviation of the random start


@dataclass(frozen=True)
class State:
    """The means of the gates, and the loss there for one draw."""

    mu: np.ndarray
    value: float
    gradient: np.ndarray


class Problem:
    """The loss for given data, of which every evaluation draws the gates anew.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    price : float or None
    scale_factor, noise, learning_rate : float
    n_neighbors : int
    rng : Generator
        It draws batches and gates.
    batch_size : int, optional
        Samples of a step; None: all.
    """

    def __init__(self, X, price, scale_factor, n_neighbors, noise, learning_rate=1.0, rng=None, batch_size=None):
        self.X, self.price, self.scale_factor, self.n_neighbors = X, price, scale_factor, n_neighbors
        self.noise, self.learning_rate, self.rng = noise, learning_rate, rng
        self.batch_size = min(batch_size or len(X), len(X))

    def state(self, mu):
        """Evaluate the loss for a fresh draw of the gates."""
        X = self.X
        if self.batch_size < len(X):
            X = X[self.rng.permutation(len(X))[: self.batch_size]]
        opening = mu + 0.5 + self.noise * self.rng.standard_normal(X.shape)
        score, by_mu = drawn_score(X, opening, self.scale_factor, self.n_neighbors)
        return State(mu, *loss(score, by_mu, mu, self.noise, self.price))

    def step(self, state):
        """Return the state after a step along the gradient."""
        return self.state(state.mu - self.learning_rate * state.gradient)

    def solve(self, mu, max_iter, tol):
        """Return the state after so many steps, and their trace; the program has no test, so `tol` is not looked at."""
        return iterate(self.step, self.state(mu), max_iter=max_iter, tol=0)

    def scores(self, state):
        """Return the means of the gates."""
        return state.mu


def drawn_score(X, opening, scale_factor, n_neighbors):
    """Return the gated Laplacian score for drawn gates, and its derivatives by what is added to a column of `opening`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    opening : ndarray of shape (n_samples, n_features) or (n_features,)
        The gates before they are clipped to [0, 1].
    scale_factor : float
    n_neighbors : int

    Returns
    -------
    score : float
        -tr(Y'P^2 Y) / (n_samples n_features), Y = X * z.
    gradient : ndarray of shape (n_features,)
        A gate that is clipped counts as fixed.
    """
    Y = X * np.clip(opening, 0.0, 1.0)
    value, G = walk_score(Y @ Y.T, scale_factor, n_neighbors, "median")
    by_gate = G @ Y
    by_gate *= X
    by_gate *= (opening > 0) & (opening < 1)
    return -value / X.size, by_gate.sum(axis=0) * (-2 / X.size)
