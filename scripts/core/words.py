"""The words that several commands share."""

from typing import NamedTuple

from metrics.study.selections import BY_NAME

# The state of a cell of a table.
COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"  # FAILED is another state
CAPPED_CELL = "capped"  # no fit ended by itself, and a cap ended some
POOR = ("collapsed", "diverged")  # fits that learned nothing
REFITTED = ("default_params", "best_over_grid")  # selections whose points scripts.seeds fits again
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "the labels that the methods learn"}


class Choice(NamedTuple):
    """The words for a way to choose parameters and size, besides `metrics.study.selections.Selection.words`."""

    column: str  # head of its column
    # per_size, overall: words for a number at every size, and for one number
    per_size: str
    overall: str
    seconds: str  # words for its cost


WHOLE_GRID = "Seconds of all fits of the grid, which the choice needs"


def _unlabelled(column, what):
    """Return the words for a choice of parameters and size by a measure that uses no label."""
    chosen = f"{what}, chosen without labels"
    return Choice(column, f"At every size the parameters {chosen}", f"Parameters and size {chosen}", WHOLE_GRID)


CHOICES = {
    "best_over_grid": Choice(
        "oracle",
        "At every size the best parameters of the grid, chosen with the labels",
        "Best parameters and size of the grid, chosen with the labels",
        WHOLE_GRID,
    ),
    "default_params": Choice(
        "default",
        "Default parameters",
        "Default parameters, at the size nearest to 100",
        "Seconds of the one fit",
    ),
    "largest_size": Choice(
        "largest",
        "Default parameters",
        "Default parameters, at the largest size",
        "Seconds of the one fit",
    ),
    "grid_median": Choice(
        "median",
        "At every size the median over the grid",
        "Median over the grid and all sizes",
        "Seconds of one fit, median over the grid",
    ),
    "silhouette_all": _unlabelled("silhouette, all features", "with the largest silhouette on all features"),
    "replication": _unlabelled("replication", "whose clusters return best in the other half of the samples"),
    "prediction_strength": _unlabelled("prediction strength", "whose weakest cluster returns best in the other half"),
    "reconstruction": _unlabelled("reconstruction", "whose features recover most of all features"),
    "stability": _unlabelled("stability", "at which the K-means restarts agree most"),
    "silhouette": _unlabelled("silhouette", "with the largest silhouette"),
}
ORACLE = "this oracle is the custom of these papers and flatters what a user without labels gets"


def rule(name):
    """Say in a sentence how the cells of a table were chosen."""
    selection = BY_NAME[name]
    what = selection.words if name == "grid_median" else f"the mean at {selection.words}"
    return f"every cell is {what}; {ORACLE if selection.oracle else 'the choice uses no label'}"


def labelled(name, clusterer):
    """Return a method's name with the remark that its labels are those that it learns itself."""
    return f"{name} (learned labels)" if clusterer == "learned" else name
