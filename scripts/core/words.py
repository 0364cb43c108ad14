"""The words that several commands share."""

from metrics.study.selections import BY_NAME

# The state of a cell of a table.
COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"  # FAILED is another state
CAPPED_CELL = "capped"  # no fit ended by itself, and a cap ended some
POOR = ("collapsed", "diverged")  # fits that learned nothing
REFITTED = ("default_params", "best_over_grid")  # selections whose points scripts.seeds fits again
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "the labels that the methods learn"}
ORACLE = "this oracle is the custom of these papers and flatters what a user without labels gets"


def rule(name):
    """Say in a sentence how the cells of a table were chosen."""
    selection = BY_NAME[name]
    what = selection.words if name == "grid_median" else f"the mean at {selection.words}"
    return f"every cell is {what}; {ORACLE if selection.oracle else 'the choice uses no label'}"


def labelled(name, clusterer):
    """Return a method's name with the remark that its labels are those that it learns itself."""
    return f"{name} (learned labels)" if clusterer == "learned" else name
