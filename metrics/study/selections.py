"""Ways to choose one number for a cell of a table, with the labels or without."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Selection:
    """One way to choose."""

    name: str
    words: str  # the number that is shown
    oracle: bool = False  # whether the choice uses the labels
    criterion: str | None = None  # column of the summary whose largest value is chosen, where one is


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
