"""One thread of BLAS and OpenMP for a piece of work."""

from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller():
    return ThreadpoolController()  # it looks for the libraries of the process, which takes milliseconds


def one_thread():
    """Return a context manager that keeps the libraries to one thread that are loaded when it is first called."""
    return _controller().limit(limits=1)
