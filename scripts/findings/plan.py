"""The estimates of the plan (docs/plan.md): gains over random rankings, over a curve of sizes, by two scores."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from metrics.study.families import family_means, step_down, t_intervals
from metrics.study.frames import of_kmeans
from scripts.compare.controls import RANDOM
from scripts.core.conf import CONF, family_of
from scripts.ranks.choice import choose

CONFIRMATORY = "fair_confirmatory"
SCORES = ("acc", "nmi")
LEVEL = 0.05  # of p
ENOUGH = 15  # families: a method with scores in so many stands among the others, or in all where there are fewer
# Of a size in the mean over sizes: about the inverse of the spread of gains over the exploratory data sets, which falls
# from 9.5 points of accuracy with 10 features to 3 with 300.
WEIGHTS = {10: 2, 25: 2, 50: 3, 100: 4, 200: 6, 300: 6}


def datasets_of(part):
    """Return the data sets of a part of `experiment=fair`, each with its family."""
    content = yaml.safe_load((CONF / "experiment" / f"{part}.yaml").read_text(encoding="utf-8"))
    names = content["hydra"]["sweeper"]["params"]["dataset"].split(",")
    return {name.strip(): family_of(name.strip()) for name in names}


def tested(datasets):
    """Return the data sets that are tested, the confirmatory ones or else all, and whether they are confirmatory."""
    confirmatory = datasets_of(CONFIRMATORY)
    new = [name for name in datasets if name in confirmatory]
    return new or datasets, bool(new)


def curves(study):
    """Return the gains over random rankings, in points, at the default parameters.

    A gain is the mean over the sizes of `WEIGHTS` up to the number of features; the random rankings count with their
    mean over all draws, and a method with a random part with the mean of its seeds.  Data sets are rows, and (method,
    score) columns; nan where a method lacks a size that the random rankings have, or one of its seeds there.
    """
    summary = study.summary
    summary = of_kmeans(summary[summary["n_seeds"] == summary["n_asked"]])
    summary = summary[summary["n_selected"].isin(WEIGHTS)]
    drawn = summary["method"] == RANDOM
    keys, means = ["dataset", "n_selected"], [f"{score}_mean" for score in SCORES]
    random = 100 * summary[drawn].groupby(keys)[means].mean()
    own = summary[~drawn & summary["is_default"]].set_index(["dataset", "method", "n_selected"])[means]
    gains = (100 * own).sub(random.reorder_levels(keys)).dropna(how="all")
    weights = gains.index.get_level_values("n_selected").map(WEIGHTS).to_numpy()
    totals = gains.mul(weights, axis=0).assign(weight=weights).groupby(level=["dataset", "method"]).sum()
    whole = random.index.get_level_values("n_selected").map(WEIGHTS).to_series(random.index).groupby("dataset").sum()
    complete = totals["weight"] == whole.reindex(totals.index.get_level_values("dataset")).to_numpy()
    found = totals[means].div(totals["weight"], axis=0).where(complete)
    table = found.rename(columns=dict(zip(means, SCORES, strict=True))).unstack("method")
    return table.swaplevel(axis=1).sort_index(axis=1)


class Estimates(NamedTuple):
    """The gains of the methods as the plan estimates and tests them."""

    families: dict  # of the data sets that count: the confirmatory ones that are there, or else all
    confirms: bool  # whether these are confirmatory
    means: pd.DataFrame  # the families' gains, by (method, score)
    table: pd.DataFrame  # (method, score) by mean, low, high, p, and the families without which p is above `LEVEL`

    @property
    def advised(self):
        """The methods with a gain that is there without any one family, too."""
        gain = self.named(1)
        return list(gain[gain["needs"].map(len) == 0].index.unique("method"))

    def named(self, sign):
        """Return the rows of what gains (1) or loses (-1) by the rule of the plan, the largest first."""
        own = self.table[(self.table["p"] <= LEVEL) & (np.sign(self.table["mean"]) == sign)]
        return own.loc[(-own["mean"].abs()).sort_values(kind="stable").index]


def estimates(study):
    """Return the `Estimates` of a study; None where it has no method in enough families."""
    choice = choose(study)
    datasets, confirms = tested(choice.datasets)
    families = {name: family_of(name) for name in datasets}
    columns = pd.MultiIndex.from_product([choice.methods, SCORES], names=["method", "score"])
    gains = curves(study).reindex(index=list(families), columns=columns)
    means = pd.DataFrame(family_means(gains, list(families.values())), sorted(set(families.values())), columns)
    means = means.loc[:, means.notna().sum() >= min(ENOUGH, len(means))]
    if means.empty or len(means) < 2:
        return None
    table = pd.DataFrame(dict(zip(("mean", "low", "high"), t_intervals(means), strict=True)), index=means.columns)
    table["p"], table["needs"] = step_down(means), [[] for _ in table.index]
    sure = table["p"] <= LEVEL
    for family in means.index if sure.any() else ():
        without = pd.Series(step_down(means.drop(index=family)), means.columns)
        for column in table.index[sure & (without > LEVEL)]:
            table.loc[[column], "needs"].item().append(family)
    return Estimates(families, confirms, means, table)
