"""The decorator that compiles the loops of this package."""

from numba import njit


def compiled(**flags):
    """Compile a function at its first call, and keep the result on disk, where it can be written.

    The compiled function runs without the interpreter's lock.  Numba compiles a function anew only when the file of the
    function itself has changed; hence a compiled function calls no compiled function of another file.

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
