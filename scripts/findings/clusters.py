"""The gains of the methods of the plan where methods and K-means look for half or twice as many clusters."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.scripts.compare.controls import ALL
from ufs_bench.scripts.core.conf import family_of, printed
from ufs_bench.scripts.core.text import signed, with_interval
from ufs_bench.scripts.findings.plan import SCORES, curves, intervals_of, means_of
from ufs_bench.scripts.findings.predictions import METHODS
from ufs_bench.scripts.ranks.gains import above, below

TRUE, OTHERS = "classes", ("half", "twice")
STUDIES = {told: f"fair_{told}" for told in OTHERS}  # the experiments, and the studies
COUNTED = tuple(one.method for one in METHODS)


class Clusters(NamedTuple):
    """Gains over random rankings under three numbers of clusters, each method on the data sets that it has in all."""

    families: dict  # of the data sets
    means: pd.DataFrame  # of the families, by (told, method, score); told is of `TRUE` and `OTHERS`
    n_datasets: pd.Series  # that a method has in all three, by (method, score)

    @property
    def n_families(self):
        """The number of families that a method has in all three, by (method, score)."""
        counts = self.means[TRUE].count()
        return counts[counts > 0]

    def changes(self, told):
        """Return mean, low and high of what gains change by: (method, score) rows, without all features."""
        return intervals_of((self.means[told] - self.means[TRUE])[list(COUNTED)])

    @property
    def gains(self):
        """The means over families of the methods of the plan: (method, score) rows, a column for each number."""
        return self.means.mean().unstack(0).loc[list(COUNTED)]

    @property
    def kept(self):
        """The number of gains, half and twice apart, with the sign of that with the true one; and of how many."""
        signs = self.gains[list(OTHERS)].mul(self.gains[TRUE], axis=0)
        return int((signs > 0).sum().sum()), int(signs.notna().sum().sum())

    @property
    def moved(self):
        """The numbers of changes with an interval without 0, as it prints, of those of them nearer to 0, and of all."""
        nearer = self.gains[list(OTHERS)].abs().lt(self.gains[TRUE].abs() - 1e-9, axis=0)  # up to rounding
        found = {}
        for told in OTHERS:
            change = self.changes(told)
            moved = change.index.isin([*above(change), *below(change)])
            found[told] = int(moved.sum()), int((moved & nearer[told]).sum()), int(change["mean"].notna().sum())
        return found

    def span(self, told, score):
        """Return the least and the largest change in a score: "-1.0 to +0.4"."""
        own = self.changes(told)["mean"].xs(score, level=1)
        return f"{signed(own.min())} to {signed(own.max())}"


def clusters_of(study, others, families):
    """Return the `Clusters` of a study and of those of `OTHERS`, by name, on `families`; None where one is lacking."""
    if set(others) != set(OTHERS):
        return None
    found = {told: curves(one) for told, one in {TRUE: study, **others}.items()}
    shared = [name for name in families if all(name in own.index for own in found.values())]
    columns = pd.MultiIndex.from_product([(ALL, *COUNTED), SCORES])
    gains = pd.concat({told: own.reindex(index=shared, columns=columns) for told, own in found.items()}, axis=1)
    for column in columns:  # a change is of the same data sets
        own = [(told, *column) for told in found]
        gains.loc[gains[own].isna().any(axis=1), own] = float("nan")
    shared = {name: family_of(name) for name in gains.index[gains.notna().any(axis=1)]}
    if len(set(shared.values())) < 2:
        return None
    counts = gains[TRUE].count()
    return Clusters(shared, means_of(gains.loc[list(shared)], shared), counts[counts > 0])


def lines(found):
    """Return the lines of the table of gains: one for each method and score."""
    intervals = intervals_of(found.means)
    head = ["Method", "Score", "Half as many", "As many as classes", "Twice as many"]
    rows = []
    for method, score in found.means.columns.droplevel(0).unique():
        cells = [intervals.loc[(told, method, score)] for told in ("half", TRUE, "twice")]
        name = printed("method", method) if score == SCORES[0] else ""
        rows.append([name, score.upper(), *(with_interval(*cell) for cell in cells)])
    return [head, *rows]
