"""SPDFS, its printed ratio: features by swaps, memberships by fuzzy steps, each of which lowers it."""

from dataclasses import dataclass

import numpy as np

from methods.core.loop import iterate
from methods.core.starts import indicator, kmeans_labels
from methods.spdfs.scatter import Scatter, memberships
from methods.spdfs.swaps import Gains

FUZZY = 30  # steps of the memberships in a sweep at most
STILL = 1e-8  # share by which the last of them lowers the scatter at most
ENOUGH = 1e-6  # share of the ratio that a sweep must save, or single swaps are tried
change = None  # the default of `iterate`: the relative change of the ratio


@dataclass(frozen=True)
class State:
    """Features in increasing order, W on them, memberships, and the ratio."""

    features: np.ndarray
    W: np.ndarray
    Y: np.ndarray
    value: float


class Problem:
    """``sum_ij y_ij^r ||W'x_i - u_j||^2 / tr W'S_tW`` for W'W = I with h rows that are not zero.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred, with columns of length 1 or 0.
    n_clusters, size, n_components : int
    fuzziness : float
        r.
    """

    def __init__(self, X, n_clusters, size, n_components, fuzziness):
        self.X, self.n_clusters, self.size = X, n_clusters, size
        self.n_components, self.fuzziness = n_components, fuzziness

    def start(self, seed):
        """Start at the features that K-means on all of them explains best, and its labels."""
        return self.state(None, indicator(kmeans_labels(self.X, self.n_clusters, seed), self.n_clusters))

    def state(self, features, Y):
        scatter = Scatter(self.X, Y**self.fuzziness)
        if features is None:
            within = np.einsum("ij,ij->j", self.X, scatter.middle(self.X))
            total = np.einsum("ij,ij->j", self.X, self.X)
            cost = np.divide(within, total, out=np.full(len(total), np.inf), where=total > 0)
            features = np.sort(np.argsort(cost, kind="stable")[: self.size])
        return State(features, *self._with(scatter, features, Y))

    def sweep(self, state):
        """Swap features for the memberships at hand, then renew memberships; single swaps where these save little."""
        new = self._regrouped(self._swapped(state, Gains.by_blocks))
        if new.value <= (1 - ENOUGH) * state.value or new.value == 0:
            return new
        return self._regrouped(self._swapped(new, Gains.single))

    def _swapped(self, state, swap):
        """Take Dinkelbach's steps: features for B = ratio S_t - S_m, then the best W, as long as the ratio falls."""
        scatter = Scatter(self.X, state.Y**self.fuzziness)
        middle = scatter.middle(self.X)
        while state.value > 0:
            gains = Gains(self.X, state.value * self.X - middle, self.n_components)
            features = swap(gains, state.features)
            if np.array_equal(features, state.features):
                return state
            new = State(features, *self._with(scatter, features, state.Y))
            if not new.value < state.value:
                return state
            state = new
        return state

    def _regrouped(self, state):
        """Return the state with memberships that no fuzzy step changes much; this lowers the scatter alone."""
        Z = self.X[:, state.features] @ state.W

        def step(Y):
            return memberships(Z, Y**self.fuzziness, self.fuzziness)[0]

        def scatter(Y):
            return float(np.vdot(Z, Scatter(Z, Y**self.fuzziness).middle(Z)))

        Y = iterate(step, state.Y, scatter, max_iter=FUZZY, tol=STILL)[0]
        new = State(state.features, *self._with(Scatter(self.X, Y**self.fuzziness), state.features, Y))
        return new if new.value < state.value else state

    def _with(self, scatter, features, Y):
        W, ratio = scatter.ratio_on(features, self.n_components)
        return W, Y, ratio
