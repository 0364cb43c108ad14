"""Correlated, positive features: four factors and noise."""

import numpy as np

SHAPES = [(60, 25), (20, 70), (12, 12)]  # tall, wide and square


def sample(n_samples, n_features, seed=0):
    """Samples of four factors."""
    rng = np.random.default_rng(seed)
    factors = rng.random((n_samples, 4)) @ rng.random((4, n_features))
    return factors + 0.3 * rng.random((n_samples, n_features))
