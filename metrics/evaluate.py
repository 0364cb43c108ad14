"""What a feature set is worth, and what a labelling: the scores of one evaluation."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts, load_engine
from metrics.label_free import agreements, silhouettes

N_MEASURES = 4  # of every restart: accuracy, NMI, agreement with the other restarts, silhouette


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
        Accuracy, NMI, and two that use no label: agreement with the other restarts, and silhouette.  The silhouette is
        that of one restart, the first of those that agree most with the others, and nan for the rest: all of them
        would take a while.
    seconds : float
    """
    load_engine()  # outside what is timed
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
        scores = np.array([*acc_nmi(y, labels, protocol.nmi), agreement, silhouette])
    return scores, time.perf_counter() - started


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
        As `evaluate` gives them; nan for the two measures that need restarts or features.
    """
    return np.vstack([*acc_nmi(y, labels[None, :], average), np.full((N_MEASURES - 2, 1), np.nan)])
