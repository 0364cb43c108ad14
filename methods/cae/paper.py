"""Concrete autoencoder with the linear decoder solved for, on all samples at once."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from methods.cae.slots import Adam, at_rest, by_logits, certainty, gumbel, relaxed

SPREAD = 0.1  # standard deviation of the logits at the start, small beside that of Gumbel noise, 1.3
KEPT = 0.9  # this share of the decoder's normal equations stays at each draw: some ten draws share a decoder
RIDGE = 1e-6  # as a share of the mean diagonal entry: at high temperatures all slots are alike


@dataclass(frozen=True)
class State:
    """The logits, the temperature of the last draw, and what the next step rests on."""

    logits: np.ndarray
    temperature: float
    value: float  # the loss of the last draw, as a share of the variance
    gram: np.ndarray
    across: np.ndarray
    adam: Adam


class Problem:
    """The relaxed problem for given data.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred, not all zero.
    temperatures : (float, float)
        The first and the last.
    annealing : int
        Steps from the one to the other.
    learning_rate : float
    rng : Generator
    """

    def __init__(self, X, temperatures, annealing, learning_rate, rng):
        # Inner products of columns do not change when the samples are rotated.
        self.X = X if len(X) <= X.shape[1] else np.linalg.qr(X, mode="r")
        self.total = (X**2).sum()
        self.first, self.last = temperatures
        self.factor = (self.last / self.first) ** (1 / annealing)
        self.learning_rate, self.rng = learning_rate, rng

    def start(self, logits):
        """Return the state before the first step; its value is that of a decoder that knows the means alone."""
        h, d = logits.shape
        # Adam's epsilon is so small that steps are the same where the loss is scaled.
        return State(logits, self.first, 1.0, np.zeros((h, h)), np.zeros((h, d)), at_rest(logits.shape, 1e-12))

    def random_logits(self, n_slots):
        """Draw the logits of a start."""
        return SPREAD * self.rng.standard_normal((n_slots, self.X.shape[1]))

    def step(self, state):
        """Return the state after one draw: the decoder solved for, then a step of Adam for the logits."""
        temperature = max(self.last, state.temperature * self.factor)
        uniform = self.rng.uniform(np.finfo(float).tiny, 1.0, state.logits.shape)
        M = relaxed(state.logits, gumbel(uniform), temperature)
        Z = self.X @ M.T
        kept = KEPT if state.adam.n_steps else 0.0
        gram = kept * state.gram + (1 - kept) * (Z.T @ Z)
        across = kept * state.across + (1 - kept) * (Z.T @ self.X)
        V = decoder(gram, across)
        value, by_M = loss(self.X, Z, V, self.total)
        direction, adam = state.adam.step(by_logits(M, by_M, temperature))
        logits = state.logits + self.learning_rate * direction
        return State(logits, temperature, value, gram, across, adam)

    def doubt(self, previous, state):
        """Return one less the certainty of the slots, which must be small, at the last temperature or before."""
        return 1 - certainty(state.logits)


def decoder(gram, across):
    """Return the linear decoder V of the normal equations gram V = across, with a small ridge."""
    ridge = RIDGE * np.trace(gram) / len(gram) + np.finfo(float).tiny
    system = gram.copy()
    system.flat[:: len(gram) + 1] += ridge
    return cho_solve(cho_factor(system, lower=True, overwrite_a=True), across)


def loss(X, Z, V, total):
    """Return ||X - ZV||^2 / total with Z = XM', and its derivatives by M for a fixed V."""
    misfit = Z @ V - X
    return float((misfit**2).sum() / total), (V @ misfit.T) @ X * (2 / total)


def centred(X):
    """Return X less its means; zero exactly for constant features."""
    return np.where(np.ptp(X, axis=0) > 0, X - X.mean(axis=0), 0.0)


def residual(X, features):
    """Measure what the best linear reconstruction from some features leaves of centred data, as a share of variance.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred.
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
