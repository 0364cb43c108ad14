"""Reweighting for an l21 norm, made faster: the weights are extrapolated, and kept only where the objective agrees.

With ``s_j = sqrt(||w_j||^2 + eps)``, ``sum_j (||w_j||^2 + eps) / (2 s_j) + s_j / 2`` touches the smoothed l21 norm from
above.  Minimising it over W for fixed s, then over s, is the plain scheme: a fixed point in log s, which rows that fade
away approach one factor a sweep.
"""

from dataclasses import dataclass, replace

import numpy as np

from ufs_bench.methods.core.prox import row_norms

EPS = 1e-12  # under the root of a smoothed row norm: a row that fades away has the norm 1e-6, and a finite weight
KEPT = 5  # sweeps that an extrapolation looks back on
FARTHEST = 10.0  # from the plain step, in log s: beyond a factor of 22,000 a guess is no extrapolation
LITTLE = 1e-6  # gain, as a share, after which further reweightings cost more than they gain: the next sweep comes back
TRIAL_SWEEPS = 10  # sweeps of each start, after which the one with the lowest objective goes on
FACTORS = (1, 2, 8)  # features of a start, in multiples of the columns of W
OUTSIDE = 0.1  # s_j of the other features of a start, against 1: they have ten times the weight
CLOSEST = 0.3  # no s_j is below it at a restart, where the largest is about 1


@dataclass(frozen=True)
class Memory:
    """The last plain steps from log s to log s, `KEPT` at most: arrays (k, n_features) of both ends, oldest first."""

    before: np.ndarray
    after: np.ndarray

    def remember(self, before, after):
        """Return a memory of one more step, and one fewer of the oldest where it is full."""
        return Memory(np.vstack([self.before, before])[-KEPT:], np.vstack([self.after, after])[-KEPT:])

    def last(self):
        """Return a memory of the last step alone."""
        return Memory(self.before[-1:], self.after[-1:])

    def extrapolated(self):
        """Return the log s that the steps seem to lead to, by Anderson's mixing of type II.

        References
        ----------
        Walker & Ni. Anderson acceleration for fixed-point iterations. SIAM J. Numer. Anal. 49, 2011.
        """
        lengths = self.after - self.before
        # Steps that are nearly multiples of each other, to 1e-8, say nothing about a further direction.
        shares = np.linalg.lstsq(np.diff(lengths, axis=0).T, lengths[-1], rcond=1e-8)[0]
        guess = self.after[-1] - shares @ np.diff(self.after, axis=0)
        return np.clip(guess, self.after[-1] - FARTHEST, self.after[-1] + FARTHEST)


def log_scale(W):
    """Return the logarithms of s, with s_j = sqrt(||w_j||^2 + eps)."""
    return np.log(np.einsum("ij,ij->i", W, W) + EPS) / 2


def no_memory(n_features):
    """Return the memory to begin with."""
    return Memory(np.empty((0, n_features)), np.empty((0, n_features)))


def safeguarded(solve, memory, bound):
    """Do one sweep: `solve` at the extrapolated s, or at the plain one where that does not keep to the bound.

    ``solve(s)`` minimises over W with the weights ``1 / (2 s)``; its result has the objective as ``value``.  The last
    step of the memory leads to the plain s, and the plain step cannot exceed `bound`, the objective before the sweep.
    Returns what was solved, the log s where, and the memory, shortened to its last step where extrapolation failed.
    """
    if len(memory.after) > 1:
        log_s = memory.extrapolated()
        try:
            solved = solve(np.exp(log_s))
        except np.linalg.LinAlgError:
            pass  # too far: the system lost its definiteness
        else:
            if solved.value <= bound:
                return solved, log_s, memory
    log_s = memory.after[-1]
    return solve(np.exp(log_s)), log_s, memory.last()


def reweighted(solve, state, bound=None):
    """Return the state after a sweep: what `solve` makes of the weights that W implies, `safeguarded`.

    A state has W, ``value``, and from this function on ``log_s`` and ``memory``: None in a start that no weights led
    to.  ``solve(s)`` returns the best state for the weights ``1 / (2 s)``; `bound` is the value before it, by default
    that of the state.
    """
    plain = log_scale(state.W)
    if state.log_s is None:
        return replace(solve(np.exp(plain)), log_s=plain, memory=no_memory(len(plain)))
    memory = state.memory.remember(state.log_s, plain)
    new, log_s, memory = safeguarded(solve, memory, state.value if bound is None else bound)
    return replace(new, log_s=log_s, memory=memory)


def reweight_block(block, measure, step, times):
    """Return a block of unknowns after a few reweightings, each of which must lower the value; rounding ends them.

    ``measure(block)`` returns the value and what the weights are made of; ``step(block, parts)`` the minimum over the
    block of a quadratic that touches the value from above there.
    """
    value, parts = measure(block)
    for _ in range(times):
        candidate = step(block, parts)
        lower, parts = measure(candidate)
        if not lower < value:
            return block
        block, gain, value = candidate, value - lower, lower
        if gain <= LITTLE * value:
            break
    return block


def confined_scales(costs, n_columns):
    """Return scales that all but confine W to the features that cost least, for several numbers of features.

    They are starts for a W with W'W = I and few rows, which has many minima close to some few features.  A feature
    costs what a column of W costs that holds nothing but it; the 1, 2 or 8 times n_columns cheapest have scale 1.
    """
    cheap = np.argsort(costs, kind="stable")
    scales = []
    for size in sorted({min(factor * n_columns, len(costs)) for factor in FACTORS}):
        s = np.full(len(costs), OUTSIDE)
        s[cheap[:size]] = 1.0
        scales.append(s)
    return scales


def close_scales(W):
    """Return scales that follow the row norms of W but differ less: a feature whose row has faded may come back."""
    return np.hypot(row_norms(W), CLOSEST)
