"""The gains and the ranks of a study as a page of Markdown, or as one frame."""

import pandas as pd

from metrics.study import METRICS
from metrics.study.selections import BY_NAME
from scripts.compare.controls import ALL, RANDOM
from scripts.core.command_lines import fill_pairs
from scripts.core.conf import printed, printed_family, unique_names
from scripts.core.text import interval, number, signed
from scripts.core.views import notes, render
from scripts.core.words import uses_labels
from scripts.ranks.field import REFERENCES
from scripts.ranks.gains import COLUMNS

ORACLE = (
    "the choice looks at {}, so that a method with a grid gets its best point, and a control only its best "
    "size: a part of every gain is this maximum (scripts.make_table says what is left without it). "
    "selection=default_params has none of it"
)
OVER = {RANDOM: "random rankings", ALL: "all features"}


def ranks_page(field, ranking, gains, rope=1.0, alpha=0.05):
    """Return the gains over controls, the ranks, and on request the p of every pair."""
    names = names_of(field)
    return render(
        "ranks/ranks.md.j2",
        field=field,
        what=METRICS[field.metric],
        families=by_family(field.families),
        gains=[(f"Gain over {OVER[found.reference]}, in points", gains_table(found, names)) for found in gains],
        gain_notes=gain_notes(field, gains, rope),
        without=without(field),
        ranks=_ranks(ranking.table, names),
        rank_notes=rank_notes(ranking.comparison, alpha),
        pairs=_pairs(ranking, names, alpha),
        posthoc=ranking.comparison.posthoc,
        alpha=alpha,
    )


def frame(ranking, gains):
    """Return one row per method, best rank first, and per control, which has no rank; a reference without scores
    has empty columns."""
    parts = [ranking.table]
    tables = {found.reference: found.table for found in gains}
    for reference in REFERENCES:
        table = tables.get(reference, pd.DataFrame(columns=COLUMNS, dtype=float))
        parts.append(table.add_prefix(f"over_{reference}_"))
    names = dict.fromkeys(name for part in parts for name in part.index)
    return pd.concat(parts, axis=1).reindex(list(names)).astype({"wins": "Int64"}).rename_axis("method")


def names_of(field):
    """Return the printed names of methods and controls; tables have the best random ranking, this page their mean."""
    return unique_names("method", [*field.scores, *field.controls]) | {RANDOM: "Random rankings"}


def by_family(families):
    """Return the data sets, family by family, as a text."""
    groups = {}
    for name, family in families.items():
        groups.setdefault(family, []).append(printed("dataset", name))
    return "; ".join(
        ", ".join(members) if name in families else f"{printed_family(name)}: {', '.join(members)}"
        for name, members in sorted(groups.items())
    )


def oracle_words(selection, metric):
    """Say what a choice of the best point looks at; "" where the selection does not choose so."""
    looked_at = "the labels" if uses_labels(selection, metric) else "the score itself"
    return ORACLE.format(looked_at) if BY_NAME[selection].oracle else ""


def gain_notes(field, gains, rope=1.0):
    """Explain how to read the gains, in sentences."""
    if not gains:
        return []
    return notes(
        "ranks/gain_notes.md.j2",
        n_families=len(set(field.families.values())),
        n_draws=field.n_draws,
        rope=rope,
        selection=field.selection,
        oracle=oracle_words(field.selection, field.metric),
    )


def rank_notes(comparison, alpha=0.05):
    """Explain how to read the ranks, in sentences."""
    return notes("ranks/rank_notes.md.j2", **comparison._asdict(), p=_p(comparison.friedman_p, "= "), alpha=alpha)


def without(field):
    """Say which scores the controls lack, a sentence for each, with the command lines that fill them."""
    gaps = {}
    for control, dataset in field.lacking:
        gaps.setdefault(control, []).append(dataset)
    for control, datasets in gaps.items():
        what = "No gains over" if control in REFERENCES else "Not shown:"
        text = f"{what} {control}, which has no score on {', '.join(datasets)}:"
        pairs = [(control, dataset) for dataset in datasets]
        yield text, fill_pairs(pairs, field.study, field.study.own_name)


def gains_table(found, names):
    """Return the lines of a table of the gains over one control."""
    rows = [
        [
            names[row.Index] + (" (control)" if row.Index in found.controls else ""),
            signed(row.mean),
            f"{signed(row.low)} to {signed(row.high)}",
            f"{100 * row.above:.0f} %",
            *map(number, (row.worse, row.equivalent, row.better)),
        ]
        for row in found.table.itertuples()
    ]
    return [["Method", "Mean", "95 % interval", "Above", "Worse", "Equivalent", "Better"], *rows]


def _ranks(table, names):
    rows = [
        [names[row.Index], number(row.average_rank), interval(row.low, row.high),
         interval(row.low_datasets, row.high_datasets), str(int(row.wins))]
        for row in table.itertuples()
    ]  # fmt: skip
    return [["Method", "Average rank", "Other K-means starts", "Other data sets", "Wins"], *rows]


def _pairs(ranking, names, alpha):
    """Return the lines of a table of the p of every pair, the best method first; none where none were tested."""
    p, order, rows = ranking.comparison.pairs, list(ranking.table.index), []
    if p is None:
        return rows
    for place, first in enumerate(order[:-1]):
        values = [p.loc[first, second] for second in order[place + 1 :]]
        texts = [f"**{_p(value)}**" if value < alpha else _p(value) for value in values]
        rows.append([names[first], *[""] * place, *texts])
    return [["", *[names[name] for name in order[1:]]], *rows]


def _p(value, sign=""):
    return "< 0.001" if value < 0.001 else f"{sign}{value:.3f}"
