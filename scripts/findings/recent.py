"""The methods since 2019 beside what a new method has to beat, on the data sets where each has a score."""

import re

import pandas as pd

from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import MIN_DATASETS
from ufs_bench.scripts.compare.controls import RANDOM
from ufs_bench.scripts.core.conf import entry, family_of, printed, unique_names
from ufs_bench.scripts.core.text import with_interval
from ufs_bench.scripts.ranks.choice import is_control
from ufs_bench.scripts.ranks.gains import above
from ufs_bench.scripts.ranks.ranks_page import OVER

SINCE = 2019  # the papers of this suite end at 2018, but for the two that brought it their tables
RIVALS = (RANDOM, "greedy_css", "kmeans_ufs")


def year_of(method):
    """Return the year of a method's paper, the last number of its citation; 0 where it names none."""
    years = re.findall(r"\b(?:19|20)\d\d\b", entry("method", method, "citation") or "")
    return int(years[-1]) if years else 0


def since(scores):
    """Return the gains of every method since `SINCE` over each of `RIVALS`.

    `scores` has data sets in rows and methods in columns, in percent, with gaps; one column is the mean of random
    rankings.  The result has a row per method with scores on `MIN_DATASETS` data sets, those with most data sets first:
    n_datasets, n_families, lacking (list of data sets), and for every rival its mean, low and high (points, on the data
    sets where both have a score).
    """
    rows = {}
    for method in scores:
        if is_control(method) or year_of(method) < SINCE or scores[method].count() < MIN_DATASETS:
            continue
        have = scores.index[scores[method].notna()]
        row = {"n_datasets": len(have), "n_families": len(set(map(family_of, have)))}
        row["lacking"] = [name for name in scores.index if name not in have]
        for rival in RIVALS:
            row |= {f"{rival}_{key}": value for key, value in gain_over(scores, method, rival).items()}
        rows[method] = row
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.sort_values(["n_datasets", f"{RANDOM}_mean"], ascending=False, kind="stable") if rows else table


def gain_over(scores, method, rival):
    """Return mean, low and high of the gain of a method on the data sets where both have a score; nan with too few."""
    points = (scores[[method]].sub(scores[rival], axis=0)).dropna()
    if method == rival or len(points) < MIN_DATASETS:
        return dict.fromkeys(("mean", "low", "high"), float("nan"))
    low, high = means_by_family(points, {name: family_of(name) for name in points.index})
    return {"mean": points[method].mean(), "low": low[0], "high": high[0]}


def gaining(table):
    """Return the printed name of each of `RIVALS`, and of the methods whose interval of the gain over it is above 0."""
    names = unique_names("method", list(table.index))
    return [(_printed(rival), [names[name] for name in above(table, f"{rival}_low")]) for rival in RIVALS]


def lines(table):
    """Return the lines of a table of `since`."""
    names = unique_names("method", list(table.index))
    head = ["Method", "Year", "Data sets (families)", *(f"Over {_printed(rival)}" for rival in RIVALS)]
    rows = [
        [names[method], str(year_of(method)), f"{row['n_datasets']} ({row['n_families']})",
         *(_shown(row, rival) for rival in RIVALS)]
        for method, row in table.iterrows()
    ]  # fmt: skip
    return [head, *rows]


def lacking(settings):
    """Return the data sets that each method lacks at one of the sizes, in lines."""
    found = {}
    for one in settings:
        for method, names in one.recent["lacking"].items() if len(one.recent) else ():
            found.setdefault(method, set()).update(printed("dataset", name) for name in names)
    names = unique_names("method", list(found))
    return [f"* {names[method]}: {', '.join(sorted(places))}" for method, places in found.items() if places]


def _printed(rival):
    return OVER.get(rival) or printed("method", rival)


def _shown(row, rival):
    values = [row[f"{rival}_{key}"] for key in ("mean", "low", "high")]
    return "" if pd.isna(values[0]) else with_interval(*values)
