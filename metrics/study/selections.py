"""Ways to choose one number for a cell of a table, with the labels or without."""

from typing import NamedTuple


class Selection(NamedTuple):
    """One way to choose, with its words."""

    name: str
    column: str  # head of its column where several stand beside each other
    words: str  # the number that is shown
    # per_size, overall: words for a number at every size, and for one number
    per_size: str
    overall: str
    seconds: str  # words for its cost
    criterion: str | None = None  # column of the summary whose largest value is chosen, where one is
    oracle: bool = False  # whether the choice uses the labels


ONE_FIT = "Seconds of the one fit"
WHOLE_GRID = "Seconds of all fits of the grid, which the choice needs"


def _unlabelled(name, column, words, what, criterion):
    """Return the choice of parameters and size by a measure that uses no label."""
    chosen = f"{what}, chosen without labels"
    return Selection(
        name, column, f"the parameters and the size {words}", f"At every size the parameters {chosen}",
        f"Parameters and size {chosen}", WHOLE_GRID, criterion,
    )  # fmt: skip


ALL = (
    Selection(
        "best_over_grid", "oracle",
        "the parameters and the size with the highest mean, chosen with the labels",
        "At every size the best parameters of the grid, chosen with the labels",
        "Best parameters and size of the grid, chosen with the labels", WHOLE_GRID, "mean", oracle=True,
    ),
    Selection(
        "default_params", "default", "the default parameters, at the size of the protocol nearest to 100",
        "Default parameters", "Default parameters, at the size nearest to 100", ONE_FIT,
    ),
    Selection(
        "largest_size", "largest", "the default parameters, at the largest size of the protocol",
        "Default parameters", "Default parameters, at the largest size", ONE_FIT,
    ),
    Selection(
        "grid_median", "median", "the median of the means over all grid points and sizes",
        "At every size the median over the grid", "Median over the grid and all sizes",
        "Seconds of one fit, median over the grid",
    ),
    _unlabelled(
        "silhouette_all", "silhouette, all features",
        "whose clusters have the largest simplified silhouette on all features",
        "with the largest silhouette on all features", "silhouette_all",
    ),
    _unlabelled(
        "replication", "replication",
        "at which the clusters of half of the samples return best in the other half",
        "whose clusters return best in the other half of the samples", "replication",
    ),
    _unlabelled(
        "prediction_strength", "prediction strength",
        "whose weakest cluster returns best in the other half of the samples",
        "whose weakest cluster returns best in the other half", "prediction_strength",
    ),
    _unlabelled(
        "reconstruction", "reconstruction", "whose features recover most of the variance of all features",
        "whose features recover most of all features", "reconstruction",
    ),
    _unlabelled(
        "stability", "stability", "at which the K-means restarts agree most, by adjusted Rand index",
        "at which the K-means restarts agree most", "agreement",
    ),
    _unlabelled(
        "silhouette", "silhouette", "whose selected features have the largest simplified silhouette",
        "with the largest silhouette", "silhouette",
    ),
)  # fmt: skip
BY_NAME = {selection.name: selection for selection in ALL}
SELECTIONS = {name: selection.words for name, selection in BY_NAME.items()}
# The measures without labels, by which a choice may be made.
LABEL_FREE = [chosen.criterion for chosen in ALL if chosen.criterion and not chosen.oracle]
