"""How the loops of this package are compiled."""

from llvmlite import ir
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


def all_of(builder, value, vector):
    """A value in every place of a vector, in code that an intrinsic generates.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
    value : llvmlite.ir.Value
    vector : llvmlite.ir.VectorType

    Returns
    -------
    llvmlite.ir.Value
    """
    nothing, places = ir.Constant(vector, ir.Undefined), ir.VectorType(ir.IntType(32), vector.count)
    first = builder.insert_element(nothing, value, ir.Constant(places.element, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(places, [0] * vector.count))
