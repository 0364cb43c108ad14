"""Concrete autoencoder with the linear decoder solved for at every draw, on all samples at once."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ufs_bench.methods.cae.slots import SINGLE, Adam, at_rest, by_logits, certainty, gumbel_noise, relaxed
from ufs_bench.methods.core.column_exchange import Problem as Exchange
from ufs_bench.methods.core.loop import iterate

SPREAD = 0.1  # standard deviation of the logits at the start, small beside that of Gumbel noise, 1.3
# Share of the decoder's normal equations that stays at the next draw.  While the temperature falls none does: a decoder
# of the last draws serves slots that are elsewhere by now.  At the last temperature some five draws share one, so that
# slots decide between features that serve equally well.
KEPT, KEPT_AT_LAST = 0.0, 0.8
RIDGE = 1e-6  # as a share of the mean diagonal entry: at high temperatures all slots are alike
LOOK = 10  # steps between two looks at how certain the slots are, which cost a tenth of a step
WORTHWHILE = 1e-4  # share of what is left by which an exchange must lower it: a hundred small ones add up


@dataclass(frozen=True)
class State:
    """The logits, the temperature of the last draw, and what the next step rests on."""

    logits: np.ndarray
    temperature: float
    value: float  # the loss of the last draw, as a share of the variance
    gram: np.ndarray  # Z'Z and Z', averaged
    slots: np.ndarray
    adam: Adam
    doubt: float = 1.0  # one less the certainty of the slots, at the last look


class Problem:
    """The relaxed problem for given data.

    Parameters
    ----------
    axes : ndarray of shape (rank, n_features)
        Rows that are orthogonal to each other and have the inner products of the centred columns, see `principal`.
    temperatures : (float, float)
        The first and the last.
    annealing : int
        Steps from the one to the other.
    learning_rate : float
    rng : Generator
    """

    def __init__(self, axes, temperatures, annealing, learning_rate, rng):
        squares = np.einsum("ij,ij->i", axes, axes)
        self.X = (axes / np.sqrt(squares.sum())).astype(SINGLE)
        self.variances = squares / squares.sum()
        self.first, self.last = temperatures
        self.factor = (self.last / self.first) ** (1 / annealing)
        self.learning_rate, self.rng = learning_rate, rng

    def start(self, logits):
        """Return the state before the first step; its value is that of a decoder that knows the means alone."""
        h, logits = len(logits), logits.astype(SINGLE)
        # Adam's epsilon is so small that steps are the same where the loss is scaled.
        adam = at_rest(logits, 1e-15)
        return State(logits, self.first, 1.0, np.zeros((h, h)), np.zeros((h, len(self.X))), adam)

    def random_logits(self, n_slots):
        """Draw the logits of a start."""
        return SPREAD * self.rng.standard_normal((n_slots, self.X.shape[1]))

    def step(self, state):
        """Return the state after one draw: the decoder solved for, then a step of Adam for the logits."""
        temperature = max(self.last, state.temperature * self.factor)
        M = relaxed(state.logits, gumbel_noise(self.rng, state.logits.shape), temperature)
        slots = (M @ self.X.T).astype(float)
        kept = KEPT_AT_LAST if state.temperature <= self.last else KEPT
        gram = kept * state.gram + (1 - kept) * (slots @ slots.T)
        averaged = kept * state.slots + (1 - kept) * slots
        value, by_M = loss(self.X, self.variances, slots, decoder(gram, averaged))
        direction, adam = state.adam.step(by_logits(M, by_M, temperature))
        logits = state.logits + self.learning_rate * direction
        look = adam.n_steps % LOOK == 0
        doubt = 1 - certainty(logits) if look else state.doubt
        return State(logits, temperature, value, gram, averaged, adam, doubt)

    def doubt(self, previous, state):
        """Return one less the certainty of the slots, which must be small, at the last temperature or before."""
        return state.doubt


def decoder(gram, slots):
    """Return B' of the linear decoder V = B'X that solves gram V = slots X, with a small ridge."""
    ridge = RIDGE * np.trace(gram) / len(gram) + np.finfo(float).tiny
    system = gram.copy()
    system.flat[:: len(gram) + 1] += ridge
    return cho_solve(cho_factor(system, lower=True, overwrite_a=True), slots)


def loss(X, variances, slots, B):
    """Return ||X - Z V||^2 for Z = XM' and V = B'X, and its derivatives by M for a fixed V.

    With XX' diagonal these are 2 B'(XX')(BZ' - I)X, so that beside Z one product of the size of X suffices, and neither
    V nor the misfit is formed.

    Parameters
    ----------
    X : ndarray of shape (rank, n_features)
    variances : ndarray of shape (rank,)
        The diagonal of XX'.
    slots : ndarray of shape (n_slots, rank)
        Z'.
    B : ndarray of shape (n_slots, rank)
        B'.

    Returns
    -------
    value : float
    by_M : ndarray of shape (n_slots, n_features)
        In the precision of X.
    """
    scaled = B * variances
    curvature = scaled @ B.T
    value = variances.sum() - 2 * np.vdot(scaled, slots) + np.vdot(curvature, slots @ slots.T)
    return float(value), (2 * (curvature @ slots - scaled)).astype(X.dtype) @ X


def exchanged(axes, features, max_sweeps):
    """Return the features after exchanges of a single one, until none lowers what is left by a ten-thousandth.

    Parameters
    ----------
    axes : ndarray of shape (rank, n_features)
    features : ndarray of int
        Fewer than the rank.
    max_sweeps : int

    Returns
    -------
    ndarray of int
    """
    problem = Exchange(axes, len(features), WORTHWHILE)
    state, _ = iterate(problem.sweep, problem.start(features), max_iter=max_sweeps, tol=0)
    return np.array(state.features)


def centred(X):
    """Return X less its means; zero exactly for constant features."""
    return np.where(np.ptp(X, axis=0) > 0, X - X.mean(axis=0), 0.0)


def principal(C):
    """Return as few orthogonal rows as can be that have the inner products of the columns of C, largest first."""
    factor = np.linalg.qr(C, mode="r") if C.shape[0] > C.shape[1] else C
    _, s, axes = np.linalg.svd(factor, full_matrices=False)
    rank = np.count_nonzero(s > s[0] * max(C.shape) * np.finfo(float).eps)
    return s[:rank, None] * axes[:rank]


def residual(X, features):
    """Measure what the best linear reconstruction from some features leaves of centred data, as a share of variance.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred, or `principal` rows of that.
    features : ndarray of int

    Returns
    -------
    left : float
    bound : float
        What as many directions of any kind leave at least.
    """
    U, s, _ = np.linalg.svd(X[:, features], full_matrices=False)
    U = U[:, s > s[0] * max(X.shape) * np.finfo(float).eps]
    total = (X**2).sum()
    values = np.linalg.svd(X, compute_uv=False)
    return float(((X - U @ (U.T @ X)) ** 2).sum() / total), float((values[len(features) :] ** 2).sum() / total)
