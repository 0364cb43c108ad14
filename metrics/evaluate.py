"""The scores of one evaluation, of a feature set or of a labelling."""

import time

import numpy as np
from scipy.sparse import csr_array, issparse

from ufs_bench.metrics.centred import Dense, Sparse, centred
from ufs_bench.metrics.clustering import acc_nmi
from ufs_bench.metrics.kmeans import kmeans_restarts, load_engine
from ufs_bench.metrics.label_free import agreements, silhouettes
from ufs_bench.metrics.measures import N_MEASURES, PER_SET
from ufs_bench.metrics.nearest_neighbour import nearest_neighbour_accuracy
from ufs_bench.metrics.reconstruction import reconstruction
from ufs_bench.metrics.replication import replications
from ufs_bench.metrics.threads import one_thread


def evaluate(
    features: np.ndarray,
    X: np.ndarray,
    y: np.ndarray | None,
    protocol,
    n_clusters: int | None = None,
    whole: Dense | Sparse | None = None,
) -> tuple[np.ndarray, float]:
    """Cluster the samples on a set of features from every start of the protocol.

    Parameters
    ----------
    features : ndarray of shape (size,) of int
        Their order does not matter.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Of a sparse one only the selected columns are written out.
    y : ndarray of shape (n_samples,) or None
        None where there are no labels.
    protocol : Protocol
    n_clusters : int, optional
        Clusters of K-means; the number of classes in `y` by default.
    whole : Dense or Sparse, optional
        `metrics.centred.centred(X)`, kept by whoever scores several sets of features of the same X.

    Returns
    -------
    scores : ndarray of shape (N_MEASURES, n_restarts)
        The rows are `PER_RESTART` and `PER_SET`.  Accuracy, NMI, and two that use no label: agreement with the other
        restarts, and silhouette.  The silhouette is that of one restart, the first of those that agree most with the
        others, and nan for the rest, as it takes long.  Measures that are taken once for a set are in the first
        column, and nan in the others: the silhouette of the same restart measured on all features, `replications`,
        `reconstruction`, and the accuracy of the nearest neighbour, the only one of these that uses labels and the only
        one that compares all pairs of samples: beyond 10,000 it is taken on 5,000 of them, the same for every set
        (`metrics.nearest_neighbour`).  Without labels it is nan, and so are accuracy and NMI.

        A sparse X has the scores of the same array; the two measures on all features differ by rounding, as
        `silhouettes` and `reconstruction` say.
    seconds : float
        Of the processor, which the load of the machine does not change.

    Raises
    ------
    ValueError
        For features that are not distinct columns of X, and without both labels and a number of clusters.
    """
    features = _checked(features, X.shape[1])
    n_clusters = _checked_clusters(n_clusters, y)
    load_engine()  # outside the timed part
    started = time.process_time()
    with one_thread():
        # Sorted, so that the scores depend on the set and not on its order.
        selected = _columns(X, np.sort(features))
        how = {"starts": protocol.starts, "replicates": protocol.replicates}
        labels = kmeans_restarts(selected, n_clusters, protocol.restarts, protocol.seed, protocol.max_iter, **how)
        agreement = agreements(labels, n_clusters)
        typical = [int(np.argmax(np.nan_to_num(agreement)))]
        silhouette = np.full(len(labels), np.nan)
        silhouette[typical] = silhouettes(selected, labels[typical], n_clusters)
        once = np.full((len(PER_SET), len(labels)), np.nan)
        whole = centred(X) if whole is None else whole
        once[:, 0] = (
            silhouettes(whole, labels[typical], n_clusters)[0],
            *replications(selected, n_clusters, protocol.seed, protocol.max_iter),
            reconstruction(selected, whole),
            np.nan if y is None else nearest_neighbour_accuracy(selected, y, protocol.seed),
        )
        labelled = np.full((2, len(labels)), np.nan) if y is None else acc_nmi(y, labels, protocol.nmi)
        scores = np.array([*labelled, agreement, silhouette, *once])
    return scores, time.process_time() - started


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


def _checked_clusters(n_clusters, y):
    if n_clusters is None and y is None:
        raise ValueError(
            "y=None and n_clusters=None: without labels, give n_clusters, how many clusters K-means makes."
        )
    return len(np.unique(y)) if n_clusters is None else n_clusters


def _columns(X, features):
    return csr_array(X)[:, features].toarray() if issparse(X) else np.ascontiguousarray(X[:, features])


def evaluate_labels(labels: np.ndarray, y: np.ndarray, average: str):
    """Score one labelling, such as the labels that a method learned.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    y : ndarray of shape (n_samples,) or None
    average : {"geometric", "max", "min", "arithmetic"}
        As in `metrics.clustering.nmi`.

    Returns
    -------
    ndarray of shape (N_MEASURES, 1)
        As `evaluate` gives them; nan for the measures that need restarts or features, and for all where y is None.
    """
    if y is None:
        return np.full((N_MEASURES, 1), np.nan)
    return np.vstack([*acc_nmi(y, labels[None, :], average), np.full((N_MEASURES - 2, 1), np.nan)])
