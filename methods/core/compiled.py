"""The decorator that compiles the loops of this package."""

from numba import njit


def compiled(error_model="python"):
    """Compile a function at its first call, and keep the result on disk, where it can be written.

    The compiled function runs without the interpreter's lock.  Numba compiles a function anew only when the file of the
    function itself has changed; hence a compiled function calls no compiled function of another file.  What a division
    by zero does is said by `error_model`, of `numba.njit`.

    There is no ``fastmath``: it lets the compiler choose the order of sums, which then depends on whether the result
    was compiled or read from disk, and on the processor.  Where a sum must be fast, write its order down.
    """

    def decorate(function):
        try:
            return njit(cache=True, nogil=True, error_model=error_model)(function)
        except RuntimeError:  # neither the checkout nor the user's cache can be written: each process compiles
            return njit(nogil=True, error_model=error_model)(function)

    return decorate
