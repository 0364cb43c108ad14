"""Bounds of parameters, and one error for what is out of them."""

import numbers
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


def check_number(name, value, low=None, high=None, *, integer=False, open_low=False, open_high=False, high_name=None):
    """Raise a ValueError that names the value and the bound it breaks.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : number
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
    """The range of a numeric parameter, as a method declares it in `bounds`.

    Attributes
    ----------
    low, high : number or None
    high : number, None or callable
        Of X where the bound is the data's: ``lambda X: (len(X) - 1, "n_samples - 1")`` gives its value and its name.
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
    """A number larger than `low`."""
    return Bound(low, open_low=True)


def at_least(low):
    """A number, `low` or more."""
    return Bound(low)


def between(low, high):
    """A number strictly between the two."""
    return Bound(low, high, open_low=True, open_high=True)


def whole(low, high=None):
    """A whole number, `low` or more, and at most `high` where that is given."""
    return Bound(low, high, integer=True)


def n_samples(X):
    """The upper bound of what is counted in samples."""
    return len(X), "n_samples"


def fewer_than_samples(X):
    """The upper bound of what leaves one sample over."""
    return len(X) - 1, "n_samples - 1"


def smaller_side(X):
    """The upper bound of a rank."""
    return min((X.shape[0], "n_samples"), (X.shape[1], "n_features"))


def check_choice(name, value, options):
    """Raise a ValueError where `value` is none of the `options`.

    Parameters
    ----------
    name : str
    value : object
    options : sequence of str

    Raises
    ------
    ValueError
    """
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, options))}.")


def check_init(init, shape, low=None):
    """Raise a ValueError where a start is given that is not finite, not of a shape, or below a bound.

    Parameters
    ----------
    init : array-like or None
    shape : tuple of int
    low : float, optional
        Least value of an entry.

    Raises
    ------
    ValueError
    """
    if init is None:
        return
    array = np.asarray(init, dtype=float)
    if array.shape != shape or not np.isfinite(array).all() or (low is not None and (array < low).any()):
        least = "" if low is None else f", {low} or more"
        raise ValueError(f"init of shape {array.shape} must be finite{least} and of shape {shape}.")
