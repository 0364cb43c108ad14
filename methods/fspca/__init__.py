"""FSPCA: principal components that all use the same few features."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import check_count, check_flag, check_init, count_of
from ufs_bench.methods.core.column_subset import smaller_factor
from ufs_bench.methods.core.loop import Trace, iterate
from ufs_bench.methods.core.shared import shared
from ufs_bench.methods.fspca import ipu, swap

PROBLEMS = {"swap": swap.Problem, "ipu": ipu.Problem, "go": ipu.Problem}


class FSPCA(BaseSelector):
    """Choose the h features whose leading m principal components have the largest variance.

        max_W  tr W'AW   subject to   W'W = I,  W (n_features, m) has h non-zero rows,      A = X_c'X_c,

    X_c the centred data.  For given features W holds the m leading eigenvectors of A on them, and the value is the sum
    of the m largest eigenvalues.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        h.  Part of the model but for ``solver="go"``: one fit per size.
    n_clusters : int, default=2
        In [1, n_samples]; used for `n_components`.
    n_components : int or {"clusters", "twice_clusters", "half_size"}, default=None
        m, 1 or more; m <= h, n_samples and n_features count.  None is "clusters".  The
        words stand for n_clusters, 2 n_clusters and h / 2.
    solver : {"swap", "ipu", "go"}, default="swap"
        "go" and "ipu": the paper's two algorithms, a closed form that is optimal where the rank of A is at most m, and
        ascent from there.  "swap": that, and exchanges of single features until none helps.
    scale : bool, default=False
        Whether features have unit variance; constant ones are 0.
    init : ndarray of shape (n_features, m), default=None
        W to start from, with independent columns; unused with "go".  None: the features of "go".
    max_iter : int, default=100
        Largest number of sweeps, 0 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        "go": the diagonal of A_m, the best approximation of A of rank m.  Else p_j / tr A, and 1 more for a selected
        feature, where p_j is what the components explain of feature j (see the notes).
    coef_ : ndarray of shape (n_features, n_components)
        W, for the features selected; m columns, or as many as these features have rank.
    bound_ : float
        No W has a larger value: the smaller of the sum of the m largest eigenvalues of A and of its h largest diagonal
        entries.
    objective_ : float
        -tr W'AW.  Where it is -bound_ the fit is optimal, as it always is where the rank of A is at most m.
    status_ : str
        "collapsed" where all features are constant.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong form.

    Notes
    -----
    *"go"* keeps the h largest diagonal entries of A_m.  With m = n_clusters and ``scale=True`` these are the scores of
    `KMeansUFS`: one method under two names.

    *"ipu"* replaces A by P = AW (W'AW)^+ W'A, which is nowhere larger and is tight at W, and keeps the h largest p_j of
    its diagonal.  With U the leading left singular vectors of the selected columns, p_j = ||U'x_j||^2, so that this is
    max ||U'X_S||_F^2 over U and the features S in turn, both exact: the value rises until the features repeat.  A is
    never formed: a singular value decomposition of the selected columns and O(m n_samples n_features) a sweep.

    *"swap"* does so, and where it ends puts another feature in the place of one as long as that raises the value by
    more than a millionth; a bound on what each exchange gains leaves few to try (`methods.fspca.swap`).  So at the end,
    whatever the status, no single exchange helps; other starts may end higher.  O(m^3 + m^2 n_features) for each
    feature that might leave, by the leading eigenvectors of the features that are chosen; O(h^3) for an exchange that
    the bound does not rule out.  All three are deterministic.

    *Differs from the paper*: it adds eps I to A, with eps = .1 whatever the unit, for the inverse of W'AW, which U does
    not need.  *Differs from the released program*: as it stands it ends with an error where the rank of A is more than
    m; mended, it always does 20 sweeps and does not centre.

    *Known pathologies*: the objective is blind to redundancy: features that say the same rank side by side.  For m near
    h they are almost those of largest variance, as they are exactly for m = h.  "ipu" hardly moves from "go", and
    exchanges raise its end by some thousandths (docs/methods/fspca.md).

    References
    ----------
    Tian, Nie, Wang & Li. Learning feature sparse principal subspace. NeurIPS 2020, algorithms 1 and 2, theorem 3.1.
    """

    arrays = {"nd": 4, "mm": 3}
    choices = {"solver": tuple(PROBLEMS)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_clusters=2,
        n_components=None,
        solver="swap",
        scale=False,
        init=None,
        max_iter=100,
    ):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.solver = solver
        self.scale = scale
        self.init = init
        self.max_iter = max_iter

    @property
    def size_in_objective(self):
        """True but for "go" with a number of components that does not depend on the size."""
        return self.solver != "go" or self.n_components == "half_size"

    def _check(self, X):
        check_count("n_components", self.n_components, ("clusters", "twice_clusters", "half_size"))
        check_flag("scale", self.scale)

    def _solve(self, X, rng):
        h = self.n_features_to_select_
        m = min(count_of(self.n_components, self.n_clusters, h), *X.shape)
        m = min(m, h) if self.size_in_objective else m
        B = shared(X, unit_variance) if self.scale else shared(X, smaller_factor, True)
        problem = PROBLEMS[self.solver](B, h, m)
        if not B.any():
            learned = {"coef_": np.zeros((X.shape[1], m)), "bound_": 0.0}
            return Solution(np.zeros(X.shape[1]), Trace(np.zeros(1)).collapsed_if(True), learned=learned)
        check_init(self.init, (X.shape[1], m))
        start = problem.go() if self.init is None or self.solver == "go" else problem.of_subspace(self.init)
        if self.solver == "go":
            state, trace, scores = start, Trace(np.array([start.value])), problem.gains
        else:
            state, trace = iterate(problem.sweep, start, max_iter=self.max_iter, tol=0)
            scores = problem.explained(state) / problem.variances.sum()
            scores[state.features] += 1
        return Solution(scores, trace, learned={"coef_": problem.coefficients(state), "bound_": problem.bound})


def unit_variance(X):
    """Return `smaller_factor` of the centred data, with features of unit variance."""
    B = smaller_factor(X, True)
    size = np.linalg.norm(B, axis=0)
    return B / np.where(size > 0, size, 1.0) * np.sqrt(len(X))
