"""Statistics of the results of a study.  This file has the names that all readers need, and imports nothing slow."""

FAILED = "failed"  # the status of a trial whose fit or evaluation raised
TIMEOUT, OUT_OF_MEMORY = "timeout", "out_of_memory"  # a cap ended the fit, which is not an error of the method
CAPPED = (TIMEOUT, OUT_OF_MEMORY)
UNSCORED = (FAILED, *CAPPED)  # the statuses of trials that have no feature sets
POOR = ("collapsed", "diverged")  # those of fits that learned nothing
# Metrics of a feature set: name -> printed name.  The first two are of the K-means restarts, or of learned labels.
METRICS = {"acc": "ACC", "nmi": "NMI", "nearest_neighbour": "1-NN accuracy", "reconstruction": "Reconstruction"}
RANDOM, ALL = "random_rankings", "all_features"
NOT_CHOOSING = (RANDOM, ALL, "spectral_labels")  # controls, which do not choose features
USUAL_SIZE = 100  # number of features at which methods are compared where only one is shown


def is_learned(rows):
    """Return True where the labels are those that a method learns itself, of rows or of a single one."""
    return rows["clusterer"] == "learned"


def nearest_size(sizes):
    """Return the size nearest to `USUAL_SIZE`; of two equally near, the smaller."""
    return min(sizes, key=lambda size: (abs(size - USUAL_SIZE), size))
