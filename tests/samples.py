"""Samples that several tests of the methods use, synthetic or real."""

import numpy as np

from datasets import load_dataset, scale

SHAPES = [(60, 25), (20, 70), (12, 12)]  # tall, wide and square


def clusters(n_samples, n_features, n_clusters=3, seed=0, rest=1.0):
    """Return non-negative clusters that differ in the first half of the features; the others scatter about `rest`."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, 2, size=(n_clusters, n_features))
    centers[:, n_features // 2 :] = rest
    return np.abs(centers[np.arange(n_samples) % n_clusters] + 0.3 * rng.normal(size=(n_samples, n_features)))


def correlated(n_samples, n_features, seed=0):
    """Return samples of four factors and noise, all positive."""
    rng = np.random.default_rng(seed)
    factors = rng.random((n_samples, 4)) @ rng.random((4, n_features))
    return factors + 0.3 * rng.random((n_samples, n_features))


def blobs(n_samples=60, n_features=30, n_clusters=4, seed=0, noise=0.7):
    """Return clusters that differ in the first third of the features, the rest being noise, and their labels."""
    rng = np.random.default_rng(seed)
    means = np.zeros((n_clusters, n_features))
    means[:, : n_features // 3] = rng.normal(size=(n_clusters, n_features // 3)) * 2
    labels = np.arange(n_samples) % n_clusters
    return means[labels] + noise * rng.normal(size=(n_samples, n_features)), labels


def real(data_dir, name, scaling="minmax"):
    """Return the scaled samples of a data set in the folder of the fixture `data_dir`, and its number of classes."""
    dataset = load_dataset(name, data_dir, download=False)
    return scale(dataset.X, scaling), dataset.n_classes
