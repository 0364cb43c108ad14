"""What a claim is, and how numbers become a verdict."""

import math
from collections.abc import Callable
from dataclasses import dataclass

HOLDS, PART, FAILS, OPEN = "holds", "holds in part", "does not hold", "cannot be tested here"
MISSING = "not measured yet"
CONTROL = "control"  # variants whose name begins so are measured beside the others, and not judged


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that can be tested.

    Attributes
    ----------
    name : str
        As on the command line.
    paper : str
        A key of `scripts.core.published.PAPERS`.
    where : str
        Section, figure or equation.
    says : str
        The claim in our own words.
    control : str
        What it could have failed against.
    rule : str
        When a row of numbers bears it out, in words; what says nothing either way.
    datasets : tuple of str
        Names of conf/dataset, or a word for what needs no file, such as "synthetic".
    measure : callable
        ``measure(data)`` yields pairs (variant, {quantity: number}), data being a `datasets.Dataset`, or the word.
    holds : callable
        ``holds(numbers)`` is the rule: True, False, or None where the numbers say nothing.
    note : str, default=""
        What a reader should know of the measurement.
    """

    name: str
    paper: str
    where: str
    says: str
    control: str
    rule: str
    datasets: tuple
    measure: Callable
    holds: Callable
    note: str = ""


@dataclass(frozen=True)
class Untested:
    """A claim that cannot be tested here, and why."""

    name: str
    paper: str
    where: str
    says: str
    reason: str


def is_judged(variant):
    """Whether a verdict is given on a variant."""
    return not variant.startswith(CONTROL)


def verdict(outcomes):
    """One word for the outcomes of `Claim.holds` over data sets.

    Parameters
    ----------
    outcomes : list of bool or None

    Returns
    -------
    str
        "holds" where all that say something are true, "does not hold" where none is, "holds in part" between, and
        "cannot be tested here" where no one says anything.
    """
    told = [outcome for outcome in outcomes if outcome is not None]
    if not told:
        return OPEN
    return HOLDS if all(told) else PART if any(told) else FAILS


def known(*numbers):
    """Whether all numbers are there."""
    return not any(math.isnan(number) for number in numbers)
