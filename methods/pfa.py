"""Principal feature analysis: one for each cluster of features with alike loadings."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import Bound, check_flag
from ufs_bench.methods.core.column_subset import smaller_factor
from ufs_bench.methods.core.linalg import principal_axes
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.starts import kmeans_labels

EQUAL = 1e-9  # distance, of rows no longer than 1, that is rounding


class PFA(BaseSelector):
    """Cluster the features by their loadings in the principal components, and keep the one nearest to each centre.

    V_q holds the leading q eigenvectors of the covariance matrix, as many as keep a share of the variance; row j stands
    for feature j.  K-means divides the rows into h clusters.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  Every size needs a fit of its own.
    share : float, default=0.9
        Of the variance that the components keep, in (0, 1]; there are at most h of them.
    absolute : bool, default=True
        Whether rows are clustered by the absolute values of their entries, as in the paper: a feature and its negative
        say the same.
    standardize : bool, default=False
        Whether features have unit variance, so that the eigenvectors are those of the correlation matrix.
    random_state : int, Generator or None, default=None
        Seed of K-means, which keeps the best of ten starts.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 plus the share of all features that are in its cluster for a selected feature; for any other less than 1, and
        the less the farther it is from its centre.
    n_components_ : int
        q.
    clusters_ : ndarray of shape (n_features,) of int
        Which cluster a feature is in.
    status_ : str
        "collapsed" where all features are constant.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    Eigenvectors of the smaller of XX' and X'X of the centred data, and K-means, O(n_features q h) a step.  The paper
    gives the selected features no order; here those come first that stand for more.  Of equally near features, such as
    those of a cluster of two, the one with the longer row is selected.

    *Differs from the paper*: it allows a few more features than components; here any h that is not less does.

    *Known pathologies*: features that vary little have rows near zero, and are one cluster, of which one is selected.
    Rows of V_q are not scaled by the singular values, so that the last component counts as much as the first.

    References
    ----------
    Lu, Cohen, Zhou & Tian. Feature selection using principal feature analysis. ACM Multimedia 2007, section 3.
    """

    size_in_objective = True
    arrays = {"nd": 4, "mm": 3}
    bounds = {"share": Bound(0, 1, open_low=True)}

    def __init__(self, n_features_to_select=None, *, share=0.9, absolute=True, standardize=False, random_state=None):
        super().__init__(n_features_to_select)
        self.share = share
        self.absolute = absolute
        self.standardize = standardize
        self.random_state = random_state

    def _check(self, X):
        check_flag("absolute", self.absolute)
        check_flag("standardize", self.standardize)

    def _solve(self, X, rng):
        seed, h = int(rng.integers(2**31)), self.n_features_to_select_
        vectors = leading_vectors(shared(X, smaller_factor, True), self.standardize, self.share, h)
        rows = np.abs(vectors) if self.absolute else vectors
        clusters = kmeans_labels(rows, h, seed) if vectors.any() else np.arange(len(rows)) % h
        scores = scores_of(rows, clusters, h) if vectors.any() else np.zeros(len(rows))
        return Solution(scores, learned={"n_components_": vectors.shape[1], "clusters_": clusters})


def leading_vectors(A, standardize, share, most):
    """Return the leading eigenvectors of A'A, or of it scaled to a unit diagonal, that keep a share of its trace."""
    if standardize:
        sizes = np.linalg.norm(A, axis=0)
        A = A / np.where(sizes > 0, sizes, 1.0)
    values, loadings = principal_axes(A, min(most, *A.shape))
    # A share of 1 is met but for rounding, and values below 1e-12, which are squares of singular values, are rounding.
    needed = np.searchsorted(np.cumsum(values), share * np.einsum("ij,ij->", A, A) * (1 - 1e-12)) + 1
    q = max(1, min(needed, np.count_nonzero(values > 1e-12 * values[0])))
    return loadings[:, :q] / np.sqrt(np.where(values[:q] > 0, values[:q], 1.0))


def scores_of(rows, clusters, h):
    """Return the `scores_`: each cluster selects the feature nearest to its centre, of several the longest row."""
    counts = np.bincount(clusters, minlength=h)
    centres = np.zeros((h, rows.shape[1]))
    np.add.at(centres, clusters, rows)
    distances = np.linalg.norm(rows - (centres / counts[:, None])[clusters], axis=1)
    nearest = np.full(h, np.inf)
    np.minimum.at(nearest, clusters, distances)
    farther = distances > nearest[clusters] + EQUAL
    order = np.lexsort((-np.linalg.norm(rows, axis=1), farther, clusters))
    scores = 1 / (2 + distances)
    scores[order[np.searchsorted(clusters[order], np.arange(h))]] = 1 + counts / len(rows)
    return scores
