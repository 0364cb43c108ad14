"""The random generators that all code of a process shares: seeded before a fit, so that it can be repeated."""

# ruff: noqa: NPY002  # the old generator of numpy is the one that is shared

import random
import warnings
from contextlib import contextmanager

import numpy as np


class SharedGenerator(UserWarning):
    """A fit has drawn from a generator of the whole process."""


@contextmanager
def seeded(seed):
    """Seed the generators of numpy and of Python for a fit, warn if it uses one, and put back what they were.

    A method that takes no `random_state`, or hands none on to scikit-learn, would have other numbers at every run.
    """
    before = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    first = random.getstate(), _compared(np.random.get_state())
    try:
        yield
        drawn = random.getstate(), _compared(np.random.get_state())
        used = [name for name, one, other in zip(("random", "numpy.random"), first, drawn, strict=True) if one != other]
        if used:
            warnings.warn(
                f"the fit uses the generator of {' and of '.join(used)} that all code shares. It is set to seed {seed} "
                "before each fit here, and to nothing elsewhere: take random_state, and draw from "
                "numpy.random.default_rng(random_state).",
                SharedGenerator,
                stacklevel=2,
            )
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


def _compared(state):
    name, keys, *rest = state
    return name, keys.tobytes(), *rest
