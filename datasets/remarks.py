"""Lines on data that are valid but suspicious."""

import numpy as np

from ufs_bench.datasets.base import LARGEST_WHOLE, first_of

FEW = 10  # values that tell whether a column has whole numbers
ENOUGH = 10  # samples of which distinct numbers say something
ABSENT = (-9, -99, -999, -9999, -99999, 999, 9999, 99999)  # numbers that often stand for a missing value
IDENTIFIERS = 3  # columns: where more have distinct whole numbers, they are counts


def remarks(data):
    """Return lines on features and samples that say nothing: constant ones, copies, numbers of samples, such labels."""
    lowest, highest = (np.asarray(part.todense() if hasattr(part, "todense") else part).ravel()
                       for part in (data.X.min(axis=0), data.X.max(axis=0)))  # fmt: skip
    names = data.feature_names or [f"number {j}" for j in range(data.n_features)]
    how = "" if data.feature_names else ", counted from 0"
    lines, varying = [], np.flatnonzero(lowest < highest)
    if constant := [names[j] for j in np.flatnonzero(lowest == highest)]:
        what = "1 feature is" if len(constant) == 1 else f"{len(constant)} features are"
        lines.append(f"{data.name}: {what} constant ({first_of(constant)}{how}): no method can tell samples by it.")
    if copies := [f"{names[j]} of {names[other]}" for j, other in _copies(data.X.T, varying)]:
        what = "1 feature is a copy" if len(copies) == 1 else f"{len(copies)} features are copies"
        lines.append(f"{data.name}: {what} ({first_of(copies)}{how}): scores of single features select both.")
    if copies := [f"{i} of {other}" for i, other in _copies(data.X, np.arange(data.n_samples))]:
        what = "1 sample is a copy" if len(copies) == 1 else f"{len(copies)} samples are copies"
        lines.append(f"{data.name}: {what} ({first_of(copies)}, counted from 0).")
    if data.n_samples >= ENOUGH and _ends_in_sums(data.X):
        lines.append(f"{data.name}: the last sample is the sum of all others: if it is a row of totals, remove it.")
    columns = {j: column for j in varying if len(column := _whole_numbers(data.X, j)) > 2}
    counting = [j for j, column in columns.items() if _counts(column)]
    if counting:
        what = f"a feature numbers the samples ({names[counting[0]]}{how})"
        lines.append(f"{data.name}: {what}: give the name or number of its column in ignore=[...].")
    large = [j for j, column in columns.items() if np.abs(column).max() >= LARGEST_WHOLE]
    distinct = [j for j, column in columns.items() if j not in counting and len(np.unique(column)) == len(column)]
    distinct = sorted({*distinct, *large})  # large ones are rounded, and may be equal then
    if 0 < len(distinct) <= IDENTIFIERS and data.n_samples >= ENOUGH:
        what = f"distinct whole numbers in {first_of([names[j] for j in distinct])}{how}"
        lines.append(f"{data.name}: {what} look like identifiers of samples: if so, say ignore=[...].")
    for j in np.flatnonzero(np.isin(lowest, ABSENT) | np.isin(highest, ABSENT)):
        values = np.unique(data.X[:, [j]].toarray() if hasattr(data.X, "toarray") else data.X[:, j])
        rest = values[~np.isin(values, ABSENT)]
        if len(rest) and (odd := values[np.isin(values, ABSENT) & (np.abs(values) > FEW * np.abs(rest).max())]).size:
            what = f"{odd[0]:g} in {names[j]}{how} is far from its other values"
            lines.append(f"{data.name}: {what}: if it stands for a missing value, say missing=[{odd[0]:g}].")
            break
    sizes = np.zeros(0) if data.y is None else np.bincount(data.y)
    if (sizes == 1).any() and not (sizes == 1).all():
        alone = np.flatnonzero(np.isin(data.y, np.flatnonzero(sizes == 1)))
        what = "1 sample is" if len(alone) == 1 else f"{len(alone)} samples are each"
        lines.append(
            f"{data.name}: {what} the only one of its class ({first_of(alone)}, counted from 0): is that right?"
        )
    if data.y is not None and data.n_classes == data.n_samples > 1:
        lines.append(f"{data.name}: every sample has a label of its own, so that scores say nothing: is label= right?")
    return lines


def _copies(X, numbers):
    """Return pairs of numbers of rows, of those given: a row, and the first one of the same values."""
    sums = np.asarray(X @ np.random.default_rng(0).normal(size=X.shape[1]))[numbers]
    order = np.argsort(sums, kind="stable")
    near = np.diff(sums[order]) <= 1e-9 * np.abs(sums).max(initial=0.0)  # only these can be equal
    seen, found = {}, []
    for place in sorted({*order[1:][near], *order[:-1][near]}):
        row = X[[numbers[place]]]
        key = ((row.toarray() if hasattr(row, "toarray") else row) + 0.0).tobytes()  # without -0
        if seen.setdefault(key, place) != place:
            found.append((numbers[place], numbers[seen[key]]))
    return found


def _ends_in_sums(X):
    """Return True where the last row is the sum of all others, up to what rounding leaves, and not only zeros."""
    last = np.asarray(X[[-1]].todense() if hasattr(X, "todense") else X[[-1]]).ravel()
    whole, sizes = (np.asarray(part.sum(axis=0)).ravel() for part in (X, abs(X)))
    return bool(last.any() and (abs(whole - 2 * last) <= 1e-9 * sizes).all())


def _whole_numbers(X, j):
    """Return a column of whole numbers; an empty array where it has others."""
    if (X[:FEW, [j]] % 1 if isinstance(X, np.ndarray) else X[:FEW, [j]].toarray() % 1).any():
        return np.array([])
    column = X[:, [j]]
    values = np.asarray(column.todense() if hasattr(column, "todense") else column).ravel()
    return values if (values % 1 == 0).all() else np.array([])


def _counts(values):
    """Return True for numbers that rise by 1 from sample to sample, or do so in each of a few files."""
    begins = np.flatnonzero(np.diff(values) != 1) + 1
    return len(begins) <= len(values) / FEW and bool((values[begins] == values[0]).all())
