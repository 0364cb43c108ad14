"""The scalings of features or samples that a protocol can ask for."""

import numpy as np
from scipy import sparse


def scale(X, how):
    """Scale the samples.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        Finite; it is left as it is.
    how : {"none", "minmax", "zscore", "unit_norm", "unit_features"}
        * ``none``: the values as they are;
        * ``minmax``: every feature to [0, 1], ``(x - min) / (max - min)``;
        * ``zscore``: every feature to mean 0 and standard deviation 1 (that of n, not n - 1, samples);
        * ``unit_norm``: every sample to Euclidean norm 1;
        * ``unit_features``: every feature to Euclidean norm 1, without a change of its mean.

        A constant feature (with ``unit_features`` and ``unit_norm``: one of zeros, a sample of zeros) becomes zeros.

    Returns
    -------
    ndarray of shape (n_samples, n_features) of float64, or csr_array for a sparse X
        Read-only, as several callers share it.

    Raises
    ------
    ValueError
        For an unknown scaling, with a list of the known ones, for an X that is not a matrix of finite numbers, and for
        a sparse X that the scaling would fill.
    """
    if how not in SCALINGS:
        raise ValueError(f"scaling={how!r} must be one of {', '.join(SCALINGS)}.")
    if sparse.issparse(X):
        return _scale_sparse(X, how)
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X of shape {X.shape} must be (n_samples, n_features), with at least one of each.")
    if not np.isfinite(X).all():
        raise ValueError("X must be finite; remove or fill its NaN and infinite values.")
    scaled = SCALINGS[how](X)
    scaled = X.view() if scaled is X else scaled
    scaled.flags.writeable = False
    return scaled


def _scale_sparse(X, how):
    """Scale a sparse X, which stays so: every value is divided by a number of its row or column."""
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    if not np.isfinite(X.data).all():
        raise ValueError("X must be finite; remove or fill its NaN and infinite values.")
    rows, columns = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
    if how == "minmax":
        low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        if low.any():
            j = int(np.flatnonzero(low)[0])
            raise ValueError(
                f"scaling=minmax moves the zeros of a sparse X, of which feature {j} has the minimum {low[j]:g}: take "
                f"one of {', '.join(KEEP_ZEROS)}, or make X dense."
            )
        X.data /= high[columns]
    elif how in ("unit_norm", "unit_features"):
        place, n = (rows, X.shape[0]) if how == "unit_norm" else (columns, X.shape[1])
        peak = np.zeros(n)
        np.maximum.at(peak, place, np.abs(X.data))
        X.data /= peak[place]  # first, so that squares neither overflow nor vanish
        X.data /= np.sqrt(np.bincount(place, X.data**2, n))[place]
    elif how != "none":
        raise ValueError(
            f"scaling={how} would fill a sparse X with values: take one of {', '.join(KEEP_ZEROS)}, or make X dense."
        )
    X.data.flags.writeable = X.indices.flags.writeable = X.indptr.flags.writeable = False
    return X


def _minmax(X):
    low, high = X.min(axis=0), X.max(axis=0)
    return _divide(X - low, high - low)


def _zscore(X):
    # A constant feature is recognised by its range: with the rounding of its mean, its spread need not be zero.
    constant = X.min(axis=0) == X.max(axis=0)
    centred = _of_peak_one(np.where(constant, 0.0, X - X.mean(axis=0)), axis=0)
    return _divide(centred, np.sqrt(np.mean(centred**2, axis=0)))


def _unit_norm(X, axis=1):
    X = _of_peak_one(X, axis)
    return _divide(X, np.linalg.norm(X, axis=axis, keepdims=True))


def _unit_features(X):
    return _unit_norm(X, axis=0)


def _of_peak_one(X, axis):
    """Return X scaled to largest absolute value 1 along the axis, so that squares neither overflow nor vanish."""
    return _divide(X, np.abs(X).max(axis=axis, keepdims=True))


def _divide(X, by):
    """Return ``X / by``, and 0 where `by` is 0."""
    return np.divide(X, by, out=np.zeros_like(X), where=np.broadcast_to(by > 0, X.shape))


SCALINGS = {
    "none": lambda X: X,
    "minmax": _minmax,
    "zscore": _zscore,
    "unit_norm": _unit_norm,
    "unit_features": _unit_features,
}
KEEP_ZEROS = (
    "none",
    "unit_norm",
    "unit_features",
)  # these leave a sparse X sparse; minmax too, where no feature is negative
