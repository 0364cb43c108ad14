"""What a study says.  Here stands what each of its readers needs, and nothing that takes long to import."""

FAILED = "failed"  # the status of a trial whose fit or evaluation raised
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
