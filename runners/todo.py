"""The trials that a cell lacks, and why."""

from collections import Counter
from dataclasses import dataclass, field

from runners.progress import counted


@dataclass(frozen=True)
class Todo:
    """The trials that a cell lacks.

    Attributes
    ----------
    missing : list of Trial
        Not stored, or stored with a status that is tried again.
    again : list of Trial
        Stored, but by other code, packages or machines, or with a redo asked for: kept until the new ones are there.
    rescored : list of Trial
        Trials whose stored selections are of the same code, but whose scores are of other code.
    why : Counter
        Number of stored trials that do not count, by reason.
    """

    missing: list = field(default_factory=list)
    again: list = field(default_factory=list)
    rescored: list = field(default_factory=list)
    why: Counter = field(default_factory=Counter)

    def __len__(self):
        return len(self.missing) + len(self.again) + len(self.rescored)

    def words(self):
        """Say in a sentence how many stored trials are done again, and why; "" where none is."""
        parts = [f"{counted(len(self.again), 'stored trial')} to fit again"] if self.again else []
        parts += [f"{counted(len(self.rescored), 'stored selection')} to score again"] if self.rescored else []
        why = ", ".join(f"{reason}: {count}" for reason, count in self.why.items())
        return f"{' and '.join(parts)} ({why})" if parts else ""
