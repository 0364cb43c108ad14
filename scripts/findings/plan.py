"""The estimates of the plan (docs/plan.md): gains over random rankings, over a curve of sizes, by two scores."""

import functools
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.families import family_means, step_down, t_intervals
from ufs_bench.metrics.study.frames import of_kmeans, percent
from ufs_bench.scripts.core.conf import family_of, find
from ufs_bench.scripts.rank.choice import choose

CONFIRMATORY = "fair_confirmatory"
SCORES = ("acc", "nmi")
LEVEL = 0.05  # of p
# Numbers of flips of signs: a p of .05 has a standard error of .0002 with the first, and of .001 with the second, which
# is drawn for every family left out.
FLIPS, FLIPS_WITHOUT = 999_999, 49_999
ENOUGH = 15  # families: a method with scores in so many stands among the others, or in all where there are fewer
# Weights of sizes in a mean over sizes: about the inverse of the spread of gains over exploratory data sets, the median
# of which over methods falls from 9.5 points of accuracy with 10 features to 3 with 300 (`fair_earlier` at ee2f1ea1).
WEIGHTS = {10: 2, 25: 2, 50: 3, 100: 4, 200: 6, 300: 6}


def datasets_of(part):
    """Return the data sets of a part of `experiment=fair`, each with its family."""
    return {name: family_of(name) for name in find("experiment", part)["datasets"]}


@functools.lru_cache(maxsize=4)  # of the studies of one command
def choice_of(study):
    """Choose as `choose` does, without the data sets on which random rankings, the reference, have no scores."""
    choice, scored = choose(study), of_kmeans(study.summary)
    known = set(scored.loc[scored["method"] == RANDOM, "dataset"])
    return choice._replace(datasets=[name for name in choice.datasets if name in known])


def tested(datasets):
    """Return the data sets that are tested.

    The confirmatory ones are tested, alone, once all of them have been run, so that nobody looks in between and stops
    where a result pleases; before that the others count alone.
    """
    confirmatory = datasets_of(CONFIRMATORY)
    new = [name for name in datasets if name in confirmatory]
    return new if len(new) == len(confirmatory) else [name for name in datasets if name not in confirmatory]


def scores_by_size(study, scores=SCORES):
    """Return scores in percent, at the default parameters.

    Rows are (dataset, method, n_selected), the sizes being those of `WEIGHTS`.  Random rankings count with their mean
    over all draws, a method with a random part with the mean of its seeds, and all features with the same score at
    every size that random rankings have.  A fit that lacks one of its seeds has no row.
    """
    summary = of_kmeans(study.shares.query("n_seeds == n_asked"))
    keys, means = ["dataset", "n_selected"], [f"{score}_mean" for score in scores]
    whole = summary[summary["method"] == ALL].set_index("dataset")[means]
    summary = summary[summary["n_selected"].isin(WEIGHTS)]
    random = summary[summary["method"] == RANDOM].groupby(keys)[means].mean()
    whole = whole.reindex(random.index.get_level_values("dataset")).set_axis(random.index)
    own = summary[~summary["method"].isin((ALL, RANDOM)) & summary["is_default"]]
    own = own.set_index(["dataset", "method", "n_selected"])[means]
    fixed = pd.concat({ALL: whole, RANDOM: random}, names=["method"]).reorder_levels(own.index.names)
    return percent(pd.concat([own, fixed])).dropna(how="all").set_axis(list(scores), axis=1).sort_index()


@functools.lru_cache(maxsize=4)
def by_size(study, scores=SCORES):
    """Return the gains of `scores_by_size` over random rankings, in points; their own gain is 0."""
    found = scores_by_size(study, scores)
    random = found.xs(RANDOM, level="method").reindex(found.index.droplevel("method"))
    return (found - random.to_numpy()).dropna(how="all")


def over_sizes(gains):
    """Return the means over sizes of the gains of `by_size`, weighted by `WEIGHTS`; nan where one lacks a size."""
    levels, weights = ["dataset", "method"], gains.index.get_level_values("n_selected").map(WEIGHTS).to_numpy()
    sums, totals = (own.mul(weights, axis=0).groupby(level=levels).sum() for own in (gains, gains.notna()))
    asked = totals.xs(RANDOM, level="method").reindex(totals.index.get_level_values("dataset"))
    return sums.div(totals).where(totals == asked.to_numpy())


def curves(study):
    """Return `over_sizes` of the gains of a study: data sets are rows, and (method, score) columns."""
    found = over_sizes(by_size(study))
    return found.unstack("method").swaplevel(axis=1).sort_index(axis=1).rename_axis(columns=["method", "score"])


class Estimates(NamedTuple):
    """The gains of the methods as the plan estimates and tests them."""

    families: dict  # of the data sets that count, as `tested` chooses them
    means: pd.DataFrame  # the families' gains, by (method, score)
    table: pd.DataFrame  # (method, score) by mean, low, high, p, and the families without which p is above `LEVEL`
    whole: pd.DataFrame  # the gains of all features over random rankings: score by mean, low and high

    # Data sets on which a method of the table has no gain, by method
    lacking: dict  # it was run, and has no score at some size or of some seed
    not_run: dict  # it has no fit

    @property
    def methods(self):
        """The methods that are tested."""
        return list(self.table.index.unique("method"))

    def named(self, sign):
        """Return the rows of what gains (1) or loses (-1) by the rule of the plan, the largest first."""
        return sure(self.table, sign)


def sure(table, sign):
    """Return the rows of a table of `over_families` that gain (1) or lose (-1), the largest first."""
    own = table[(table["p"] <= LEVEL) & (np.sign(table["mean"]) == sign)]
    return own.loc[(-own["mean"].abs()).sort_values(kind="stable").index]


def estimates(study):
    """Return the `Estimates` of a study; None where it has no method in enough families."""
    choice = choice_of(study)
    families = {name: family_of(name) for name in tested(choice.datasets)}
    columns = pd.MultiIndex.from_product([choice.methods, SCORES], names=["method", "score"])
    gains = curves(study).reindex(index=list(families))
    means, table = over_families(gains.reindex(columns=columns), families)
    table["needs"] = needs(means, table)
    whole = means_of(gains.reindex(columns=pd.MultiIndex.from_product([[ALL], SCORES])), families)
    whole = intervals_of(whole).set_axis(list(SCORES))
    counted = gains.xs(SCORES[0], axis=1, level="score")[table.index.unique("method")]
    run = study.frame.groupby("method")["dataset"].unique()
    lacking, not_run = {}, {}
    for name, own in counted.items():
        for dataset in own.index[own.isna()]:
            (lacking if dataset in run[name] else not_run).setdefault(name, []).append(dataset)
    return Estimates(families, means, table, whole, lacking, not_run) if len(table) else None


def over_families(gains, families, n_flips=None):
    """Return the families' means of gains, and a table of them: mean, low, high and p, by `n_flips` or `FLIPS`.

    `gains` has data sets in rows; its columns with values in enough families are kept, none where there is only one.
    """
    means = in_enough(means_of(gains, families))
    if means.empty:
        return means, pd.DataFrame(columns=["mean", "low", "high", "p"], index=means.columns)
    return means, intervals_of(means).assign(p=step_down(means, n_flips=n_flips or FLIPS))


def needs(means, table):
    """Return for each row of `over_families` the families without which its p is above `LEVEL`."""
    found, needed = table["p"] <= LEVEL, [[] for _ in table.index]
    for family in means.index if found.any() else ():
        without = step_down(means.drop(index=family), n_flips=FLIPS_WITHOUT)
        for place in np.flatnonzero(found & (without > LEVEL)):
            needed[place].append(family)
    return needed


def in_enough(means):
    """Return the columns of the means of families that have a value in enough of these; none for a single family."""
    return means.loc[:, (len(means) > 1) & (means.notna().sum() >= min(ENOUGH, len(means)))]


def means_of(gains, families):
    """Return the mean of each family over its data sets, by the columns of `gains`."""
    own = [families[name] for name in gains.index]
    return pd.DataFrame(family_means(gains, own), sorted(set(own)), gains.columns)


def intervals_of(means):
    """Return mean, low and high over the families of `means_of`, by its columns."""
    return pd.DataFrame(dict(zip(("mean", "low", "high"), t_intervals(means), strict=True)), index=means.columns)
