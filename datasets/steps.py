"""Steps from the values of a source to samples: missing values, shares of known ones, counts; before any scaling."""

import re

import numpy as np

from ufs_bench.datasets.base import DataError, say
from ufs_bench.datasets.formats.tables import word

FILLS = ("error", "median", "drop")
ALL = slice(None)  # the samples, or the features, that a step keeps


def take_steps(path, X, y, steps):
    """Return samples and labels after the steps of a source, and the numbers of the features that are left.

    A step is a mapping of one key of `STEPS`; they are taken in their order.
    """
    features = np.arange(X.shape[1])
    for step in steps:
        ((name, value),) = step.items()
        if not (X.dtype == np.float64 and X.flags.owndata):
            X = np.array(X, dtype=np.float64)
        X, rows, columns = STEPS[name][0](path, X, value)
        y = y if y is None else np.ravel(y)[rows]
        features = features[columns]
    return X, y, features


def _missing(path, X, values):
    return np.where(np.isin(X, values), np.nan, X), ALL, ALL


def _recode(path, X, pairs):
    new = np.full_like(X, np.nan)
    for old, value in pairs:
        new[old == X] = value
    return new, ALL, ALL


def _known(path, X, share):
    keep = (~np.isnan(X)).mean(axis=1) >= share
    if not keep.any():
        raise DataError(f"{path}: no sample has a share of {share} of its values: lower known.")
    return X[keep], keep, ALL


def _present(path, X, share):
    keep = (X > 0).sum(axis=0) >= share * len(X)
    if not keep.any():
        raise DataError(f"{path}: no feature is above 0 in a share of {share} of the samples: lower present.")
    return np.ascontiguousarray(X[:, keep]), ALL, keep


def _row_sum(path, X, total):
    sums = X.sum(axis=1, keepdims=True)
    if (sums <= 0).any():
        row = np.flatnonzero(sums <= 0)[0]
        raise DataError(
            f"{path}: the values of sample {row} sum to {sums[row, 0]:g}, and cannot be made to sum to {total}."
        )
    return X / sums * total, ALL, ALL


def _log1p(path, X, _):
    if (X <= -1).any():
        raise DataError(f"{path}: log1p needs values above -1; the smallest is {np.nanmin(X):g}.")
    # To single precision, as the last digit of a logarithm differs between processors, and checksums of data must not.
    return np.log1p(X).astype(np.float32).astype(float), ALL, ALL


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)


def _is_share(value):
    return _is_number(value) and 0 < value <= 1


def _are_numbers(value):
    return isinstance(value, list) and bool(value) and all(map(_is_number, value))


def _are_pairs(value):
    return isinstance(value, list) and bool(value) and all(_are_numbers(pair) and len(pair) == 2 for pair in value)


STEPS = {  # what each does, what its value must be, and that in words
    "missing": (_missing, _are_numbers, "a list of numbers that stand for missing values"),
    "recode": (_recode, _are_pairs, "a list of [old, new]; other values become missing"),
    "known": (_known, _is_share, "the least share of known values of a sample that is kept, above 0 and at most 1"),
    "present": (_present, _is_share, "the least share of samples in which a feature that is kept is above 0"),
    "row_sum": (_row_sum, lambda value: _is_number(value) and value > 0, "the sum of each sample, above 0"),
    "log1p": (_log1p, lambda value: value is True, "true"),
}


def wrong_step(steps):
    """Return what is wrong with the first wrong step, or None."""
    for step in steps:
        if not isinstance(step, dict) or len(step) != 1 or next(iter(step)) not in STEPS:
            return f"{step!r} must be a mapping of one of {', '.join(STEPS)}"
        ((name, value),) = step.items()
        if not STEPS[name][1](value):
            return f"{name}={value!r} must be {STEPS[name][2]}"
    return None


def matched_labels(path, y, pattern):
    """Return the part of each label that the first group of a regular expression finds in the whole label."""
    if y is None:
        raise DataError(f"{path}: label_pattern={pattern!r} needs labels, and there are none.")
    labels = [None if one is None or one != one else word(one) for one in np.ravel(y)]
    found = [None if one is None else re.fullmatch(pattern, one) for one in labels]
    for label, match in zip(labels, found, strict=True):
        if label is not None and match is None:
            raise DataError(f"{path}: the label {label!r} does not match label_pattern={pattern!r}.")
    return np.array([match and match[1] for match in found], dtype=object)


def fill_missing(path, X, y, how):
    """Return samples and labels without missing values, which are nan among the samples; infinite values are none.

    With ``error`` all stays as it is, and `check_dataset` says what is missing.  ``median`` takes that of the
    feature, a number takes itself, and ``drop`` leaves out samples without a value or a label.  A DataError, with
    the path, is about a feature or a sample without any value, and about a file of which no sample is left.
    """
    if how == "error":
        return X, y
    X = np.array(X, dtype=np.float64)
    missing = np.isnan(X)
    empty = np.flatnonzero(missing.all(axis=1))
    if how not in FILLS:
        if len(empty):
            say(f"{path}: sample {empty[0]} has no value at all, and is {how} everywhere now; {len(empty)} are so.")
        return np.where(missing, how, X), y
    if how == "median":
        if (features := np.flatnonzero(missing.all(axis=0))).size:
            raise DataError(
                f"{path}: feature {features[0]} has no value at all, and so no median; {len(features)} are so: remove "
                "them."
            )
        if len(empty):
            raise DataError(f"{path}: sample {empty[0]} has no value at all; {len(empty)} are so: remove them.")
        return np.where(missing, np.nanmedian(X, axis=0), X), y
    keep = ~missing.any(axis=1)
    if y is not None:
        y = np.ravel(y)
        keep &= np.array([label is not None and label == label for label in y])
        y = y[keep]
    if not keep.any():
        raise DataError(f"{path}: every sample lacks a value, so fill=drop leaves none: take fill=median.")
    return X[keep], y
