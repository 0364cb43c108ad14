"""VCSDFS: a non-negative factor of the samples' Gram matrix, one column a feature to be selected."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, check_init, whole
from ufs_bench.methods.core.loop import iterate, iterate_best
from ufs_bench.methods.vcsdfs import paper, released

VARIANTS = {"paper": paper, "released": released}
COPIES = 32  # arrays of the shape of W that a fit holds: the pairs of L-BFGS, and what a step needs


class VCSDFS(BaseSelector):
    """Reproduce the inner products of the samples from non-negative combinations of features.

        min_W  ||XX' - XWW'X'||_F^2 / 2 + rho (1'WW'1 - tr WW')   subject to   W >= 0,

    W (n_features, n_columns).  The second term is the sum of the inner products between different rows of W.  A
    feature's score is ||w_j||^2, of row j.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.  W has as many columns, so that every size needs a fit of its own.
    rho : float, default=1.0
        Weight of the second term, 0 or more.  The first is of the fourth power of X, so that the same rho weighs less
        the larger the data.
    n_columns : int, default=None
        Of W, 1 or more; by default n_features_to_select.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    init : ndarray of shape (n_features, n_columns), default=None
        W to start from, 0 or more.
    max_work : float, default=1.5e11
        Only of "paper": above 0.  At most so many units of work are done, if more than a step from each start: a step
        costs n_features n_columns (300 + rank of X), of which the second term is for the products with X.  1.5e11 are
        20 to 50 CPU seconds: hundreds of sweeps for small data, five short ones for 300 of 10,000 features.
    max_iter : int, default=1000
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-5
        "paper": converged when in three sweeps on end the objective changes by at most this share, and the row norms,
        as a vector, by at most its square root (`methods.core.loop.ranking_change`).  "released": when the objective
        does not in one.  0 or more.
    random_state : int, RandomState instance or None, default=None
        "released": of the start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||^2.
    coef_ : ndarray of shape (n_features, n_features_to_select_)
        W; with `n_columns` so many columns.
    trace_ : ndarray
        The objective; never rises.  "released": nor where no two features have a negative inner product.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    *A sweep* of "paper": 100 steps of projected L-BFGS (`methods.core.bounded`), fewer where `max_work` is not enough
    for five such sweeps.  X is replaced by its principal axes R times the singular values, since only X'X counts.  With
    V = RW the gradient is 2 (R'(VV'V - RR'V) + rho (11'W - W)), RR' being diagonal: two products of O(rank n_features
    n_columns) a step, and no array of all pairs of features.

    *Starts*: (a) the parts of one sign of the right singular vectors of X, the larger part of each first and the other
    parts after them, with 1 % of the mean entry added; (b) one feature a column, in the order of a QR with pivoting.
    Each is scaled by its best factor, does a sweep, and the lower goes on.  Deterministic.

    *Differs from the paper*: its step multiplies W by the fourth root of a ratio, which minimises a bound of the
    objective and never raises it where X'X has no negative entry.  It is that of the released program, and far slower
    (docs/methods/vcsdfs.md).  Steps along the gradient need no sign of X'X.

    *Differs from the released program* ("released" is that program): its start is uniform at random and not scaled, it
    does 100 steps and has no test of convergence, and it forms X'X.

    *Known pathologies*: "released": 100 steps are far from a minimum, and the selection is mostly that of the random
    start.  "paper": the objective goes on falling for thousands of steps; as it does, more and more rows of W become
    zero, so that fewer features than asked for may have a score above 0, and the others follow by index.  There are
    many minima, and rounding may decide to which a fit goes.  Nothing is centred: the leading direction of X is its
    mean.  rho acts only once the first term is small: over several decades it changes nothing.

    References
    ----------
    Karami, Saberi-Movahed, Tiwari, Marttinen & Vahdati. Unsupervised feature selection based on variance-covariance
    subspace distance. Neural Networks 166, 2023.
    """

    size_in_objective = True
    arrays = {"nd": 2, "mm": 6}
    bounds = {"rho": at_least(0), "max_work": above(0)}
    choices = {"variant": tuple(VARIANTS)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        rho=1.0,
        n_columns=None,
        variant="paper",
        max_work=1.5e11,
        init=None,
        max_iter=1000,
        tol=1e-5,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.rho = rho
        self.n_columns = n_columns
        self.variant = variant
        self.max_work = max_work
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def memory(self, n_samples, n_features, n_stored=None):
        """Estimate as `BaseSelector`, with the copies of W, which has a column for every feature to be selected."""
        size = self.n_features_to_select
        columns = self.n_columns or (size if isinstance(size, int) else n_features)
        return super().memory(n_samples, n_features, n_stored) + 8 * COPIES * n_features * columns

    def _check(self, X):
        if self.n_columns is not None:
            whole(1).check("n_columns", self.n_columns, X)

    def _solve(self, X, rng):
        variant, shape = VARIANTS[self.variant], (X.shape[1], self.n_columns or self.n_features_to_select_)
        check_init(self.init, shape, 0.0)
        work = self.max_work if self.variant == "paper" else np.inf
        problem = variant.Problem(X, shape[1], self.rho, work)
        max_iter = min(self.max_iter, problem.sweeps)
        loop = {"max_iter": max_iter, "tol": self.tol, "residual": variant.change, "patience": variant.patience}
        if self.init is not None:
            state, trace = iterate(problem.sweep, problem.state(np.array(self.init, dtype=float)), **loop)
        elif self.variant == "released":
            state, trace = iterate(problem.sweep, problem.state(rng.random(shape)), **loop)
        else:
            state, trace = iterate_best(problem.sweep, problem.starts(), trial=paper.TRIAL, **loop)
        return Solution(np.einsum("jk,jk->j", state.W, state.W), trace, learned={"coef_": state.W})
