"""SPDFS, its printed ratio: features by swaps, memberships by fuzzy steps, each of which lowers it."""

from dataclasses import dataclass

import numpy as np

from ufs_bench.methods.core.loop import iterate
from ufs_bench.methods.core.starts import N_STARTS, indicator, kmeans_labels
from ufs_bench.methods.spdfs.scatter import Scatter, memberships
from ufs_bench.methods.spdfs.swaps import Gains

FUZZY = 30  # steps of the memberships in a sweep at most
STILL = 1e-8  # share by which the last of them lowers the scatter at most
ENOUGH = 1e-6  # share of the ratio that a sweep must save, or single swaps are tried
STARTS = 10  # partitions by K-means
TRIES, TRIES_WORK = (15, 60), 1e9  # starts and restarts: more where a sweep takes fewer operations
TRIAL = 3  # sweeps from each of them
BEST_W = 5  # eigendecompositions that the best W on given features takes, as a rule
NOTHING = 1e-9  # a ratio below it is rounding: the clusters have no scatter in this projection
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
    max_work : float
        As in the class; once it is spent no features are swapped any more.
    """

    def __init__(self, X, n_clusters, size, n_components, fuzziness, max_work=np.inf):
        self.X, self.n_clusters, self.size = X, n_clusters, size
        self.n_components, self.fuzziness = n_components, fuzziness
        self.max_work, self.work = max_work, 0.0
        self.total = X.T @ X if X.shape[1] <= X.shape[0] else None

    def start(self, seed, features=slice(None), n_starts=1):
        """Start at the labels of K-means on some features, and at the features that these explain best."""
        labels = kmeans_labels(self.X[:, features], self.n_clusters, seed, n_starts=n_starts)
        return self.state(None, indicator(labels, self.n_clusters))

    def lowest_start(self, seed):
        """Return states of falling ratio: the lowest of several starts after a few sweeps, and what restarts give.

        A restart is K-means on the features that are chosen, from another seed.
        """
        n_samples, n_features = self.X.shape
        tries = TRIES_WORK / (self.size * (self.size**2 + n_samples * n_features))
        best = []
        for trial in range(int(np.clip(tries, *TRIES))):
            if trial < STARTS:
                state = self.start(seed + trial, n_starts=1 if trial else N_STARTS)
            else:
                state = self.start(seed + trial, best[-1].features)
            path = [state]
            while len(path) <= TRIAL and path[-1].value > 0:
                path.append(self._regrouped(self._swapped(path[-1], Gains.by_blocks)))
            if trial < STARTS:
                best = path if not best or path[-1].value < best[-1].value else best
            elif path[-1].value < best[-1].value:
                best.append(path[-1])
            if best[-1].value < NOTHING or self.work > self.max_work / 2:
                break
        return best

    def state(self, features, Y):
        scatter = Scatter(self.X, Y**self.fuzziness)
        if features is None:
            within = np.einsum("ij,ij->j", self.X, scatter.middle(self.X))
            total = np.einsum("ij,ij->j", self.X, self.X)
            cost = np.divide(within, total, out=np.full(len(total), np.inf), where=total > 0)
            features = np.sort(np.argsort(cost, kind="stable")[: self.size])
        return State(features, *self._with(scatter, features, Y))

    def sweep(self, state):
        """Swap features for the memberships at hand, by ones and twos where blocks save little; renew memberships."""
        new = state
        for swap in (Gains.by_blocks, Gains.single, Gains.pairs):
            new = self._regrouped(self._swapped(new, swap))
            if new.value <= (1 - ENOUGH) * state.value or new.value == 0:
                break
        return new

    def _swapped(self, state, swap):
        """Take Dinkelbach's steps: features for B = ratio S_t - S_m, then the best W, as long as the ratio falls."""
        scatter = Scatter(self.X, state.Y**self.fuzziness)
        middle, B = scatter.middle(self.X), None
        within = None if self.total is None else self.X.T @ middle
        while state.value > 0 and self.work < self.max_work:
            if within is not None:
                B = state.value * self.total - within
            gains = Gains(self.X, state.value * self.X - middle, self.n_components, B)
            features = swap(gains, state.features)
            self.work += gains.work + BEST_W * self.size**3
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
