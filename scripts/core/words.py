"""The words that several commands share."""

from ufs_bench.metrics.study.selections import BY_NAME, LABEL_FREE

# The state of a cell of a table.
COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"  # FAILED is another state
NO_LABELS = "no labels"  # of the data, for a score that needs them
CAPPED_CELL = "capped"  # no fit ended by itself, and a cap ended some
REFITTED = ("default_params", "best_over_grid")  # selections whose points scripts.refit fits again with other seeds
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "the labels that the methods learn"}
ORACLE = "this oracle is the custom of these papers and flatters what a user without labels gets"


def rule(name, metric="acc"):
    """Say in a sentence how the cells of a table of a metric were chosen."""
    selection = BY_NAME[name]
    what = selection.words if name == "grid_median" else f"the mean at {by_labels(selection.words, metric)}"
    return f"every cell is {what}; {ORACLE if uses_labels(name, metric) else 'the choice uses no label'}"


def uses_labels(name, metric):
    """Return True where a selection looks at the labels, as the largest of a metric may."""
    return BY_NAME[name].oracle and metric not in LABEL_FREE


def by_labels(words, metric):
    """Return the words of a selection without "chosen with the labels" where the largest of a metric needs none."""
    return words.replace(", chosen with the labels", "") if metric in LABEL_FREE else words


def labelled(name, clusterer):
    """Return a method's name with the remark that its labels are those that it learns itself."""
    return f"{name} (learned labels)" if clusterer == "learned" else name
