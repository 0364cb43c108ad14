"""DUFS: stochastic gates on the features, such that the gated samples vary smoothly over their own graph."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import Bound, above, check_init, whole
from ufs_bench.methods.dufs import paper, released

VARIANTS = {"paper": paper, "released": released}


class DUFS(BaseSelector):
    """Open the gates of features that vary smoothly over the graph which the open features themselves make.

    With gates z = clip(mu + 1/2 + noise e, 0, 1), e standard normal, Y = X * z, D the squared distances between the
    rows of Y, s the middle of the squared distances to the k-th nearest, W = exp(-D / (scale_factor s)) and
    P = diag(W 1)^-1 W,

        score = -E tr(Y'P^2 Y) / (n_samples n_features),    open = mean_j Phi((mu_j + 1/2) / noise),
        min_mu  score / open,    or with a price    min_mu  score + price open.

    P^2 is two steps of a random walk, and keeps of a feature what is smooth.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    lambda_ : float or None, default=None
        None: the quotient, without a parameter.  In [0, 100]: the price of open gates; "paper": as a share of -score /
        open at mu = 0, so that at 1 the first slope is that of the quotient; "released": as it is.
    scale_factor : float, default=5.0
        Width of the weights, in [0.1, 100]: below, a sample is alone; above, all weights are alike.
    n_neighbors : int, default=1
        k, without the sample itself, 1 or more; n_samples - 1 at most are used.
    noise : float, default=0.5
        Standard deviation of a gate before it is clipped, above 0.
    gates : {"feature", "entry"}, default="feature"
        A draw has a gate for each feature, which all samples share, or one for each entry of X.  "released": always
        the latter.
    variant : {"paper", "released"}, default="paper"
        "released": the program that was published (see Notes).
    standardize : bool, default=True
        Centre the features and divide them by their standard deviations; constant ones become 0.
    batch_size : int, default=500
        2 or more.  "paper": the samples fall into groups of at most so many, each with a graph of its own.  "released":
        a step sees so many samples, drawn anew.
    learning_rate : float, default=1.0
        Only of "released": of the steps along the gradient, above 0.
    init : ndarray of shape (n_features,), default=None
        mu at the start.  None: see Notes; "released": normal, standard deviation .01.
    max_iter : int, default=500
        Largest number of sweeps, 0 or more.
    tol : float, default=0.01
        "paper": converged when no flip of a gate lowers the loss by a millionth of it, and no small step lowers it; or
        when in 30 small steps of the first features, a half, a quarter, an eighth, a 16th and a 32nd of all, at most
        this share becomes another.  "released" has no test.
    random_state : int, Generator or None, default=None
        Only of "released": seed of the start and of the gates.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        "paper": what the score would fall by for a little more of the feature, as a share of the largest such gain, and
        2 more where its gate is mostly open (mu_j > 0); -2 for a constant feature.  "released": mu.
    mu_ : ndarray of shape (n_features,)
        Means of the gates, less 1/2.
    start_ : ndarray of int
        Only with variant="released" and no `init`: the first features of the random start, as many as are selected.
    objective_ : float
    trace_ : ndarray
        The loss; "paper": from the start that was kept, never rises; "released": each value is for another draw.
    status_ : str
        "collapsed" where all gates are mostly closed, or the data are constant.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong shape.

    Notes
    -----
    *"paper"*: the expectation over the gates is taken inside: YY' is replaced by E YY' = X diag(E z^2) X', of which the
    score is a smooth function with an exact gradient by matrix products; E z^2 has a closed form.  There is nothing to
    draw.  In high dimension YY', a sum over features, is close to its expectation (`docs/methods/dufs.md`).  The loss
    is minimised over |mu_j| <= 1/2 + 2 noise, where a gate is open, or closed, in 98 of 100 draws.

    *A sweep*: flips, which put gates to an end of this box.  Near an end the loss is flat in mu, so that a gradient
    method stays in a corner of it that single flips leave with gain.  First many flips at once, those that the slope
    of the score by E z^2 says pay; then single ones, for each of which the loss is known exactly or bounded from below
    (`methods.dufs.flips`); then exchanges of an open gate for a closed one, the most promising of them; then steps of a
    quasi-Newton method (L-BFGS-B).  It converges when none of these lowers the loss.

    *Starts*: gates half open, all open, and all closed but for one, for features at equal steps in the ranking by gain,
    24 of them or more where data are small; deterministic.  All of them go on by many flips at once in the first group
    of samples, the lowest by single flips, and the lowest of these to the end.  With an `init`, there alone.

    *Cost*: O(n_samples b (b + n_features)) for a sweep by slope or small step, b = min(n_samples, batch_size);
    O(n_samples b n_features) for a look at all flips, and O(n_samples b^2) more for each that no bound excludes: at the
    end none (docs/methods/dufs.md).

    *Differs from the released program* ("released" is that program: plain gradient descent at rate 1 on freshly drawn
    gates, from a random start, without a test; on all samples, where they are few): it draws a gate for each entry of
    X.  This adds to every distance the same large amount, so that in high dimension the samples are about equally far
    from each other, and the score says little.  Gates of whole features keep the neighbourhoods.  s is the mean instead
    of the median, whose derivative rests on two samples and jumps where others take their place.  And it ranks by mu;
    but a gate that is open for good gains nothing by a larger mu, so that the order of mu among open gates is left by
    the path: here they are ranked by their gain.

    *Differs from the paper*: its text was not at hand beyond its formulas; the same points as for the program.

    *Known pathologies*: the number of features is no part of the model, and without a price a part of the gates opens,
    few of slices of 60 features (3 to 18), 48 of 644 on UMIST, 422 of 2420 on PIE10P (docs/methods/dufs.md): over few
    features each sample is near to others, and each feature is smooth over its own graph.  The ranking of the rest is
    that by gain.  The loss has local minima: of 16 slices two have a start from which it ends lower, by 1.3 % at most.
    A group of features that vary alike makes a graph over which each of them is smooth, so that near-duplicates open
    together.  "released": at rate 1 and with thousands of features, mu moves by less than the spread of its random
    start in hundreds of steps: the selection is mostly that start.

    References
    ----------
    Lindenbaum, Shaham, Peterfreund, Svirsky, Casey & Kluger. Differentiable unsupervised feature selection based on a
    gated Laplacian. NeurIPS 2021.
    """

    dense_samples = 1000  # about what a batch has
    builds_graph = False  # of a batch alone, which "ss" counts
    bounds = {
        "scale_factor": Bound(0.1, 100),
        "noise": above(0),
        "batch_size": whole(2),
        "learning_rate": above(0),
    }
    choices = {"variant": tuple(VARIANTS), "gates": ("feature", "entry")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        lambda_=None,
        scale_factor=5.0,
        n_neighbors=1,
        noise=0.5,
        gates="feature",
        variant="paper",
        standardize=True,
        batch_size=500,
        learning_rate=1.0,
        init=None,
        max_iter=500,
        tol=0.01,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.lambda_ = lambda_
        self.scale_factor = scale_factor
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.gates = gates
        self.variant = variant
        self.standardize = standardize
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def arrays(self):
        """The arrays that `BaseSelector.memory` counts: "released" has more of all pairs of a batch."""
        return {"nd": 7, "ss": 10 if self.variant == "released" else 6}

    def _check(self, X):
        check_init(self.init, (X.shape[1],))
        if self.lambda_ is not None:
            Bound(0, 100).check("lambda_", self.lambda_, X)

    def _solve(self, X, rng):
        X = standardized(X) if self.standardize else X
        learned = {}
        common = {
            "scale_factor": self.scale_factor,
            "n_neighbors": self.n_neighbors,
            "noise": self.noise,
            "batch_size": self.batch_size,
        }
        start = None if self.init is None else np.array(self.init, dtype=float)
        if self.variant == "paper":
            problem = paper.Problem(X, self.lambda_, gates=self.gates, **common)
            start = problem.starts() if start is None else [start]
        else:
            drawn = released.SPREAD * rng.standard_normal(X.shape[1])
            problem = released.Problem(X, self.lambda_, learning_rate=self.learning_rate, rng=rng, **common)
            if start is None:
                start = drawn
                learned["start_"] = np.argsort(-start, kind="stable")[: self.n_features_to_select_]
        state, trace = problem.solve(start, self.max_iter, self.tol)
        trace = trace.collapsed_if(not X.any() or (state.mu <= 0).all())
        return Solution(problem.scores(state), trace, learned={**learned, "mu_": state.mu})


def standardized(X):
    """Return the features centred and divided by their standard deviations; 0 for constant ones.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples, n_features)
    """
    varies = np.ptp(X, axis=0) > 0
    X = X - X.mean(axis=0)
    return np.where(varies, X / np.where(varies, X.std(axis=0), 1.0), 0.0)
