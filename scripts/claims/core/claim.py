"""The record of a claim, and the verdict that numbers give on it."""

from collections.abc import Callable
from dataclasses import dataclass

import yaml

from scripts.claims.core import numbers
from scripts.core.published import PAPERS
from scripts.core.views import render

HOLDS, PART, FAILS, OPEN = "holds", "holds in part", "does not hold", "cannot be tested here"
MISSING = "not measured yet"
CONTROL = "control"  # variants whose name begins with it are measured beside the others, but not judged


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that can be tested."""

    name: str  # its name on the command line
    paper: str  # a key of `scripts.core.published.PAPERS`
    where: str  # section, figure or equation
    says: str  # the claim in our own words
    control: str  # the measurement that could have refuted it
    rule: str  # in words: when a row of numbers confirms it, and when a row says nothing either way
    datasets: tuple  # names of conf/dataset, or a word for data that need no file, such as "synthetic"
    # ``measure(data)`` gives pairs (variant, {quantity: number}), data being a `datasets.Dataset`, or the word
    measure: Callable
    holds: Callable  # ``holds(numbers)`` is the rule: True, False, or None where the numbers say nothing
    note: str = ""  # a remark on the measurement, for readers


@dataclass(frozen=True)
class Untested:
    """A claim that cannot be tested here, with the reason."""

    name: str
    paper: str
    where: str
    says: str
    reason: str


def read_claims(file, how, values):
    """Return the claims of a file of texts beside the code that measures them.

    `how` has the measurement and the rule of those that can be tested, by name, and `values` the numbers in the texts,
    besides those of `numbers`.
    """
    found = []
    for name, own in yaml.safe_load(render(f"claims/{file}.yaml.j2", **(vars(numbers) | values))).items():
        own["paper"] = next(paper for paper in PAPERS if name.startswith(f"{paper}_"))
        if name in how:
            measure, holds = how[name]
            own |= {"datasets": tuple(own["datasets"]), "measure": measure, "holds": holds}
        found.append(Claim(name, **own) if name in how else Untested(name, **own))
    return found


def is_judged(variant):
    """Return True where a verdict is given on a variant."""
    return not variant.startswith(CONTROL)


def verdict(outcomes):
    """Return the verdict in words on the outcomes of `Claim.holds` over data sets.

    It is "holds" where all that say something are true, "does not hold" where none is, "holds in part" between, and
    "cannot be tested here" where no one says anything.
    """
    told = [outcome for outcome in outcomes if outcome is not None]
    if not told:
        return OPEN
    return HOLDS if all(told) else PART if any(told) else FAILS
