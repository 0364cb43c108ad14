"""DUFS for expected gates: no draws, and a quasi-Newton method in a box until the ranking has settled."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from methods.core.loop import CONVERGED, MAX_ITER, Trace
from methods.core.starts import order_by_distance
from methods.dufs.gates import gate_moments, loss
from methods.dufs.walk_score import walk_score

SATURATED = 2.0  # in standard deviations: a gate at the end of the box is open, or closed, in 98 of 100 draws
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # the ranking must stay at these sizes, as shares of the features
PATIENCE = 30  # sweeps in which it must; of quasi-Newton steps some ten may do little
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
        self.size = X.size
        order, n_groups = order_by_distance(X), -(-len(X) // batch_size)
        # Dealt out like cards, so that every group has samples near to the mean and far from it.
        self.groups = [np.ascontiguousarray(X[order[first::n_groups]]) for first in range(n_groups)]
        self.bound = 0.5 + SATURATED * noise
        self.price = None
        self.unit = abs(self.state(np.zeros(X.shape[1])).value)  # -score / open
        if lambda_ is not None:
            self.price = lambda_ * self.unit

    def state(self, mu):
        """Evaluate the loss."""
        mean, square, mean_slope, square_slope = gate_moments(mu, self.noise)
        value, pairs, own = 0.0, np.zeros(len(mu)), np.zeros(len(mu))
        for X in self.groups:
            K = X * (square if self.gates == "feature" else mean**2) @ X.T
            if self.gates == "entry":  # the gates of two samples are independent, those of one sample are the same
                K.flat[:: len(K) + 1] = X**2 @ square
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

    def solve(self, mu, max_iter, tol):
        """Return the lowest state that is found from a start, and the trace; `tol` as in the class."""
        state = self.state(np.clip(mu, -self.bound, self.bound))
        if self.unit == 0 or max_iter == 0:
            return state, Trace(np.array([state.value]), MAX_ITER if self.unit else CONVERGED)
        values, rankings, last = [state.value], [self._ranking(state)], state

        def evaluate(mu):
            nonlocal last
            last = self.state(mu.copy())
            return last.value / self.unit, last.gradient / self.unit

        def record(intermediate_result):
            mu = intermediate_result.x
            state = last if np.array_equal(last.mu, mu) else self.state(mu.copy())
            values.append(state.value)
            rankings.append(self._ranking(state))
            if tol and len(rankings) > PATIENCE and largest_change(rankings[-1 - PATIENCE], rankings[-1]) <= tol:
                raise StopIteration

        # Tolerances of zero: it goes on until the projected gradient is zero, or no step along it lowers the loss.
        options = {"maxiter": max_iter, "maxfun": TRIALS * max_iter, "ftol": 0, "gtol": 0}
        bounds = [(-self.bound, self.bound)] * len(mu)
        found = minimize(
            evaluate, state.mu, jac=True, method="L-BFGS-B", bounds=bounds, callback=record, options=options
        )
        limit = found.nit >= max_iter or found.nfev >= TRIALS * max_iter
        status = MAX_ITER if limit else CONVERGED
        return self.state(found.x), Trace(np.array(values), status, len(values) - 1)

    def scores(self, state):
        """Return the gains as shares of the largest, in [-1, 1], and 2 more for a gate that is mostly open."""
        return state.gain / max(np.abs(state.gain).max(), np.finfo(float).tiny) + 2.0 * (state.mu > 0)

    def _ranking(self, state):
        return np.argsort(-self.scores(state), kind="stable")


def largest_change(one, other):
    """Return the largest share of a ranking's first features that another one does not have, over several sizes."""
    sizes = [max(1, round(share * len(one))) for share in SHARES]
    return max(1 - len(np.intersect1d(one[:m], other[:m], assume_unique=True)) / m for m in sizes)
