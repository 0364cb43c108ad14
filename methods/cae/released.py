"""Concrete autoencoder as the released program trains it, with one linear layer as decoder."""

from dataclasses import dataclass, replace

import numpy as np

from ufs_bench.methods.cae.slots import SINGLE, Adam, at_rest, by_logits, certainty, gumbel, relaxed
from ufs_bench.methods.core.loop import CONVERGED, iterate

LEAST_UNIFORM = 1e-7  # the program's
MOST_UNIFORM = 1 - 2.0**-24  # the largest number below 1 in single precision, of which the noise is finite
DOUBLINGS = 4  # of the epochs, at most: the program gives up after five trainings
SMALLEST_BATCH, MOST_BATCHES = 16, 256  # a batch has n_samples // 256 samples, at least 16


@dataclass(frozen=True)
class State:
    """Logits, decoder and intercept with their Adams, the temperature, and the loss of the last batch."""

    parameters: tuple
    adams: tuple[Adam, ...]
    temperature: float
    value: float

    @property
    def logits(self):
        """The first of the parameters."""
        return self.parameters[0]


class Problem:
    """Training in epochs of small batches, in the precision of the logits; the program's is single.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    temperatures : (float, float)
        The first and the last.
    epochs : int
        In which the temperature falls from the one to the other.
    learning_rate : float
    batch_size : int or None
        None: the program's.
    rng : Generator
    """

    def __init__(self, X, temperatures, epochs, learning_rate, batch_size, rng):
        self.X, self.learning_rate, self.rng = X, learning_rate, rng
        self.first, self.last = temperatures
        self.batch_size = min(batch_size or max(len(X) // MOST_BATCHES, SMALLEST_BATCH), len(X))
        n_batches = -(-len(X) // self.batch_size)
        self.factor = (self.last / self.first) ** (1 / max(epochs * n_batches, 1))

    def start(self, logits, weights=None):
        """Return the state before the first step, with a random decoder unless `weights` are given."""
        h, d = logits.shape
        if weights is None:
            limit = np.sqrt(6 / (h + d))  # Glorot uniform
            weights = self.rng.uniform(-limit, limit, (h, d)).astype(logits.dtype)
        parameters = (logits, weights, np.zeros(d, dtype=logits.dtype))
        return State(parameters, tuple(at_rest(one) for one in parameters), self.first, np.finfo(float).max)

    def random_logits(self, n_slots):
        """Draw the logits of a start: Glorot normal, cut off at two standard deviations."""
        d = self.X.shape[1]
        drawn = self.rng.standard_normal((n_slots, d))
        while (far := np.abs(drawn) > 2).any():
            drawn[far] = self.rng.standard_normal(far.sum())
        return drawn * np.sqrt(2 / (n_slots + d)) / 0.8796  # the spread of what is left between the cuts

    def step(self, state):
        """Return the state after an epoch; its value is the mean of the losses."""
        order, losses = self.rng.permutation(len(self.X)), []
        for first in range(0, len(self.X), self.batch_size):
            uniform = self.rng.random(state.logits.shape, dtype=state.logits.dtype)
            uniform = np.clip(uniform, LEAST_UNIFORM, MOST_UNIFORM, dtype=state.logits.dtype)
            state = self.batch(state, self.X[order[first : first + self.batch_size]], uniform)
            losses.append(state.value)
        return State(state.parameters, state.adams, state.temperature, float(np.mean(losses)))

    def batch(self, state, X, uniform):
        """Return the state after a step on some samples: the temperature first, then all parameters at once."""
        temperature = max(self.last, state.temperature * self.factor)
        logits, V, intercept = state.parameters
        M = relaxed(logits, gumbel(uniform), temperature)
        Z = X @ M.T
        misfit = Z @ V + intercept - X
        by_output = misfit * (2 / X.size)
        by_M = (V @ by_output.T) @ X
        gradients = by_logits(M, by_M, temperature), Z.T @ by_output, by_output.sum(axis=0)
        steps = [adam.step(gradient) for adam, gradient in zip(state.adams, gradients, strict=True)]
        moved = tuple(one + self.learning_rate * way for one, (way, _) in zip(state.parameters, steps, strict=True))
        return State(moved, tuple(adam for _, adam in steps), temperature, float((misfit**2).mean()))

    def doubt(self, previous, state):
        """Return one less the certainty of the slots."""
        return 1 - certainty(state.logits)


def trained(X, n_slots, init, temperatures, epochs, tol, **training):
    """Train, and start afresh with twice the epochs as long as the slots are undecided; five trainings at most.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_slots : int
    init : ndarray of shape (n_slots, n_features) or None
        The logits at each start; None: random.
    temperatures, epochs, tol
        As in `Problem`; of `tol`, as the estimator.
    **training
        ``learning_rate``, ``batch_size`` and ``rng``, as in `Problem`.

    Returns
    -------
    first : ndarray of shape (n_slots, n_features)
        The logits at the start of the last training.
    state : State
    trace : Trace
        Of the last training, with the epochs of all.
    """
    X = X.astype(SINGLE)
    for doubling in range(DOUBLINGS + 1):
        length = epochs * 2**doubling
        problem = Problem(X, temperatures, length, **training)
        first = (problem.random_logits(n_slots) if init is None else init).astype(SINGLE)
        state, trace = iterate(problem.step, problem.start(first), max_iter=length, tol=tol, residual=problem.doubt)
        if trace.status == CONVERGED or not (epochs and tol):
            break
    return first, state, replace(trace, n_iter=trace.n_iter + length - epochs)  # those before had length - epochs
