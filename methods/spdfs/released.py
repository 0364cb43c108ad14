"""SPDFS as its released program computes it: features by a minorised trace, which all but keeps its random start."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, eigvalsh, orth, pinv, svd

from ufs_bench.methods.spdfs.scatter import Scatter, memberships

INNER, STEPS = 50, 50  # sweeps with one ratio, and choices of features in each, at most
STILL = 1e-4  # the least fall of ratio and difference, absolute


def change(previous, state):
    """Return the fall of the ratio as it is; a rise ends the program, too."""
    return max(previous.value - state.value, 0.0) if previous.value - state.value >= STILL else 0.0


@dataclass(frozen=True)
class State:
    """Features in increasing order, W on them, memberships, centres, and the ratio."""

    features: np.ndarray
    W: np.ndarray
    Y: np.ndarray
    centers: np.ndarray
    value: float


class Problem:
    """The program's sweep: memberships and features in turn for one ratio, then that of both.

    Parameters
    ----------
    X, n_clusters, size, n_components, fuzziness
        As in `methods.spdfs.paper.Problem`.
    """

    def __init__(self, X, n_clusters, size, n_components, fuzziness):
        self.X, self.n_clusters, self.size = X, n_clusters, size
        self.n_components, self.fuzziness = n_components, fuzziness
        left, lengths, _ = svd(X, full_matrices=False)
        self.axes = left * lengths  # X'NX and axes' N axes have the same eigenvalues, zero apart

    def random_start(self, rng, Y=None):
        """Start at a random projection, and these memberships or random ones, whose rows are scaled to sum to 1."""
        W = rng.random((self.X.shape[1], self.n_components))
        if Y is None:
            Y = rng.random((self.X.shape[0], self.n_clusters))
        Y = np.asarray(Y, dtype=float)
        return self.start(Y / Y.sum(axis=1, keepdims=True), W)

    def start(self, Y, W):
        """Start at one fuzzy step on all features, and the features of one choice from an orthonormal basis of W."""
        Y, centers = memberships(self.X, Y**self.fuzziness, self.fuzziness)
        scatter = Scatter(self.X, Y**self.fuzziness)
        W = orth(W)
        Z = self.X @ W
        ratio = _ratio(scatter, Z)
        features, W = self._chosen(scatter, ratio, np.arange(self.X.shape[1]), W, 1)
        return self._state(features, W, Y, centers[:, features] @ W, scatter)

    def sweep(self, state):
        Y, centers, features, W, last = state.Y, state.centers, state.features, state.W, 0.0
        for _ in range(INNER - 1):
            Y, centers = memberships(self.X[:, features] @ W, Y**self.fuzziness, self.fuzziness, centers)
            scatter = Scatter(self.X, Y**self.fuzziness)
            features, W = self._chosen(scatter, state.value, features, W, STEPS)
            Z = self.X[:, features] @ W
            difference = np.vdot(Z, scatter.middle(Z)) - state.value * np.vdot(Z, Z)
            if last - difference < STILL:
                break
            last = difference
        return self._state(features, W, Y, centers, scatter)

    def _state(self, features, W, Y, centers, scatter):
        Z = self.X[:, features] @ W
        return State(features, W, Y, centers, _ratio(scatter, Z))

    def _chosen(self, scatter, ratio, features, W, steps):
        """Return features of largest diagonal in AW (W'AW)^+ W'A, A = gamma I - (S_m - ratio S_t), and W on them."""
        middle = scatter.middle(self.axes) - ratio * self.axes
        small = self.axes.T @ middle
        largest = eigvalsh((small + small.T) / 2)[-1]
        if self.X.shape[1] > len(small):
            largest = max(largest, 0.0)
        for step in range(steps):
            Z = self.X[:, features] @ W
            AW = -self.X.T @ (scatter.middle(Z) - ratio * Z)
            AW[features] += largest * W
            weights = np.einsum("ij,ij->i", AW @ pinv(W.T @ AW[features]), AW)
            chosen = np.sort(np.argsort(-weights, kind="stable")[: self.size])
            same = np.array_equal(chosen, features)
            features, X = chosen, self.X[:, chosen]
            within = scatter.middle(X) - ratio * X
            B = X.T @ within
            W = eigh((B + B.T) / 2, subset_by_index=(0, self.n_components - 1))[1]
            if same and step:  # W was the best on them before, too
                break
        return features, W


def _ratio(scatter, Z):
    spread = np.vdot(Z, Z)
    return float(np.vdot(Z, scatter.middle(Z)) / spread) if spread > 0 else 0.0
