"""Column subset selection by swaps: a set of features that no exchange of a single one improves."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import check_flag
from ufs_bench.methods.core.column_exchange import Problem
from ufs_bench.methods.core.column_subset import smaller_factor
from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.shared import shared


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
    m = min(n_samples, n_features) (`methods.core.column_exchange`).  The fit ends after a sweep without a swap: then no
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
