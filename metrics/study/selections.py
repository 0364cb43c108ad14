"""Ways to choose one number for a cell of a table, with the labels or without."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.study import nearest_size
from metrics.study.frames import complete_sizes

USED = ("is_default", "n_selected")  # columns that a choice looks at, besides its criterion and those of `NOTHING`
NOTHING = {"mean": np.nan, "std": np.nan, "n_restarts": 0, "params": "", "trial": "", "status": ""}


@dataclass(frozen=True)
class Selection:
    """One way to choose.

    Attributes
    ----------
    name : str
    words : str
        The number that is shown, in words.
    oracle : bool
        True where the choice uses the labels.
    criterion : str or None
        The column of the summary whose largest value is chosen; None where nothing is chosen by a value.
    """

    name: str
    words: str
    oracle: bool = False
    criterion: str | None = None

    def choose(self, points, sizes):
        """Choose the number of one cell.

        Parameters
        ----------
        points : dict
            Columns of the summary of the cell, as arrays, with the mean and std of one metric.
        sizes : list of int
            The sizes of the protocol that were scored on the data set.

        Returns
        -------
        dict
            The keys of `NOTHING`, and n_selected where one size is chosen.
        """
        scored = points["n_restarts"] > 0
        if self.criterion is not None:
            return _largest(points, scored, self.criterion)
        if self.name == "grid_median":
            return _median(points["mean"][scored], points["n_restarts"][scored])
        # A cell that lacks the size is missing, not shown at another one.
        complete = complete_sizes(points, sizes)
        size = max(complete) if self.name == "largest_size" else nearest_size(complete)
        found = scored & points["is_default"].astype(bool) & (points["n_selected"] == size)
        return _at(points, np.flatnonzero(found)[:1])


BY_NAME = {
    selection.name: selection
    for selection in (
        Selection(
            "best_over_grid",
            "the parameters and the size with the highest mean, chosen with the labels",
            oracle=True,
            criterion="mean",
        ),
        Selection("default_params", "the default parameters, at the size of the protocol nearest to 100"),
        Selection("largest_size", "the default parameters, at the largest size of the protocol"),
        Selection("grid_median", "the median of the means over all grid points and sizes"),
        Selection(
            "silhouette_all",
            "the parameters and the size whose clusters have the largest simplified silhouette on all features",
            criterion="silhouette_all",
        ),
        Selection(
            "replication",
            "the parameters and the size at which the clusters of half of the samples return best in the other half",
            criterion="replication",
        ),
        Selection(
            "prediction_strength",
            "the parameters and the size whose weakest cluster returns best in the other half of the samples",
            criterion="prediction_strength",
        ),
        Selection(
            "reconstruction",
            "the parameters and the size whose features recover most of the variance of all features",
            criterion="reconstruction",
        ),
        Selection(
            "stability",
            "the parameters and the size at which the K-means restarts agree most, by adjusted Rand index",
            criterion="agreement",
        ),
        Selection(
            "silhouette",
            "the parameters and the size whose selected features have the largest simplified silhouette",
            criterion="silhouette",
        ),
    )
}
SELECTIONS = {name: selection.words for name, selection in BY_NAME.items()}
# The measures without labels, by which a choice may be made.
LABEL_FREE = [chosen.criterion for chosen in BY_NAME.values() if chosen.criterion and not chosen.oracle]


def _largest(points, scored, criterion):
    values = np.where(scored, points[criterion].astype(float), np.nan).round(12)
    best = np.flatnonzero(values == np.nanmax(values)) if np.isfinite(values).any() else []
    if len(best) > 1:
        best = sorted(best, key=lambda place: (points["n_selected"][place], points["params"][place]))
    return _at(points, best[:1])


def _median(means, restarts):
    return {**NOTHING, "mean": pd.Series(means, dtype=float).median(), "n_restarts": max(restarts, default=0)}


def _at(points, places):
    """Return the number of the first of some places; nothing where there is none."""
    return {name: points[name][place] for place in places for name in (*NOTHING, "n_selected")} or NOTHING
