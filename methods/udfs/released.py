"""UDFS as its released program computes it: equal weights at the start, plain sweeps, every feature."""

from typing import NamedTuple

import numpy as np

from ufs_bench.methods.core.prox import row_weights, smooth_l21, smoothing
from ufs_bench.methods.core.smallest import smallest_eigenvectors, tie_breaking_weights
from ufs_bench.methods.udfs import paper

EPS = np.finfo(float).eps  # under the root of a row norm, in the program
patience = 1
change = None  # the default of `iterate`: the relative change of the objective


def features(X):
    """Return all features, constant ones too, and X less their means, which the local scatter ignores."""
    centered = X - X.mean(axis=0)
    kept = np.arange(X.shape[1] if np.ptp(X, axis=0).any() else 0)
    return kept, centered[:, kept]


def start_weights(gram, X):
    """Return equal weights, or nearly so: they decide among vectors that M does not tell apart, and do nothing else.

    X is centred.  A weight is larger for a feature that varies less, and the largest for one that is constant.
    """
    varying = np.ptp(X, axis=0) > 0
    weights = tie_breaking_weights(gram, X[:, varying])
    filled = np.full(X.shape[1], weights.max())
    filled[varying] = weights
    return filled


class State(NamedTuple):
    """A projection, the objective there, and that projection with a few vectors more."""

    W: np.ndarray
    value: float
    guess: np.ndarray


class Problem:
    """The program's sweep, with the matrix of `paper.Problem`: weights from W, and the exact W for them."""

    restart = None

    def __init__(self, *args):
        self.blocks = paper.Problem(*args)

    def starts(self):
        """Return the W for equal weights, which is the program's first iterate, whatever gamma."""
        gram, X = self.blocks.gram, self.blocks.X
        n_samples, n_features = X.shape
        # M is zero in so many dimensions at least, as the rows of X sum to zero.
        if n_features - (n_samples - 1) > self.blocks.n_columns:
            return [self.solve(start_weights(gram, X), None)]
        return [self.solve(np.full(n_features, gram.diagonal().mean()), None)]

    def solve(self, weights, guess):
        """Return the best W for these weights."""
        guess = smallest_eigenvectors(self.blocks.gram, weights, self.blocks.n_columns, guess)
        return self.state(guess[:, : self.blocks.n_columns], guess)

    def state(self, W, guess=None):
        return State(W, self.blocks.gram.form(W) + self.blocks.gamma * smooth_l21(W, EPS), guess)

    def sweep(self, state):
        return self.solve(self.blocks.gamma * row_weights(state.W, EPS), state.guess)

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return state.value - self.blocks.gamma * smoothing(state.W, EPS)
