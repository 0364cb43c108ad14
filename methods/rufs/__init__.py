"""RUFS: clusters by robust non-negative factorisation, features by robust regression on them."""

import numpy as np

from methods.core.base import BaseSelector, Solution
from methods.core.checks import check_number
from methods.core.graphs import affinity_graph, knn_graph
from methods.core.local_learning import kernel_graph_laplacian, local_learning_laplacian, mean_distance
from methods.core.loop import iterate, largest_change
from methods.core.prox import row_norms
from methods.core.shared import shared
from methods.core.starts import indicator, kmeans_labels, scaled_indicator
from methods.rufs.paper import Model, is_zero_optimal
from methods.rufs.released import ReleasedRUFS
from methods.rufs.released import State as ReleasedState


class RUFS(BaseSelector):
    """Robust clusters and the features that predict them, learned together.

    Minimises over G, F >= 0 and W

        ||X - GF||_21 + nu tr G'LG + alpha ||XW - G||_21 + beta ||W||_21 + zeta/4 ||G'G - I||_F^2,

    G (n_samples, n_clusters) the relaxed cluster indicators, F (n_clusters, n_features) the centres, W (n_features,
    n_clusters) the regression of the indicators on the features, L the local-learning regulariser
    (`methods.core.local_learning`).  Every row norm r is smoothed to sqrt(r^2 + 1e-10), and the smoothed objective is
    what is traced.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
    n_clusters : int, default=2
        In [1, n_samples].
    nu : float, default=1.0
        Weight of the local-learning term, 0 or more.
    alpha : float, default=1.0
        Weight of the regression, above 0.
    beta : float, default=1.0
        Weight of its row sparsity, above 0.
    zeta : float, default=1e7
        Weight of the orthogonality of G, 0 or more.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published, its departures from the paper included (see Notes).
    n_neighbors : int, default=5
        Of the local-learning graph; k = min(n_neighbors, n_samples - 1).  Unused where `affinity` is an array.
    affinity : {"local", "heat", "binary"} or array of shape (n_samples, n_samples), default="local"
        "local": the Gaussian kernel over whole neighbourhoods ("released": over edges only).  Otherwise a weight
        matrix, as in `methods.core.graphs.affinity_graph`, that serves as the kernel on its own edges.
    init : ndarray of shape (n_samples, n_clusters) or tuple of three arrays, default=None
        G0, from which F and W follow as in the default start, or (G0, F0, W0), taken as they are.  G0 and F0 are 0 or
        more.  None: G0 from K-means.
    max_iter : int, default=200
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-5
        "paper": converged when neither the objective nor W's part of it (the alpha and beta terms) changes by more
        than this share in a sweep.  "released": when the spectral norm of the gradients that the blocks ended with is
        at most this share of the norm at the start.
    random_state : int, RandomState or None, default=None
        Of K-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||w_j||.
    labels_ : ndarray of shape (n_samples,) of int
        argmax of the rows of G.
    status_ : str
        "collapsed" where W = 0 is optimal for the final G: beta >= alpha max_j ||sum_i x_ij g_i / ||g_i|| ||.  With
        "released" the scores stay those of the W it ends with, optimal or not.

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Notes
    -----
    *Start*: K-means labels, G their indicators with columns of unit norm, F = [(G'G)^-1 G'X]_+, W the ridge regression
    of G on X.

    *One sweep*: W by reweighting, W = S X'(X S X' + (beta/alpha) R)^-1 G with S and R the diagonal matrices of the
    current row norms of W and XW - G (the system is n_features x n_features where that is the smaller side); G by
    projected L-BFGS; F by reweighting the samples and exact minimisation over one row of F at a time.  None of the
    three raises the objective.  O(n_samples n_features n_clusters) and one Cholesky factorisation per reweighting.

    *Differs from the paper*: W not by L-BFGS, which hardly leaves the ridge start; F not by L-BFGS; the objective, not
    the gradient, decides when to stop: at zeta = 1e7 the gradient is that of the penalty.

    *Differs from the released program* ("released" is that program): it adds 0.1 sum(G) and 1e-4 sum_j ||F_:j|| to the
    objective; G starts with entries of 1, far from G'G = I, and F is raised by a constant; the kernel of L is the heat
    graph itself, with zeros on the diagonal and between neighbours that are not neighbours themselves, and its ridge
    is not multiplied by the number of neighbours: the largest eigenvalue of L is then 341 on UMIST, 200 on PIE10P,
    16500 on ALLAML and 248000 on USPS (min-max scaled), against 2.2 to 2.5 for "paper", so nu is not comparable; the
    row weights in F's gradient stay those of its first step; a block stops at the first step that lowers its function
    by less than 1e-4, and throws that step away; the outer test is met after a sweep or two, as the penalty dominates
    the first gradient.  Here alone: at most 1000 steps per block, and the objective's last term is the Frobenius norm.

    *Permuted samples or features* give the same selection, ties and rounding aside.

    *Known pathologies*: at zeta = 1e7 the labels are those of K-means at the start (0 % change on UMIST, PIE10P, ORL,
    COIL20, PIX10P and ALLAML, 2 % on MNIST and USPS, at alpha = beta = 1), so that nu and the local learning hardly
    matter.  W then depends on beta / alpha alone: of the 49 points of the grid, those with equal ratio select nearly
    the same features, and those with a large ratio collapse.  Where alpha is large and n_samples < n_features, XW = G
    is nearly exact, W and G move little per sweep, and max_iter is reached (PIE10P at alpha = 100, beta <= 1); so it is
    at alpha = beta = 1e6.  The released program's start of ones costs 1e10, and its first steps leave K-means behind:
    15 to 48 % of the labels change.

    References
    ----------
    Qian & Zhai. Robust unsupervised feature selection. IJCAI 2013: local learning (4), (5), model (7), penalised
    objective (8), gradients (10)-(12), Algorithm 3.
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        nu=1.0,
        alpha=1.0,
        beta=1.0,
        zeta=1e7,
        variant="paper",
        n_neighbors=5,
        affinity="local",
        init=None,
        max_iter=200,
        tol=1e-5,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.nu = nu
        self.alpha = alpha
        self.beta = beta
        self.zeta = zeta
        self.variant = variant
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        check_number("nu", self.nu, 0)
        check_number("alpha", self.alpha, 0, open_low=True)
        check_number("beta", self.beta, 0, open_low=True)
        check_number("zeta", self.zeta, 0)
        check_number("n_neighbors", self.n_neighbors, 1, integer=True)
        check_number("max_iter", self.max_iter, 0, integer=True)
        check_number("tol", self.tol, 0)
        if self.variant not in ("paper", "released"):
            raise ValueError(f"variant={self.variant!r} must be 'paper' or 'released'.")

    def _solve(self, X, rng):
        seed = int(rng.integers(2**31))
        given = self._given(X)
        L = self._laplacian(X)
        released = self.variant == "released"
        if given:
            G = given[0]
        else:
            labels = shared(X, kmeans_labels, self.n_clusters, seed)
            G = (indicator if released else scaled_indicator)(labels, self.n_clusters)
        if released:
            model = ReleasedRUFS(X, L, self.nu, self.alpha, self.beta, self.zeta)
            start = ReleasedState(given[2], G, given[1]) if len(given) == 3 else model.start(G)
            state, trace = model.solve(start, self.max_iter, self.tol)
        else:
            model = Model(X, L, self.nu, self.alpha, self.beta, self.zeta)
            start = model.state(given[2], G, given[1]) if len(given) == 3 else model.start(G)
            state, trace = iterate(
                model.sweep,
                start,
                lambda state: state.value,
                residual=largest_change,
                max_iter=self.max_iter,
                tol=self.tol,
            )
        scores = row_norms(state.W)
        if not released and is_zero_optimal(X, state.G, self.alpha, self.beta):
            scores = np.zeros_like(scores)
        return Solution(scores, trace, state.G.argmax(axis=1))

    def _laplacian(self, X):
        released = self.variant == "released"
        if isinstance(self.affinity, str) and self.affinity == "local":
            return shared(X, released_laplacian if released else local_learning_laplacian, self.n_neighbors)
        K = affinity_graph(X, self.affinity, self.n_neighbors)
        return kernel_graph_laplacian(K, per_neighbor=not released)

    def _given(self, X):
        """() or (G0,) or (G0, F0, W0), checked."""
        if self.init is None:
            return ()
        given = tuple(self.init) if isinstance(self.init, tuple) else (self.init,)
        (n, d), c = X.shape, self.n_clusters
        shapes = ((n, c), (c, d), (d, c))[: len(given)]
        given = tuple(np.array(array, dtype=float) for array in given)
        fits = len(given) in (1, 3) and all(
            array.shape == shape and np.isfinite(array).all() for array, shape in zip(given, shapes, strict=False)
        )
        if not fits or any((array < 0).any() for array in given[:2]):
            raise ValueError(
                f"init must be G0 or (G0, F0, W0), finite, of shapes {((n, c), (c, d), (d, c))}, G0 and F0 0 or more; "
                f"got shapes {tuple(array.shape for array in given)}."
            )
        return given


def released_laplacian(X, n_neighbors):
    """The released program's regulariser: its kernel is the heat graph itself, zero on the diagonal."""
    return kernel_graph_laplacian(knn_graph(X, n_neighbors, "heat", bandwidth=mean_distance(X) or None))
