"""Classes that neighbours share: the second evaluator of the literature, beside K-means."""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from metrics.kmeans import unit_samples


def nearest_neighbour_accuracy(X, y):
    """Share of the samples whose nearest other sample is of the same class.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        At least two samples; the distance is Euclidean.
    y : ndarray of shape (n_samples,)

    Returns
    -------
    float
        Leave-one-out accuracy of the 1-nearest-neighbour classifier, in [0, 1]; where all samples are equal in these
        features it depends on the order of the samples.
    """
    if len(X) < 2:
        return np.nan
    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(unit_samples(X)).kneighbors(return_distance=False)
    return float(np.mean(y[nearest[:, 0]] == y))
