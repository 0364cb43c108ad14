"""SPCA-PSD: a positive semidefinite matrix with few long columns that reproduces the samples."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, at_least, check_init
from ufs_bench.methods.core.loop import COLLAPSED, Trace, iterate
from ufs_bench.methods.core.prox import row_norms
from ufs_bench.methods.spca_psd import paper, released

VARIANTS = {"paper": paper, "released": released}
LARGEST = 1100  # features of "paper": a fit takes d^3, half a minute of one core at 1,024 and half an hour at 4,000


class SPCAPSD(BaseSelector):
    """Reproduce the samples by a positive semidefinite matrix, and rank features by the length of its columns.

        min_Omega  ||Xc' - Omega Xc'||_F^2 + lambda_ sum_j ||omega_j|| + eta tr Omega
        subject to Omega symmetric and positive semidefinite,

    Xc (n_samples, n_features) centred, omega_j column j of Omega.  The problem is convex: the objective has one optimal
    value, and a fit says how far above it it may be.  A feature's score is ||omega_j||.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    lambda_ : float, default=1.0
        Weight of the columns, above 0, in squared units of X.
    eta : float, default=0.1
        Weight of the trace, 0 or more, likewise.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).  "paper" takes at most 1100 features.
    init : ndarray of shape (n_features,), default=None
        The diagonal of the first Omega, 0 or more and not all 0.  None: see Notes.
    max_iter : int, default=100
        Largest number of sweeps, 0 or more.
    tol : float, default=1e-5
        "paper": converged when the objective is above its minimum by at most this share of it, or when a sweep changes
        nothing beyond rounding.  "released": when it changes by at most this, absolutely.  0 or more.
    random_state : int, RandomState instance or None, default=None
        "released": of the start.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ||omega_j||.
    coef_ : ndarray of shape (n_features, n_features)
        Omega.
    bound_ : float
        Only with "paper": no Omega has an objective below it.
    trace_ : ndarray
        The objective, or at a worse Omega that of Omega = 0; never rises.  "released": the objective, which may rise.
    status_ : str
        "collapsed" where Omega = 0 is the optimum, as it is for constant data, and for a large lambda_ or eta.

    Raises
    ------
    ValueError
        For a parameter out of its range, an `init` of the wrong form, or too many features.

    Notes
    -----
    *A sweep* of "paper": with D = diag(1 / ||omega_j||) and A = S + lambda_ / 2 D, S = Xc'Xc, put Omega = E Z E,
    E = A^(-1/4).  This leaves the cone as it is, and the curvature of the objective between 2 and the *root* of the
    condition of A.  In Z 15 projected gradient steps are done, accelerated by Nesterov's momentum, which starts anew
    where it leads upwards; the lowest ends the sweep.  ||omega_j|| is smoothed to sqrt(||omega_j||^2 + 1e-12) for the
    steps, not for what is reported.

    *Bound*: let G be the gradient of the smoothed objective at Omega, the column of which that comes from ||omega_j||
    is shorter than lambda_ and so a subgradient's.  As tr Omega is at most f / (lambda_ + eta) for what is no worse
    than f, the convexity of f gives

        min f >= f(Omega) - <G, Omega> - sum_j slack_j - f(Omega) / (lambda_ + eta) max(0, -smallest eigenvalue of G),

    slack_j = lambda_ (||omega_j|| - ||omega_j||^2 / sqrt(||omega_j||^2 + 1e-12)).

    *Start*: the best multiple of S (S + lambda_ I)^-1.  Deterministic.  The column of a constant feature is 0 at the
    optimum, and left out.  *Cost*: about 20 eigendecompositions of a matrix of all features a sweep, and a few sweeps
    (docs/methods/spca_psd.md).

    *Differs from the paper*: its algorithm is that of the released program, below, which does not minimise the printed
    objective.  Splitting into copies of Omega (ADMM) finds the same optimum, in hundreds of steps.

    *Differs from the released program* ("released" is that program): it minimises without the constraint for fixed
    weights 1 / (2 ||omega_j||), with a ridge of .001 (as many features as samples or more: .01) that the objective does
    not have, and takes the nearest positive semidefinite matrix.  That is not the constrained minimiser, as the
    quadratic part is no multiple of the Frobenius norm.  It starts from a random diagonal, and stops after 100 sweeps,
    or where the objective changes by less than 1e-5, whatever its size.

    *Known pathologies*: no column is zero at the optimum but at large lambda_: this is a ranking by length, not a
    selection.  Without the constraint the objective has a lower minimum, at an asymmetric Omega: the constraint is a
    part of the model, not a shortcut.  Where X'X is large beside the weights the bound is loose, and a fit ends at
    `max_iter`, or where a sweep changes nothing, farther from it than `tol` and yet all but optimal.  "released": the
    objective rises in many sweeps, and ends up to several per cent above the minimum; its best features are nearly
    those of the optimum all the same.

    References
    ----------
    Zheng, Zhang, Liu, Jiang, Huo & Liu. Fast sparse PCA via positive semidefinite projection for unsupervised feature
    selection. arXiv 2309.06202, 2023.
    """

    bounds = {"lambda_": above(0), "eta": at_least(0)}
    choices = {"variant": tuple(VARIANTS)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        lambda_=1.0,
        eta=0.1,
        variant="paper",
        init=None,
        max_iter=100,
        tol=1e-5,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.lambda_ = lambda_
        self.eta = eta
        self.variant = variant
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def arrays(self):
        """The arrays that `BaseSelector.memory` counts: "released" has fewer of all pairs of features."""
        return {"nd": 2, "dd": 12 if self.variant == "released" else 27}

    def _check(self, X):
        n_features = X.shape[1]
        if self.variant == "paper" and n_features > LARGEST:
            raise ValueError(
                f"n_features={n_features} must be at most {LARGEST} for variant='paper', which decomposes matrices of "
                "that side some hundred times: take variant='released', or fewer features."
            )
        check_init(self.init, (n_features,), 0.0)
        if self.init is not None and not np.any(self.init):
            raise ValueError("init is 0 everywhere, and no sweep leaves 0: at least one entry must be above 0.")

    def _solve(self, X, rng):
        variant = VARIANTS[self.variant]
        varying = np.flatnonzero(np.ptp(X, axis=0))
        if not len(varying):  # centred, they are rounding, of which a fit would make scores
            learned = {"coef_": np.zeros((X.shape[1],) * 2)} | ({"bound_": 0.0} if self.variant == "paper" else {})
            return Solution(np.zeros(X.shape[1]), Trace(np.zeros(1), COLLAPSED), learned=learned)
        kept = varying if self.variant == "paper" else np.arange(X.shape[1])
        problem = variant.Problem(X[:, kept], self.lambda_, self.eta)
        diagonal = None if self.init is None else np.asarray(self.init, dtype=float)[kept]
        if diagonal is None and self.variant == "released":
            diagonal = rng.random(X.shape[1])
        state, trace = iterate(
            problem.sweep, problem.start(diagonal), max_iter=self.max_iter, tol=self.tol, residual=variant.change
        )
        omega = np.zeros((X.shape[1], X.shape[1]))
        omega[np.ix_(kept, kept)] = problem.optimum(state)
        learned = {"coef_": omega}
        if self.variant == "paper":
            learned["bound_"] = state.bound
        return Solution(row_norms(omega), trace, learned=learned)
