"""Gaussian gates z = clip(mu + 1/2 + noise, 0, 1): their chance to be open, their moments, and the losses."""

import numpy as np
from scipy.special import ndtr

LEAST_OPEN = 1e-6  # added to the mean chance of an open gate, by which the score may be divided


def open_share(mu, noise):
    """Return the mean chance that a gate is open, Phi((mu + 1/2) / noise), and its derivatives.

    Parameters
    ----------
    mu : ndarray of shape (n_features,)
    noise : float
        Standard deviation of a gate before it is clipped, above 0.

    Returns
    -------
    share : float
    gradient : ndarray of shape (n_features,)
    """
    at = (mu + 0.5) / noise
    return ndtr(at).mean() + LEAST_OPEN, _density(at) / (noise * len(mu))


def gate_moments(mu, noise):
    """Return the expectations of a gate and of its square.

    Parameters
    ----------
    mu : ndarray of shape (n_features,)
    noise : float

    Returns
    -------
    mean, square : ndarray of shape (n_features,)
    mean_slope, square_slope : ndarray of shape (n_features,)
        Their derivatives by mu.
    """
    middle = mu + 0.5
    low, high = -middle / noise, (1 - middle) / noise
    inside, at_one = ndtr(high) - ndtr(low), ndtr(-high)
    first = middle * inside + noise * (_density(low) - _density(high))  # E[z; 0 < z < 1]
    second = middle * first + noise**2 * inside - noise * _density(high)  # E[z^2; 0 < z < 1], by parts
    return first + at_one, second + at_one, inside, 2 * first


def loss(score, by_score, mu, noise, price):
    """Return the loss of a score and of the open gates, and its derivatives by mu.

    Parameters
    ----------
    score : float
    by_score : ndarray of shape (n_features,)
        Derivatives of the score.
    mu : ndarray of shape (n_features,)
    noise : float
    price : float or None
        Of open gates, ``score + price * share``; None: ``score / share``.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_features,)
    """
    share, by_share = open_share(mu, noise)
    if price is None:
        return score / share, (by_score - score / share * by_share) / share
    return score + price * share, by_score + price * by_share


def _density(t):
    return np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)
