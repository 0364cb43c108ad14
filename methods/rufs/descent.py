"""The L-BFGS of RUFS's released program, projected on the bound of zero where there is one."""

import numpy as np
from scipy.linalg.blas import daxpy

MEMORY = 10  # pairs of a step and a change of the gradient
ARMIJO = 0.2  # share of the fall that the slope promises which a step must reach
LARGEST_INNER = 100_000  # steps of a block; the program has no bound


def descend(at, x, tol, small=0.0, bounded=False):
    """Minimise by L-BFGS with a halving step and, where `bounded`, projection on x >= 0.

    ``at(x)`` returns the value, and a callable for the gradient there, which is called before the next call of `at` or
    never.  The descent stops at the first step that changes the value by less than `tol`, and throws that step away; or
    where the Frobenius norm of the (projected) gradient is at most `small`.  Returns x, and the gradient there without
    what points out of the bounds.  LinAlgError where no step is that small, or no value finite.
    """
    pairs = Pairs(x.size)
    f, gradient = at(x)
    g = gradient()
    for _ in range(LARGEST_INNER):
        projected = _inward(g, x, g) if bounded else g
        if small > 0 and np.linalg.norm(projected) <= small:
            break
        direction = pairs.times(g)
        if bounded:
            direction = _inward(direction, x, direction)
        if np.vdot(direction, g) <= 0:
            direction = projected
        t = 1.0
        while True:
            candidate = x - t * direction
            if bounded:
                candidate = np.maximum(candidate, 0.0)
            step = candidate - x
            f_candidate, gradient = at(candidate)
            if not np.isfinite(f_candidate) and t < 1e-300:  # after a thousand halvings
                raise np.linalg.LinAlgError("The line search met no finite value.")
            if f_candidate <= f + ARMIJO * np.vdot(g, step):
                break
            t /= 2
        if abs(f_candidate - f) < tol:
            break
        g_candidate = gradient()
        pairs.add(step, g_candidate - g)
        x, f, g = candidate, f_candidate, g_candidate
    else:
        raise np.linalg.LinAlgError(f"A block does not end within {LARGEST_INNER} steps.")
    return x, projected


class Pairs:
    """The last steps with the changes of the gradient, and the inverse Hessian that they imply; `size` is that of x."""

    def __init__(self, size):
        self.steps, self.changes = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self.products = np.empty(MEMORY)
        self.added = self.held = 0

    def add(self, step, change):
        """Keep a pair in the place of the oldest; one whose inner product is zero clears them all."""
        product = np.vdot(step, change)
        if not product:
            self.held = 0
            return
        slot = self.added % MEMORY
        self.steps[slot], self.changes[slot], self.products[slot] = step.ravel(), change.ravel(), product
        self.added += 1
        self.held = min(self.held + 1, MEMORY)

    def times(self, g):
        """Return the inverse Hessian times g, of the shape of g: the two-loop recursion."""
        newest_first = (self.added - 1 - np.arange(self.held)) % MEMORY
        q, factors = g.ravel().copy(), []
        for i in newest_first:
            factors.append(self.steps[i] @ q / self.products[i])
            daxpy(self.changes[i], q, a=-factors[-1])
        if self.held:
            newest = newest_first[0]
            q *= self.products[newest] / (self.changes[newest] @ self.changes[newest])
        for i, factor in zip(newest_first[::-1], factors[::-1], strict=True):
            daxpy(self.steps[i], q, a=factor - self.changes[i] @ q / self.products[i])
        return q.reshape(g.shape)


def _inward(direction, x, sign):
    return np.where((sign < 0) | (x > 0), direction, 0.0)
