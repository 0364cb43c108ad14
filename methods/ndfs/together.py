"""Quasi-Newton steps of F and the weights of the features together, once rows of F have several entries.

With the best W for F and the weights 1 / (2 s), the objective is

    tr F'LF + alpha (tr F'K^-1 F + beta/2 sum_j (s_j + eps / s_j)) + gamma/2 ||F'F - I||^2

with K = I + X diag(2 s / beta) X'.
All but the part of gamma is convex in F and s together.  The part of gamma is stiff in few directions: its curvature
along a step V of F is gamma ||JV||^2, where JV = F'V + V'F has only n_clusters^2 entries, and a rest of the size of the
other parts.  So J'J is kept exact, for the entries that may move at the moment, and secant pairs learn what is left.
To lower F for fixed weights and the weights for fixed F in turn takes hundreds of sweeps for the same descent.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from methods.core.bounded import ARMIJO, MEMORY, PARALLEL, SMALLEST_STEP
from methods.core.reweighting import EPS

STEPS = 10  # in a sweep: COIL20 takes some 1,400 at alpha = 1e6, beta = 1e-4, and max_iter is 300 sweeps
FIRST = 0.1  # of the length of F and s: how far a step without secant pairs goes at most
SINGULAR = 1e-12  # of the largest entry of JJ', added to its diagonal where gamma hides what is left


@dataclass(frozen=True)
class Point:
    """F and s as one vector, the best W there, the value, and its gradient without the part of gamma."""

    z: np.ndarray
    value: float
    slope: np.ndarray
    away: np.ndarray  # F'F - I
    rest: np.ndarray  # F - XW
    W: np.ndarray
    pairs: tuple = ()  # steps that led here, and the changes of the gradient that J'J does not explain


class Together:
    """The function of F and s, and its descent over F >= 0 and s >= sqrt(eps).

    Parameters
    ----------
    problem : methods.ndfs.paper.Problem
    shape : tuple
        Of F.
    """

    def __init__(self, problem, shape):
        self.problem, self.shape, self.size = problem, shape, shape[0] * shape[1]
        self.low = np.concatenate([np.zeros(self.size), np.full(problem.X.shape[1], np.sqrt(EPS))])

    def split(self, z):
        """F and s, of a vector of both."""
        return z[: self.size].reshape(self.shape), z[self.size :]

    def at(self, z):
        """Return the `Point` of F and s.

        Raises
        ------
        numpy.linalg.LinAlgError
        """
        p, (F, s) = self.problem, self.split(z)
        rest, W = p.ridge.factor(p.beta / (2 * s)).residual(F)
        LF, away = p.L @ F, F.T @ F
        away.flat[:: len(away) + 1] -= 1.0
        value_w = np.vdot(F, rest) + p.beta / 2 * (s + EPS / s).sum()
        value = np.vdot(F, LF) + p.alpha * value_w + p.gamma / 2 * np.vdot(away, away)
        slope_s = p.alpha * p.beta / 2 * (1 - (np.einsum("ij,ij->i", W, W) + EPS) / s**2)
        return Point(z, float(value), np.concatenate([(2 * LF + 2 * p.alpha * rest).ravel(), slope_s]), away, rest, W)

    def lowered(self, F, s, pairs=()):
        """Return a `Point` that is no higher, after up to `STEPS` steps; `pairs` of the steps before."""
        point = replace(self.at(np.concatenate([F.ravel(), s])), pairs=pairs)
        for _ in range(STEPS):
            found = self.step(point)
            if found is None:
                break
            point = found
        return point

    def step(self, point):
        """Return the `Point` after one step, or None where there is no lower one."""
        z, gamma = point.z, self.problem.gamma
        gradient = point.slope.copy()
        gradient[: self.size] += 2 * gamma * (self.split(z)[0] @ point.away).ravel()
        free = (z > self.low) | (gradient < 0)
        direction = self.direction(point, np.where(free, gradient, 0.0), free)
        length = np.linalg.norm(direction)
        if length == 0:
            return None
        t = 1.0 if point.pairs else min(1.0, FIRST * np.linalg.norm(z) / length)
        while t >= SMALLEST_STEP:
            candidate = np.maximum(z - t * direction, self.low)
            expected = gradient @ (candidate - z)
            try:
                found = self.at(candidate)
            except np.linalg.LinAlgError:
                t *= FIRST  # s too large: the system lost its definiteness
                continue
            if found.value <= point.value + ARMIJO * expected:
                step, change = candidate - z, found.slope - point.slope
                # Along the step, the gradient of the part of gamma changes by gamma J'J there, halfway, and by this.
                V = self.split(step)[0]
                change[: self.size] += (gamma * V @ (point.away + found.away)).ravel()
                return replace(found, pairs=(*point.pairs, (step, change))[-MEMORY:])
            # The minimum of the parabola through the two values and the slope here, if it is a sensible one.
            curved = 2 * (found.value - point.value - expected)
            t *= min(max(-expected / curved, 0.1), 0.5) if curved > 0 else 0.5
        return None

    def direction(self, point, slope, free):
        """Return the inverse Hessian on the free entries times the slope, which is 0 elsewhere.

        The two-loop recursion, which begins with the exact inverse of J'J and a diagonal.
        """
        model, direction, used = Model(self, point, free), slope.copy(), []
        for step, change in reversed(point.pairs):
            step, change = step * free, change * free
            change[: self.size] += model.stiff(step)
            product = step @ change
            if product > PARALLEL * np.sqrt((change @ change) * (step @ step)):
                used.append((step, change, product, step @ direction / product))
                direction -= used[-1][-1] * change
        direction = model.solved(direction)
        if used:
            _, change, product, _ = used[0]
            direction *= product / (change @ model.solved(change))
        for step, change, product, factor in reversed(used):
            direction += (factor - change @ direction / product) * step
        return direction


class Model:
    """A Hessian to begin with, on the free entries: gamma J'J and a multiple of I for F, a diagonal for s.

    The diagonal alpha beta / s is that of the reweighting: a step by it is half of one from s to ||w||.
    """

    def __init__(self, together, point, free):
        problem, size = together.problem, together.size
        self.size, self.split, self.gamma = size, together.split, problem.gamma
        self.F, s = together.split(point.z)
        self.mask = together.split(free)[0]
        self.steps = s / (problem.alpha * problem.beta)
        self.scale = 2 * (problem.alpha + 2)  # the eigenvalues of K^-1 are at most 1, those of L at most 2
        c = self.F.shape[1]
        T = np.zeros((c, c, c, c))  # JJ', which maps a symmetric (c, c) array to another
        for column in range(c):
            rows = self.F[self.mask[:, column]]
            T[:, column, :, column] = rows.T @ rows
        T = T + T.transpose(1, 0, 2, 3)
        T = (T + T.transpose(0, 1, 3, 2)).reshape(c * c, c * c)
        T.flat[:: c * c + 1] += max(self.scale / self.gamma, SINGULAR * T.max())
        self.factor = cho_factor(T, lower=True, overwrite_a=True, check_finite=False)

    def stiff(self, z):
        """gamma J'J times the part of F of a vector, as one row."""
        both = self.F.T @ self.split(z)[0]
        return (2 * self.gamma * self.mask * (self.F @ (both + both.T))).ravel()

    def solved(self, z):
        """The inverse times a vector, by Woodbury's identity."""
        V, v = self.split(z)
        both = self.F.T @ V
        inner = cho_solve(self.factor, (both + both.T).ravel(), check_finite=False).reshape(both.shape)
        return np.concatenate([((V - 2 * self.mask * (self.F @ inner)) / self.scale).ravel(), self.steps * v])
