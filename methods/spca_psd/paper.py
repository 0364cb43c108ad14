"""SPCA-PSD, its printed objective: the global minimum, between the objective and a bound from below."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, eigvalsh

from ufs_bench.methods.core.prox import row_norms

EPS = 1e-6  # under the root of a column's norm, squared; the columns of a projection are 1 long or shorter
STEPS = 15  # with one metric: fewer waste its eigenvectors, more wait for the next one
LEAST = 1e-2  # multiple of the start that is kept: 0 is no place to start from, as it has no metric
FIRST = 2.0  # inverse length of the first step: the quadratic part needs 2 in every direction, or more
SHORTER, LONGER = 2.0, 0.9  # factors of the inverse length, after a step that was too long and after any other
NOTHING = 1e-9  # share of the objective at 0 by which Omega must be better
ROUNDING = 1e-14  # the same for one Omega after another


@dataclass(frozen=True)
class State:
    """Omega, the objective there, the same or that at 0 where it is lower, and a bound of its minimum from below."""

    omega: np.ndarray
    there: float
    value: float
    bound: float

    @property
    def gap(self):
        """An upper bound on how far the objective is above its minimum, as a share of itself."""
        return max(self.value - self.bound, 0.0) / max(self.value, np.finfo(float).tiny)


def change(previous, state):
    """Return the gap; 0 where a sweep found nothing lower and no higher bound, as the next would be the same again."""
    return 0.0 if state.omega is previous.omega and state.bound == previous.bound else state.gap


class Problem:
    """``||Xc' - Omega Xc'||_F^2 + lambda_ sum_j ||omega_j|| + eta tr Omega`` over positive semidefinite Omega.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    lambda_ : float
        Above 0.
    eta : float
        0 or more.
    """

    def __init__(self, X, lambda_, eta):
        Xc = X - X.mean(axis=0)
        self.S, self.lambda_, self.eta = Xc.T @ Xc, lambda_, eta
        self.total = float(np.trace(self.S))  # the objective at 0

    def start(self, diagonal=None):
        """Return the best multiple of diag(diagonal), by default of the Omega for a squared Frobenius norm."""
        if diagonal is None:
            values, vectors = eigh(self.S)
            values = np.maximum(values, 0.0)
            omega = (vectors * (values / (values + self.lambda_))) @ vectors.T
        else:
            omega = np.diag(diagonal)
        product = omega @ self.S
        linear = 2 * np.trace(product) - self.lambda_ * row_norms(omega).sum() - self.eta * np.trace(omega)
        curvature = max(2 * np.vdot(product, omega), np.finfo(float).tiny)
        return self.state(min(max(linear / curvature, LEAST), 1.0) * omega, -np.inf)

    def state(self, omega, bound):
        """Return the state at Omega; `bound` is another one, which is kept where it is higher."""
        value, gradient = self.smooth(omega, omega @ self.S)
        lengths = row_norms(omega)
        smooth = np.hypot(lengths, EPS)
        value -= self.lambda_ * float((smooth - lengths).sum())
        slack = self.lambda_ * float((lengths * (1 - lengths / smooth)).sum())
        lowest = float(eigvalsh(gradient, subset_by_index=(0, 0))[0])
        trace = min(value, self.total) / (self.lambda_ + self.eta)  # at most, of an Omega that is no worse
        below = value - float(np.vdot(gradient, omega)) - slack - trace * max(-lowest, 0.0)
        return State(omega, value, min(value, self.total), max(bound, below))

    def smooth(self, omega, product):
        """Return the objective with sqrt(||omega_j||^2 + EPS^2), and its gradient; `product` is Omega S."""
        lengths = np.hypot(row_norms(omega), EPS)
        value = self.total - 2 * np.trace(product) + np.vdot(product, omega) + self.eta * np.trace(omega)
        half = product - self.S + omega * (self.lambda_ / 2 / lengths)
        gradient = half + half.T
        gradient.flat[:: len(omega) + 1] += self.eta
        return float(value + self.lambda_ * lengths.sum()), gradient

    def sweep(self, state):
        """Take accelerated projected gradient steps in a metric that suits Omega, and return the lowest of them."""
        weights = self.lambda_ / 2 / np.hypot(row_norms(state.omega), EPS)
        curvature, axes = eigh(self.S + np.diag(weights))
        E = (axes * curvature**-0.25) @ axes.T
        inverse = (axes * curvature**0.25) @ axes.T
        place = before = _Place(inverse @ state.omega @ inverse, state.omega, state.omega @ self.S)
        best, least, momentum, L = state.omega, np.inf, 1.0, FIRST
        for _ in range(STEPS):
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = place.beyond(before, (momentum - 1) / following)
            slope = self.smooth(ahead.omega, ahead.product)[1]
            descent = E @ slope @ E
            while True:
                new = self._projected(ahead.Z - descent / L, E)
                value, there = self.smooth(new.omega, new.product)
                if np.vdot(there - slope, new.omega - ahead.omega) <= L * np.linalg.norm(new.Z - ahead.Z) ** 2:
                    break
                L *= SHORTER
            L *= LONGER
            if np.vdot(ahead.Z - new.Z, new.Z - place.Z) > 0:  # the momentum leads upwards
                following = 1.0
            before, place, momentum = place, new, following
            if value < least:
                best, least = new.omega, value
        new = self.state(best, state.bound)
        return new if new.there < state.there - ROUNDING * self.total else replace(state, bound=new.bound)

    def _projected(self, Z, E):
        """Return the nearest positive semidefinite matrix to a symmetric one, as a place."""
        if not np.isfinite(Z).all():
            raise np.linalg.LinAlgError("a step has left the range of floating point")
        values, vectors = eigh((Z + Z.T) / 2, driver="evd")
        root = vectors[:, values > 0] * np.sqrt(values[values > 0])
        moved = E @ root
        return _Place(root @ root.T, moved @ moved.T, moved @ (moved.T @ self.S))

    def optimum(self, state):
        """Return Omega of a state, or 0 where that is as good."""
        return state.omega if state.value < self.total * (1 - NOTHING) else np.zeros_like(state.omega)


@dataclass(frozen=True)
class _Place:
    """Omega = E Z E and Omega S, in the metric that E is of."""

    Z: np.ndarray
    omega: np.ndarray
    product: np.ndarray

    def beyond(self, before, share):
        """Return the place that is by a share of the way from `before` to here farther on."""
        pairs = zip((self.Z, self.omega, self.product), (before.Z, before.omega, before.product), strict=True)
        return _Place(*((1 + share) * here - share * there for here, there in pairs))
