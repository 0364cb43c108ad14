"""Column subset selection by swaps: a set of features that no exchange of a single one improves."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from methods.core.base import BaseSelector, Solution
from methods.core.column_subset import SPANNED, Gains, first_of_best, grow, ratio, smaller_factor
from methods.core.loop import iterate
from methods.core.shared import shared
from methods.core.words import check_flag

WORTHWHILE = 1e-9  # share of F by which a swap must lower it
NOTHING = 1e-14  # share of ||X||_F^2: an F below it is known to fewer digits than a swap must gain


class SwapCSS(BaseSelector):
    """Exchange features until no single exchange lowers the squared error of all features by regression on the set.

        min_S  F(S) = ||X - P_S X||_F^2   subject to   |S| = h,

    P_S being the projector on the span of the columns in S.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  It is part of the model: every size needs a fit of its own.
    start : {"greedy", "random"}, default="greedy"
        The set of `GreedyCSS`, or features drawn at random, as in the released program.
    center : bool, default=False
        Whether X is centred first, so that P_S X is a regression with an intercept.
    init : ndarray of shape (h,) of int, default=None
        Features to start from in place of `start`, in the order in which they are gone through.
    max_iter : int, default=100
        Largest number of sweeps, 0 or more.
    random_state : int, Generator or None, default=None
        Seed of a random start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For a selected feature 1 plus the share of ||X||_F^2 by which F would rise without it, for any other the share
        by which it would fall with it.
    trace_ : ndarray
        F; never rises.
    status_ : str
        "collapsed" where X is zero, or constant and centred.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    *A sweep* takes the selected features in turn.  Each gives its place to the feature with which F is smallest, if
    that lowers F by a billionth.  With a row r of the pseudo-inverse of the selected columns, u = r / ||r|| is what the
    span loses with that column, so that E'E grows by X'u u'X, and all gains follow in O(m n_features),
    m = min(n_samples, n_features) (`methods.core.column_subset`).  The fit ends after a sweep without a swap: then no
    single exchange helps, whatever the status says of the rest; other starts may end lower.

    *A start* whose features are linearly dependent keeps those that are not in the span of the ones before, and is
    filled up greedily.  Where the rank of X is h or less F is 0 at once, and the features are those of the start, then
    those of largest norm.

    *Differs from the paper*: by default it starts from the greedy set, and so is deterministic and never above it;
    random starts, as in the paper, end up to some per cent lower or higher (docs/methods/swap_css.md).  The released
    program refuses features by an absolute threshold.  From the same start both take the same steps.

    *Known pathologies*: those of `GreedyCSS`; and the set for one size need not hold that for a smaller one.

    References
    ----------
    Ordozgoiti, Gomez Canaval & Mozo. A fast iterative algorithm for improved unsupervised feature selection. ICDM 2016.
    """

    size_in_objective = True
    arrays = {"nd": 4, "mm": 1}
    choices = {"start": ("greedy", "random")}

    def __init__(
        self, n_features_to_select=None, *, start="greedy", center=False, init=None, max_iter=100, random_state=None
    ):
        super().__init__(n_features_to_select)
        self.start = start
        self.center = center
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check(self, X):
        check_flag("center", self.center)

    def _solve(self, X, rng):
        problem = Problem(shared(X, smaller_factor, self.center), self.n_features_to_select_)
        state, trace = iterate(
            problem.sweep, problem.start(self._first_features(X.shape[1], rng)), max_iter=self.max_iter, tol=0
        )
        return Solution(problem.scores(state), trace.collapsed_if(problem.size == 0))

    def _first_features(self, n_features, rng):
        h = self.n_features_to_select_
        if self.init is None:
            return rng.choice(n_features, h, replace=False) if self.start == "random" else ()
        features = np.asarray(self.init)
        whole = features.dtype.kind in "iu" and features.shape == (h,)
        if not whole or len(set(features.tolist()) & set(range(n_features))) != h:
            raise ValueError(f"init={self.init!r:.80} must be {h} different features in [0, n_features={n_features}).")
        return features


@dataclass(frozen=True)
class State:
    """Linearly independent features, in the order of their places, and F."""

    features: tuple
    value: float


class Problem:
    """F over the sets of h columns of A; `residual` belongs to the state that was made last."""

    def __init__(self, A, h):
        self.A, self.h = A, h
        self.residual = Gains(A)
        self.size = self.residual.total

    def start(self, features):
        """Return the state with those of the features that are independent, filled up greedily."""
        chosen = []
        for j in features:
            if self.residual.left[j] > 0:
                self.residual.take(j)
                chosen.append(int(j))
        more, _ = grow(self.residual, self.h - len(chosen))
        return State((*chosen, *more), self.residual.total)

    def sweep(self, state):
        """Return the state after each feature has given way to the best one, where that is worthwhile."""
        if state.value <= NOTHING * self.size:
            return state
        features = np.array(state.features)
        rows = pseudo_inverse(self.A[:, features])
        swapped = [self._swap(features, rows, place) for place in range(len(features))]
        return State(tuple(features.tolist()), self.residual.total) if any(swapped) else state

    def scores(self, state):
        """Return the `scores_` of a state."""
        if self.size == 0:
            return np.zeros(self.A.shape[1])
        nothing = state.value <= NOTHING * self.size
        scores = (self.residual.sizes if nothing else self.residual.values()) / self.size
        features = np.array(state.features)
        rows = pseudo_inverse(self.A[:, features])
        lost = (rows / np.linalg.norm(rows, axis=1, keepdims=True)) @ self.A
        scores[features] = 1 + np.einsum("ij,ij->i", lost, lost) / self.size
        return scores

    def _swap(self, features, rows, place):
        """Put the best feature in a place; return whether it is another one.  `features` and `rows` are changed."""
        residual, old, row = self.residual, features[place], rows[place].copy()
        residual.values()  # computed anew in time
        unit = row / np.linalg.norm(row)
        along = unit @ self.A
        left = residual.left + along**2
        left[left <= SPANNED * residual.sizes] = 0.0
        others = np.delete(features, place)
        left[others] = 0.0
        gains = ratio(residual.numerators + residual.change(unit, along), left)
        new = first_of_best(gains)
        if not gains[new] - gains[old] > WORTHWHILE * residual.total:
            return False
        rows -= np.outer(rows @ row / (row @ row), row)
        residual.restore(unit, along)
        residual.left[others] = 0.0
        residual.columns[others] = 0.0
        joins = residual.columns[new] / residual.left[new]
        residual.take(new)
        rows -= np.outer(rows @ self.A[:, new], joins)
        features[place], rows[place] = new, joins
        return True


def pseudo_inverse(C):
    """Return C+ for linearly independent columns."""
    Q, R = qr(C, mode="economic")
    return solve_triangular(R, Q.T)
