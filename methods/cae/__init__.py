"""Concrete autoencoder: slots that settle on features from which all others are best reconstructed."""

import numbers
from dataclasses import replace

import numpy as np

from ufs_bench.methods.cae import paper, released
from ufs_bench.methods.cae.slots import choose, selected_first
from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import above, check_init, whole
from ufs_bench.methods.core.loop import COLLAPSED, Trace, iterate
from ufs_bench.methods.core.starts import order_by_distance


class ConcreteAutoencoder(BaseSelector):
    """Choose the features from which a linear decoder reconstructs all, by a relaxation that is annealed.

        min_{L, V, b}  E ||X - X M'V - 1b'||_F^2,    M = row softmax of (L + G) / T,

    L (n_features_to_select, n_features) the logits of as many slots, G independent Gumbel noise, T falling.  As T goes
    to 0, a row of M becomes one feature, drawn with the probabilities softmax(L): a slot ends with the most probable.
    With the linear decoder this is column subset selection, relaxed.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of slots, as in `BaseSelector`; each size needs a fit of its own.
    variant : {"paper", "released"}, default="paper"
        "released": trained as by the program that was published (see Notes).
    start_temperature, end_temperature : float, default=10.0, 0.1
        Of the softmax, above 0.
    annealing : int, default=500
        "paper": steps in which the temperature falls, 1 or more; it then stays.  "released": all of `max_iter`.
    learning_rate : float, default=0.2
        Of Adam, above 0.  "paper": of the logits alone.  The released program has .001.
    batch_size : int or None, default=None
        Only of "released": 1 or more; None: n_samples // 256, at least 16.
    init : ndarray of shape (n_features_to_select, n_features), default=None
        Logits at the start.  None: normal; "paper": with standard deviation .1; "released": Glorot's.
    max_exchanges : int, default=100
        Only of "paper": sweeps of exchanges after the annealing, at most (see Notes); 0: none.
    max_iter : int, default=700
        Largest number of steps ("paper"), or of epochs before they are doubled ("released"), 0 or more.
    tol : float, default=0.002
        Converged when the largest probability of a slot, in the mean over the slots, is 1 less this, or more.
    random_state : int, Generator or None, default=None
        Seed of the start, of the noise, and of the batches.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1 + p for a feature that a slot holds, p its probability there; at most 0, the logarithm of its largest
        probability, for the others.
    logits_ : ndarray
        L, of shape (slots, features).
    n_filled_ : int
        Slots that held what another held, whose places the best unused features take.
    n_exchanged_, annealed_residual_ : int, float
        Only of "paper": features of the annealing that gave way to others, and the `residual_` before.
    residual_, residual_bound_ : float
        What the best linear reconstruction from the selected features leaves of the variance, as a share; and what
        none of as many features, nor other directions, can go below.
    start_ : ndarray of int
        Only without `init`: the features most probable at the random start.
    objective_ : float
        nan: with the temperature, the objective is another at each step.  See `residual_`.
    status_ : str
        "collapsed" where the rank of the centred data is n_features_to_select or less: nearly every selection leaves
        nothing then, and none is looked for.

    Raises
    ------
    ValueError
        For a parameter out of its range, or an `init` of the wrong shape.

    Notes
    -----
    *A step* ("paper"): one draw of the noise for all samples; the decoder that is best for it, from its normal
    equations; then a step of Adam for the logits.  X is centred, which is the best b, and replaced by its principal
    axes A times the singular values, which have the same inner products of columns.  With Z = AM' and the decoder
    V = B'A the derivative by M is 2 B'(AA')(BZ' - I)A, AA' being diagonal: two products of the size of A a step,
    O(rank n_features n_features_to_select), in single precision.  The noise is drawn in the order of the features'
    variances, so that their order in the file does not matter.

    *The number of steps* is 500, and up to 200 more at the last temperature: about 40 CPU seconds for 300 of 4029
    features at rank 804, some 3 for 100 of 644.  That is a budget: more steps would end lower.

    *Exchanges* ("paper"): after the annealing each selected feature gives way to the one that lowers the residual most,
    where it does by more than a ten-thousandth, until none does.  `n_exchanged_` says how many gave way.

    *Differs from the paper*: the decoder is linear, where the paper also has hidden layers, and is solved for at every
    draw instead of trained for all (one that lags behind the falling temperature leaves up to 2.7 times as much,
    `docs/methods/cae.md`); all samples make a batch; the logits learn two hundred times as fast; slots that are
    undecided get more steps at the last temperature, where the paper trains afresh with twice the epochs; and the
    exchanges.

    *Differs from the released program* ("released" is that program with one linear layer as decoder: small batches,
    Adam for logits and decoder alike, in single precision; undecided after all epochs it starts afresh with twice as
    many, four times at most, which is 31 times the cost: more than 60 CPU seconds for 100 features of
    UMIST, so that under such a limit the fit is a timeout and not decided): it gives fewer features where slots agree.
    Its batches are drawn of the samples by their distance to the mean, so that their order in the file does not matter.

    *Known pathologies*: nothing keeps two slots from one feature; the fewer steps, the more do (`n_filled_`).  Slots
    that are undecided at the end choose by the noise of their start.  Greedy selection of columns has the same aim and
    takes less time; `residual_`, against `residual_bound_`, says which comes nearer (`docs/methods/cae.md`).

    References
    ----------
    Abid, Balin & Zou. Concrete autoencoders: differentiable feature selection and reconstruction. ICML 2019, section 3.
    """

    size_in_objective = True
    arrays = {"nd": 5}
    bounds = {
        "start_temperature": above(0),
        "end_temperature": above(0),
        "learning_rate": above(0),
        "annealing": whole(1),
        "max_exchanges": whole(0),
    }
    choices = {"variant": ("paper", "released")}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        variant="paper",
        start_temperature=10.0,
        end_temperature=0.1,
        annealing=500,
        learning_rate=0.2,
        batch_size=None,
        init=None,
        max_exchanges=100,
        max_iter=700,
        tol=0.002,
        random_state=None,
    ):
        super().__init__(n_features_to_select)
        self.variant = variant
        self.start_temperature = start_temperature
        self.end_temperature = end_temperature
        self.annealing = annealing
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.init = init
        self.max_exchanges = max_exchanges
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def memory(self, n_samples, n_features, n_stored=None):
        """Estimate as `BaseSelector`, with the logits, their noise and moments: twelve arrays of the slots' shape."""
        size = self.n_features_to_select
        whole_number = isinstance(size, numbers.Integral)
        slots = size if whole_number else (0.5 if size is None else size) * n_features
        return int(super().memory(n_samples, n_features, n_stored) + 8 * 12 * slots * n_features)

    def _check(self, X):
        if self.batch_size is not None:
            whole(1).check("batch_size", self.batch_size, X)

    def _solve(self, X, rng):
        h, d = self.n_features_to_select_, X.shape[1]
        check_init(self.init, (h, d))
        C = paper.centred(X)
        order = np.argsort(-np.einsum("ij,ij->j", C, C), kind="stable")
        axes = paper.principal(C[:, order])
        if len(axes) <= h:
            learned = {"logits_": np.zeros((h, d)), "n_filled_": 0, "residual_": 0.0, "residual_bound_": 0.0}
            return Solution(-1.0 * ~C.any(axis=0), Trace(status=COLLAPSED), learned=learned)
        first, state, trace = self._annealed(X[:, order], axes, rng, order)
        logits = state.logits.astype(float)
        scores, n_filled = choose(logits)
        learned = {"logits_": np.empty((h, d)), "n_filled_": n_filled}
        learned["logits_"][:, order] = logits
        if self.variant == "paper":
            before = np.argsort(-scores, kind="stable")[:h]
            after = paper.exchanged(axes, before, self.max_exchanges)
            learned["n_exchanged_"] = len(np.setdiff1d(after, before))
            learned["annealed_residual_"] = paper.residual(axes, before)[0]
            scores = selected_first(logits, after)
        learned["residual_"], learned["residual_bound_"] = paper.residual(axes, np.argsort(-scores, kind="stable")[:h])
        if self.init is None:
            learned["start_"] = np.unique(order[first.argmax(axis=1)])
        by_feature = np.empty(d)
        by_feature[order] = scores
        return Solution(by_feature, replace(trace, objective=np.empty(0)), learned=learned)

    def _annealed(self, X, axes, rng, order):
        """Return the logits at the start, the state at the end, and the trace; features are ordered by variance."""
        temperatures = self.start_temperature, self.end_temperature
        init = None if self.init is None else np.array(self.init, dtype=float)[:, order]
        if self.variant == "released":
            training = {"learning_rate": self.learning_rate, "batch_size": self.batch_size, "rng": rng}
            samples = order_by_distance(X)  # batches are drawn of these, whatever the order in the file
            return released.trained(
                X[samples], self.n_features_to_select_, init, temperatures, self.max_iter, self.tol, **training
            )
        problem = paper.Problem(axes, temperatures, self.annealing, self.learning_rate, rng)
        first = problem.random_logits(self.n_features_to_select_) if init is None else init
        state, trace = iterate(
            problem.step, problem.start(first), max_iter=self.max_iter, tol=self.tol, residual=problem.doubt
        )
        return first, state, trace
