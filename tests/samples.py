"""Samples that several tests of the methods use, synthetic or real."""

import tracemalloc

import numpy as np
from scipy.spatial.distance import pdist, squareform

from ufs_bench.datasets import load_dataset, scale

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


def groups(n_groups, n_each, n_features, spread=1.0):
    """Return clusters one after the other, with noise of deviation 1 about centres of deviation `spread`."""
    rng = np.random.default_rng(0)
    centers = spread * rng.standard_normal((n_groups, n_features))
    return np.vstack([center + rng.standard_normal((n_each, n_features)) for center in centers])


def factors(n_samples, n_features, seed=0, rank=5):
    """Return samples of a few factors, with noise about 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, rank)) @ rng.normal(size=(rank, n_features))
    return X + rng.normal(size=(n_samples, n_features)) + 1


def uneven(n_samples, n_features, seed=0):
    """Return correlated features of unequal variance."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_samples, 6)) @ rng.normal(size=(6, n_features))
    return (factors + rng.normal(size=(n_samples, n_features))) * rng.uniform(0.2, 1, size=n_features)


def squared_distances(X):
    """Return those of all pairs of samples, as sums of squared differences: exactly symmetric."""
    return squareform(pdist(X, "sqeuclidean"))


def unexplained(X, features):
    """Return X without its projection on some of its columns."""
    C = X[:, list(features)]
    return X - C @ np.linalg.lstsq(C, X)[0] if len(C.T) else X


def real(data_dir, name, scaling="minmax"):
    """Return the scaled samples of a data set in the folder of the fixture `data_dir`, and its number of classes."""
    dataset = load_dataset(name, data_dir, download=False)
    return scale(dataset.X, scaling), dataset.n_classes


def peak_bytes(work):
    """Return the memory that some work takes at its peak, as Python and numpy count it."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
