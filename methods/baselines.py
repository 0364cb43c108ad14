"""Selectors that look at one feature at a time, or at none: yardsticks and controls.

Six classes in one file, against the rule of one class per file: each is one line, and they are read side by side.
"""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import whole
from ufs_bench.methods.core.sparse_data import column_blocks


class AllFeatures(BaseSelector):
    """Keep every feature: the "All Features" row of every paper.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        None or n_features; anything less is an error, since nothing is selected.

    Raises
    ------
    ValueError
        When fewer features are asked for.
    """

    takes_sparse = True
    keeps_all = True

    def _check(self, X):
        size, n_features = self.n_features_to_select, X.shape[1]
        if size is not None and size != n_features:
            raise ValueError(
                f"n_features_to_select={size} must be None or n_features={n_features}: AllFeatures keeps everything."
            )

    def _solve(self, X, rng):
        self.n_features_to_select_ = X.shape[1]  # where None means half for every other selector
        return Solution(np.ones(X.shape[1]))


class RandomSelection(BaseSelector):
    """Rank the features at random: the control that a method has to beat.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    draw : int, default=0
        Which of the orders that the seed gives, one after the other, in [0, inf).
    random_state : int, Generator or None, default=None
        Seed of the orders.
    """

    takes_sparse = True
    bounds = {"draw": whole(0)}
    repeats = ("draw",)

    def __init__(self, n_features_to_select=None, *, draw=0, random_state=None):
        super().__init__(n_features_to_select)
        self.draw = draw
        self.random_state = random_state

    def _solve(self, X, rng):
        for _ in range(self.draw):
            rng.permutation(X.shape[1])
        return Solution(1.0 + rng.permutation(X.shape[1]))


class MaxVariance(BaseSelector):
    """Score a feature by its variance, as the papers' "Max Variance" does.

    On standardised data all variances are equal and the ranking is rounding.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    """

    takes_sparse = True

    def _solve(self, X, rng):
        return Solution(_variance(X))


class MinVariance(BaseSelector):
    """Score a feature by minus its variance, so that constant features come first: a control.

    A method that selects what this one selects keeps the least informative features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    """

    takes_sparse = True

    def _solve(self, X, rng):
        return Solution(-_variance(X))


class MinNorm(BaseSelector):
    """Score a feature by minus its Euclidean norm: a control (the set that `dgufs` selects).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    """

    takes_sparse = True

    def _solve(self, X, rng):
        return Solution(-np.concatenate([np.linalg.norm(part, axis=0) for part in column_blocks(X)]))


class FirstIndex(BaseSelector):
    """Rank the features in file order: a control (what a method with all scores equal selects).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    """

    takes_sparse = True

    def _solve(self, X, rng):
        return Solution(np.arange(X.shape[1], 0.0, -1.0))


def _variance(X):
    """Return the variance of every column, exactly zero where it is constant."""
    parts = column_blocks(X)
    return np.concatenate([np.where(part.max(axis=0) == part.min(axis=0), 0.0, part.var(axis=0)) for part in parts])
