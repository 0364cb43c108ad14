"""The scalings of features or samples that a protocol can ask for."""

import numpy as np


def scale(X, how):
    """Scale the samples.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite; it is left as it is.
    how : {"none", "minmax", "zscore", "unit_norm"}
        * ``none``: the values as they are;
        * ``minmax``: every feature to [0, 1], ``(x - min) / (max - min)``;
        * ``zscore``: every feature to mean 0 and standard deviation 1 (that of n, not n - 1, samples);
        * ``unit_norm``: every sample to Euclidean norm 1.

        A constant feature and a sample of zeros become zeros.

    Returns
    -------
    ndarray of shape (n_samples, n_features) of float64
        Read-only, as several callers share it.

    Raises
    ------
    ValueError
        For an unknown scaling, with a list of the known ones, and for an X that is not a matrix of finite numbers.
    """
    if how not in SCALINGS:
        raise ValueError(f"scaling={how!r} must be one of {', '.join(SCALINGS)}.")
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.size:
        raise ValueError(f"X of shape {X.shape} must be (n_samples, n_features), with at least one of each.")
    if not np.isfinite(X).all():
        raise ValueError("X must be finite; remove or fill its NaN and infinite values.")
    scaled = SCALINGS[how](X)
    scaled = X.view() if scaled is X else scaled
    scaled.flags.writeable = False
    return scaled


def _minmax(X):
    low, high = X.min(axis=0), X.max(axis=0)
    return _divide(X - low, high - low)


def _zscore(X):
    # A constant feature is recognised by its range: with the rounding of its mean, its spread need not be zero.
    constant = X.min(axis=0) == X.max(axis=0)
    centred = _of_peak_one(np.where(constant, 0.0, X - X.mean(axis=0)), axis=0)
    return _divide(centred, np.sqrt(np.mean(centred**2, axis=0)))


def _unit_norm(X):
    X = _of_peak_one(X, axis=1)
    return _divide(X, np.linalg.norm(X, axis=1, keepdims=True))


def _of_peak_one(X, axis):
    """Return X scaled to largest absolute value 1 along the axis, so that squares neither overflow nor vanish."""
    return _divide(X, np.abs(X).max(axis=axis, keepdims=True))


def _divide(X, by):
    """Return ``X / by``, and 0 where `by` is 0."""
    return np.divide(X, by, out=np.zeros_like(X), where=np.broadcast_to(by > 0, X.shape))


SCALINGS = {"none": lambda X: X, "minmax": _minmax, "zscore": _zscore, "unit_norm": _unit_norm}
