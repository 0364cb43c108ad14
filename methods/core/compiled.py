"""How the loops of this package are compiled."""

from numba import njit


def compiled(**flags):
    """A decorator: compiled at the first call, without the interpreter's lock, kept on disk where that can be written.

    Numba watches no other file than that of the function that is called: what it calls stands beside it.

    Parameters
    ----------
    **flags
        Of `numba.njit`.

    Returns
    -------
    callable
    """

    def decorate(function):
        try:
            return njit(cache=True, nogil=True, **flags)(function)
        except RuntimeError:  # neither the checkout nor the user's cache can be written: each process compiles
            return njit(nogil=True, **flags)(function)

    return decorate
