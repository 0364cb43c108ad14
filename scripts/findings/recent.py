"""The methods since 2019 beside what a new method has to beat, on the data sets where each has a score."""

import re
from textwrap import fill

import pandas as pd

from metrics.study.intervals import means_by_family
from metrics.study.ranks import MIN_DATASETS
from scripts.compare.controls import RANDOM
from scripts.core.conf import entry, family_of, printed, unique_names
from scripts.core.text import pipes, with_interval
from scripts.ranks.choice import is_control
from scripts.ranks.gains import above
from scripts.ranks.ranks_page import OVER

SINCE = 2019  # the papers of this suite end at 2018, but for the two that brought it their tables
RIVALS = (RANDOM, "greedy_css", "kmeans_ufs")
READ = (
    "With all variants and the programs that authors released. A gain is over the data sets where both have a score; "
    "the number of data sets is that of the method. A score is missing where a fit reached its limit, or where the "
    "method refuses data of this size. These are mostly the larger data sets, so rows with different data sets cannot "
    "be compared."
)


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


def sentence(settings):
    """Answer whether any method since `SINCE` gains over the rivals without labels."""
    parts = []
    for one in settings:
        table, names = one.recent, unique_names("method", list(one.recent.index))
        found = []
        for rival in RIVALS:
            who = [names[name] for name in above(table, f"{rival}_low")]
            found.append(f"{' and '.join(who) or 'none'} over {_printed(rival)}")
        parts.append(f"with {one.size} features {', '.join(found)}")
    n = max(len(one.recent) for one in settings)
    fewest = min(one.recent["n_datasets"].min() for one in settings)
    return (
        f"**Does a method since {SINCE} beat random rankings, greedy column selection or K-means UFS?** Of {n} methods "
        f"and programs, each on the data sets where it has a score ({fewest} or more), the 95 % interval of the gain "
        f"in accuracy, each by itself, lies above 0 for these: {', and '.join(parts)}."
    )


def sections(settings):
    """Return a table for every choice of size, and the data sets that each method lacks, in parts of a page."""
    shown = [one for one in settings if len(one.recent)]
    if not shown:
        return []
    parts = [f"## Methods since {SINCE}", fill(READ, 120)]
    for one in shown:
        parts += [f"Gain in ACC in points, {one.size} features:", _table(one.recent)]
    lacking = _lacking(shown)
    return parts + (["Without a score at one of the sizes:\n\n" + "\n".join(lacking)] if lacking else [])


def _table(table):
    names = unique_names("method", list(table.index))
    head = ["Method", "Year", "Data sets (families)", *(f"Over {_printed(rival)}" for rival in RIVALS)]
    rows = [
        [names[method], str(year_of(method)), f"{row['n_datasets']} ({row['n_families']})",
         *(_shown(row, rival) for rival in RIVALS)]
        for method, row in table.iterrows()
    ]  # fmt: skip
    return pipes([head, *rows])


def _lacking(shown):
    found = {}
    for one in shown:
        for method, names in one.recent["lacking"].items():
            found.setdefault(method, set()).update(printed("dataset", name) for name in names)
    names = unique_names("method", list(found))
    lines = [f"* {names[method]}: {', '.join(sorted(places))}" for method, places in found.items() if places]
    return [fill(line, 120, subsequent_indent="  ", break_on_hyphens=False) for line in lines]


def _printed(rival):
    return OVER.get(rival) or printed("method", rival)


def _shown(row, rival):
    values = [row[f"{rival}_{key}"] for key in ("mean", "low", "high")]
    return "" if pd.isna(values[0]) else with_interval(*values)
