"""Classes that neighbours share: the second evaluator of the literature, beside K-means."""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ufs_bench.metrics.kmeans import unit_samples

# All pairs of so many samples take seconds, and the time grows with their square: 70,000 would take minutes for each
# feature set.  An accuracy over a sample has a standard error of .7 % at most (0.5 / sqrt(5,000)), mostly the same for
# every feature set, as the samples are.
MOST, SAMPLE = 10_000, 5_000


def nearest_neighbour_accuracy(X: np.ndarray, y: np.ndarray, seed: int = 0) -> float:
    """Return the share of the samples whose nearest other sample is of the same class.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        At least two samples; the distance is Euclidean.
    y : ndarray of shape (n_samples,)
    seed : int, default=0
        Seed of the sample that is taken where there are more than 10,000.

    Returns
    -------
    float
        Leave-one-out accuracy of the 1-nearest-neighbour classifier, in [0, 1]; where all samples are equal in these
        features it depends on the order of the samples.

    Notes
    -----
    Beyond 10,000 samples both the samples and their neighbours come from 5,000 of them (`sampled_rows`), so that the
    value is that of a smaller data set: as a rule below that of all samples, whose neighbours are nearer.
    """
    if len(X) < 2:
        return np.nan
    if len(X) > MOST:
        rows = sampled_rows(len(X), seed)
        X, y = X[rows], y[rows]
    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(unit_samples(X)).kneighbors(return_distance=False)
    return float(np.mean(y[nearest[:, 0]] == y))


def sampled_rows(n_samples, seed):
    """Draw 5,000 samples, the same for every method and feature set.

    Parameters
    ----------
    n_samples : int
    seed : int

    Returns
    -------
    ndarray of shape (5_000,) of int
        Distinct, in their order; drawn as `metrics.kmeans.starting_rows` does, so that they are the same in all
        versions of NumPy.
    """
    stream = np.random.PCG64([seed, n_samples]).random_raw(n_samples)
    return np.sort(np.argsort(stream, kind="stable")[:SAMPLE])
