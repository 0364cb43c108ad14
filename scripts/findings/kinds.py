"""By kind of data: what each family gains by which method, and whether choosing a method by the family helps."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study.families import family_means, t_intervals
from ufs_bench.scripts.compare.controls import ALL, RANDOM
from ufs_bench.scripts.core.conf import family_of, printed_family, unique_names
from ufs_bench.scripts.core.text import POINTS, signed
from ufs_bench.scripts.findings.plan import ENOUGH, SCORES, by_size, choice_of, curves, means_of, tested

BEST = 3  # methods named for a family


class Kinds(NamedTuple):
    """The gains that figures and tables by family and by size show."""

    families: dict  # of the data sets that are shown: all that are there, once the confirmatory ones count
    methods: list  # those with scores over all sizes in enough families, the largest mean over both scores first
    sized: pd.DataFrame  # gains as `scripts.findings.plan.by_size` returns them
    gains: pd.DataFrame  # means over sizes as `scripts.findings.plan.curves` returns them
    n_single: int  # data sets on which a single random ranking is the reference

    @property
    def means(self):
        """The families' means of `gains`."""
        return means_of(self.gains, self.families)

    @property
    def lone(self):
        """The families of one data set."""
        return [name for name, count in Counter(self.families.values()).items() if count == 1]

    @property
    def names(self):
        """The printed names of the methods."""
        return unique_names("method", self.methods)


def kinds_of(study):
    """Return the `Kinds` of a study; None where it has no method in enough families."""
    choice = choice_of(study)
    counted, confirms = tested(choice.datasets)
    families = {name: family_of(name) for name in (choice.datasets if confirms else counted)}
    gains, sized = curves(study).reindex(index=list(families)), by_size(study)
    if gains.empty:
        return None
    means = means_of(gains, families)
    known = means.notna().sum().unstack("score").min(axis=1)
    order = means.mean().unstack("score").mean(axis=1).sort_values(ascending=False, kind="stable").index
    enough = min(ENOUGH, len(means))
    methods = [name for name in order if name in choice.methods and known[name] >= enough]
    sized = sized[sized.index.isin(list(families), level="dataset")]
    drawn = study.summary[(study.summary["method"] == RANDOM) & study.summary["dataset"].isin(list(families))]
    n_single = int((drawn.groupby("dataset")["params"].nunique() == 1).sum())
    return Kinds(families, methods, sized, gains, n_single) if methods else None


def lines(kinds):
    """Return the lines of the table of families."""
    means, names = kinds.means, kinds.names
    head = ["Family", "Data sets", "All features", *(f"Largest gains, {score.upper()}" for score in SCORES)]
    rows = []
    for family, row in means.iterrows():
        own = kinds.gains.loc[[name for name, its in kinds.families.items() if its == family]]
        whole = [f"{signed(row[ALL, score])} {score.upper()}" for score in SCORES if (ALL, score) in row]
        rows.append([printed_family(family), str(len(own)), ", ".join(whole)])
        for score in SCORES:
            able = [name for name in kinds.methods if own[name, score].notna().all()]
            best = row.xs(score, level="score")[able].sort_values(ascending=False, kind="stable")[:BEST]
            rows[-1].append(", ".join(f"{names[name]} {signed(gain)}" for name, gain in best.items()))
    return [head, *rows]


def choosing(kinds):
    """Return the numbers of data sets and families of which `by_kind` has a gain, and the verdict on it by score."""
    points = {
        score: by_kind(kinds.gains.xs(score, axis=1, level="score")[kinds.methods], kinds.families) for score in SCORES
    }
    datasets = points[SCORES[-1]].index
    verdicts = {score: verdict(own, kinds.families) for score, own in points.items()}
    return len(datasets), len({kinds.families[name] for name in datasets}), verdicts


def verdict(points, families):
    """Return what the interval over families of gains of `by_kind` says: helps, hurts, or cannot be told."""
    if len({families[name] for name in points.index}) < 2:
        return "cannot be told: fewer than two families have two data sets"
    mean, low, high = (float(one[0]) for one in t_intervals(means_of(points, families)))
    span = f"{signed(mean)} points ({signed(low)} to {signed(high)})"
    if round(low, POINTS) > 0 or round(high, POINTS) < 0:
        return f"{'helps' if low > 0 else 'hurts'}, by {span}"
    return f"cannot be told, with a half-width of {high - mean:.{POINTS}f} points: {span}"


def by_kind(gains, families):
    """Return what the method that is best on the rest of the family gains over the one that is best on all the rest.

    `gains` are data sets by methods, of one score and with gaps.  The rows of the one column that is returned are the
    data sets with another one of their family.  Neither method was chosen by the data set itself; both are among those
    with a gain on every data set of the family, and in enough families of the rest.
    """
    found = {}
    for name in gains.index:
        rest = [other for other in gains.index if other != name]
        kin = [other for other in rest if families[other] == families[name]]
        means = family_means(gains.loc[rest], [families[other] for other in rest])
        known = np.isfinite(means).sum(axis=0) >= min(ENOUGH, len(means))
        able = gains.loc[[name, *kin]].notna().all().to_numpy() & known
        if kin and able.any():
            own, on_kin = gains.loc[name, able].to_numpy(), gains.loc[kin, able].to_numpy()
            found[name] = own[on_kin.mean(axis=0).argmax()] - own[np.nanmean(means[:, able], axis=0).argmax()]
    return pd.DataFrame({"gain": pd.Series(found, dtype=float)})
