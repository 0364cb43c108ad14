"""Packs finished cells into results/reference, and checks what is there: ``python -m scripts.ship --help``.

`pack` writes the files; `hand_in` runs a method and packs it.  `check` compares them with conf/, the data and the
methods of this checkout: `rows` looks at every fit, `scores` evaluates feature sets again, and drawn fits are run
again.  This finds mistakes; it is not a defence against rows that are forged on purpose.
"""

from typing import NamedTuple

# A row is refused where something contradicts it.  It is of elsewhere where code, packages or arithmetic of its machine
# are not those of this process, so that no byte can be compared.  It is unverified where nothing could be computed.
KINDS = REFUSED, ELSEWHERE, UNVERIFIED = "refused", "elsewhere", "unverified"


class Finding(NamedTuple):
    """A reason not to accept a file, or a fit in it."""

    kind: str  # one of the three words above
    study: str
    method: str
    dataset: str  # "" for a whole file
    trial: str  # "" for a whole cell
    words: str

    def __str__(self):
        """Return the finding as one line."""
        cell = f" on {self.dataset}" if self.dataset else ""
        return f"{self.kind}: {self.study}/{self.method}{cell}{self.trial and f' {self.trial}'}: {self.words}"
