"""The slots of a concrete autoencoder: relaxed choices of features, Adam, and the choice at the end."""

from dataclasses import dataclass

import numpy as np

DECAY, DECAY_OF_SQUARES = 0.9, 0.999  # the usual rates of Adam


def gumbel(uniform):
    """Turn uniform numbers in (0, 1) into Gumbel ones."""
    return -np.log(-np.log(uniform))


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
        rate = np.sqrt(1 - DECAY_OF_SQUARES**n) / (1 - DECAY**n)
        return -rate * mean / (np.sqrt(square) + self.epsilon), Adam(mean, square, n, self.epsilon)


def at_rest(shape, epsilon=1e-7):
    """Return the moments before the first step."""
    return Adam(np.zeros(shape), np.zeros(shape), 0, epsilon)


def certainty(logits):
    """Return the mean over the slots of the largest probability of a feature."""
    return float(relaxed(logits, 0.0, 1.0).max(axis=1).mean())


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
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = (shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))).max(axis=0)
    held = np.unique(logits.argmax(axis=1))
    scores = log_p.copy()
    scores[held] = 1 + np.exp(log_p[held])
    return scores, len(logits) - len(held)
