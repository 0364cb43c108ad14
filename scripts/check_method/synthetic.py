"""Synthetic data, for checks that need no download."""

import numpy as np


def blobs(n_samples=24, n_features=10, n_clusters=3, seed=0):
    """Return clusters that differ in the first half of the features; no two features or samples are equal."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % n_clusters
    centers = 3.0 * rng.normal(size=(n_clusters, n_features))
    centers[:, n_features // 2 :] = 0.0
    return centers[labels] + rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 1.5, size=n_features)


def wide_blobs():
    """Return clusters with fewer samples than features."""
    return blobs(n_samples=14, n_features=40)


def without_negatives(X, method):
    """Return samples that a method takes: moved to 0 and more where it refuses negative values."""
    return X if method.cls.takes_negative else X - X.min()
