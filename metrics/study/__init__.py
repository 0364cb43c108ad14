"""What the results of a study say.  This file has what all its readers need, and imports nothing that takes long."""

FAILED = "failed"  # the status of a trial whose fit or evaluation raised
TIMEOUT, OUT_OF_MEMORY = "timeout", "out_of_memory"  # of a fit that was ended at a cap: no fault of the method
CAPPED = (TIMEOUT, OUT_OF_MEMORY)
UNSCORED = (FAILED, *CAPPED)  # the statuses of trials that have no feature sets
# What a feature set is judged by: name -> in print.  The first two are of the K-means restarts, or of learned labels.
METRICS = {"acc": "ACC", "nmi": "NMI", "nearest_neighbour": "1-NN accuracy", "reconstruction": "Reconstruction"}
RANDOM, ALL = "random_rankings", "all_features"  # controls that are no choice of features
USUAL_SIZE = 100  # number of features at which methods are compared where only one is shown


def nearest_size(sizes, wanted=USUAL_SIZE):
    """The size nearest to the wanted one; of two equally near, the smaller.

    Parameters
    ----------
    sizes : iterable of int
        At least one.
    wanted : int, default=USUAL_SIZE

    Returns
    -------
    int
    """
    return min(sizes, key=lambda size: (abs(size - wanted), size))
