"""Classes and functions from outside the suite: importing one may replace functions of numpy for all that follows."""

import sys

OURS = "methods."  # the targets of the suite's own methods begin so
imported = set()  # targets from outside that this process has imported from files


def note(target):
    """Note that this process is about to import a target; from then on only workers compute what is stored."""
    if is_outside(target) and in_file(target):
        imported.add(target)


def is_outside(target):
    """Return True for the dotted name of a class or function that is not of the suite."""
    return not target.startswith(OURS)


def in_file(target):
    """Return True where other processes can import a target: not what a notebook or script itself defines."""
    module = target.rpartition(".")[0]
    loaded = sys.modules.get(module)
    return module != "__main__" and (loaded is None or bool(getattr(loaded, "__file__", None)))
