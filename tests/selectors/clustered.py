"""Data with clusters, made up and real, for the tests of the methods that learn cluster indicators."""

import numpy as np

from datasets import load_dataset, scale

SHAPES = [(60, 25), (20, 70), (12, 12)]  # tall, wide and square


def sample(n_samples, n_features, n_clusters=3, seed=0):
    """Non-negative clusters that differ in the first half of the features."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, 2, size=(n_clusters, n_features))
    centers[:, n_features // 2 :] = 1.0
    return np.abs(centers[np.arange(n_samples) % n_clusters] + 0.3 * rng.normal(size=(n_samples, n_features)))


def real(data_dir, name):
    """A data set of conf/dataset, every feature scaled to [0, 1], and its number of classes."""
    data = load_dataset(name, data_dir, download=False)
    return scale(data.X, "minmax"), len(np.unique(data.y))
