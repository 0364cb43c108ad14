"""Values of parameters that a grid lists and the data or the size settle: switches, and numbers given by a word."""

from methods.core.checks import check_number


def check_flag(name, value):
    """Raise a ValueError for what is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_count(name, value, words, high=None, high_name=None, low=1):
    """Raise a ValueError for what is neither None, nor one of the words, nor a whole number in [low, high]."""
    if value is None:
        return
    if isinstance(value, str):
        if value not in words:
            raise ValueError(f"{name}={value!r} must be a whole number, or one of {', '.join(map(repr, words))}.")
        return
    check_number(name, value, low, high, integer=True, high_name=high_name)


def count_of(value, n_clusters, size):
    """Return the number that a word stands for, or the number itself; None stands for "clusters".

    Parameters
    ----------
    value : int, str or None
    n_clusters : int
    size : int
        The number of features to select.

    Returns
    -------
    int
    """
    meanings = {"clusters": n_clusters, "twice_clusters": 2 * n_clusters, "half_size": max(1, size // 2), "size": size}
    return meanings.get("clusters" if value is None else value, value)
