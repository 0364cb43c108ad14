"""The scores of one evaluation, of a feature set or of a labelling."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts, load_engine
from metrics.label_free import agreements, silhouettes
from metrics.nearest_neighbour import nearest_neighbour_accuracy
from metrics.reconstruction import reconstruction
from metrics.replication import replications

# The measures of every restart, and those of the feature set as a whole.
PER_RESTART = ("acc", "nmi", "agreement", "silhouette")
PER_SET = ("silhouette_all", "replication", "prediction_strength", "reconstruction", "nearest_neighbour")
N_MEASURES = len(PER_RESTART) + len(PER_SET)


def evaluate(features, X, y, protocol):
    """Cluster the samples on a set of features from every start of the protocol.

    Parameters
    ----------
    features : ndarray of shape (size,) of int
        Their order does not matter.
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    protocol : Protocol

    Returns
    -------
    scores : ndarray of shape (N_MEASURES, n_restarts)
        The rows are `PER_RESTART` and `PER_SET`.  Accuracy, NMI, and two that use no label: agreement with the other
        restarts, and silhouette.  The silhouette is that of one restart, the first of those that agree most with the
        others, and nan for the rest, as it takes long.  Measures that are taken once for a set are in the first
        column, and nan in the others: the silhouette of the same restart measured on all features, `replications`,
        `reconstruction`, and the accuracy of the nearest neighbour, the only one of these that uses labels.
    seconds : float

    Raises
    ------
    ValueError
        For features that are not distinct columns of X.
    """
    features = _checked(features, X.shape[1])
    load_engine()  # outside the timed part
    started = time.perf_counter()
    with threadpool_limits(1):
        # Sorted, so that the scores depend on the set and not on its order.
        selected = np.ascontiguousarray(X[:, np.sort(features)])
        n_clusters = len(np.unique(y))
        labels = kmeans_restarts(selected, n_clusters, protocol.restarts, protocol.seed, protocol.max_iter)
        agreement = agreements(labels, n_clusters)
        typical = [int(np.argmax(np.nan_to_num(agreement)))]
        silhouette = np.full(len(labels), np.nan)
        silhouette[typical] = silhouettes(selected, labels[typical], n_clusters)
        once = np.full((len(PER_SET), len(labels)), np.nan)
        once[:, 0] = (
            silhouettes(X, labels[typical], n_clusters)[0],
            *replications(selected, n_clusters, protocol.seed, protocol.max_iter),
            reconstruction(selected, X),
            nearest_neighbour_accuracy(selected, y),
        )
        scores = np.array([*acc_nmi(y, labels, protocol.nmi), agreement, silhouette, *once])
    return scores, time.perf_counter() - started


def _checked(features, n_features):
    """Return the indices of a feature set as an array, after a check that they are distinct columns of X."""
    features = np.asarray(features)
    if features.ndim != 1 or not features.size or features.dtype.kind not in "iu":
        raise ValueError(
            f"features of shape {features.shape} and type {features.dtype} must be a list of one or more whole "
            "numbers: give the indices of columns of X."
        )
    outside = features[(features < 0) | (features >= n_features)]
    if outside.size:
        raise ValueError(
            f"features has {outside[0]}, which must be in [0, n_features={n_features}): count the columns of X from 0."
        )
    values, counts = np.unique(features, return_counts=True)
    if counts.max() > 1:
        most = counts.argmax()
        raise ValueError(f"features has {values[most]} {counts[most]} times, and may have it once: remove the others.")
    return features


def evaluate_labels(labels, y, average):
    """Score one labelling, such as the labels that a method learned.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    y : ndarray of shape (n_samples,)
    average : {"geometric", "max", "min", "arithmetic"}
        As in `metrics.clustering.nmi`.

    Returns
    -------
    ndarray of shape (N_MEASURES, 1)
        As `evaluate` gives them; nan for the measures that need restarts or features.
    """
    return np.vstack([*acc_nmi(y, labels[None, :], average), np.full((N_MEASURES - 2, 1), np.nan)])
