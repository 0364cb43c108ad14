"""Small baselines of column subset selection: pivoted QR, of the data and of singular vectors, and leverage scores.

Three classes in one file, against the rule of one class per file: each is a few lines, and they are read side by side.
"""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import check_count, check_flag, count_of
from ufs_bench.methods.core.column_subset import Residual, grow, ranked, smaller_factor
from ufs_bench.methods.core.linalg import principal_axes
from ufs_bench.methods.core.loop import Trace
from ufs_bench.methods.core.shared import shared

RANK = 1e-12  # squared singular values below this share of the largest are rounding
COUNTS = ("clusters", "twice_clusters", "size")


class PivotedQR(BaseSelector):
    """Take, one at a time, the feature of which most is left once those taken before are projected out.

    The pivots of a QR decomposition of X with column pivoting: greedy column subset selection that looks at each
    feature alone, and not at what it says of the others.  One order serves every size.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`; the features beyond it are ranked by what is left of them.
    center : bool, default=True
        Whether X is centred first.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        n_features for the first pivot, and so down to 1.
    trace_ : ndarray
        ||X - P_S X||_F^2 before the first pivot, and after each; never rises.
    n_iter_ : int
        Pivots before nothing was left: n_features_to_select_, or the rank of X if that is less.
    status_ : str
        "collapsed" where X is zero, or constant and centred.

    Notes
    -----
    O(m n_features) for each pivot, m = min(n_samples, n_features).  Deterministic; neither a rotation of the samples
    nor the unit of X matters.  Beyond the rank of X features are ranked by their norm.

    *Differs from the paper*: what is left of a column is computed, not brought up to date by its length alone; of equal
    columns the first is taken, where there rounding decides.

    *Known pathologies*: a feature of noise alone is never explained by others, and so is an early pivot.

    References
    ----------
    Businger & Golub. Linear least squares solutions by Householder transformations. Numerische Mathematik 7, 1965.
    """

    arrays = {"nd": 4, "mm": 1}

    def __init__(self, n_features_to_select=None, *, center=True):
        super().__init__(n_features_to_select)
        self.center = center

    def _check(self, X):
        check_flag("center", self.center)

    def _solve(self, X, rng):
        residual = Residual(shared(X, smaller_factor, self.center))
        chosen, totals = grow(residual, self.n_features_to_select_)
        trace = Trace(np.array(totals), n_iter=len(chosen)).collapsed_if(totals[0] == 0)
        return Solution(ranked(chosen, residual), trace)


class SingularQR(BaseSelector):
    """Take the pivots of a QR decomposition of the leading right singular vectors, as many of these as features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  Every size needs a fit of its own.
    center : bool, default=True
        Whether X is centred first, so that the vectors are those of principal component analysis.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        n_features for the first pivot, and so down to 1.
    n_iter_ : int
        Pivots: n_features_to_select_, or the rank of X if that is less.
    status_ : str
        "collapsed" where X is zero, or constant and centred.

    Notes
    -----
    The pivots look for h columns of V_h' that are far from dependent, which bounds ||X - P_S X|| by the error of the
    best approximation of rank h.  Eigenvectors of the smaller of XX' and X'X, and O(h n_features) for each pivot.
    Beyond the rank of X features are ranked by what the vectors have of them.

    *Differs from the paper*: it leaves the number of vectors to a look at the singular values; here it is h.

    *Known pathologies*: singular values do not enter, so that the last vector counts as much as the first, and noise in
    it decides pivots.  Where singular values h and h + 1 are equal V_h is not unique, and rounding decides.

    References
    ----------
    Golub, Klema & Stewart. Rank degeneracy and least squares problems. Technical report STAN-CS-76-559, 1976.
    """

    size_in_objective = True
    arrays = {"nd": 5, "mm": 4}

    def __init__(self, n_features_to_select=None, *, center=True):
        super().__init__(n_features_to_select)
        self.center = center

    def _check(self, X):
        check_flag("center", self.center)

    def _solve(self, X, rng):
        vectors = singular_vectors(X, self.center, min(self.n_features_to_select_, *X.shape))
        residual = Residual(vectors.T)
        chosen, _ = grow(residual, self.n_features_to_select_)
        return Solution(ranked(chosen, residual), Trace(n_iter=len(chosen)).collapsed_if(not vectors.any()))


class LeverageScores(BaseSelector):
    """Score a feature by the squared length of its row in the leading right singular vectors.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  Part of the model where ``n_vectors="size"``: one fit per size.
    n_clusters : int, default=2
        In [1, n_samples]; used for `n_vectors`.
    n_vectors : int or {"clusters", "twice_clusters", "size"}, default=None
        k, 1 or more; at most the rank of X counts.  None is "clusters".  The words
        stand for n_clusters, 2 n_clusters and h.
    sampled : bool, default=False
        Whether features are drawn, one after the other with probabilities in proportion to the scores, instead of the
        largest being taken.
    center : bool, default=True
        Whether X is centred first.
    random_state : int, Generator or None, default=None
        Seed of the draws; unused otherwise.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The leverage scores, which sum to k; where features are drawn n_features for the first and so down to 1.
    leverage_ : ndarray of shape (n_features,)
        The leverage scores.
    status_ : str
        "collapsed" where X is zero, or constant and centred.

    Notes
    -----
    A closed form from the eigenvectors of the smaller of XX' and X'X.  `KMeansUFS` weighs each vector by its squared
    singular value, where here all k count alike: k is the whole method.  Where k is the rank of X, and this is
    n_features, all scores are 1.

    *Differs from the papers*: the first draws several times as many columns as vectors, with replacement.

    *Known pathologies*: features are scored one by one, so that near-duplicates of a good one all rank high.

    References
    ----------
    Mahoney & Drineas. CUR matrix decompositions for improved data analysis. PNAS 106(3), 2009.
    Papailiopoulos, Kyrillidis & Boutsidis. Provable deterministic leverage score sampling. KDD 2014.
    """

    arrays = {"nd": 4, "mm": 4}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        n_vectors=None,
        sampled=False,
        center=True,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_vectors = n_vectors
        self.sampled = sampled
        self.center = center
        self.random_state = random_state

    @property
    def size_in_objective(self):
        """True where the number of vectors is that of the features."""
        return self.n_vectors == "size"

    def _check(self, X):
        check_count("n_vectors", self.n_vectors, COUNTS)
        check_flag("sampled", self.sampled)
        check_flag("center", self.center)

    def _solve(self, X, rng):
        k = count_of(self.n_vectors, self.n_clusters, self.n_features_to_select_)
        vectors = singular_vectors(X, self.center, min(k, *X.shape))
        leverage = np.einsum("jk,jk->j", vectors, vectors)
        scores = drawn(leverage, rng) if self.sampled and leverage.any() else leverage
        return Solution(scores, learned={"leverage_": leverage.copy()})


def singular_vectors(X, center, k):
    """Return the k leading right singular vectors of X, or the r that it has, as columns (n_features, r).

    One column of zeros where X is zero.
    """
    values, loadings = principal_axes(shared(X, smaller_factor, center), k)
    kept = max(1, np.count_nonzero(values > RANK * values[0]))
    return loadings[:, :kept] / np.sqrt(np.where(values[:kept] > 0, values[:kept], 1.0))


def drawn(weights, rng):
    """Return scores of an order drawn without replacement in proportion to weights; those of weight 0 come last."""
    # The smallest of exponential times with these rates is that of j with probability w_j / sum of w, and so for the
    # rest of them.
    times = np.full(len(weights), np.inf)
    positive = weights > 0
    times[positive] = rng.exponential(size=len(weights))[positive] / weights[positive]
    scores = np.empty(len(weights))
    scores[np.argsort(times, kind="stable")] = np.arange(len(weights), 0, -1)
    return scores
