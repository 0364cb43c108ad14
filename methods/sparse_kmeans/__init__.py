"""Sparse K-means: a partition and weights of the features, many of which are zero."""

from dataclasses import dataclass, replace

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import check_number, whole
from ufs_bench.methods.core.loop import iterate, iterate_best, ranking_change
from ufs_bench.methods.core.starts import kmeans_labels
from ufs_bench.methods.sparse_kmeans.gap import gaps
from ufs_bench.methods.sparse_kmeans.partition import settled, weighted
from ufs_bench.methods.sparse_kmeans.weights import best_weights, between

BEST_OF = 20  # K-means starts on all features alike, of which the best begins, as in the paper
ROUNDING = 1e-14  # share of a feature's sum of squares to which B_j is known
TRIAL = 3  # sweeps of each start, after which the lowest goes on


class SparseKMeans(BaseSelector):
    """Weigh the features while K-means partitions the samples, so that most weights are zero.

        max_{C, w}  sum_j w_j B_j(C)   subject to   ||w||_2 <= 1,  ||w||_1 <= s,  w >= 0,

    C a partition of the samples into clusters, B_j its sum of squares between clusters in feature j.  A feature's score
    is its weight.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    s : float or None, default=None
        Bound of the sum of the weights, 1 or more: at 1 one feature has all weight, from sqrt(n_features) on none need
        be zero.  None: the one of ten with the largest gap statistic.
    n_permutations : int, default=25
        Data sets without clusters for the gap statistic, 1 or more.
    n_starts : int, default=10
        Partitions to start from, 1 or more; "released" has one.
    variant : {"paper", "released"}, default="paper"
        "released": the sweeps and starts of the program that was published (see Notes).
    max_iter : int, default=100
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-9
        "paper": converged when a sweep changes the objective by at most this share, and the weights, as a vector, by at
        most its square root.  "released": when sum_j |w_j - w_j before| is at most this share of sum_j |w_j before|.  0
        or more.
    random_state : int, RandomState instance or None, default=None
        Of the K-means starts and of the permutations.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        (B_j - Delta) / ||S(B, Delta)||, Delta being the threshold and S the soft thresholding: w_j where that is
        positive, else 0 or less.  Features of weight 0 thus rank by B_j, below all others.
    weights_ : ndarray of shape (n_features,)
        w.
    labels_ : ndarray of shape (n_samples,) of int
        C.
    s_ : float
        The bound.
    gap_ : ndarray of shape (n_bounds, 2)
        Bounds compared, and the gap statistic of each; without rows where `s` was given.
    trace_ : ndarray
        -w'B; never rises.
    status_ : str
        "collapsed" where no feature differs between clusters, as with a single cluster.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    *A sweep*: with features sqrt(w_j) x_j, Lloyd's steps from the last partition, then moves of single samples until
    none helps; then w = S(B, Delta) / ||S(B, Delta)||, the exact maximum for the partition, Delta being the least
    threshold for which ||w||_1 <= s.

    *Starts* of "paper": the best of 20 K-means partitions on all features alike, and n_starts - 1 single ones.  Each
    does 3 sweeps, and the lowest goes on.  Where it ends, the best of ten K-means partitions on the weighted features
    is a further start, and so on while that lowers the objective by 1e-4 of it.

    *Gap statistic*: O(s) is w'B at the end of at most six sweeps of Lloyd's steps, and gap(s) = log O(s) less its mean
    over copies of the data in which every feature is permuted.  All bounds share the first partition.  Of more than
    1,000 samples as many are taken, evenly along their distances to the mean.

    *Differs from the paper*: it has one start, and Lloyd's steps alone; other partitions end higher, and single moves
    help (`docs/methods/sparse_kmeans.md`).  Its gap statistic takes all samples, and twenty starts for each copy.
    The paper scales the features to unit variance where their units differ; here the data are taken as they are.

    *Differs from the released program* (sparcl; "released" is that program): one start, then six sweeps at most from
    the last partition, ended by the change of the weights.  Its bound is found by the same ten values and 25
    permutations.  Its K-means is that of Hartigan and Wong, which makes single moves too.

    *Known pathologies*: the larger the variance of a feature the larger its B_j can be, so that unscaled features rank
    by variance.  B grows with every cluster that splits a single feature: for small s a few features that are bimodal
    each by itself win.  The gap statistic is flat over many s on real data, and a small change of the data may choose
    another.  Many partitions are local optima.

    References
    ----------
    Witten & Tibshirani. A framework for feature selection in clustering. JASA 105(490), 2010, section 3.
    """

    arrays = {"nd": 8}
    bounds = {"n_permutations": whole(1), "n_starts": whole(1)}
    choices = {"variant": ("paper", "released")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        s=None,
        n_permutations=25,
        n_starts=10,
        variant="paper",
        max_iter=100,
        tol=1e-9,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.s = s
        self.n_permutations = n_permutations
        self.n_starts = n_starts
        self.variant = variant
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        if self.s is not None:
            check_number("s", self.s, 1)

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        X = np.where(np.ptp(X, axis=0) > 0, X - X.mean(axis=0), 0.0)  # exactly nothing of a constant feature
        bounds = gap = np.empty(0)
        if self.s is None:
            bounds, gap = gaps(X, self.n_clusters, self.n_permutations, seed)
        s = float(bounds[gap.argmax()] if self.s is None else self.s)
        problem = Problem(X, self.n_clusters, s, seed)
        loop = {"max_iter": self.max_iter, "tol": self.tol}
        if self.variant == "released":
            state, trace = iterate(problem.sweep, problem.start(0), residual=change_of_weights, **loop)
        else:
            starts = [problem.start(index) for index in range(self.n_starts)]
            loop |= {"trial": TRIAL, "restart": problem.restart, "residual": ranking_change}
            state, trace = iterate_best(problem.sweep, starts, **loop)
        learned = {"weights_": state.w, "s_": s, "gap_": np.column_stack([bounds, gap])}
        return Solution(state.scores, trace, labels=state.labels, learned=learned)


def change_of_weights(previous, state):
    """Return sum_j |w_j - w_j before| / sum_j |w_j before|; 0 where there were none."""
    return float(np.abs(state.w - previous.w).sum() / max(previous.w.sum(), np.finfo(float).tiny))


@dataclass(frozen=True)
class State:
    """A partition with the weights that are best for it."""

    labels: np.ndarray
    w: np.ndarray
    scores: np.ndarray
    value: float

    @property
    def W(self):
        """The weights as rows, for `ranking_change`."""
        return self.w[:, None]


class Problem:
    """The objective for given centred data, with the other sign, and its blocks."""

    def __init__(self, X, n_clusters, s, seed):
        self.X, self.n_clusters, self.s, self.seed = X, n_clusters, s, seed
        self.rounding = ROUNDING * (X**2).sum(axis=0)

    def start(self, index):
        """Return the state of the best of 20 partitions, or of a single one, K-means having all features alike."""
        return self.state(kmeans_labels(self.X, self.n_clusters, self.seed + index, n_starts=1 if index else BEST_OF))

    def restart(self, state):
        if not state.w.any():
            return state
        return self.state(kmeans_labels(weighted(self.X, state.w), self.n_clusters, self.seed))

    def state(self, labels):
        B = between(self.X, labels, self.n_clusters)
        B *= np.greater(B, self.rounding)
        w, scores = best_weights(B, self.s)
        return State(labels, w, scores, -float(w @ B))

    def sweep(self, state):
        if not state.w.any():
            return state
        new = self.state(settled(weighted(self.X, state.w), state.labels, self.n_clusters))
        # Of two partitions within rounding the old one stays.
        return new if new.value < state.value else replace(state)
