"""UFSOL: a sparse projection that clusters the samples and keeps their ordinal locality."""

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.graphs import affinity_graph, laplacian
from methods.core.loop import MAX_ITER, Trace, iterate
from methods.core.ordinal_graphs import max_margin_laplacian, similarity_laplacian, triplet_laplacian
from methods.core.prox import row_norms
from methods.core.shared import shared
from methods.core.starts import kmeans_labels
from methods.ufsol.paper import Problem
from methods.ufsol.released import ReleasedUFSOL, turned, with_unit_norm

TRIAL_SWEEPS = 20  # of each start, after which the one with the lower objective goes on
GRAPHS = ("triplet", "similarity", "max_margin")


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
    tol : float, default=1e-6
        "paper": stop when a sweep lowers the objective by at most this share.  "released": when the projector on the
        columns of W changes by at most this, in Frobenius norm.  0 or more.
    random_state : int, RandomState or None, default=None
        Of K-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||; 0 for a constant feature.
    labels_ : ndarray of shape (n_samples,) of int
        The partition of V.
    trace_ : ndarray
        The objective with ||w_j|| smoothed to sqrt(||w_j||^2 + 1e-12), from the start that is kept; never rises.
        "released": not smoothed, and free to rise.

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

    *Starts*, both from the K-means partition of X: the problem without sparsity, ties broken in favour of features that
    vary; and coordinate vectors of the features that cost least, chosen in turn with a partition of the samples on
    them.  Each does 20 sweeps, and the one with the lower objective goes on.  The coordinates win on PIE10P and ORL for
    beta in {1e-4, .01, 1, 100}, on UMIST at 1e-4 and 100, on COIL20 at all but 1 (alpha = 1, min-max scaled).

    *Cost*: with fewer samples than features O(n_samples^2 n_features) a sweep, and no (n_features, n_features) array
    (`methods.core.smallest`); otherwise one Cholesky factor of that size, with "max_margin" its eigenvectors.  And ten
    starts of K-means.

    *Differs from the paper*: it starts from random coordinates; takes the partition of K-means whatever it costs; does
    plain sweeps.  R in its (7) is 2 D.  A constant feature costs nothing in this model, and would be taken first; here
    it gets score 0.

    *Differs from the released program* ("released" is that program): it scales the samples to unit norm; takes
    distances instead of their squares in the triplets; starts from the first features of the file; gives zero rows the
    weight 2e6 beta, so that for beta = 1 it never leaves them (UMIST and PIE10P: the n_clusters first of the ranking
    are those of the file, from the first sweep on); and stops by the entries of W, whose signs are free, where here the
    projector decides.  Its trace halves the sparsity, and evaluates the fit with the centres of the previous W.

    *Permuted features or samples* keep 99 or 100 of 100 on UMIST and ALLAML, for alpha = 1 and beta of 1 and 100,
    "triplet" and "max_margin"; and so on PIE10P and COIL20, but for "triplet" at beta = 1: 89 and 85 on PIE10P, 100 and
    85 on COIL20.  There many samples all but coincide in X W, and the draws of K-means depend on which comes first.
    "released" starts from the first features, and its sweeps multiply rounding, until the order of the samples shows.

    *Known pathologies*: ||W||_21 >= n_clusters with equality on any n_clusters coordinates, so that at large beta each
    coordinate start is a minimum: from beta = 100 the second start does not move (UMIST, PIE10P, COIL20, ORL).  At
    small beta with fewer samples than features X W is almost constant (beta = 1e-4, UMIST and PIE10P: its scatter is
    1e-8 of that of as many features), so that neither the partition nor the graph has a say.  Even at alpha = beta = 1
    the model rewards features that hardly vary: on COIL20 49 of 100 are among the 100 of smallest variance, and 1377 of
    1440 samples are in one cluster.  With "max_margin" and alpha of 1 or more the total scatter outweighs all: W
    spreads over all features (UMIST, PIE10P, ORL, COIL20, ALLAML), and nothing is sparse.  The width of "similarity" is
    1 whatever the units: on min-max scaled PIE10P and ORL the mean degree is .003 and .004, against 4.7 for samples of
    unit norm, so that the graph hardly matters (PIE10P: 98 of 100 as with alpha = 0).

    *Convergence*: at alpha = beta = 1 in 2 to 62 sweeps on UMIST, PIE10P, ORL, COIL20, Isolet, ALLAML, PIX10P, USPS and
    MNIST.  Not in 200 sweeps at beta = .01 on ALLAML.

    References
    ----------
    Guo, Guo, Kong & He. Unsupervised feature selection with ordinal locality. ICME 2017: weights (2), model (5), half-
    quadratic form (6), (7), Algorithm 1, variants in section 3.3.
    """

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
        tol=1e-6,
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
        check_number("alpha", self.alpha, 0)
        check_number("beta", self.beta, 0, open_low=True)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        if self.graph not in GRAPHS:
            raise ValueError(f"graph={self.graph!r} must be one of {', '.join(GRAPHS)}.")
        if self.variant not in ("paper", "released"):
            raise ValueError(f"variant={self.variant!r} must be 'paper' or 'released'.")
        shape = X.shape[1], self.n_clusters
        if self.init is not None and np.shape(self.init) != shape:
            raise ValueError(f"init of shape {np.shape(self.init)} must have the shape {shape}.")

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        return (self._released if self.variant == "released" else self._paper)(X, seed)

    def _paper(self, X, seed):
        varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
        scores = np.zeros(X.shape[1])
        if not len(varying):
            return Solution(scores)
        L, floor = self._laplacian(X, squared=True)
        n_columns = min(self.n_clusters, len(varying))
        centered = X[:, varying] - X[:, varying].mean(axis=0)  # the same problem, with less rounding
        problem = Problem(centered, L, self.alpha, self.beta, self.n_clusters, n_columns, seed, floor)
        labels = shared(X, kmeans_labels, self.n_clusters, seed)
        if self.init is None:
            starts = [problem.subspace_start(labels), problem.coordinate_start(labels)]
        else:
            W = np.array(self.init, dtype=float)[varying]
            starts = [problem.state(W, kmeans_labels(centered @ W, self.n_clusters, seed))]
        trial = min(TRIAL_SWEEPS, self.max_iter)
        ends = [self._swept(problem, start, trial) for start in starts]
        state, trace = min(ends, key=lambda end: end[1].objective[-1])
        if trace.status == MAX_ITER and trial < self.max_iter:
            state, rest = self._swept(problem, state, self.max_iter - trial)
            trace = Trace(np.append(trace.objective, rest.objective[1:]), rest.status, trial + rest.n_iter)
        scores[varying] = row_norms(state.W)
        return Solution(scores, trace, state.labels)

    def _swept(self, problem, state, max_iter):
        return iterate(problem.sweep, state, lambda state: state.value, max_iter=max_iter, tol=self.tol)

    def _released(self, X, seed):
        X = with_unit_norm(X)
        L, floor = self._laplacian(X, squared=False)
        program = ReleasedUFSOL(X, L, self.alpha, self.beta, self.n_clusters, seed, floor)
        state, trace = iterate(
            program.sweep,
            program.start(None if self.init is None else np.array(self.init, dtype=float)),
            lambda state: state.value,
            residual=turned,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        return Solution(row_norms(state.W), trace, state.labels)

    def _laplacian(self, X, squared):
        """L, and a lower bound of the eigenvalues of X'LX for centred X."""
        if self.affinity is not None:
            return laplacian(affinity_graph(X, self.affinity, self.n_neighbors)), 0.0
        if self.graph == "max_margin":
            return max_margin_laplacian(len(X)), -shared(X, largest_scatter)
        if self.graph == "similarity":
            return shared(X, similarity_laplacian, self.n_neighbors), 0.0
        return shared(X, triplet_laplacian, self.n_neighbors, squared), 0.0


def largest_scatter(X):
    """An upper bound, by a hair, of the largest eigenvalue of X'X for centred X."""
    return 1.0001 * float(np.linalg.norm(X - X.mean(axis=0), 2)) ** 2
