"""Ranges of parameters, as a method declares them, and the error for a value that is out of its range.

``bounds = {"alpha": above(0), "share": between(0, 0.5), "n_starts": whole(1)}`` in a class is all that it takes;
`methods.core.base.BaseSelector.check_parameters` reads it.
"""

import numbers
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.sparse_data import column_blocks

LARGEST = 1e70  # the largest entry: the square of a sum of 1e14 squares, 1e308, is still a number
ROUNDING = 64 * np.finfo(float).eps  # the relative error of a sum of squares


def check_number(name, value, low=None, high=None, *, integer=False, open_low=False, open_high=False, high_name=None):
    """Raise a ValueError that names the value and the bound it breaks.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        nan, infinity and booleans are no numbers here.
    low, high : number, optional
        Bounds, part of the range unless `open_low` / `open_high`.
    integer : bool, default=False
        Whether only whole numbers will do.
    high_name : str, optional
        What the upper bound is, for the message: ``[1, n_samples=10]``.

    Raises
    ------
    ValueError
    """
    kind = numbers.Integral if integer else numbers.Real
    is_number = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(value)
    below = low is not None and is_number and (value <= low if open_low else value < low)
    above = high is not None and is_number and (value >= high if open_high else value > high)
    if is_number and not below and not above:
        return
    left = ("(" if open_low else "[") + str(low) if low is not None else "(-inf"
    right = (f"{high_name}={high}" if high_name else str(high)) if high is not None else "inf"
    right += ")" if open_high or high is None else "]"
    what = "a whole number" if integer else "a number"
    raise ValueError(f"{name}={value!r} must be {what} in {left}, {right}.")


class Bound(NamedTuple):
    """The range of a numeric parameter, as a method declares it in `bounds`; mostly made by the functions below.

    Attributes
    ----------
    low : number or None
    high : number, callable or None
        A callable is asked with X, where the data set the bound: `n_samples`, `fewer_than_samples`, `smaller_side`,
        or any other ``X -> (value, name)``.
    integer, open_low, open_high : bool
        As in `check_number`.
    """

    low: float | None = None
    high: float | Callable | None = None
    integer: bool = False
    open_low: bool = False
    open_high: bool = False

    def check(self, name, value, X):
        """Raise a ValueError where `value` is out of the range."""
        high, high_name = self.high(X) if callable(self.high) else (self.high, None)
        check_number(
            name, value, self.low, high, integer=self.integer, open_low=self.open_low, open_high=self.open_high,
            high_name=high_name,
        )  # fmt: skip


def above(low):
    """Return the range of a number larger than `low`."""
    return Bound(low, open_low=True)


def at_least(low):
    """Return the range of a number that is `low` or more."""
    return Bound(low)


def between(low, high):
    """Return the range of a number larger than `low` and smaller than `high`."""
    return Bound(low, high, open_low=True, open_high=True)


def whole(low, high=None):
    """Return the range of a whole number from `low` on, to `high` if given, which is a number or a function of X."""
    return Bound(low, high, integer=True)


def n_samples(X):
    """Return the bound, for `whole`, of a number that is at most one for each sample."""
    return X.shape[0], "n_samples"


def fewer_than_samples(X):
    """Return the bound, for `whole`, of a number of samples that leaves at least one over."""
    return X.shape[0] - 1, f"n_samples={X.shape[0]} - 1"


def smaller_side(X):
    """Return the bound, for `whole`, of a number that is at most the largest rank that X can have."""
    return min((X.shape[0], "n_samples"), (X.shape[1], "n_features"))


def check_choice(name, value, options, or_array=False):
    """Raise a ValueError where `value` is none of the `options`; with `or_array` whatever is not a string passes."""
    if (or_array and not isinstance(value, str)) or (isinstance(value, str) and value in options):
        return
    array = ", or an array" if or_array else ""
    raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, options))}{array}.")


def check_flag(name, value):
    """Raise a ValueError for what is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_count(name, value, words, high=None, high_name=None, low=1):
    """Raise a ValueError for what is neither None, nor one of the words, nor a whole number in [low, high]."""
    if value is None:
        return
    if isinstance(value, str):
        if value not in words:
            raise ValueError(f"{name}={value!r} must be a whole number, or one of {', '.join(map(repr, words))}.")
        return
    check_number(name, value, low, high, integer=True, high_name=high_name)


def count_of(value, n_clusters, size):
    """Return the number that a word stands for, or the number itself; None stands for "clusters"."""
    meanings = {"clusters": n_clusters, "twice_clusters": 2 * n_clusters, "half_size": max(1, size // 2), "size": size}
    return meanings.get("clusters" if value is None else value, value)


def check_init(init, shape, low=None, name="init"):
    """Raise a ValueError for a start that is not finite, not of this shape, or goes below `low`; None is no start."""
    if init is None:
        return
    try:
        array = np.asarray(init, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={init!r:.80} must be an array of numbers of shape {shape}.") from None
    if array.shape != shape or not np.isfinite(array).all() or (low is not None and (array < low).any()):
        least = "" if low is None else f", {low} or more"
        raise ValueError(f"{name} of shape {array.shape} must be finite{least} and of shape {shape}.")


def check_range(X):
    """Raise a ValueError for data of which squares, and squares of squares, leave the range or the precision of floats.

    So where the largest absolute value is above 1e70, or below 1e-70 and not zero; and where the features that vary do
    so by so little about values so large that X'X is rounding (constant features do not count).
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray(), high.toarray()
    largest = max(-low.min(), high.max())
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"The largest absolute value of X is {largest:g}; it must be in [{1 / LARGEST:g}, {LARGEST:g}], or squares "
            "leave the range of floating point: scale the features, for example to [0, 1]."
        )
    varying = X[:, high > low]
    blocks = [(np.linalg.norm(part - part.mean(axis=0)), np.linalg.norm(part)) for part in column_blocks(varying)]
    spread, size = (blocks[0] if len(blocks) == 1 else np.linalg.norm(blocks, axis=0)) if blocks else (0.0, 0.0)
    if spread**2 <= ROUNDING * size**2 and size > 0:
        n_entries = varying.shape[0] * varying.shape[1]
        raise ValueError(
            f"The features of X vary by {spread / np.sqrt(n_entries):.3g} about values of "
            f"{size / np.sqrt(n_entries):.3g} (root mean squares), and squares round that away: subtract their "
            "means, or scale the features, for example to [0, 1]."
        )


def rng_of(random_state):
    """Return the generator of random numbers that a parameter stands for."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r} must be None, a whole number of 0 or more, or a generator of NumPy."
        ) from error
