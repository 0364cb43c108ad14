"""Compares one method with all others of a study: as one frame, and as a page of Markdown."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, METRICS, RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import DIGITS, MIN_DATASETS, holm, ranks, wilcoxon
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.core.controls import random_scores
from ufs_bench.scripts.core.study import with_seconds
from ufs_bench.scripts.core.text import interval, number, pipes, signed
from ufs_bench.scripts.rank.choice import choose
from ufs_bench.scripts.rank.field import gains_of
from ufs_bench.scripts.rank.page import MOST, bullets, by_family, oracle_words, page

SHORTEST = 0.001  # seconds; a fit that takes less counts as this, so that the geometric mean is above 0
ALPHA = 0.05  # p below which a method counts as better or worse
HEAD = ["Method", "Rank", "Gain over it", "95 % interval", "Wins/ties/losses", "p", "Score", "Seconds", "Front"]


class Versus(NamedTuple):
    """One method compared with all others, under one selection."""

    name: str
    selection: str
    scores: pd.DataFrame  # data sets x methods and controls, in percent, with gaps; random rankings have their mean
    controls: list
    families: dict  # data set -> family
    # One row per control and rival: the gain of the method over it, as `scripts.rank.field.gains_of` returns it, p of
    # Wilcoxon's test (nan with fewer than `MIN_DATASETS` data sets), and p_holm
    table: pd.DataFrame
    # One row per method with a score on every data set and per such control: score and seconds (arithmetic and
    # geometric mean), front (nothing else is as good and as fast), average_rank, rank_low, rank_high (controls: nan)
    places: pd.DataFrame
    left_out: list  # sentences on variants of the methods
    unscored: list  # data sets on which the method has no score


def versus(others, mine, name, datasets, selection, metric="acc", variants="base"):
    """Compare a method with the others of a study, and return the `Versus`.

    `mine` has the results of the method `name`, under the protocol of `others`, where one of this name is left out.
    Selection, metric and variants are as in `scripts.rank`.  A ValueError says that the method has no score at all.
    """
    choice = choose(others, datasets=datasets, variants=variants)
    theirs, own = others.select(metric, selection), mine.select(metric, selection)
    cells = pd.concat([theirs[theirs["method"] != name], own[own["method"] == name]])
    cells = of_kmeans(cells[cells["dataset"].isin(datasets)])
    wide = cells.pivot(index="dataset", columns="method", values="mean").reindex(datasets)
    if name not in wide or wide[name].isna().all():
        raise ValueError(f"{name} has no {metric} under selection={selection}: its fits failed, or reached a limit.")
    wide[RANDOM] = random_scores(others, metric, selection)["mean"].reindex(datasets)
    rivals = dict.fromkeys([RANDOM, *choice.controls, *choice.methods])
    scores = wide[wide[name].notna()].reindex(columns=[name, *(one for one in rivals if one != name)])
    scores = scores.dropna(axis=1, how="all")
    controls = [one for one in choice.controls if one in scores and one != name]
    gains = -scores.drop(columns=name).sub(scores[name], axis=0).round(DIGITS)
    table = gains_of(gains, choice.families)
    table["p"] = [wilcoxon(own) if len(own := gains[one].dropna()) >= MIN_DATASETS else np.nan for one in gains]
    table["p_holm"] = holm(table["p"])
    trials = pd.concat([others.trials[others.trials["method"] != name], mine.trials[mine.trials["method"] == name]])
    seconds = with_seconds(cells, trials, selection).pivot(index="dataset", columns="method", values="seconds")
    places = _places(scores.dropna(axis=1), seconds, controls, choice.families)
    unscored = list(wide.index[wide[name].isna()])
    return Versus(name, selection, scores, controls, choice.families, table, places, choice.left_out, unscored)


def split_by_data(others, mine, datasets):
    """Return the data sets on which two studies have the same data, and those on which they do not."""
    shas = [one.trials.groupby("dataset")["data_sha"].agg(set) for one in (others, mine)]
    stored = [name for name in datasets if name in shas[1]]
    same = [name for name in stored if shas[0][name] == shas[1][name]]
    if not same:
        raise ValueError("no data set has the data here on which the study was run.")
    return same, [name for name in stored if name not in same]


def _places(scores, seconds, controls, families):
    ranked = ranks(scores.drop(columns=controls, errors="ignore"))
    low, high = means_by_family(ranked, families) if len(ranked) >= MIN_DATASETS else (np.nan, np.nan)
    spread = pd.DataFrame({"rank_low": low, "rank_high": high}, ranked.columns, dtype=float)
    spent = seconds.reindex(index=scores.index, columns=scores.columns).clip(lower=SHORTEST)
    columns = {
        "score": scores.mean(),
        "seconds": np.exp(np.log(spent).mean(skipna=False)),
        "average_rank": ranked.mean(),
    }
    places = pd.DataFrame(columns, index=scores.columns).join(spread)
    places["front"] = [pd.notna(own["seconds"]) and not _beaten(own, places) for _, own in places.iterrows()]
    return places.sort_values("average_rank", kind="stable")


def _beaten(own, places):
    as_good = (places["score"] >= own["score"]) & (places["seconds"] <= own["seconds"])
    better = (places["score"] > own["score"]) | (places["seconds"] < own["seconds"])
    return (as_good & better).any()


def versus_frame(found):
    """Return a row for each selection and each other method or control, and one for the method itself."""
    frames = [
        one.table.join(one.places, how="outer").rename_axis("over").reset_index().assign(selection=one.selection)
        for one in found
    ]
    return pd.concat(frames, ignore_index=True).set_index(["selection", "over"])


def versus_page(found, study, metric, full=False):
    """Return the page of several `Versus`: where the method stands, and with `full` every other method."""
    first = found[0]
    names = unique_names("method", dict.fromkeys(name for one in found for name in one.scores))
    names |= {RANDOM: "Random rankings", first.name: first.name}
    families = {name: first.families[name] for name in first.scores.index}
    tested = first.table["p"].notna().any()
    head = ["Selection", METRICS[metric], "Average rank", "Over random rankings", "Over all features", "Front"]
    head += ["Better than", "Worse than"] if tested else []
    data = f"{len(families)} data sets" + (f": {by_family(families)}" if full else "")
    data += f". {first.name} has no score on {_listed(first.unscored)}, left out here" if first.unscored else ""
    lines = _against(first, names)
    if not full:
        lines = [line for place, line in enumerate(lines) if place <= MOST or line[0].endswith(("(this)", "(control)"))]
    said = [
        "Gain: the score of the method minus the score of the other on the same data set, in points. A rank is among "
        "the methods with a score on every data set. Front: nothing with a score everywhere is as good and as fast, "
        "and better in one of the two.",
    ]
    if tested:
        said.append(
            "Intervals of 95 % are for other data sets of other families. p: Wilcoxon's test, corrected by Holm for "
            "all rows."
        )
    else:
        said.append(f"Fewer than {MIN_DATASETS} data sets: an interval is not given, and a test cannot reach p = 0.05.")
    gaps = {}
    for name in first.table.index[first.scores[first.table.index].isna().any()]:
        gaps.setdefault(_listed(first.scores.index[first.scores[name].isna()]), []).append(names[name])
    more = [f"No score on {where}: {', '.join(who)}." for where, who in gaps.items()] + first.left_out
    more += [f"{one.selection}: {words}." for one in found if (words := oracle_words(one.selection, metric))]
    return page(
        f"# {first.name} compared with all methods",
        f"Study {study.title}, protocol {study.protocol['name']}. {data}.",
        pipes([head, *(_summary(one)[: len(head)] for one in found)]),
        f"{'All methods' if full else 'The methods of the best rank'}, and controls, by {first.selection}:",
        pipes(lines),
        bullets([*said, *(more if full else ["full=true has every method, format=csv every selection."])]),
    )


def _summary(one):
    own = one.places.loc[one.name]
    sure = one.table.drop(index=one.controls)
    sure = sure[sure["p_holm"] < ALPHA]
    counts = [f"{(sure['mean'] * sign > 0).sum()} of {len(one.table) - len(one.controls)}" for sign in (1, -1)]
    spread = interval(own["rank_low"], own["rank_high"])
    gains = [_gain(one.table.loc[name]) if name in one.table.index else "no score" for name in (RANDOM, ALL)]
    rank = f"{own['average_rank']:.2f} of {one.places['average_rank'].count()}{spread and f' ({spread})'}"
    return [one.selection, f"{own['score']:.1f}", rank, *gains, "yes" if own["front"] else "no", *counts]


def _against(one, names):
    """Return the lines of all others, by their rank, those without one and controls at the end."""
    lines = [HEAD]
    known = one.places.reindex([one.name, *one.table.index])
    for name in known.index[np.lexsort((known.index.isin(one.controls), known["average_rank"]))]:
        place, cells = known.loc[name], [""] * 4
        if name != one.name:
            row = one.table.loc[name]
            cells = [signed(row["mean"]), interval(row["low"], row["high"], signed)]
            cells.append(f"{row['wins']:.0f}/{row['ties']:.0f}/{row['losses']:.0f}")
            cells.append(number(row["p_holm"], 3))
        mark = " (this)" if name == one.name else " (control)" if name in one.controls else ""
        numbers = [number(place[column], digits) for column, digits in (("score", 1), ("seconds", 3))]
        front = "yes" if place["front"] is True else ""
        lines.append([names[name] + mark, number(place["average_rank"]), *cells, *numbers, front])
    return lines


def _gain(row):
    spread = interval(row["low"], row["high"], signed)
    return signed(row["mean"]) + (spread and f" ({spread})")


def _listed(datasets):
    return ", ".join(printed("dataset", name) for name in datasets)
