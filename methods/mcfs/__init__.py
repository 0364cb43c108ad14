"""Multi-cluster feature selection: sparse regression of each spectral coordinate on the features."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import at_least, fewer_than_samples, whole
from ufs_bench.methods.core.graphs import affinity_graph
from ufs_bench.methods.core.loop import COLLAPSED, Trace
from ufs_bench.methods.mcfs import paper, released
from ufs_bench.methods.mcfs.lars import lasso_paths

VARIANTS = {"paper": paper, "released": released}


class MCFS(BaseSelector):
    """Keep the features that the lasso needs to explain the spectral coordinates of the samples.

    Two steps.  The coordinates Y, one for each cluster, are the generalised eigenvectors of L y = lambda D y with the
    smallest eigenvalues, the constant one left out.  Then each column y_k is regressed on the features alone,

        min_a 1/2 ||y_k - X a||^2 + ridge/2 ||a||^2 + lambda_k ||a||_1,

    with lambda_k such that m coefficients are not zero, m being the number of features wanted.  A feature's score is
    its largest coefficient, max_k |a_kj|.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`; the largest size that `subset` can serve.
    n_clusters : int, default=2
        Number of spectral coordinates, in [1, n_samples - 1].
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).
    ridge : float, default=0.0
        0 or more; added to the diagonal of X'X, and so in the units of squared features.
    normalize_coef : bool, default=False
        Whether each coefficient vector is scaled to unit norm before the largest is taken.
    variant : {"paper", "released"}, default="paper"
        "released": what the program does where the paper leaves it open, see the notes; with ``ridge=0.001,
        normalize_coef=True`` (method=mcfs_released) it selects what the program selects.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For the size n_features_to_select.  A feature with a coefficient has its largest, above 0; the others have their
        nearness - 1, below 0, see the notes.
    coef_ : ndarray of shape (n_features, n_clusters)
        The coefficients for the size n_features_to_select, one column for each coordinate; scaled with
        `normalize_coef`.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Y.
    n_nonzero_ : ndarray of shape (n_features_to_select_,) of int
        How many features have a coefficient when m = 1, 2, ... are wanted.  Where that is fewer than m, the rest of
        `subset(m)` was filled by nearness.
    n_iter_ : int
        Steps of all lasso paths together.
    status_ : {"converged", "collapsed"}
        "collapsed" where no feature correlates with any coordinate.

    Raises
    ------
    ValueError
        For a parameter out of its range, an affinity that is no weight matrix over the samples, or too few samples with
        an edge.

    Notes
    -----
    One path per coordinate, followed until its support would grow beyond n_features_to_select, serves every smaller
    size: for m it is read where the support first grows from m to m + 1 features.  So ``subset(m)`` is what a fit for m
    alone selects ("paper").  Subsets of different sizes need not be nested.

    A path ends at lambda_k = 0 with at most rank(X) features.  Where all of them together have fewer than m, the subset
    is filled with the features nearest to joining: max_k |x_j'r_k| / lambda_k, in [0, 1], at those last knots (r_k is
    the residual, and the limit is taken where both are 0), ties by index.

    *Differs from the paper*: the paper does not say which bandwidth the heat weights have, which solution stands for m
    where a path has several with m coefficients, what fills up a subset, or how the eigenvectors of a disconnected
    graph are turned.  "paper" takes the mean length of the edges, the first, and the principal axes of X within their
    space (`methods.core.spectral.smooth_vectors`).  "released" takes the mean distance of all pairs; the *last* with m
    coefficients on the way to the largest size asked for, so that what it selects for one size can change with another;
    and the eigenvectors as LAPACK returns them (`methods.mcfs.released`), where a sample without an edge is an error.
    The program also adds 0.001 to the diagonal of X'X, and scales each coefficient vector to unit norm.  What each of
    these changes is in docs/methods/mcfs.md.

    *Known pathologies*: the regression has no intercept, so a constant feature that is not zero can be selected.  Where
    n_clusters x rank(X) is less than the size, part of the subset is left to the filling rule (``n_nonzero_``).  With
    "released" and a disconnected graph the selection depends on rounding, and on the order of the samples.

    References
    ----------
    Cai, Zhang & He. Unsupervised feature selection for multi-cluster data. KDD 2010, section 3.
    """

    takes_sparse = True
    bounds = {"n_clusters": whole(1, fewer_than_samples), "ridge": at_least(0)}
    choices = {"affinity": ("heat", "binary"), "variant": tuple(VARIANTS)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        n_neighbors=5,
        affinity="heat",
        ridge=0.0,
        normalize_coef=False,
        variant="paper",
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.ridge = ridge
        self.normalize_coef = normalize_coef
        self.variant = variant

    def subset(self, size):
        """Return the features selected for `size`, best first: what a fit with n_features_to_select=size selects.

        Parameters
        ----------
        size : int
            In [1, n_features_to_select_].

        Returns
        -------
        ndarray of shape (size,) of int

        Raises
        ------
        ValueError
            For a size beyond the one that the paths were followed to.
        """
        features = super().subset(size)
        if size > self.n_features_to_select_:
            raise ValueError(
                f"size={size} must be at most n_features_to_select={self.n_features_to_select_}, where the lasso paths "
                "were left: fit with the largest size wanted."
            )
        if size == self.n_features_to_select_ or self.status_ == COLLAPSED:
            return features
        return np.argsort(-self._scores(size), kind="stable")[:size]

    @property
    def arrays(self):
        """The arrays that `BaseSelector.memory` counts: "released" takes the eigenvectors of a dense matrix."""
        return {"nd": 6, "nn": 4 if self.variant == "released" else 0.25}

    def _solve(self, X, rng):
        variant, largest = VARIANTS[self.variant], self.n_features_to_select_
        S = affinity_graph(X, self.affinity, self.n_neighbors, variant.bandwidth)
        Y = variant.coordinates(S, self.n_clusters, X)  # L y = lambda D y
        self._paths = lasso_paths(X, Y, largest, self.ridge, variant.last_knot)  # of every a_k, by least angles
        n_nonzero = np.array([np.count_nonzero(self._scores(size) > 0) for size in range(1, largest + 1)])
        return Solution(
            self._scores(largest),
            Trace(n_iter=sum(path.n_steps for path in self._paths)),
            learned={"coef_": self._coefficients(X.shape[1]), "embedding_": Y, "n_nonzero_": n_nonzero},
        )

    def _coefficients(self, n_features):
        """Return the coefficients that the scores are made of."""
        A = np.zeros((n_features, len(self._paths)))
        for column, knots in zip(A.T, (path.knots for path in self._paths), strict=True):
            if knots:
                column[knots[-1].support] = self._column(knots[-1])
        return A

    def _column(self, knot):
        """Return coefficients at a knot, as they are compared with those of other columns."""
        length = np.linalg.norm(knot.coefficients) if self.normalize_coef else 1.0
        return knot.coefficients / (length or 1.0)

    def _scores(self, size):
        """Return scores of all features when `size` are wanted."""
        nearness = np.max([path.nearness for path in self._paths], axis=0)
        if not nearness.any():  # no path, and nothing that could rank the features
            return nearness
        # Features on the bound, up to rounding, are equally near.  Less 1, nearness is below any coefficient.
        scores = np.minimum(nearness, 1 - 1e-9) - 1
        for knots in (path.knots for path in self._paths if path.knots):
            knot = knots[min(size, len(knots)) - 1]
            scores[knot.support] = np.maximum(scores[knot.support], np.abs(self._column(knot)))
        return scores
