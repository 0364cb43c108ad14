"""The one loop that every iterative method runs in, monotone or ADMM."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from ufs_bench.methods.core.prox import row_norms

State = TypeVar("State")

CONVERGED, MAX_ITER, DIVERGED, COLLAPSED = "converged", "max_iter", "diverged", "collapsed"
SAME = 1e-6  # relative difference of two ends below which rounding, or the tolerance, decides
SETTLED = 3  # sweeps on end in which the ranking must not change: of extrapolated sweeps one or two may do little
RESTARTS, WORTHWHILE = 5, 1e-4  # rounds, at most, and the share of the objective that one must save for another
STATUSES = (CONVERGED, MAX_ITER, DIVERGED, COLLAPSED)


@dataclass(frozen=True)
class Trace:
    """The record of an iteration: its objective values and how it ended.

    Attributes
    ----------
    objective : ndarray of shape (n_iter + 1,)
        The objective at the start and after every sweep; empty for a closed form.
    status : str
        One of `STATUSES`.
    n_iter : int
        Sweeps done; 0 for a closed form.
    """

    objective: np.ndarray = field(default_factory=lambda: np.empty(0))
    status: str = CONVERGED
    n_iter: int = 0

    def collapsed_if(self, nothing_learned):
        """Return this trace, with the status "collapsed" where nothing was learned, however the iteration ended."""
        return replace(self, status=COLLAPSED) if nothing_learned else self


def iterate(
    step: Callable[[State], State],
    state: State,
    objective: Callable[[State], float] = lambda state: state.value,
    *,
    max_iter: int,
    tol: float,
    residual: Callable[[State, State], float] | None = None,
    patience: int = 1,
) -> tuple[State, Trace]:
    """Repeat ``state = step(state)`` until it converges, and keep the last finite state.

    Parameters
    ----------
    step : callable
        One sweep: takes a state and returns the next one, leaving the old one untouched.
    state : object
        The start.
    objective : callable
        Value of the objective at a state, by default its `value`; it is traced at every sweep.
    max_iter : int
        Largest number of sweeps; 0 or more.
    tol : float
        The loop stops when the residual is at most `tol`.  Zero asks for exactly `max_iter` sweeps,
        unless a sweep changes nothing at all.
    residual : callable, optional
        ``residual(previous, current)``; by default the relative change of the objective.
    patience : int, default=1
        In so many sweeps on end the residual must be at most `tol`, but for one of zero, after which nothing changes.
        More than 1 where an extrapolation that fails now and then makes a single sweep worth little.

    Returns
    -------
    state : object
        The state after the last sweep whose objective was finite.
    trace : Trace
    """
    values = [float(objective(state))]
    if not np.isfinite(values[0]):
        return state, Trace(np.array(values), DIVERGED, 0)
    in_vain = 0
    for n_iter in range(1, max_iter + 1):
        try:
            candidate = step(state)
            value = float(objective(candidate))
        except np.linalg.LinAlgError:
            value = np.nan
        if not np.isfinite(value):
            return state, Trace(np.array(values), DIVERGED, n_iter - 1)
        if residual is None:
            change = abs(values[-1] - value) / max(abs(values[-1]), np.finfo(float).tiny)
        else:
            change = residual(state, candidate)
        state = candidate
        values.append(value)
        in_vain = in_vain + 1 if change <= tol else 0
        if in_vain >= patience or change == 0:
            return state, Trace(np.array(values), CONVERGED, n_iter)
    return state, Trace(np.array(values), MAX_ITER, max_iter)


def iterate_best(step, starts, *, trial, restart=None, **loop):
    """Run `iterate` from the start that is lowest after a few sweeps, and from where that leads as long as this pays.

    A state has its objective as `value`.  Each of the `starts` does `trial` sweeps; of two that come to the same the
    first is kept.  ``restart(state)`` is another start, made of a state that has converged.  The trace is that from the
    start that was kept.
    """
    state, trace = _iterate_lowest(step, starts, trial, **loop)
    for _ in range(RESTARTS if restart else 0):
        if trace.status != CONVERGED:
            break
        again, other = iterate(step, restart(state), **loop)
        gain = (trace.objective[-1] - other.objective[-1]) / max(abs(trace.objective[-1]), np.finfo(float).tiny)
        if gain > SAME:
            state, trace = again, other
        if gain <= WORTHWHILE:
            break
    return state, trace


def _iterate_lowest(step, starts, trial, *, max_iter, **loop):
    trial = min(trial, max_iter)
    ends = [iterate(step, start, max_iter=trial, **loop) for start in starts]
    ends = [end for end in ends if end[1].status != DIVERGED] or ends
    lowest = min(trace.objective[-1] for _, trace in ends)
    state, trace = next(end for end in ends if end[1].objective[-1] <= lowest + SAME * abs(lowest))
    if trace.status != MAX_ITER or trial == max_iter:
        return state, trace
    state, rest = iterate(step, state, max_iter=max_iter - trial, **loop)
    return state, Trace(np.append(trace.objective, rest.objective[1:]), rest.status, trial + rest.n_iter)


def largest_change(previous, state):
    """Return the relative change of the objective or of W's part of it, whichever is larger.

    The scores are W's, and its part may be a millionth of the whole.
    """
    changes = ((previous.value, state.value), (previous.value_w, state.value_w))
    return max(abs(old - new) / max(old, np.finfo(float).tiny) for old, new in changes)


def ranking_change(previous, state):
    """Return the relative change of the objective, or the square of that of the row norms of W, whichever is larger.

    The row norms rank the features, and W may be in a small part of the objective.  Near a minimum an objective changes
    by the square of what its argument changes by, so that one tolerance serves for both.
    """
    objective = abs(previous.value - state.value) / max(abs(previous.value), np.finfo(float).tiny)
    before, after = row_norms(previous.W), row_norms(state.W)
    rows = np.linalg.norm(after - before) / max(np.linalg.norm(after), np.finfo(float).tiny)
    return max(objective, rows**2)
