"""Inf-FS, the unsupervised one: how much every feature gathers along all paths of a graph of the features."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg, eigsh
from scipy.stats import rankdata

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import Bound, between
from ufs_bench.methods.core.shared import shared

BLOCK = 2**24  # entries of a block of correlations: 128 MB
KEPT = 2**26  # up to so many, those of 8,192 features, correlations are kept; beyond they are computed for each product
EQUAL = 1e-12  # share by which deviations must differ, so that those of standardised data, which are rounding, do not
TOL = 1e-12  # of the linear system, whose condition is at most 19 for r = .9, so that rounding is near


class InfFS(BaseSelector):
    """Rank features by the weights of all paths, of any length, that begin at them in a graph of the features.

    An edge between two features that vary much and correlate little is heavy:

        A_ij = alpha max(sigma_i, sigma_j) + (1 - alpha) (1 - |rho_ij|),

    sigma the standard deviations, moved and scaled to [0, 1], rho Spearman's rank correlations.  With r = share /
    (largest eigenvalue of A) the scores are the row sums of sum_l (r A)^l = (I - r A)^-1 - I, l = 1, 2, ...

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    alpha : float, default=0.5
        Weight of the deviations against the correlations, in [0, 1].
    share : float, default=0.9
        How near r is to where the sum has no end, in (0, 1).

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The row sums; 0 for a constant feature.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    Nothing is minimised: a closed form.  (I - r A) x = 1 is solved once, by conjugate gradients, and the scores are
    x - 1; no inverse, no powers.  A itself is never formed: the larger of two deviations is summed over the features in
    the order of their deviations, so that a product takes O(n_features log n_features) beside the one with |rho|.
    Correlations are n_features^2 numbers; beyond 8,192 features they are computed anew for each product, a block at a
    time.  Deterministic.

    *Differs from the paper*: it inverts I - r A.  A constant feature has no correlation, and is left out here.

    *Differs from the released program*: it takes the correlation of a constant feature as 0, so that such a feature
    counts as unlike all others; elsewhere its ranking is the same.  Its demonstration has alpha = .5, with the advice
    to validate it, and r = .9 / (largest eigenvalue).

    *Known pathologies*: for alpha near 1 it ranks by variance.  A has one large eigenvalue, so that long paths add
    little: the row sums of A alone select nearly the same (`docs/methods/inf_fs.md`).  A feature of noise correlates
    with nothing, and has heavy edges to all others: for alpha near 0 noise comes first.  No clusters are looked for.

    References
    ----------
    Roffo, Melzi & Cristani. Infinite feature selection. ICCV 2015.
    """

    arrays = {"nd": 8.5, "dd": 1}
    bounds = {"alpha": Bound(0, 1), "share": between(0, 1)}

    def __init__(self, n_features_to_select=None, *, alpha=0.5, share=0.9):
        super().__init__(n_features_to_select)
        self.alpha = alpha
        self.share = share

    def _solve(self, X, rng):
        varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
        scores = np.zeros(X.shape[1])
        if len(varying):
            spread = X[:, varying].std(axis=0)
            excess = spread - spread.min()
            if excess.max() <= EQUAL * spread.max():
                excess[:] = 0.0
            else:
                excess /= excess.max()
            graph = Graph(excess, shared(X, ranks), self.alpha)
            scores[varying] = gathered(graph.times, len(varying), self.share)
        return Solution(scores)


def ranks(X):
    """Return the ranks of the values of each feature that varies, centred and of unit length, a row each."""
    R = rankdata(X[:, np.ptp(X, axis=0) > 0].T, axis=1)
    R -= R.mean(axis=1, keepdims=True)
    return R / np.linalg.norm(R, axis=1, keepdims=True)


class Graph:
    """The weights A of the edges between features, of which only products are needed.

    Parameters
    ----------
    spread : ndarray of shape (n_features,)
        Standard deviations in [0, 1].
    R : ndarray of shape (n_features, n_samples)
        `ranks`.
    alpha : float
    """

    def __init__(self, spread, R, alpha):
        self.spread, self.R, self.alpha = spread, R, alpha
        self.order = np.argsort(spread, kind="stable")
        self.kept = shared(R, correlations) if alpha < 1 and len(R) ** 2 <= KEPT else None

    def times(self, x):
        """Return A x."""
        x, order = x.ravel(), self.order
        s, ordered = self.spread[order], x[order]
        larger = np.empty(len(x))  # sum_j max(s_i, s_j) x_j
        larger[order] = s * np.cumsum(ordered) + (s * ordered)[::-1].cumsum()[::-1] - s * ordered
        result = self.alpha * larger
        if self.alpha < 1:
            result += (1 - self.alpha) * (x.sum() - self._correlated(x))
        return result

    def _correlated(self, x):
        """Return |rho| x."""
        if self.kept is not None:
            return self.kept @ x
        height = max(1, BLOCK // len(self.R))
        parts = [np.abs(self.R[a : a + height] @ self.R.T) @ x for a in range(0, len(self.R), height)]
        return np.concatenate(parts)


def correlations(R):
    """Return |rho|, of shape (n_features, n_features)."""
    rho = R @ R.T
    return np.abs(rho, out=rho)


def gathered(times, n_features, share):
    """Return the row sums of (I - rA)^-1 - I, r being `share` over the largest eigenvalue of A.

    Parameters
    ----------
    times : callable
        ``times(x)`` is A x, A symmetric without negative entries.
    n_features : int
    share : float
        In (0, 1).

    Returns
    -------
    ndarray of shape (n_features,)
    """
    ones = np.ones(n_features)
    if n_features == 1 or not times(ones).any():
        return times(ones)  # one edge to itself at most: nothing to rank
    A = LinearOperator((n_features, n_features), matvec=times, dtype=float)
    if n_features == 2:
        largest = np.linalg.eigvalsh(A @ np.eye(2))[-1]
    else:
        largest = eigsh(A, 1, which="LA", v0=ones, return_eigenvectors=False, tol=TOL)[0]
    r = share / largest
    system = LinearOperator(A.shape, matvec=lambda x: x.ravel() - r * times(x), dtype=float)
    # Of the scores x - 1 themselves, so that nothing cancels: (I - rA) y = rA 1.
    solution, unfinished = cg(system, r * times(ones), rtol=TOL, atol=0.0, maxiter=10 * n_features)
    if unfinished:
        raise np.linalg.LinAlgError("the sum over all paths has not converged")
    return solution
