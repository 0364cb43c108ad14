"""One method beside all others: as one frame, as the parts of a page, and as that page in Markdown, LaTeX or HTML."""

from math import floor, log2
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.study import ALL, METRICS, RANDOM
from metrics.study.ranks import MIN_DATASETS
from metrics.study.selections import BY_NAME
from scripts.core.conf import printed, unique_names
from scripts.core.tabular import PACKAGES, to_lines
from scripts.core.text import interval, number, signed
from scripts.core.views import notes, render
from scripts.core.words import by_labels, uses_labels
from scripts.ranks.ranks_page import by_family, oracle_words
from scripts.versus import ALPHA, least_p

HEAD = ["Method", "Rank", "Gain over it", "95 % interval", "Wins/ties/losses"]
HEAD += ["Worse", "Equivalent", "Better", "p", "Score", "Seconds", "Front"]


class Part(NamedTuple):
    """A part of a page."""

    title: str
    tables: list  # each a list of lines of texts, the first being the head
    sentences: list


def written(page, form, drawing=""):
    """Return the `Part`s of a page as Markdown, LaTeX or HTML: "md", "latex" or "html", which has an SVG, too."""
    if form == "latex":
        return _latex(page)
    head = render("make_table/head.html.j2", title=page[0].title) + "\n"
    return render(f"versus/versus.{form}.j2", page=page, head=head, drawing=drawing[drawing.find("<svg") :])


def _latex(page):
    """Return the tables, the sentences of a part below its last one."""
    lines = [PACKAGES]
    for nth, part in enumerate(page):
        for place, table in enumerate(part.tables):
            title = part.title + (f", by {table[0][0].lower()}" if place else "")
            below = " ".join(part.sentences) if place == len(part.tables) - 1 else ""
            lines += to_lines(f"versus-{nth}-{place}", title, table, below)
    return "\n".join(lines) + "\n"


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
    what = f"Study {study.title}, protocol {study.protocol['name']}. {len(families)} data sets: {by_family(families)}."
    tested = first.table["p"].notna().any()
    head = ["Selection", METRICS[metric], "Average rank", "Over random rankings", "Over all features", "Front"]
    head += ["Better than", "Worse than"] if tested else []
    summary = [head, *(_summary(one)[: len(head)] for one in found)]
    said = [what, *filter(None, [_unscored(first)]), *said, *first.left_out, *_notes(first, tested, rope)]
    return [
        Part(f"{first.name} beside all methods", [summary], said),
        *(_selected(one, names, metric) for one in found),
    ]


def _unscored(one):
    return f"{one.name} has no score on {_listed(one.unscored)}, left out here." if one.unscored else ""


def _notes(one, tested, rope):
    """Explain how to read the page, and that so few data sets may allow no p to be below `ALPHA`."""
    rows, n = int(one.table["p"].count()), int(one.table["n_datasets"].max())
    needed = 2 + floor(log2(rows / ALPHA)) if rows else 0
    return notes(
        "versus/notes.md.j2", tested=tested, rope=rope, least=MIN_DATASETS, rows=rows, n=n, alpha=ALPHA, needed=needed,
        least_p=least_p(n, rows),
    )  # fmt: skip


def _summary(one):
    own = one.places.loc[one.name]
    sure = one.table.drop(index=one.controls)
    sure = sure[sure["p_holm"] < ALPHA]
    counts = [f"{(sure['gain'] * sign > 0).sum()} of {len(one.table) - len(one.controls)}" for sign in (1, -1)]
    spread = interval(own["rank_low"], own["rank_high"])
    gains = [_gain(one.table.loc[name]) if name in one.table.index else "no score" for name in (RANDOM, ALL)]
    rank = f"{own['average_rank']:.2f} of {one.places['average_rank'].count()}{spread and f' ({spread})'}"
    return [one.selection, f"{own['score']:.1f}", rank, *gains, "yes" if own["front"] else "no", *counts]


def _selected(one, names, metric):
    chosen, own = BY_NAME[one.selection], one.scores[one.name]
    others = one.scores.drop(columns=[one.name, *one.controls])
    below = own[own < one.scores[RANDOM]] if RANDOM in one.scores else own[:0]
    gaps = {}
    for name in one.table.index:
        gaps.setdefault(_listed(one.scores.index[one.scores[name].isna()]), []).append(names[name])
    sentences = notes(
        "versus/selected.md.j2", one=one, chosen=chosen, gaps=gaps, unscored=_unscored(one),
        words=by_labels(chosen.words, metric), oracle=oracle_words(one.selection, metric),
        best=_listed(own[own >= others.max(axis=1)].index), below=_listed(below.index),
        front=[names[name] for name in one.places.index[one.places["front"]]],
    )  # fmt: skip
    title = f"{one.selection}: chosen {'with' if uses_labels(one.selection, metric) else 'without'} labels"
    return Part(title, [_against(one, names), _by_dataset(one, names, others)], sentences)


def _against(one, names):
    """Return the lines of all others, by their rank, those without one and controls at the end."""
    lines = [HEAD]
    known = one.places.reindex([one.name, *one.table.index])
    for name in known.index[np.lexsort((known.index.isin(one.controls), known["average_rank"]))]:
        place, cells = known.loc[name], [""] * 7
        if name != one.name:
            row = one.table.loc[name]
            cells = [signed(row["gain"]), interval(row["low"], row["high"], signed)]
            cells.append(f"{row['wins']:.0f}/{row['ties']:.0f}/{row['losses']:.0f}")
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
    spread = interval(row["low"], row["high"], signed)
    return signed(row["gain"]) + (spread and f" ({spread})")


def _listed(datasets):
    return ", ".join(printed("dataset", name) for name in datasets) or "none"
