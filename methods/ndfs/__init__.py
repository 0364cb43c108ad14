"""NDFS: non-negative spectral clusters, and the features that predict them."""

from dataclasses import replace

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.graphs import affinity_graph, knn_graph, laplacian, median_distance
from methods.core.loop import COLLAPSED, iterate, largest_change
from methods.core.prox import row_norms
from methods.core.ridge import smallest_collapsing_weight
from methods.core.shared import shared
from methods.core.starts import graph_labels, indicator, order_by_distance, spectral_labels
from methods.ndfs import paper, released

LIFT = 0.2  # of every entry of the start: a zero would stay zero


class NDFS(BaseSelector):
    """Clusters that are smooth over a graph and non-negative, and features that predict them, learned together.

    Minimises over F >= 0 and W

        tr F'LF + alpha (||XW - F||_F^2 + beta ||W||_21) + gamma/2 ||F'F - I||_F^2,

    F (n_samples, n_clusters) the relaxed cluster indicators, W (n_features, n_clusters) their regression on the
    features, L the normalised Laplacian of a nearest-neighbour graph.  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        In [1, n_samples].
    alpha : float, default=1.0
        Weight of the regression against the graph, above 0.
    beta : float, default=1.0
        Weight of the row sparsity, above 0.
    gamma : float, default=1e8
        Weight of the orthogonality of F, above 0.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    n_neighbors : int, default=5
        1 or more; the graph joins a sample to its k = min(n_neighbors, n_samples - 1) nearest.  Unused with an array.
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default="heat"
        Weights of the graph (`methods.core.graphs.affinity_graph`).
    init : ndarray of shape (n_samples, n_clusters), default=None
        F0, 0 or more.  "paper" scales its columns to unit norm; entries of zero stay zero.  None: spectral clustering.
    max_iter : int, default=300
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-6
        "paper": converged when neither the objective nor the part that alpha multiplies, which is what W minimises,
        changes by more than this share in a sweep.  "released": when the traced value does not.
    random_state : int, RandomState or None, default=None
        Of K-means, and of the entries that "released" starts from.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    labels_ : ndarray of shape (n_samples,) of int
        argmax of the rows of F.
    trace_ : ndarray
        "paper": the objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12); never rises.  "released": tr F'MF +
        gamma/4 ||F'F - I||^2 with the M of each sweep.
    status_ : str
        "collapsed" where W = 0 is optimal for the last F: beta >= 2 max_j ||x_j'F||.  The scores are then what the
        smoothing leaves, and rank by ||x_j'F||.

    Raises
    ------
    ValueError
        For a parameter out of its range, for an affinity that is no weight matrix over the samples, and for more
        clusters than samples with an edge.

    Notes
    -----
    *Start*: labels by K-means on the n_clusters smallest eigenvectors of L, rows of unit norm; F their one-hot
    indicators plus 0.2, columns of unit norm; the weights of the features those of W = 1.

    *One sweep*: with s_j = ||w_j||, smoothed, ||W||_21 <= sum_j (||w_j||^2 / s_j + s_j) / 2, equal at the W that s
    comes from.  For D = diag(1 / (2 s)) the best W is W(F) = (X'X + beta D)^-1 X'F, and what is left of the regression
    is tr F'(F - X W(F)), so that F has to lower tr F'MF + gamma/2 ||F'F - I||^2 with M F = L F + alpha (F - X W(F));
    M is never formed.  Half the gradient is MF + gamma (FF'F - F).  Its positive and negative parts give

        F <- F * [((MF)^- + gamma F) / ((MF)^+ + gamma FF'F)]^p,

    p = 1/2 halved until the objective does not rise, which keeps F >= 0 whatever the signs of MF.  (p = 1 answers a
    column too long by one too short: on USPS it ends in a cycle of two.)  Then W(F), and D from it.  D is extrapolated,
    and the plain sweep taken where that would raise the objective (`methods.core.reweighting`).

    *Cost*: one Cholesky factorisation of the smaller side of X and two solves for n_clusters columns per sweep; L
    stays sparse, and with fewer samples than features there is no (n_features, n_features) array.

    *Differs from the paper*: its rule has all of MF in the denominator, where 58 to 69 % of the entries are negative
    (UMIST, PIE10P), with p = 1, and scales the columns of F afterwards: no descent is sure.

    *Differs from the released program* ("released" is that program): the rule of the paper, columns scaled to unit norm
    in every sweep; F starts uniform in (0, 1) with the label's entry set to 1, and 0.2 added; W is that of the F before
    the last step; the graph's bandwidth is the square of the median distance, so that on most data all edges weigh
    nearly 1; gamma/4 in the traced value, where the step belongs to gamma/2.  Here alone: the random entries are drawn
    in the order of the samples' distances to the mean, so that how they are stored does not matter.

    *Permuted samples or features* give the same selection, ties and rounding aside.

    *Known pathologies* (min-max scaled data): at gamma = 1e8 the labels are those of the start, at every point of the
    grid (UMIST, PIE10P, ALLAML), and tr F'LF hardly moves, so that this is l21 regression on spectral labels: alpha is
    all but inert.  The 49 points give 9 different sets of 100 features on UMIST and PIE10P, 12 on ALLAML, the 21 points
    with beta >= 100, where W collapses, aside.  F is not at its minimum then: 20 steps of projected L-BFGS in every
    sweep lower the objective by 1 % on UMIST and 2 % on PIE10P at alpha = beta = 1 with 100 and 97 of 100 features the
    same, at ten to twenty times the cost; by 6 to 8 % at alpha = 1e4 with 67 of 100.  At alpha >= 1e4 max_iter is
    reached on some of the grid.  With "released" it is reached nearly everywhere, as what is left of the penalty
    (UMIST: 4.6e4 after 100 sweeps) shrinks ever more slowly, and a new seed keeps only 42 to 50 of 100 features on
    UMIST (89 to 100 with "paper").

    References
    ----------
    Li, Yang, Liu, Zhou & Lu. Unsupervised feature selection using nonnegative spectral analysis. AAAI 2012.
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=1.0,
        gamma=1e8,
        variant="paper",
        n_neighbors=5,
        affinity="heat",
        init=None,
        max_iter=300,
        tol=1e-6,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        for name in ("alpha", "beta", "gamma"):
            check_number(name, getattr(self, name), 0, open_low=True)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        if self.variant not in ("paper", "released"):
            raise ValueError(f"variant={self.variant!r} must be 'paper' or 'released'.")
        if self.init is not None:
            F, shape = np.asarray(self.init, dtype=float), (len(X), self.n_clusters)
            if F.shape != shape or not np.isfinite(F).all() or (F < 0).any():
                raise ValueError(f"init of shape {F.shape} must be finite, 0 or more and of shape {shape}.")

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        is_released = self.variant == "released"
        if isinstance(self.affinity, str):
            graph = (released_graph if is_released else affinity_graph), self.affinity, self.n_neighbors
            L = shared(X, graph_laplacian, *graph)
        else:
            S = affinity_graph(X, self.affinity, self.n_neighbors)
            L = laplacian(S, normalized=True)
        if self.init is not None:
            F = np.array(self.init, dtype=float)
        else:
            if isinstance(self.affinity, str):
                labels = shared(X, graph_labels, self.n_clusters, seed, *graph)
            else:
                labels = spectral_labels(X, S, self.n_clusters, seed)
            F = indicator(labels, self.n_clusters)
            if is_released:
                noise = np.empty(F.shape)
                noise[order_by_distance(X)] = rng.random(F.shape)
                F = np.where(F > 0, 1.0, noise)
            F += LIFT
        problem = (released if is_released else paper).Problem(X, L, self.alpha, self.beta, self.gamma)
        state, trace = iterate(
            problem.sweep,
            problem.start(F),
            lambda state: state.value,
            residual=None if is_released else largest_change,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if self.beta >= smallest_collapsing_weight(X, state.F):
            trace = replace(trace, status=COLLAPSED)
        return Solution(row_norms(state.W), trace, state.F.argmax(axis=1))


def released_graph(X, affinity, n_neighbors):
    """The neighbourhood graph, its bandwidth the square of the median distance."""
    if affinity != "heat":
        return affinity_graph(X, affinity, n_neighbors)
    return knn_graph(X, n_neighbors, "heat", bandwidth=median_distance(X) ** 2 or None)


def graph_laplacian(X, graph, *args):
    """The normalised Laplacian of ``graph(X, *args)``."""
    return laplacian(shared(X, graph, *args), normalized=True)
