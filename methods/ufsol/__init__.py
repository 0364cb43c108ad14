"""UFSOL: a sparse projection that clusters the samples and keeps their ordinal locality."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, check_init
from ufs_bench.methods.core.graphs import graph_laplacian
from ufs_bench.methods.core.loop import iterate_best
from ufs_bench.methods.core.ordinal_graphs import max_margin_laplacian, similarity_laplacian, triplet_laplacian
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.core.reweighting import TRIAL_SWEEPS
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.ufsol import paper, released


def triplet(X, n_neighbors, squared):
    """Return L of the ordinal triplets, and a lower bound of the eigenvalues of X'LX for centred X."""
    return triplet_laplacian(X, n_neighbors, squared), 0.0


def similarity(X, n_neighbors, squared):
    """Return L of heat weights, whose width is 1."""
    return similarity_laplacian(X, n_neighbors), 0.0


def max_margin(X, n_neighbors, squared):
    """Return L = 11'/n - I, which subtracts the scatter; the bound exceeds it by a hair."""
    return max_margin_laplacian(len(X)), -1.0001 * float(np.linalg.norm(X - X.mean(axis=0), 2)) ** 2


GRAPHS = {"triplet": triplet, "similarity": similarity, "max_margin": max_margin}
VARIANTS = {"paper": paper, "released": released}


class UFSOL(BaseSelector):
    """Project the samples so that they form clusters, and that a nearer neighbour stays nearer than a farther one.

        min  ||X W - V U'||_F^2 + beta ||W||_21 + alpha tr W'X'L X W

    over W (n_features, n_clusters), U, V subject to W'W = I, V >= 0, V'V = I: V are the indicators of a partition,
    scaled to unit norm, and U = W'X'V its sums.  L is the Laplacian of the graph of the triplets (sample, neighbour,
    other neighbour).  A feature's score is the norm of its row of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    n_clusters : int, default=2
        Clusters, and columns of W, in [1, n_samples].  No more columns than features that are not constant.
    alpha : float, default=1.0
        Weight of the graph, 0 or more; 0 leaves it out.
    beta : float, default=1.0
        Weight of the sparsity, above 0.
    graph : {"triplet", "similarity", "max_margin"}, default="triplet"
        "similarity": heat weights exp(-distance^2) on the neighbours; "max_margin": L = 11'/n - I, which asks for a
        large total scatter (`methods.core.ordinal_graphs`).
    affinity : {"heat", "binary"} or array of shape (n_samples, n_samples), default=None
        Weights in the place of `graph`, as in `methods.core.graphs.affinity_graph`.  None: those of `graph`.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published, its departures from the paper included (see Notes).
    n_neighbors : int, default=5
        1 or more; k = min(n_neighbors, n_samples - 1).
    init : ndarray of shape (n_features, n_clusters), default=None
        W0, in the place of the starts.
    max_iter : int, default=200
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-7
        "paper": converged when in three sweeps on end the objective changes by at most this share, and the scores, as a
        vector, by at most its square root (`methods.core.loop.ranking_change`).  "released": when the projector on the
        columns of W changes by at most this, in Frobenius norm.  0 or more.
    random_state : int, RandomState or None, default=None
        Of K-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||; 0 for a constant feature.
    coef_ : ndarray of shape (n_features, n_clusters)
        W, up to a rotation; fewer columns where fewer features vary.
    labels_ : ndarray of shape (n_samples,) of int
        The partition of V: where its rows are not zero.  Only where a feature varies.
    objective_ : float
        Of the formula above, without any smoothing; "released": for the samples and the triplets as it has them.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), from the start that is kept; never rises, and
        ends above `objective_` by at most beta n_features 1e-6.  "released": not smoothed, and free to rise.

    Raises
    ------
    ValueError
        For a parameter out of its range, an `init` of the wrong shape, or an affinity that is no weight matrix.

    Notes
    -----
    *A sweep*: (a) the partition by K-means on X W, taken where that lowers the objective; then, with D = diag(1 / (2
    sqrt(||w_j||^2 + eps))), beta tr W'DW touches the second term from above, so that (b) the smallest eigenvectors of
    beta D + X'(I - V V' + alpha L)X lower the objective; they are the exact minimum for this V and D.  D from W,
    extrapolated, and the plain D taken where that would raise the objective (`methods.core.reweighting`).

    *Starts*, all from the K-means partition of X: (a) the problem without sparsity, ties broken in favour of features
    that vary; (b) coordinate vectors of the features that cost least, chosen in turn with a partition of the samples on
    them; (c) for that partition, the W for weights that all but confine it to the 1, 2 and 8 times n_clusters features
    that cost least.  Each does 10 sweeps, and the lowest goes on.  Where it ends, a further start has weights no more
    than about 1 / .3 apart, and so on while that lowers the objective by 1e-4 of it (`methods.core.reweighting`).  With
    "max_margin", where W is not sparse, only (a) and (b).

    *Cost*: with fewer samples than features O(n_samples^2 n_features) a sweep, and no (n_features, n_features) array
    (`methods.core.smallest`); otherwise one Cholesky factor of that size, with "max_margin" its eigenvectors.  And ten
    starts of K-means.

    *Differs from the paper*: the paper starts from random coordinates, takes the partition of K-means whatever it
    costs, and does plain sweeps.  R in its (7) is 2 D.  A constant feature costs nothing in this model, and would be
    taken first; here it gets score 0.

    *Differs from the released program* ("released" is that program): it scales the samples to unit norm; takes
    distances instead of their squares in the triplets; starts from the first features of the file; gives zero rows the
    weight 2e6 beta, so that for beta = 1 it never leaves the features it starts from; and stops by the entries of W,
    whose signs are free, where here the projector decides.  Its trace halves the sparsity, and evaluates the fit with
    the centres of the previous W.

    *Permuted features or samples* mostly give the same selection, but not always (`docs/methods/ufsol.md`): many
    samples may all but coincide in X W, and rounding decides between partitions that are all but equal.  "released"
    starts from the first features, and its sweeps multiply rounding, until the order of the samples shows.

    *Known pathologies* (`docs/methods/ufsol.md` has numbers): ||W||_21 >= n_clusters with equality on any n_clusters
    coordinates, so that at large beta each coordinate start is a minimum.  At small beta with fewer samples than
    features X W is almost constant, and neither the partition nor the graph has a say.  The model rewards features that
    hardly vary, and one cluster may then hold almost all samples.  With "max_margin" and alpha of 1 or more the total
    scatter outweighs all: W spreads over all features.  The width of "similarity" is 1 whatever the units, so that the
    graph hardly matters where samples are much farther apart.

    References
    ----------
    Guo, Guo, Kong & He. Unsupervised feature selection with ordinal locality. ICME 2017: weights (2), model (5), half-
    quadratic form (6), (7), Algorithm 1, variants in section 3.3.
    """

    arrays = {"nd": 8, "mm": 4}
    bounds = {"alpha": at_least(0), "beta": above(0)}
    choices = {"graph": tuple(GRAPHS), "variant": tuple(VARIANTS), "affinity": ("heat", "binary")}  # affinity: or None

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        alpha=1.0,
        beta=1.0,
        graph="triplet",
        affinity=None,
        variant="paper",
        n_neighbors=5,
        init=None,
        max_iter=200,
        tol=1e-7,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.graph = graph
        self.affinity = affinity
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        check_init(self.init, (X.shape[1], self.n_clusters))

    def _solve(self, X, rng):
        variant, seed = VARIANTS[self.variant], int(rng.integers(2**31))
        X = variant.scaled(X)
        kept, data = variant.features(X)
        scores, coef = np.zeros(X.shape[1]), np.zeros((X.shape[1], min(self.n_clusters, data.shape[1])))
        if not data.shape[1]:
            return Solution(scores, learned={"coef_": coef})
        L, floor = self._laplacian(X, variant.SQUARED)
        problem = variant.Problem(data, L, self.alpha, self.beta, self.n_clusters, seed, floor)
        W = None if self.init is None else np.array(self.init, dtype=float)[kept]
        state, trace = iterate_best(
            problem.sweep, problem.starts(X, W),
            trial=TRIAL_SWEEPS, residual=variant.change,
            restart=problem.restart if W is None and problem.is_sparse else None,
            max_iter=self.max_iter, tol=self.tol, patience=variant.patience,
        )  # fmt: skip
        scores[kept], coef[kept] = row_norms(state.W), state.W
        return Solution(scores, trace, state.labels, {"coef_": coef}, problem.printed(state))

    def _laplacian(self, X, squared):
        """Return L, and a lower bound of the eigenvalues of X'LX for centred X."""
        if self.affinity is not None:
            return shared(X, graph_laplacian, self.affinity, self.n_neighbors, None, False), 0.0
        return shared(X, GRAPHS[self.graph], self.n_neighbors, squared)
