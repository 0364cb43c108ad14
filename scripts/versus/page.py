"""One method beside all others: as one frame, and as the parts of a page."""

from math import floor, log2
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.study import ALL, METRICS, RANDOM
from metrics.study.ranks import MIN_DATASETS
from metrics.study.selections import BY_NAME
from scripts.core.conf import printed, unique_names
from scripts.core.text import number
from scripts.core.words import CHOICES
from scripts.ranks.page import ORACLE, by_family, interval, signed
from scripts.versus import ALPHA, least_p

HEAD = ["Method", "Rank", "Gain over it", "95 % interval", "Wins/ties/losses"]
HEAD += ["Worse", "Equivalent", "Better", "p", "Score", "Seconds", "Front"]
FEW = (
    f"Fewer than {MIN_DATASETS} data sets: there are means, wins and ranks, but no interval and no test, as with five "
    "the signed-rank test cannot reach 0.05, even when one method wins everywhere."
)
TESTS = (
    "Intervals are of 95 %, from a bootstrap that draws families of data sets, then data sets within each family "
    "drawn, widened for the number of families; with four families or fewer they are rough still.",
    "Worse, equivalent, better: Bayesian signed-rank test in which gains up to {rope:g} count as none, the probability "
    "that each is the most probable outcome. p: Wilcoxon's signed-rank test, corrected by Holm for all rows of its "
    "table. Both count all data sets alike, whatever their family: where they are sure and the interval contains 0, "
    "believe the interval. Better than, worse than: the number of methods with p below 0.05.",
)
READ = (
    "Gain: the score of the method less that of the other on the same data set, in points. What lacks a score on a "
    "data set is compared on the others, and nothing is filled in. Random rankings: the mean of their draws.",
    "Ranks are among the methods with a score on every data set, 1 being the best; controls have none.",
    "Seconds are of fits, geometric means over the data sets, on whatever machine ran them. Front: of what has a score "
    "on every data set, nothing is as good and as fast, and better in one of the two. Scores are of K-means.",
)


class Part(NamedTuple):
    """A part of a page."""

    title: str
    tables: list  # each a list of lines of texts, the first being the head
    sentences: list


def frame(found):
    """Return a row for each selection and each other method or control, and one for the method itself."""
    frames = [
        one.table.join(one.places, how="outer").rename_axis("over").reset_index().assign(selection=one.selection)
        for one in found
    ]
    return pd.concat(frames, ignore_index=True).set_index(["selection", "over"])


def page_of(found, study, metric, rope, said=()):
    """Return the `Part`s of the page of several `Versus`: what they have in common, and one for each selection."""
    first = found[0]
    names = unique_names("method", dict.fromkeys(name for one in found for name in one.scores))
    names |= {RANDOM: "Random rankings", first.name: first.name}
    families = {name: first.families[name] for name in first.scores.index}
    what = f"Study {study.name}, protocol {study.protocol['name']}. {len(families)} data sets: {by_family(families)}."
    tested = first.table["p"].notna().any()
    notes = [text.format(rope=rope) for text in (*READ, *(TESTS if tested else ()))] + _out_of_reach(first)
    head = ["Selection", METRICS[metric], "Average rank", "Over random rankings", "Over all features", "Front"]
    head += ["Better than", "Worse than"] if tested else []
    summary = [head, *(_summary(one)[: len(head)] for one in found)]
    said = [what, *_unscored(first), *said, *first.left_out, *([] if tested else [FEW]), *notes]
    return [Part(f"{first.name} beside all methods", [summary], said), *(_selected(one, names) for one in found)]


def _unscored(one):
    return [f"{one.name} has no score on {_listed(one.unscored)}, left out here."] if one.unscored else []


def _out_of_reach(one):
    """Say, in no or one text, that so few data sets allow no p of the table to be below `ALPHA`."""
    rows, n = one.table["p"].count(), int(one.table["n_datasets"].max())
    least = least_p(n, rows)
    if not rows or least < ALPHA:
        return []
    needed = 2 + floor(log2(rows / ALPHA))
    return [
        f"With {n} data sets no p corrected for {rows} rows can be below {least:.2g}, whatever the scores, so that the "
        f"test finds nothing better or worse: it takes {needed} data sets. Until then read gains and intervals."
    ]


def _summary(one):
    own = one.places.loc[one.name]
    sure = one.table.drop(index=one.controls)
    sure = sure[sure["p_holm"] < ALPHA]
    counts = [f"{(sure['gain'] * sign > 0).sum()} of {len(one.table) - len(one.controls)}" for sign in (1, -1)]
    spread = interval(own["rank_low"], own["rank_high"])
    gains = [_gain(one.table.loc[name]) if name in one.table.index else "no score" for name in (RANDOM, ALL)]
    rank = f"{own['average_rank']:.2f} of {one.places['average_rank'].count()}{spread and f' ({spread})'}"
    return [one.selection, f"{own['score']:.1f}", rank, *gains, "yes" if own["front"] else "no", *counts]


def _selected(one, names):
    chosen, own = BY_NAME[one.selection], one.scores[one.name]
    others = one.scores.drop(columns=[one.name, *one.controls])
    below = own[own < one.scores[RANDOM]] if RANDOM in one.scores else own[:0]
    sentences = [
        f"Shown: {chosen.words}. {CHOICES[one.selection].seconds}.",
        f"Best of all on {_listed(own[own >= others.max(axis=1)].index)}; "
        f"below random rankings on {_listed(below.index)}.",
        f"Front: {', '.join(names[name] for name in one.places.index[one.places['front']])}.",
    ]
    gaps = {}
    for name in one.table.index:
        gaps.setdefault(_listed(one.scores.index[one.scores[name].isna()]), []).append(names[name])
    sentences += [f"No score on {where}: {', '.join(who)}." for where, who in gaps.items() if where != "none"]
    sentences += _unscored(one)
    if chosen.criterion:
        own_points, median = one.tried
        sentences.append(f"Points of the grid: {own_points} of {one.name}, {median:.0f} in the median of the others.")
    if one.incomplete:
        sentences.append(
            f"Points of the grid failed, reached a limit or are missing in {one.incomplete} "
            f"cell{'s' if one.incomplete > 1 else ''} of other methods."
        )
    sentences += [f"{one.selection}: {ORACLE}."] if chosen.oracle else []
    title = f"{one.selection}: chosen {'with' if chosen.oracle else 'without'} labels"
    return Part(title, [_against(one, names), _by_dataset(one, names, others)], sentences)


def _against(one, names):
    """Return the lines of all others, by their rank, those without one and controls at the end."""
    lines = [HEAD]
    known = one.places.reindex([one.name, *one.table.index])
    for name in known.index[np.lexsort((known.index.isin(one.controls), known["average_rank"]))]:
        place, cells = known.loc[name], [""] * 7
        if name != one.name:
            row = one.table.loc[name]
            cells = [signed(row["gain"]), _spread(row), f"{row['wins']:.0f}/{row['ties']:.0f}/{row['losses']:.0f}"]
            cells += [*(number(row[column]) for column in ("worse", "equivalent", "better")), number(row["p_holm"], 3)]
        mark = " (this)" if name == one.name else " (control)" if name in one.controls else ""
        numbers = [number(place[column], digits) for column, digits in (("score", 1), ("seconds", 3))]
        front = "yes" if place["front"] is True else ""
        lines.append([names[name] + mark, number(place["average_rank"]), *cells, *numbers, front])
    return lines


def _by_dataset(one, names, others):
    """Return the lines of all data sets, those on which the method is best in comparison with random rankings first."""
    own = one.scores[one.name]
    place = 1 + others.gt(own, axis=0).sum(axis=1)
    lines = [["Data set", one.name, "Random rankings", "All features", "Best other", "Place"]]
    for dataset in (own - one.scores.get(RANDOM, 0)).sort_values(ascending=False, kind="stable").index:
        row, rivals = one.scores.loc[dataset], others.loc[dataset].dropna()
        numbers = [number(row.get(name, np.nan), 1) for name in (one.name, RANDOM, ALL)]
        best = f"{names[rivals.idxmax()]} {rivals.max():.1f}" if len(rivals) else ""
        lines.append([printed("dataset", dataset), *numbers, best, f"{place[dataset]} of {len(rivals) + 1}"])
    return lines


def _gain(row):
    return signed(row["gain"]) + (f" ({_spread(row)})" if _spread(row) else "")


def _spread(row):
    return "" if np.isnan(row["low"]) else f"{signed(row['low'])} to {signed(row['high'])}"


def _listed(datasets):
    return ", ".join(printed("dataset", name) for name in datasets) or "none"
