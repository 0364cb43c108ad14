"""Minimisation over non-negative arrays by projected L-BFGS."""

import numpy as np
from scipy.linalg.blas import daxpy

MEMORY = 10  # pairs of a step and a change of the gradient
PARALLEL = 1e-12  # a pair counts where the cosine between the two is above this: below, its sign is rounding
ARMIJO = 1e-4  # share of the fall that the slope promises which a step must reach: the usual value
SMALLEST_STEP = 1e-20  # multiple of the direction below which no step changes x any more


def minimize_nonnegative(function, x, max_iter, tol=1e-9, known=None, above=None):
    """Lower a smooth function over x >= 0 from a start, and return an x whose value is at most that of the start.

    ``function(x)`` returns the value and the gradient, which a caller who has them at the start gives as `known`.  It
    stops after `max_iter` steps, or at one that lowers the value by less than the share `tol`.  Where the function is a
    convex part and another, ``above(x)(candidate)`` is how far the other is above its tangent at x there: the value is
    at least that above the tangent of the whole, so that a first step, which is often far too long, is shortened
    without calls of the function.

    A two-metric projection: entries at zero whose gradient is positive stay there; the others move along the
    quasi-Newton direction of the last `MEMORY` steps, restricted to them, so that it is one of descent; the step is
    halved or shortened by interpolation until the projected point satisfies the Armijo condition.  scipy's L-BFGS-B
    finds the same minima, but converts its bounds in Python at each call, which for n_samples x n_clusters unknowns
    costs more than the steps of a warm start.

    Bertsekas. Projected Newton methods for optimization problems with simple constraints. SIAM J. Control 1982; Kim,
    Sra & Dhillon. Tackling box-constrained optimization via a new projected quasi-Newton approach. SIAM J. Sci. Comput.
    2010.
    """
    pairs = _Pairs(x.size)
    value, gradient = function(x) if known is None else known
    for _ in range(max_iter):
        free = (x > 0) | (gradient < 0)
        slope = np.where(free, gradient, 0.0)
        length = np.linalg.norm(slope)
        if length == 0:
            break
        direction = pairs.times(slope, free)
        # A first step, which has no pairs to set its length, moves x by about a tenth of its own length.
        t = 1.0 if pairs.added else 0.1 * max(np.linalg.norm(x), 1e-3) / length
        bend = above(x) if above is not None and not pairs.added else None
        while True:
            candidate = np.maximum(x - t * direction, 0.0)
            expected = np.vdot(gradient, candidate - x)
            value_there = -np.inf if bend is None else value + expected + bend(candidate)
            if value_there <= value + ARMIJO * expected:
                value_there, gradient_there = function(candidate)
                if value_there <= value + ARMIJO * expected:
                    break
            # The minimum of the parabola through the two values and the slope here, if it is a sensible one.
            curved = 2 * (value_there - value - expected)
            t *= min(max(-expected / curved, 0.1), 0.5) if curved > 0 else 0.5
            if t < SMALLEST_STEP:
                return x
        pairs.add(candidate - x, gradient_there - gradient)
        gain = value - value_there
        x, value, gradient = candidate, value_there, gradient_there
        if gain <= tol * abs(value):
            break
    return x


class _Pairs:
    """The last steps, with the changes of the gradient along them."""

    def __init__(self, size):
        self.steps, self.changes = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self.added = 0

    def add(self, step, change):
        """Keep a pair, in the place of the oldest."""
        slot = self.added % MEMORY
        self.steps[slot], self.changes[slot] = step.ravel(), change.ravel()
        self.added += 1

    def times(self, slope, free):
        """Return the inverse Hessian that the pairs imply on the free entries, times the slope, which is 0 elsewhere.

        The two-loop recursion on these entries, of the pairs whose inner product there is positive.
        """
        newest_first = (self.added - 1 - np.arange(min(self.added, MEMORY))) % MEMORY
        free, direction, used = free.ravel(), slope.ravel().copy(), []
        for i in newest_first:
            step, change = self.steps[i] * free, self.changes[i] * free
            product, across = step @ change, change @ change
            if product > PARALLEL * np.sqrt(across * (step @ step)):
                used.append((step, change, product, step @ direction / product))
                daxpy(change, direction, a=-used[-1][-1])
                if len(used) == 1:
                    scale = product / across
        if used:
            direction *= scale
        for step, change, product, factor in reversed(used):
            daxpy(step, direction, a=factor - change @ direction / product)
        return direction.reshape(slope.shape)
