"""Parameters and size chosen, without labels and with them, beside random rankings that get as many tries."""

from math import comb, prod

import pandas as pd

from metrics.study import RANDOM
from metrics.study.frames import of_kmeans
from metrics.study.intervals import means_by_family
from metrics.study.selections import BY_NAME
from scripts.core.conf import find, unique_names
from scripts.core.text import with_interval
from scripts.ranks.gains import above, below

SELECTIONS = ("silhouette_all", "best_over_grid")  # without labels, and with them


def searched(study, methods, families):
    """Return the gains of methods whose parameters and size are chosen, over random rankings that are chosen alike.

    `families` maps the data sets to their families.  The result has a row for every method that was run on every data
    set at as many grid points as any other, or at as many as its grid has: tries (its grid points), and mean, low and
    high (points) for each of `SELECTIONS`, such as silhouette_all_mean.  It is empty where no method has more than one.
    """
    summary = of_kmeans(study.summary[study.summary["dataset"].isin(families)])
    tries = summary.groupby(["dataset", "method"])["params"].nunique().unstack()
    most = tries[methods].max(axis=None)
    methods = [name for name in methods if (tries[name] >= min(most, grid_points(name))).all()]
    if not methods or tries[methods].max(axis=None) == 1:
        return pd.DataFrame()
    table = pd.DataFrame({"tries": tries[methods].max().astype(int)})  # float, as other methods have gaps
    random = summary[(summary["method"] == RANDOM) & (summary["n_restarts"] > 0)]
    for selection in SELECTIONS:
        scores = study.means("acc", selection)
        best = best_of_each(random, BY_NAME[selection].criterion)
        drawn = dict(list(best.groupby("dataset")))
        chance = {n: pd.Series({name: by_chance(drawn[name], n) for name in drawn}) for n in set(table["tries"])}
        points = pd.DataFrame({name: scores[name] - chance[n] for name, n in table["tries"].items()})
        points = points.reindex(list(families))
        low, high = means_by_family(points, families)
        own = pd.DataFrame({"mean": points.mean(), "low": low, "high": high}, index=table.index)
        table = table.join(own.add_prefix(f"{selection}_"))
    return table.sort_values(f"{SELECTIONS[0]}_mean", ascending=False, kind="stable")


def grid_points(method):
    """Return the number of points of the grid in a method's own file; 1 where it has none."""
    return prod(len(values) for values in ((find("method", method) or {}).get("grid") or {}).values())


def best_of_each(random, criterion):
    """Return dataset, value (of the criterion) and score of every random ranking, at the size that it chooses."""
    rows = random.sort_values(["dataset", "params", "n_selected"])
    rows = rows.assign(mean=rows["acc_mean"]).assign(value=lambda rows: rows[criterion].round(10))
    chosen = rows.loc[rows.groupby(["dataset", "params"])["value"].idxmax()]
    return pd.DataFrame({"dataset": chosen["dataset"], "value": chosen[criterion], "score": chosen["mean"]})


def by_chance(best, tries):
    """Return the expected score of the one with the largest value among so many, drawn without replacement."""
    scores = best.sort_values("value", kind="stable")["score"]
    n, tries = len(scores), min(tries, len(scores))
    return sum(score * comb(place, tries - 1) for place, score in enumerate(scores)) / comb(n, tries)


def told_apart(table):
    """Return the methods whose interval lies above 0, and below, by their printed names, for each of `SELECTIONS`."""
    names = unique_names("method", list(table.index))
    return [
        [[names[name] for name in found] for found in (above(table, f"{one}_low"), below(table, f"{one}_high"))]
        for one in SELECTIONS
    ]


def lines(table):
    """Return the lines of a table of the gains."""
    names = unique_names("method", list(table.index))
    rows = [
        [
            names[name],
            f"{row['tries']:.0f}",
            *(with_interval(*(row[f"{chosen}_{key}"] for key in ("mean", "low", "high"))) for chosen in SELECTIONS),
        ]
        for name, row in table.iterrows()
    ]
    return [["Method", "Grid points", "Without labels (silhouette_all)", "With labels (best_over_grid)"], *rows]
