"""K-means UFS: the features that carry most of the data's leading principal part."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, smaller_side, whole
from ufs_bench.methods.core.linalg import principal_axes
from ufs_bench.methods.core.loop import Trace, iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import column_blocks
from ufs_bench.methods.kmeans_ufs.admm import Problem, leading_basis


class KMeansUFS(BaseSelector):
    """Choose the h features whose K-means objective, with relaxed cluster indicators, is smallest.

    The indicators of K-means are replaced by the k leading left singular vectors of X (k = n_clusters), which leaves

        min -tr V'AV   subject to   V'V = I,  V has h non-zero rows,      A = P_k Sigma_k^2 P_k',

    P_k and Sigma_k being the leading right singular vectors and singular values of X.  The paper calls this NP-hard and
    runs an ADMM.  It has a closed form: on its support V is h x h and orthogonal, so that tr V'AV is the sum of A_jj
    over the support, whatever V.  The h features with the largest A_jj are optimal, one nested ranking for all h.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  Part of the model where solver="admm": one fit per size.
    n_clusters : int, default=2
        k, in [1, min(n_samples, n_features)].
    solver : {"exact", "admm"}, default="exact"
        "exact": the global optimum.  "admm": Algorithm 1 of the paper, which does not reach it.
    standardize : bool, default=True
        Give every feature zero mean and unit variance first, as the paper does; constant features become 0.
        False takes X as it comes, uncentred.
    mu0 : float, default=0.1
        Penalty of the first sweep, above 0.  This and the following parameters concern "admm" only.
    rho : float, default=1.05
        Growth of the penalty per sweep, 1 or more; it stops at 1e7.
    patience : int, default=30
        Converged when the selected rows have not changed for this many sweeps; 1 or more.
    init : ndarray of shape (n_features, h), default=None
        Start of V = U = W, with orthonormal columns.  None: see Notes.
    max_iter : int, default=3000
        Largest number of sweeps, 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        "exact": A_jj.  "admm": the row norms of V + Gamma / mu, of which the last sweep kept the h largest.
    indicators_ : ndarray of shape (n_samples, n_clusters)
        The relaxed indicators: the leading left singular vectors; 0 where a singular value is.
    loadings_ : ndarray of shape (n_features, n_clusters)
        P_k Sigma_k, so that A = loadings_ @ loadings_.T.
    coef_ : ndarray of shape (n_features, h)
        Only with "admm": W, the copy of V that has h non-zero rows.
    objective_ : float
        -sum of A_jj over the selected features, that is -tr V'AV at the best V with that support, for both solvers.
    n_iter_ : int
        "exact" takes one step, from no feature and the objective 0 to the optimum.
    status_ : str
        "collapsed" where A = 0 (all features constant).

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    Eigenvectors of the smaller of XX' and X'X, and O(n_features h^2) a sweep of "admm".  Deterministic, and free of the
    signs of the singular vectors.  Where sigma_k = sigma_{k+1} A itself, and so the ranking, is not unique.

    *The start of the ADMM*: the paper takes the first h eigenvectors of A, which has rank k < h, so that all but k are
    arbitrary.  Here they are the leading h right singular vectors of X; beyond the rank of X, coordinate vectors of
    the features with the largest A_jj, orthogonalised.  What the ADMM selects depends on this choice.

    *Differs from the paper*: "exact" solves the paper's problem instead of running its algorithm.

    *Known pathologies*: features are scored one by one, so duplicates rank side by side.  With standardised data and
    k at the rank of X every A_jj is n_samples, and the ranking is rounding.  The ADMM stops moving because the
    penalty has outgrown the data, and ends above the optimum, often above its own first sweep
    (docs/methods/kmeans_ufs.md).  Where the singular value at the cut equals the next, the features decide which part
    of the space of the equal ones is kept, not their order (`methods.core.linalg.principal_axes`); where all are equal
    and none is 0, nothing decides.

    References
    ----------
    Sun, Ding & Fan. K-means Derived Unsupervised Feature Selection using Improved ADMM. 2024: model (8), relaxation
    (11), bilinear ADMM (27), updates (29), (31), (26), (17)-(19), start (32), Algorithm 1.
    """

    takes_sparse = True
    arrays = {"nd": 3, "mm": 2}
    bounds = {"n_clusters": whole(1, smaller_side), "mu0": above(0), "rho": at_least(1), "patience": whole(1)}
    choices = {"solver": ("exact", "admm")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        solver="exact",
        standardize=True,
        mu0=0.1,
        rho=1.05,
        patience=30,
        init=None,
        max_iter=3000,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.solver = solver
        self.standardize = standardize
        self.mu0 = mu0
        self.rho = rho
        self.patience = patience
        self.init = init
        self.max_iter = max_iter

    @property
    def size_in_objective(self):
        """True for the ADMM, which needs a fit of its own for every size; the closed form serves all sizes."""
        return self.solver == "admm"

    def _solve(self, X, rng):
        if sparse.issparse(X):
            Z = standardized_operator(X) if self.standardize else X
            values, loadings = principal_axes(Z, self.n_clusters)
        else:
            Z = shared(X, standardized) if self.standardize else X
            values, loadings = shared(Z, principal_axes, self.n_clusters)
        learned = {"indicators_": relaxed_indicators(Z, values, loadings), "loadings_": loadings.copy()}
        gain = np.einsum("jk,jk->j", loadings, loadings)
        if self.solver == "exact" or not gain.any():
            best = np.sort(gain)[::-1][: self.n_features_to_select_].sum()
            return Solution(gain, Trace(np.array([0.0, -best]), n_iter=1), learned=learned)
        problem = Problem(loadings, self.mu0, self.rho, self.patience)
        start = problem.start(self._start(Z, gain))
        state, trace = iterate(problem.sweep, start, max_iter=self.max_iter, tol=0, residual=problem.residual)
        learned["coef_"] = np.where(state.kept[:, None], state.F, 0.0)
        return Solution(row_norms(state.F), trace, learned=learned)

    def _start(self, Z, gain):
        shape = len(gain), self.n_features_to_select_
        if self.init is None:
            return leading_basis(Z, np.argsort(-gain, kind="stable")[: shape[1]])
        start = np.array(self.init, dtype=float)
        if start.shape != shape or not np.allclose(start.T @ start, np.eye(shape[1])):
            raise ValueError(f"init of shape {start.shape} must have orthonormal columns and the shape {shape}.")
        return start


def standardized(X):
    """Return X with zero mean and unit variance in every column; zero where a column is constant."""
    Z = X - X.mean(axis=0)
    scale = Z.std(axis=0)
    constant = X.max(axis=0) == X.min(axis=0)  # the mean is rounded, so that the deviation is not exactly 0
    Z[:, constant], scale[constant] = 0.0, 1.0
    return Z / scale


def standardized_operator(X):
    """Return `standardized` of a csr_array, as an operator to multiply by: X with its mean and deviation beside it."""
    parts = [(part.mean(axis=0), part.std(axis=0), part.max(axis=0) > part.min(axis=0)) for part in column_blocks(X)]
    mean, scale, varies = (np.concatenate(part) for part in zip(*parts, strict=True))
    weights = np.divide(varies, scale, out=np.zeros_like(scale), where=varies)  # a constant column becomes 0

    def times(F):
        F = weights.reshape(-1, *[1] * (F.ndim - 1)) * F
        return X @ F - mean @ F

    def transposed_times(G):
        return weights.reshape(-1, *[1] * (G.ndim - 1)) * (X.T @ G - np.multiply.outer(mean, G.sum(axis=0)))

    return LinearOperator(
        X.shape, times, rmatvec=transposed_times, matmat=times, rmatmat=transposed_times, dtype=X.dtype
    )


def relaxed_indicators(Z, values, loadings):
    """Return the left singular vectors of Z for its `principal_axes`; zero where the singular value is rounding."""
    # Values are squares of singular values, which lose half of the digits: below 1e-12 they are rounding.
    kept = values > 1e-12 * values[0]
    return Z @ np.divide(loadings, values, out=np.zeros_like(loadings), where=kept)
