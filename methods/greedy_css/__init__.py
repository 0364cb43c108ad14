"""Greedy column subset selection: the features from which all others can be computed best, one after the other."""

import numbers

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import check_flag, whole
from ufs_bench.methods.core.column_subset import Gains, grow, ranked, smaller_factor
from ufs_bench.methods.core.loop import Trace
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.greedy_css.sparse_gains import SparseGains


class GreedyCSS(BaseSelector):
    """Add, one at a time, the feature that lowers the squared error of all features by linear regression on them most.

        min_S  F(S) = ||X - P_S X||_F^2   subject to   |S| = h,

    P_S being the projector on the span of the columns in S.  Finding the best S is NP-hard; the greedy choice gives one
    order, which begins with the features of every smaller h.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  The features beyond it are ranked by what each alone would add to these.
    center : bool, default=False
        Whether X is centred first, so that P_S X is a regression with an intercept.
    n_parts : int, default=None
        In [1, n_features].  Features are chosen for the sums of the features of so many random parts of them, instead
        of for all features: cheaper, and random.
    random_state : int, Generator or None, default=None
        Seed of the parts; unused without `n_parts`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        n_features for the feature chosen first, and so down to 1.
    trace_ : ndarray
        F before the first choice, and after each; never rises.
    n_iter_ : int
        Features chosen before nothing was left of any other: n_features_to_select_, or the rank of X if that is less.
    status_ : str
        "collapsed" where X is zero, or constant and centred.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    With the residual E = X - P_S X and its columns e_j, adding j lowers F by ||E'e_j||^2 / ||e_j||^2.  Both norms are
    kept up to date (`methods.core.column_subset`): O(m n_features) for each choice, m = min(n_samples, n_features), and
    O(m^2 n_features) at the start and now and then after, where rounding would decide.  X may be replaced by the
    triangular factor of its QR decomposition, as only inner products of features count.  Deterministic; neither a
    rotation of the samples nor the unit of X matters.  A sparse X stays so: beside it a fit then keeps h vectors of
    n_samples and of n_features, which a residual written out would take as n_features of n_samples.

    *Beyond the rank* nothing is left to choose by: what the chosen features span is ranked by its norm.

    *Differs from the paper*: the thresholds below which a feature counts as spanned are shares of its own norm, where
    the authors' program has absolute ones, and so chooses nothing in data scaled by 1e-6.  Of features that gain the
    same the first is taken, where there rounding decides.  The residual is kept, not the factors of its Gram matrix.

    *Known pathologies*: uncentred, the first choice models the mean.  A feature of small variance hardly counts in F:
    data in different units are to be scaled.  Reconstruction is not clustering (docs/methods/greedy_css.md).

    References
    ----------
    Farahat, Ghodsi & Kamel. An efficient greedy method for unsupervised feature selection. ICDM 2011; Efficient greedy
    feature selection for unsupervised learning. Knowledge and Information Systems 35(2), 2013.
    """

    takes_sparse = True
    arrays = {"nd": 4, "mm": 1}

    def __init__(self, n_features_to_select=None, *, center=False, n_parts=None, random_state=None):
        super().__init__(n_features_to_select)
        self.center = center
        self.n_parts = n_parts
        self.random_state = random_state

    def _check(self, X):
        check_flag("center", self.center)
        if self.n_parts is not None:
            whole(1, lambda X: (X.shape[1], "n_features")).check("n_parts", self.n_parts, X)

    def memory(self, n_samples, n_features, n_stored=None):
        """Return an upper estimate of the memory of a fit beside X: for a sparse one the vectors that are kept, too."""
        memory, size = super().memory(n_samples, n_features, n_stored), self.n_features_to_select
        if n_stored is None:
            return memory
        h = size if isinstance(size, numbers.Integral) else (0.5 if size is None else size) * n_features
        return int(memory + 2 * 8 * h * (n_samples + n_features))  # twice, as they are copied where one is added

    def _solve(self, X, rng):
        parts = None if self.n_parts is None else rng.permutation(X.shape[1]) % self.n_parts
        if sparse.issparse(X):
            residual = SparseGains(X, self.center, parts)
        else:
            A = shared(X, smaller_factor, self.center)
            residual = Gains(A, None if parts is None else sums_of_parts(A, parts))
        chosen, totals = grow(residual, self.n_features_to_select_)
        trace = Trace(np.array(totals), n_iter=len(chosen)).collapsed_if(totals[0] == 0)
        return Solution(ranked(chosen, residual), trace)


def sums_of_parts(A, parts):
    """Return the sum of the columns of each part; `parts` says for each column which part it is in."""
    sums = np.zeros((A.shape[0], parts.max() + 1))
    np.add.at(sums.T, parts, A.T)
    return sums
