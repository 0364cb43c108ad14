"""K-means from random starts: the definition of a label, the starts, and the input of the compiled `metrics.elkan`."""

import contextlib
from functools import cache, lru_cache

import numpy as np
from numba.core import event
from sklearn.cluster import kmeans_plusplus

from ufs_bench.metrics import elkan
from ufs_bench.metrics.restart import Limits, State

# Two squared distances closer than this share of the mean squared norm of the centred samples are taken for equal, so
# that the order of additions in a matrix product never decides where a sample goes.
TIE = 1e-12
# Products of samples with first centres held at a time.
PRODUCTS = 2**24
# Rows are padded to whole vector registers.
LANES = 16
UNIT = 2.0**-24  # rounding of float32
# A Gram matrix is faster from so many features per sample on, and up to so many samples per restart (measured).
GRAM_FEATURES, GRAM_SAMPLES = 8, 32


def kmeans_restarts(
    X: np.ndarray, n_clusters: int, n_restarts: int = 20, seed: int = 0, max_iter: int = 100, *, starts: str = "random",
    replicates: int = 1,
) -> np.ndarray:  # fmt: skip
    """Run Lloyd's algorithm from `n_restarts` random starts, with one result each.

    Every restart minimises the sum of squared distances of the samples to the means of their clusters, from
    `n_clusters` samples as the first centres.  `lloyd` says what a step is, and `starting_rows` which samples the
    random starts are: they are distinct, and the same for every method and every subset of the features.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_clusters : int
        In [1, n_samples].
    n_restarts : int, default=20
        At least 1.
    seed : int, default=0
        At least 0.
    max_iter : int, default=100
        Largest number of Lloyd steps; at least 1.
    starts : {"random", "kmeans++"}, default="random"
        "kmeans++": the greedy one of scikit-learn, whose centres depend on X, too.
    replicates : int, default=1
        Starts of a restart, 1 or more.  Its result is the one with the smallest sum of squares, the first of several.

    Returns
    -------
    ndarray of shape (n_restarts, n_samples) of int
        Clusters 0, ..., n_clusters - 1.  A row does not depend on how many others there are.

    Raises
    ------
    ValueError
    """
    X = _check_samples(X)
    rows = starting_rows(len(X), n_clusters, n_restarts * replicates, seed)
    if starts == "kmeans++":
        rows = _spread_rows(X, n_clusters, len(rows), seed)
    labels = lloyd(X, rows, max_iter)
    if replicates == 1:
        return labels
    X = unit_samples(X)
    groups = labels.reshape(n_restarts, replicates, len(X))
    return np.array([group[np.argmin([_within(X, own) for own in group])] for group in groups])


def _spread_rows(X, n_clusters, n_starts, seed):
    """Return starts by greedy k-means++, as `starting_rows` does random ones."""
    seeds = [np.random.RandomState(np.random.MT19937([seed, start])) for start in range(n_starts)]
    return np.array([kmeans_plusplus(X, n_clusters, random_state=one)[1] for one in seeds])


def _within(X, labels):
    """Return the sum of squared distances of the samples to the means of their clusters."""
    groups = (X[labels == label] for label in np.unique(labels))
    return sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)


def load_engine(on_compile=None):
    """Load the compiled steps before time is taken.

    Parameters
    ----------
    on_compile : callable, optional
        Called without arguments before they are compiled, which takes some ten seconds.  The result is kept on disk,
        in the checkout or, where that cannot be written, in the user's cache (NUMBA_CACHE_DIR replaces both), until
        `metrics/elkan.py`, Numba or the processor changes.
    """
    with event.install_listener("numba:compile", _Announcer(on_compile)):
        _first_run()


class _Announcer(event.Listener):
    def __init__(self, call):
        self._call = call

    def on_start(self, event):
        if self._call is not None:
            self._call()
            self._call = None

    def on_end(self, event):
        """Do nothing."""


@cache
def _first_run():
    lloyd(np.eye(3), [[0]])


@lru_cache(maxsize=32)
def starting_rows(n_samples: int, n_clusters: int, n_restarts: int, seed: int) -> np.ndarray:
    """Draw the samples that serve as first centres.

    Row r depends on nothing but `seed`, r, `n_samples` and `n_clusters`.  It sorts raw output of PCG64, whose stream is
    fixed for all versions of NumPy, which those of the Generator methods are not.

    Parameters
    ----------
    n_samples, n_clusters, n_restarts, seed : int

    Returns
    -------
    ndarray of shape (n_restarts, n_clusters) of int
        Distinct within a row; read-only, as it is shared.

    Raises
    ------
    ValueError
    """
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must be in [1, n_samples={n_samples}].")
    if n_restarts < 1:
        raise ValueError(f"n_restarts={n_restarts} must be at least 1.")
    if seed < 0:
        raise ValueError(f"seed={seed} must be at least 0.")
    streams = (np.random.PCG64([seed, restart]).random_raw(n_samples) for restart in range(n_restarts))
    rows = np.array([np.argsort(stream, kind="stable")[:n_clusters] for stream in streams])
    rows.flags.writeable = False
    return rows


def lloyd(X, starts, max_iter=100):
    """Run Lloyd's algorithm from given starts.

    A step assigns every sample to its nearest centre, the first of several at the same distance, and then moves every
    centre to the mean of its samples.  It ends when an assignment repeats the one before; after `max_iter` steps the
    samples are assigned once more, to the last centres.

    A cluster without samples takes the sample farthest from the centre it was assigned to.  Empty clusters are served
    in order of their index; a sample that is alone in its cluster is not taken; of several at the same distance the
    first is.  The sample leaves the mean of its old cluster and is the centre of the new one; its label changes only
    if the next assignment says so.  Where fewer distinct samples exist than clusters, some clusters end empty.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    starts : array-like of shape (n_restarts, n_clusters) of int
        The samples that are the first centres of each restart.
    max_iter : int, default=100
        Largest number of steps; at least 1.

    Returns
    -------
    ndarray of shape (n_restarts, n_samples) of int

    Raises
    ------
    ValueError

    Notes
    -----
    Samples are centred, and divided by a power of two that brings their norms to 1 at most.  The squared distance that
    decides is the one to the mean of the cluster, members added in their order, computed in float64 as the sum of
    squared differences in a fixed order.  Two that differ by no more than 1e-12 of the mean squared norm are equal.
    From the same starts the labels are those of ``sklearn.cluster.KMeans(algorithm="lloyd", tol=0)``, which leaves such
    ties to rounding, and which may give an empty cluster a sample that is alone in its own.

    So the labels of a restart are a function of X and its start alone.  They are computed with bounds, in float32, from
    products of several restarts at once, and from a Gram matrix where that is faster; but all of these carry bounds of
    their errors, and labels that they do not prove are computed by the definition.  So a label does not depend on the
    other restarts, the number of threads or processes, or the BLAS.

    Time: the products of all samples with the first centres, then about one distance per sample and step, not
    n_clusters.  Memory: the larger of n_samples * n_clusters and 2**24 float32, beside two copies of X.

    References
    ----------
    C. Elkan, "Using the triangle inequality to accelerate k-means", ICML 2003.
    """
    X = _check_samples(X)
    starts = np.array(starts)
    if starts.ndim != 2 or not starts.size or starts.min() < 0 or starts.max() >= len(X):
        raise ValueError(
            f"starts of shape {starts.shape} must hold rows of X in [0, n_samples={len(X)}), one restart each."
        )
    if max_iter < 1:
        raise ValueError(f"max_iter={max_iter} must be at least 1.")
    # Arguments always have the same types, and are writable: for others the steps would be compiled again.
    starts = starts.astype(np.int64, casting="same_kind")
    X = unit_samples(X)
    points, distortion = _points(X, len(starts))
    limits = _limits(X, points, distortion)
    norms = np.einsum("ij,ij->i", points, points, dtype=np.float64).astype(np.float32)
    result, state = np.empty((len(starts), len(X)), dtype=np.intp), State.of(X, points, starts.shape[1])
    step = max(1, PRODUCTS // (len(X) * starts.shape[1]))
    for first in range(0, len(starts), step):
        some = starts[first : first + step]
        products = (points[some.ravel()] @ points.T).reshape(*some.shape, len(X))
        elkan.lloyd(X, points, norms, some, products, max_iter, limits, state, result[first : first + step])
    return result


def _check_samples(X):
    X = np.asarray(X, dtype=np.float64, order="C")
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X of shape {X.shape} must be (n_samples, n_features), with at least one of each.")
    if not np.isfinite(X).all():
        raise ValueError("X must be finite; remove or fill its NaN and infinite values.")
    return X


def unit_samples(X):
    """Return the samples centred, and divided by a power of two that brings their norms to 1 at most.


    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite, of any scale: from denormal numbers to the largest ones.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Dividing by a power of two is exact, so that nothing which is computed from it depends on the scale of X.
    """
    X = of_unit_peak(np.asarray(X, dtype=np.float64))  # first, so that no sum overflows
    X = of_unit_peak(X - X.mean(axis=0))  # and no square overflows or vanishes
    return np.ldexp(X, -np.frexp(np.sqrt(np.einsum("ij,ij->i", X, X).max()))[1])


def of_unit_peak(X):
    """Return X divided by the power of two that brings its largest absolute value into [1/2, 1)."""
    return np.ldexp(X, -np.frexp(np.abs(X).max(initial=0))[1])


def _points(X, n_restarts):
    """Return samples in float32, in fewer coordinates where that is faster, and a bound on the error of a distance.

    With more features than samples the rows of a Cholesky factor of the Gram matrix have the same distances.
    """
    n_samples, n_features = X.shape
    factor, distortion = X, 0.0
    if n_features >= GRAM_FEATURES * n_samples and n_samples <= GRAM_SAMPLES * n_restarts:
        gram = X @ X.T
        # The Gram matrix of centred samples is singular; the ridge is the least of these that hides its rounding.
        for ridge in 10.0 ** np.arange(-13, -8):
            with contextlib.suppress(np.linalg.LinAlgError):
                factor = np.linalg.cholesky(gram + ridge * np.eye(n_samples))
                # A squared distance is a quadratic form of the Gram matrix, with weights of absolute sum 2.
                error = np.abs(factor @ factor.T - gram).max() + (n_features + n_samples + 8) * elkan.UNIT
                distortion = 2 * np.sqrt(error)
                break
    points = np.zeros((n_samples, -(-factor.shape[1] // LANES) * LANES), dtype=np.float32)
    points[:, : factor.shape[1]] = factor
    return points, distortion + 2 * UNIT


def _limits(X, points, distortion):
    """Return bounds of rounding errors that hold for any order of additions."""
    tie = TIE * np.einsum("ij,ij", X, X) / len(X)
    rounding = 4 * elkan.UNIT * (len(X) + X.shape[1] + points.shape[1] + 8)
    return Limits(
        tie=tie,
        relative=1.01 * UNIT * (points.shape[1] / 2 + 8),
        absolute=4 * UNIT,
        product=2.02 * UNIT * (points.shape[1] + 12),
        margin=np.sqrt(tie + 2 * rounding) + 2 * (elkan.DRIFT + distortion),
        blur=rounding + 4 * (elkan.DRIFT + distortion),
    )
