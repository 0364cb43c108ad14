"""One method compared with all others: as one frame, and as a page of Markdown."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, METRICS, RANDOM
from ufs_bench.metrics.study.ranks import MIN_DATASETS
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.core.text import interval, number, pipes, signed
from ufs_bench.scripts.rank.page import MOST, bullets, by_family, oracle_words, page

ALPHA = 0.05  # p below which a method counts as better or worse
HEAD = ["Method", "Rank", "Gain over it", "95 % interval", "Wins/ties/losses", "p", "Score", "Seconds", "Front"]


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
