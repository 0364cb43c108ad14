"""The slots of a concrete autoencoder: relaxed choices of features, Adam, and the choice at the end."""

import math
from dataclasses import dataclass

import numpy as np

DECAY, DECAY_OF_SQUARES = 0.9, 0.999  # the usual rates of Adam


SINGLE = np.float32  # of the annealing: its noise is larger than the rounding by far, and a step takes half as long


def gumbel(uniform):
    """Turn uniform numbers in (0, 1) into Gumbel ones."""
    return -np.log(-np.log(uniform))


def gumbel_noise(rng, shape):
    """Draw Gumbel noise in single precision, from exponential numbers: cheaper than from uniform ones."""
    return -np.log(np.maximum(rng.standard_exponential(shape, dtype=SINGLE), np.finfo(SINGLE).tiny))


def relaxed(logits, noise, temperature):
    """Return rows that sum to one: the softmax of (logits + noise) / temperature.

    Parameters
    ----------
    logits, noise : ndarray of shape (n_slots, n_features)
    temperature : float
        Above 0.

    Returns
    -------
    ndarray of shape (n_slots, n_features)
    """
    M = (logits + noise) / temperature
    M -= M.max(axis=1, keepdims=True)
    np.exp(M, out=M)
    M /= M.sum(axis=1, keepdims=True)
    return M


def by_logits(M, by_M, temperature):
    """Return derivatives by the logits, of those by their `relaxed` rows."""
    return M * (by_M - np.einsum("ij,ij->i", M, by_M)[:, None]) / temperature


@dataclass(frozen=True)
class Adam:
    """The moments of the gradients of one array.

    `epsilon` is added to the root of the second moment before its bias is corrected, as Keras does.
    """

    mean: np.ndarray
    square: np.ndarray
    n_steps: int = 0
    epsilon: float = 1e-7  # as in Keras

    def step(self, gradient):
        """Return the direction to go, of a size of about 1, and the new moments."""
        n = self.n_steps + 1
        mean = DECAY * self.mean + (1 - DECAY) * gradient
        square = DECAY_OF_SQUARES * self.square + (1 - DECAY_OF_SQUARES) * gradient**2
        rate = math.sqrt(1 - DECAY_OF_SQUARES**n) / (1 - DECAY**n)  # a Python number, which keeps single precision
        return -rate * mean / (np.sqrt(square) + self.epsilon), Adam(mean, square, n, self.epsilon)


def at_rest(like, epsilon=1e-7):
    """Return the moments before the first step of an array of that shape and precision."""
    return Adam(np.zeros_like(like), np.zeros_like(like), 0, epsilon)


def certainty(logits):
    """Return the mean over the slots of the largest probability of a feature."""
    return float((1 / np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)).mean())


def choose(logits):
    """Return scores: first the features that a slot holds, by its probability, then the others by their largest one.

    Parameters
    ----------
    logits : ndarray of shape (n_slots, n_features)

    Returns
    -------
    scores : ndarray of shape (n_features,)
        1 + p for the feature that is most probable in a slot, of which p is the largest; log p <= 0 for the others.
    n_filled : int
        Slots that hold what another one holds; the features that are ranked next take their places.
    """
    held = np.unique(logits.argmax(axis=1))
    return selected_first(logits, held), len(logits) - len(held)


def selected_first(logits, features):
    """Return scores: 1 + p for the given features, p the largest probability in a slot, and log p <= 0 for the others.

    Parameters
    ----------
    logits : ndarray of shape (n_slots, n_features)
    features : ndarray of int

    Returns
    -------
    ndarray of shape (n_features,)
    """
    shifted = logits - logits.max(axis=1, keepdims=True)
    scores = (shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))).max(axis=0)
    scores[features] = 1 + np.exp(scores[features])
    return scores
