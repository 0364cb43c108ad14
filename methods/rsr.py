"""RSR: every feature is a combination of few features, with a certificate of how far from the optimum it stops."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above
from ufs_bench.methods.core.loop import CONVERGED, Trace, iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import Memory, no_memory, safeguarded
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.core.sparse_data import sparse_features_where_it_pays, transposed_times, weighted_gram

FIRST = 1e-2  # share of the largest norm below which rows are weighed nearly alike at first, so that none is lost early
SMALLEST = 1e-12  # the same share where smoothing ends at the latest: below it a norm is rounding


class RSR(BaseSelector):
    """Represent all features by few of them, samples that fit badly counting no more than by their distance.

        min_W  ||X - X W||_21 + lambda_ ||W||_21,

    W (n_features, n_features); the rows of X - XW are the samples', those of W the features'.  A convex problem.  A
    feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    lambda_ : float, default=1.0
        Weight of the sparsity, above 0.  All of W is zero from lambda_ = max_j ||sum_i x_ij x_i / ||x_i|| || on, x_i
        being the samples.
    max_iter : int, default=1000
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-4
        Converged at this relative duality gap; 0 or more.  The objective is then within that share of the optimum.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.  A row that the model sets to zero keeps a remainder of about tol, the larger the nearer it is to the
        bound at which the row would enter, so that such features rank by nearness.
    sample_norms_ : ndarray of shape (n_samples,)
        ||x_i - W'x_i||: outliers are large.
    duality_gap_ : float
        Of W, without the smoothing, relative to its objective; 0 where W = 0 is the optimum.
    objective_ : float
        Of the formula above, without any smoothing.
    trace_ : ndarray
        Both norms smoothed as in the notes; never rises.  It ends above `objective_`, by up to a tenth of `tol` of it
        where the fit has done its sweeps, and by more where it was ended before.
    status_ : str
        "collapsed" where W = 0 is the optimum: lambda_ is too large, and the ranking is file order.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    *A sweep*: with s_i for the samples and t_j for the features, W minimises sum_i ||e_i||^2 / (2 s_i) + lambda_ sum_j
    ||w_j||^2 / (2 t_j), e_i being the rows of X - XW.  With S and T the diagonal matrices of s and t, and
    M = lambda_ S + X T X',

        W = T X' M^-1 X,   X - XW = lambda_ S M^-1 X,

    so that with n_samples < n_features neither W nor another (n_features, n_features) array is formed, and the residual
    is found without cancellation.  With more samples the same from X'S^-1 X + lambda_ T^-1.  Then s_i =
    sqrt(||e_i||^2 + eps) and t_j likewise, with an eps of its own for each side that falls by a factor of 4 each sweep
    to where the smoothing costs at most a tenth of the tolerance; both are extrapolated together
    (`methods.core.reweighting`).  O(n_samples n_features min(n_samples, n_features)) a sweep.

    *Certificate*: no W has less than tr Y'X for any Y (n_samples, n_features) with ||y_i|| <= 1 and ||x_j'Y|| <=
    lambda_.  Such a Y is S^-1 (X - XW), scaled down until it keeps to both bounds.  Deterministic.

    *Differs from the paper*: the paper does plain reweighting from W = I without smoothing, until the objective
    changes little.  Here it is smoothed, extrapolated and ended by the gap.  How the authors' program is set by default
    is not known to us, so that there is no variant of it.

    *Known pathologies*: the self-representation has no intercept, so a constant feature that is not zero explains all
    others and is selected.  For small lambda_ W = I where there are more samples than features: all scores near 1, and
    the ranking says little.  With fewer samples than features X = XW has many solutions, and below some lambda_ W is
    the one of smallest ||W||_21, whatever lambda_ is (`docs/methods/rsr.md`).  Of two equal features each takes half.

    References
    ----------
    Zhu, Zuo, Zhang, Hu & Shiu. Unsupervised feature selection by regularized self-representation. Pattern Recognition
    48(2), 2015.
    """

    arrays = {"nd": 4, "mm": 5}
    bounds = {"lambda_": above(0)}

    def __init__(self, n_features_to_select=None, *, lambda_=1.0, max_iter=1000, tol=1e-4):
        super().__init__(n_features_to_select)
        self.lambda_ = lambda_
        self.max_iter = max_iter
        self.tol = tol

    def _solve(self, X, rng):
        lengths = row_norms(X)
        if self.lambda_ >= shared(X, collapsing_weight):
            trace = Trace(np.array([lengths.sum()]), CONVERGED)
            learned = {"sample_norms_": lengths, "duality_gap_": 0.0}
            return Solution(np.zeros(X.shape[1]), trace, learned=learned)
        problem = (Wide if len(X) < X.shape[1] else Tall)(X, self.lambda_, self.tol)
        state, trace = iterate(
            problem.sweep,
            problem.start(),
            max_iter=self.max_iter,
            tol=self.tol,
            residual=problem.distance,
        )
        learned = {"sample_norms_": state.misfits, "duality_gap_": state.gap}
        return Solution(state.norms, trace, learned=learned, objective=problem.printed(state))


def collapsing_weight(X):
    """Return the smallest lambda_ for which W = 0 is the optimum: max_j ||sum_i x_ij x_i / ||x_i|| ||.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    float
    """
    lengths = row_norms(X)
    Y = np.divide(X, lengths[:, None], out=np.zeros_like(X), where=lengths[:, None] > 0)
    return float(row_norms(X.T @ _loadings(Y)).max())


def _loadings(X):
    """Return R with R R' = X X' and as few columns as the smaller side of X, so that ||A R|| = ||A X|| by rows."""
    if len(X) >= X.shape[1]:
        return X
    values, axes = np.linalg.eigh(X @ X.T)
    return axes * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True)
class State:
    """The norms of the rows of X - XW and of W, which are all that a sweep needs of a W."""

    misfits: np.ndarray
    norms: np.ndarray
    gap: float
    eps: tuple  # under the roots, for samples and for features
    value: float  # smoothed by these
    log_s: np.ndarray = None  # log of s and t that W comes from
    memory: Memory = None


class Problem:
    """min_W ||X - XW||_21 + lambda ||W||_21, for an optimum that is not W = 0; `rows` solves it for given weights."""

    def __init__(self, X, lambda_, tol):
        self.X, self.lambda_, self.tol = X, lambda_, tol

    def start(self):
        n, d = self.X.shape
        # All weights alike; their sizes are those of the samples and of a W that is near I.
        first = self._solve(np.concatenate([np.full(n, row_norms(self.X).mean()), np.ones(d)]), (0.0, 0.0))
        eps = tuple((FIRST * norms.max()) ** 2 for norms in (first.misfits, first.norms))
        return replace(self._smoothed(first, eps), log_s=self._log_scales(first, eps), memory=no_memory(n + d))

    def printed(self, state):
        """Return the objective at a state, without the smoothing."""
        return float(state.misfits.sum() + self.lambda_ * state.norms.sum())

    def distance(self, previous, state):
        """Return the gap, or ten times the share of the smoothing where it is larger: both must keep to `tol`."""
        printed = self.printed(state)
        return max(state.gap, 10 * (state.value - printed) / printed)

    def sweep(self, state):
        # A norm is smoothed by at most sqrt(eps): at the floors all norms of a side add a twentieth of what tol allows.
        allowed, weights = 0.05 * self.tol * self.printed(state), (1.0, self.lambda_)
        eps = tuple(
            min(old, max(old / 4, (allowed / (weight * len(norms))) ** 2, (SMALLEST * norms.max()) ** 2))
            for old, weight, norms in zip(state.eps, weights, (state.misfits, state.norms), strict=True)
        )
        bound = self._smoothed(state, eps).value
        memory = state.memory.remember(state.log_s, self._log_scales(state, eps))
        new, log_s, memory = safeguarded(lambda s: self._solve(s, eps), memory, bound)
        return replace(new, log_s=log_s, memory=memory)

    def _solve(self, scales, eps):
        s, t = np.split(scales, [len(self.X)])
        misfits, norms, product = self.rows(s, t)
        # Y = S^-1 (X - XW) has rows of norm misfits / s, and x_j'Y that of lambda norms / t.
        scale = 1 / max((misfits / s).max(), (norms / t).max())
        primal = misfits.sum() + self.lambda_ * norms.sum()
        gap = float((primal - scale * product) / primal)
        return self._smoothed(State(misfits, norms, gap, eps, 0.0), eps)

    def _smoothed(self, state, eps):
        value = np.sqrt(state.misfits**2 + eps[0]).sum() + self.lambda_ * np.sqrt(state.norms**2 + eps[1]).sum()
        return replace(state, eps=eps, value=float(value))

    def _log_scales(self, state, eps):
        return np.log(np.concatenate([state.misfits**2 + eps[0], state.norms**2 + eps[1]])) / 2


class Wide(Problem):
    """For fewer samples than features: W = T X' M^-1 X and X - XW = lambda S M^-1 X, M = lambda S + X T X'."""

    def __init__(self, X, lambda_, tol):
        super().__init__(X, lambda_, tol)
        self.loadings = shared(X, _loadings)
        self.features = shared(X, sparse_features_where_it_pays)

    def rows(self, s, t):
        """Return the norms of the rows of X - XW and of W for these weights, and tr Y'X for Y = S^-1 (X - XW)."""
        M = self._product(t)
        M.flat[:: len(M) + 1] += self.lambda_ * s
        solved = cho_solve(_factored(M), self.loadings, check_finite=False)
        product = self.lambda_ * float(np.vdot(solved, self.loadings))
        norms = t * row_norms(transposed_times(self.X, self.features, solved))
        return self.lambda_ * s * row_norms(solved), norms, product

    def _product(self, t):
        """Return X T X', of which the upper triangle is read."""
        if self.features is None:
            scaled = self.X * np.sqrt(t)
            return scaled @ scaled.T
        F = self.features
        return weighted_gram(F.data, F.indices, F.indptr, t, len(self.X))


class Tall(Problem):
    """For no fewer samples than features: I - W = lambda H T^-1 with H = (X' S^-1 X + lambda T^-1)^-1."""

    def rows(self, s, t):
        """As `Wide.rows`."""
        scaled = self.X / np.sqrt(s)[:, None]
        gram = scaled.T @ scaled
        system = gram.copy()
        system.flat[:: len(system) + 1] += self.lambda_ / t
        H = np.tril(dpotri(_factored(system)[0], lower=1, overwrite_c=1)[0])
        H += np.tril(H, -1).T
        product = self.lambda_ * float(np.einsum("jk,jk->j", H, gram) @ (1 / t))
        rest = self.lambda_ * H / t
        misfits = row_norms(self.X @ rest)
        rest.flat[:: len(rest) + 1] -= 1.0
        return misfits, row_norms(rest), product


def _factored(M):
    if not np.isfinite(M).all():
        raise np.linalg.LinAlgError("The system is not finite.")
    return cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
