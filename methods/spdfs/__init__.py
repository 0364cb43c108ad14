"""SPDFS: a projection on h features in which fuzzy clusters are small beside the scatter of all samples."""

import math
import numbers
from dataclasses import replace

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, check_init, check_number
from ufs_bench.methods.core.loop import MAX_ITER, iterate
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.spdfs import paper, released
from ufs_bench.methods.spdfs.scatter import normalized

VARIANTS = {"paper": paper, "released": released}


class SPDFS(BaseSelector):
    """Select the features of a projection in which fuzzy clusters scatter little beside all samples.

        min_{W, Y, U}  sum_ij y_ij^r ||W'x_i - u_j||^2 / tr W'S_tW

    subject to W'W = I, h non-zero rows in W (n_features, m), rows of Y (n_samples, n_clusters) on the unit simplex;
    features are centred and scaled to length 1 first, S_t = X'X.  The selected features are the non-zero rows of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  It is part of the model: every size needs a fit of its own.
    n_clusters : int, default=2
        In [1, n_samples].
    n_components : int, float or None, default=None
        m, the columns of W: a number in [1, h] (more count as h), a share of h in (0, 1], or None for a third of h.
    fuzziness : float, default=1.1
        r, 1 or more.  1: a sample belongs to one cluster, and the model is UDS2FS.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).  It needs a fuzziness above 1.
    max_work : float, default=8e10
        Only of "paper": above 0.  Once so much is done, h^3 for each eigendecomposition, the lowest so far is returned
        with the status "max_iter"; starts take half of it at most.  8e10 are about 40 CPU seconds.
    init : ndarray of shape (n_samples, n_clusters), default=None
        Memberships to start from, rows on the simplex in "paper", 0 or more in "released".  None: see Notes.
    max_iter : int, default=50
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        "paper": converged when a sweep lowers the ratio by at most this share.  "released": it stops where the ratio
        falls by less than 1e-4, whatever tol.  0 or more.
    random_state : int, RandomState instance or None, default=None
        "paper": of the K-means start.  "released": of memberships and projection.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 + ||w_j|| for a selected feature, 0 for any other.
    coef_ : ndarray
        W, (n_features, m).
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Y.
    labels_ : ndarray of shape (n_samples,) of int
        The cluster with the largest membership.
    trace_ : ndarray
        The ratio; never rises.  "released": it may.
    status_ : str
        "collapsed" where the ratio is 0: clusters of one point each, which many other features have as well.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    With F = Y^r and the best centres the numerator is tr W'S_mW, S_m = X'(diag(F1) - F diag(F'1)^-1 F')X.

    *A sweep* of "paper": Dinkelbach's steps, each of which raises the sum of the m largest eigenvalues of
    B = ratio S_t - S_m on the chosen features by swaps of blocks and takes the best W on them, until the ratio falls no
    more; then fuzzy steps for the memberships.  Where this saves less than a millionth, single features are swapped: at
    the end none can be replaced with gain by any of the three that promise most.  Then two at once, those that promise
    most; where there are 5,000 sets of features or fewer, the best of all is taken.  With m = h the features for given
    memberships are the best of all.  Neither S_m nor S_t is formed: O(n_samples^2 + n_samples n_features h) a step.

    *Start*: labels of K-means on all features, ten times, each with the h features of the smallest
    (S_m)_jj / (S_t)_jj; three sweeps from each.  The lowest is kept, and K-means on its features is a further start, 5
    times or, where sweeps are cheap, up to 50.  Other seeds still end lower, by 7 to 19 % on slices, and starts of the
    first kind alone do so on two of three of them (docs/methods/spdfs.md).

    *Differs from the paper*: its step for W minorises a trace and keeps the h largest entries of a diagonal, which
    hardly leaves the features that it begins with; hence the swaps, and the start.

    *Differs from the released program* ("released" is that program): it starts from random memberships and a random
    projection, does the paper's step, and stops at a fall of 1e-4 in ratio or difference, whatever their size.

    *Known pathologies*: "released": the selection is close to the random subset that the first step takes from the
    random projection: most of it stays to the end (docs/methods/spdfs.md).  "paper": the model has no
    minimum worth the name where some features are constant but for n_clusters - 1 samples: with these samples as
    clusters of their own such a feature has no scatter within clusters.  One of them gives the ratio 0 if constant
    features, or combinations of features that are constant, fill the other columns of W, and m of them by themselves:
    so on WebKB, MicroMass and MNIST-500 (docs/methods/spdfs.md).  It is 0, too, with any labels, where h - m is
    n_samples - n_clusters or more: S_m has no larger rank.  The fit is then "collapsed".  There are many minima, and
    two seeds mostly end in different ones.

    References
    ----------
    Nie, Dong, Tian, Wang & Li. Unsupervised discriminative feature selection with l2,0-norm constrained sparse
    projection. IEEE Trans. Pattern Analysis and Machine Intelligence, 2025.
    """

    size_in_objective = True
    arrays = {"nd": 8, "mm": 8}
    bounds = {"fuzziness": at_least(1), "max_work": above(0)}
    choices = {"variant": tuple(VARIANTS)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        n_components=None,
        fuzziness=1.1,
        variant="paper",
        max_work=8e10,
        init=None,
        max_iter=50,
        tol=1e-6,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.fuzziness = fuzziness
        self.variant = variant
        self.max_work = max_work
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        if isinstance(self.n_components, numbers.Real) and not isinstance(self.n_components, numbers.Integral):
            check_number("n_components", self.n_components, 0, 1, open_low=True)
        elif self.n_components is not None:
            check_number("n_components", self.n_components, 1, integer=True)
        if self.variant == "released" and self.fuzziness == 1:
            raise ValueError("fuzziness=1 must be above 1 for variant='released', which divides by fuzziness - 1.")
        check_init(self.init, (X.shape[0], self.n_clusters), 0.0)

    def _solve(self, X, rng):
        Z, size = shared(X, normalized), self.n_features_to_select_
        variant = VARIANTS[self.variant]
        limits = {"max_work": self.max_work} if self.variant == "paper" else {}
        problem = variant.Problem(Z, self.n_clusters, size, self._columns(size), self.fuzziness, **limits)
        before = self._start(problem, rng)
        done = min(len(before) - 1, self.max_iter)
        state, trace = iterate(
            problem.sweep, before[done], max_iter=self.max_iter - done, tol=self.tol, residual=variant.change
        )
        values = [start.value for start in before[:done]]
        trace = replace(trace, objective=np.append(values, trace.objective), n_iter=trace.n_iter + done)
        if self.variant == "paper" and problem.work >= self.max_work:
            trace = replace(trace, status=MAX_ITER)
        W, scores = np.zeros((Z.shape[1], state.W.shape[1])), np.zeros(Z.shape[1])
        W[state.features] = state.W
        scores[state.features] = 1 + np.linalg.norm(state.W, axis=1)
        learned = {"coef_": W, "memberships_": state.Y}
        return Solution(scores, trace.collapsed_if(state.value < paper.NOTHING), state.Y.argmax(axis=1), learned)

    def _columns(self, size):
        if self.n_components is None:
            return max(1, size // 3)
        if isinstance(self.n_components, numbers.Integral):
            return min(int(self.n_components), size)
        return max(1, math.floor(self.n_components * size))

    def _start(self, problem, rng):
        if self.variant == "released":
            return [problem.random_start(rng, self.init)]
        seed = int(rng.integers(2**31))
        if self.init is None:
            return problem.lowest_start(seed)
        return [problem.state(None, np.array(self.init, dtype=float))]
