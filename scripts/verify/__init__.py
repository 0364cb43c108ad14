"""Accepts the results of others, or says why not: ``python -m scripts.verify --help``.

A hand-in is a change of results/reference.  It is checked against conf/, the data and the methods of this checkout:
`files` and `structure` look at every row, `scores` evaluates every feature set again, and `fits` runs drawn fits again.
This finds mistakes; it is not a defence against rows that are forged on purpose.
"""

from typing import NamedTuple

# A row is refused where something contradicts it.  It is of elsewhere where code, packages or arithmetic of its machine
# are not those of this process, so that no byte can be compared.  It is unverified where nothing could be computed.
KINDS = REFUSED, ELSEWHERE, UNVERIFIED = "refused", "elsewhere", "unverified"


class Finding(NamedTuple):
    """A reason not to accept a file, or a fit in it."""

    kind: str  # one of the three words above
    study: str
    method: str  # that of the file; "" for what is no file of a method
    dataset: str  # "" for a whole file
    trial: str  # "" for a whole cell
    words: str

    def __str__(self):
        """Return the finding as one line."""
        place = f"{self.study}/{self.method or '*'}"
        cell = f" on {self.dataset}" if self.dataset else ""
        return f"{self.kind}: {place}{cell}{f' {self.trial}' if self.trial else ''}: {self.words}"
