"""Counts the seconds that a run spends on fits and on evaluations."""

from dataclasses import dataclass

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.store.row import from_json
from ufs_bench.runners.words import counted


@dataclass
class Usage:
    """The seconds that a run spent on fits and on evaluations, and the sets that it evaluated."""

    # Seconds of all workers together.
    fit_s: float = 0.0
    eval_s: float = 0.0
    n_sets: int = 0  # feature sets that the trials asked for
    n_shared: int = 0  # those whose scores were known from another trial

    def add(self, row):
        """Count the row of a trial that has ended."""
        if not isinstance(row["fit_s"], str):  # as that of a stored fit, which is only scored again
            self.fit_s += row["fit_s"]
        if row["status"] not in UNSCORED:
            self.eval_s += row["eval_s"]
            self.n_sets += len(from_json(row["sizes"]))
            self.n_shared += len(from_json(row["shared"]))

    def line(self, n_workers, seconds):
        """Return the shares of the workers' time, and how many feature sets were evaluated, as a text."""
        total = n_workers * seconds
        rest = max(total - self.fit_s - self.eval_s, 0.0)
        shares = ", ".join(
            f"{name} {part:.1f} s ({part / total:.0%})"
            for name, part in (("fits", self.fit_s), ("K-means", self.eval_s), ("waiting and overhead", rest))
        )
        return (
            f"{seconds:.1f} s on {counted(n_workers, 'worker')}: {shares}; "
            f"{self.n_sets - self.n_shared} of {counted(self.n_sets, 'feature set')} evaluated, {self.n_shared} shared"
        )
