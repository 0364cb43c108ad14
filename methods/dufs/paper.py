"""DUFS for expected gates: no draws, and a quasi-Newton method in a box until the ranking has settled."""

from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from ufs_bench.methods.core.loop import CONVERGED, MAX_ITER, Trace
from ufs_bench.methods.core.starts import order_by_distance
from ufs_bench.methods.dufs.flips import ALL, FLIPS, MANY, settle
from ufs_bench.methods.dufs.gates import gate_moments, loss, open_share
from ufs_bench.methods.dufs.walk_score import walk_score

SATURATED = 2.0  # in standard deviations: a gate at the end of the box is open, or closed, in 98 of 100 draws
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # the ranking must stay at these sizes, as shares of the features
PATIENCE = 30  # sweeps in which it must; of quasi-Newton steps some ten may do little
LEAST, WORK = 24, 2e9  # features that are a start each: so many, or more where products take fewer operations
# Starts from which single flips are made: ENTRIES over the entries of X times the samples of a graph, but three where
# that is a half or more, and one at least.  A look at all flips takes some 5 CPU seconds for ENTRIES.
ENTRIES, FOLLOWED = 5e8, 3
TRIALS = 20  # evaluations a sweep, at most, on average; some three are usual


@dataclass(frozen=True)
class State:
    """The means of the gates, and the loss there."""

    mu: np.ndarray
    value: float
    gradient: np.ndarray
    gain: np.ndarray  # the fall of the score for one more unit of the square of a gate


class Problem:
    """The loss for given data, with YY' replaced by its expectation over the gates.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    lambda_ : float or None
    scale_factor, noise : float
    n_neighbors : int
    gates : {"feature", "entry"}
    batch_size : int
        The samples fall into groups of at most so many, each with its own graph.
    """

    def __init__(self, X, lambda_, scale_factor, n_neighbors, noise, gates="feature", batch_size=500):
        self.scale_factor, self.n_neighbors, self.noise, self.gates = scale_factor, n_neighbors, noise, gates
        self.size, self.n_features, self.varies = X.size, X.shape[1], X.any(axis=0)
        order, n_groups = order_by_distance(X), -(-len(X) // batch_size)
        # Dealt out like cards, so that every group has samples near to the mean and far from it.
        self.groups = [np.ascontiguousarray(X[order[first::n_groups]]) for first in range(n_groups)]
        self.entries = self.size * len(self.groups[0])
        self.bound = 0.5 + SATURATED * noise
        self.price = None
        self.unit = abs(self.state(np.zeros(X.shape[1])).value)  # -score / open
        if lambda_ is not None:
            self.price = lambda_ * self.unit

    def weights(self, mu):
        """Return the expected products of the gates of two samples, and those of one sample."""
        mean, square, _, _ = gate_moments(mu, self.noise)
        return np.array([square if self.gates == "feature" else mean**2, square])

    def grams(self, mu):
        """Return E YY' of each group."""
        pair, own = self.weights(mu)
        for X in self.groups:
            K = X * pair @ X.T
            if self.gates == "entry":  # the gates of two samples are independent, those of one sample are the same
                K.flat[:: len(K) + 1] = X**2 @ own
            yield K

    def score_of(self, state):
        """Return the score of a state."""
        share, _ = open_share(state.mu, self.noise)
        return state.value * share if self.price is None else state.value - self.price * share

    def loss_of(self, score, share):
        """Return the loss of a score and a share of open gates."""
        return score / share if self.price is None else score + self.price * share

    def open_chances(self, mu):
        """Return what each gate adds to the share of open gates."""
        return ndtr((mu + 0.5) / self.noise) / self.n_features

    def state(self, mu):
        """Evaluate the loss."""
        mean, _, mean_slope, square_slope = gate_moments(mu, self.noise)
        value, pairs, own = 0.0, np.zeros(len(mu)), np.zeros(len(mu))
        for X, K in zip(self.groups, self.grams(mu), strict=True):
            one, G = walk_score(K, self.scale_factor, self.n_neighbors, "mean")
            value += one
            own += np.diag(G) @ X**2
            pairs += np.einsum("ij,ij->j", G @ X, X)
        gain = pairs / self.size
        if self.gates == "feature":
            by_mu = -gain * square_slope
        else:
            by_mu = ((pairs - own) * (2 * mean * mean_slope) + own * square_slope) / -self.size
        return State(mu, *loss(-value / self.size, by_mu, mu, self.noise, self.price), gain)

    def starts(self):
        """Return means to start from: gates half open, all open, all closed but for one, at features of any gain."""
        half, shut = np.zeros(self.n_features), np.full(self.n_features, -self.bound)
        order = self._ranking(self.state(half))
        n = len(self.groups[0])
        count = max(LEAST, WORK / (n * n * (n + self.n_features)))
        alone = np.unique(order[np.linspace(0, len(order) - 1, min(int(count), len(order))).astype(int)])
        return [half, -shut, *(np.where(np.arange(len(shut)) == feature, self.bound, shut) for feature in alone)]

    def solve(self, starts, max_iter, tol):
        """Return the lowest state that is found from several starts, and the trace from there; `tol` as in the class.

        All starts go on by flips of many gates at once, in the first group of samples; the lowest of them by single
        flips in all groups; and the lowest of these until neither a flip, nor an exchange, nor a small step helps.
        """
        part = copy(self)
        if len(starts) > 1:
            part.groups, part.size = self.groups[:1], self.groups[0].size
        paths = [[part.state(np.clip(mu, -self.bound, self.bound))] for mu in starts]
        if self.unit == 0 or max_iter == 0:
            state = self.state(paths[0][0].mu)
            return state, Trace(np.array([state.value]), MAX_ITER if self.unit else CONVERGED)
        share = ENTRIES / self.entries
        followed = int(share) if share > FOLLOWED else FOLLOWED if share >= 0.5 else 1
        paths = _lowest((settle(part, path, max_iter, MANY) for path in paths), followed)
        if len(part.groups) < len(self.groups):
            paths = [[self.state(path[-1].mu)] for path in paths]
        paths = (settle(self, path, max_iter, FLIPS) for path in paths)
        states, status = settle(self, _lowest(paths, 1)[0], max_iter, ALL), MAX_ITER
        while len(states) <= max_iter:
            before = states[-1]
            states, status = self._descend(states, max_iter, tol)
            if states[-1] is before or status == MAX_ITER:
                break
            states, status = settle(self, states, max_iter, ALL), MAX_ITER
        return states[-1], Trace(np.array([state.value for state in states]), status, len(states) - 1)

    def _descend(self, states, max_iter, tol):
        """Return states after steps of a quasi-Newton method in the box, and how it ended."""
        states, last = list(states), states[-1]
        first, most = len(states), max_iter + 1 - len(states)

        def evaluate(mu):
            nonlocal last
            last = self.state(mu.copy())
            return last.value / self.unit, last.gradient / self.unit

        def record(intermediate_result):
            mu = intermediate_result.x
            states.append(last if np.array_equal(last.mu, mu) else self.state(mu.copy()))
            if tol and len(states) - first >= PATIENCE:
                rankings = (self._ranking(state) for state in (states[-1 - PATIENCE], states[-1]))
                if largest_change(*rankings) <= tol:
                    raise StopIteration

        # Tolerances of zero: it goes on until the projected gradient is zero, or no step along it lowers the loss.
        options = {"maxiter": most, "maxfun": TRIALS * most, "ftol": 0, "gtol": 0}
        bounds = [(-self.bound, self.bound)] * self.n_features
        found = minimize(
            evaluate, last.mu, jac=True, method="L-BFGS-B", bounds=bounds, callback=record, options=options
        )
        return states, MAX_ITER if found.nit >= most or found.nfev >= TRIALS * most else CONVERGED

    def scores(self, state):
        """Return gains as shares of the largest, and 2 more where a gate is mostly open; -2 for constant features."""
        shares = state.gain / max(np.abs(state.gain).max(), np.finfo(float).tiny) + 2.0 * (state.mu > 0)
        return np.where(self.varies, shares, -2.0)

    def _ranking(self, state):
        return np.argsort(-self.scores(state), kind="stable")


def _lowest(paths, count):
    """Return the paths with the lowest ends; of those that end alike one."""
    lowest = []
    for path in sorted(paths, key=lambda path: path[-1].value):
        if len(lowest) < count and not any(np.array_equal(path[-1].mu, other[-1].mu) for other in lowest):
            lowest.append(path)
    return lowest


def largest_change(one, other):
    """Return the largest share of a ranking's first features that another one does not have, over several sizes."""
    sizes = [max(1, round(share * len(one))) for share in SHARES]
    return max(1 - len(np.intersect1d(one[:m], other[:m], assume_unique=True)) / m for m in sizes)
