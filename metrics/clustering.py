"""Clustering accuracy and normalised mutual information, both from one contingency table."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy

AVERAGES = {
    "geometric": lambda first, second: np.sqrt(first * second),
    "max": np.maximum,
    "min": np.minimum,
    "arithmetic": lambda first, second: (first + second) / 2,
}


def contingency(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Count the samples that each group of one labelling shares with each group of another.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Labels of any kind that sorts.

    Returns
    -------
    ndarray of shape (n_groups_a, n_groups_b) of int
        Groups in sorted order of their labels.

    Raises
    ------
    ValueError
        Not one-dimensional, empty, or of unequal lengths.
    """
    a, b = np.asarray(a), np.asarray(b)
    _check_lengths(a, b[None] if b.ndim == 1 else b)
    a, b = _codes(a), _codes(b)
    return _contingencies(a, b[None])[0].T


def accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of samples in the right class under the best one-to-one matching of clusters to classes.

    With unequal numbers of clusters and classes the surplus ones stay unmatched, and their samples count as wrong.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Classes and clusters; their names do not matter.

    Returns
    -------
    float
        In (0, 1].
    """
    return float(_accuracies(contingency(labels, y)[None])[0])


def nmi(y: np.ndarray, labels: np.ndarray, average: str = "geometric") -> float:
    """Return the mutual information of two labellings over a mean of their entropies.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
    average : {"geometric", "max", "min", "arithmetic"}, default="geometric"
        The mean in the denominator.  The DGUFS and RUFS papers use "geometric".

    Returns
    -------
    float
        In [0, 1].  Where one of the labellings is a single group it is 0; where both are, they agree and it is 1.
    """
    _check_average(average)
    return float(_nmis(contingency(labels, y)[None], average)[0])


def acc_nmi(y: np.ndarray, labels: np.ndarray, average: str = "geometric") -> tuple[np.ndarray, np.ndarray]:
    """Return accuracy and NMI of several clusterings of the same samples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes.
    labels : array-like of shape (n_restarts, n_samples)
        One clustering per row.
    average : {"geometric", "max", "min", "arithmetic"}, default="geometric"

    Returns
    -------
    acc, nmi : ndarray of shape (n_restarts,)
        A row's values do not depend on the other rows.

    Raises
    ------
    ValueError
        `labels` is not two-dimensional with one column per sample, or `average` is unknown.
    """
    _check_average(average)
    y, labels = np.asarray(y), np.asarray(labels)
    _check_lengths(y, labels)
    tables = _contingencies(_codes(y), _codes(labels))
    return _accuracies(tables), _nmis(tables, average)


def _check_lengths(y, labels):
    if y.ndim != 1 or labels.ndim != 2 or labels.shape[1] != len(y):
        raise ValueError(
            f"labellings of shapes {y.shape} and {labels.shape[-1:] if len(labels) == 1 else labels.shape} "
            "must hold one label per sample, the same samples in the same order."
        )
    if not labels.size:
        raise ValueError(f"labels of shape {labels.shape} must hold at least one labelling of at least one sample.")


def _check_average(average):
    if average not in AVERAGES:
        raise ValueError(f"average={average!r} must be one of {', '.join(AVERAGES)}.")


def _codes(labels):
    # Small non-negative integers serve as codes: an unused one only adds an empty row, which changes no sum.
    if np.issubdtype(labels.dtype, np.integer) and labels.min() >= 0 and labels.max() < 2 * labels.shape[-1]:
        return labels
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def _contingencies(y, labels):
    """Return tables of shape (n_restarts, n_clusters, n_classes)."""
    n_restarts = len(labels)
    n_clusters, n_classes = int(labels.max()) + 1, int(y.max()) + 1
    cells = (np.arange(n_restarts)[:, None] * n_clusters + labels) * n_classes + y
    counts = np.bincount(cells.ravel(), minlength=n_restarts * n_clusters * n_classes)
    return counts.reshape(n_restarts, n_clusters, n_classes)


def _accuracies(tables):
    n_samples = tables[0].sum()
    matched = [table[linear_sum_assignment(table, maximize=True)].sum() for table in tables]
    return np.array(matched) / n_samples


def _nmis(tables, average):
    n_samples = tables[0].sum()
    joint, clusters, classes = (_entropies(counts, n_samples) for counts in (tables, tables.sum(2), tables.sum(1)))
    information = np.maximum(clusters + classes - joint, 0)
    mean = AVERAGES[average](clusters, classes)
    both_single = (clusters == 0) & (classes == 0)
    shares = np.divide(information, mean, out=both_single.astype(float), where=mean > 0)
    return np.minimum(shares, 1)


def _entropies(counts, n_samples):
    counts = counts.reshape(len(counts), -1)
    rows = np.repeat(np.arange(len(counts)), counts.shape[1])
    # bincount adds in sequence, so that empty rows of a table change nothing, not even the rounding.
    shares = counts / n_samples
    return np.bincount(rows, weights=-xlogy(shares, shares).ravel(), minlength=len(counts))
