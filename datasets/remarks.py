"""Remarks on data of one's own, about what is odd and no error."""

import numpy as np

MOST = 5  # columns that are named


def remarks(data):
    """Return lines on features that say nothing, constant ones and one that numbers the samples, and on such labels.

    Columns are numbered from 0, as they are after the labels were taken out.
    """
    lowest, highest = (np.asarray(part.todense() if hasattr(part, "todense") else part).ravel()
                       for part in (data.X.min(axis=0), data.X.max(axis=0)))  # fmt: skip
    lines = []
    if constant := np.flatnonzero(lowest == highest).tolist():
        named = ", ".join(map(str, constant[:MOST])) + (", ..." if len(constant) > MOST else "")
        what = "1 feature is" if len(constant) == 1 else f"{len(constant)} features are"
        lines.append(f"{data.name}: {what} constant (column {named}): no method can tell samples by it.")
    counting = [j for j in np.flatnonzero(highest - lowest == data.n_samples - 1) if _counts(data.X[:, [j]])]
    if counting and data.n_samples > 2:
        lines.append(f"{data.name}: column {counting[0]} numbers the samples: name it in ignore=[...].")
    if data.y is not None and data.n_classes == data.n_samples > 1:
        lines.append(f"{data.name}: every sample has a label of its own, so that scores say nothing: is label= right?")
    return lines


def _counts(column):
    values = np.asarray(column.todense() if hasattr(column, "todense") else column).ravel()
    return bool((np.diff(values) == 1).all())
