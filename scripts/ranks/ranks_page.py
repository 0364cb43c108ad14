"""The gains and the ranks of a study as a page of Markdown, or as one frame."""

import pandas as pd

from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.compare.controls import ALL, RANDOM
from ufs_bench.scripts.core.command_lines import fill_pairs
from ufs_bench.scripts.core.conf import printed, printed_family, unique_names
from ufs_bench.scripts.core.text import interval, number, with_interval
from ufs_bench.scripts.core.views import render
from ufs_bench.scripts.core.words import uses_labels
from ufs_bench.scripts.ranks.field import REFERENCES
from ufs_bench.scripts.ranks.gains import COLUMNS

ORACLE = (
    "the choice looks at {}, so that a method with a grid gets its best point, and a control only its best "
    "size: a part of every gain is this maximum (scripts.make_table says what is left without it). "
    "selection=default_params has none of it"
)
MOST = 12  # methods of a page that is not full
OVER = {RANDOM: "random rankings", ALL: "all features"}


def ranks_page(field, ranking, gains, rope=1.0, full=False):
    """Return the page of ranks and of gains over controls, of the best `MOST` or all methods."""
    rows = _rows(ranking.table, gains, names_of(field))
    shown = rows if full else [*rows[: MOST + 1], *(row for row in rows[MOST + 1 :] if not row[1])]
    return render(
        "ranks/ranks.md.j2",
        field=field,
        what=METRICS[field.metric],
        families=by_family(field.families) if full else "",
        n_families=len(set(field.families.values())),
        rows=shown,
        n_more=len(rows) - len(shown),
        full=full,
        rope=rope,
        oracle=oracle_words(field.selection, field.metric),
        without=list(without(field)),
        friedman_p=ranking.comparison.friedman_p,
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


def _rows(table, gains, names):
    """Return the lines of methods by their rank, and of controls after them, with their gains over each reference."""
    head = ["Method", "Average rank", "Interval", "Wins"]
    head += [f"Over {OVER[found.reference]} (better)" for found in gains]
    lines = [head]
    controls = [name for name in names if name not in table.index and any(name in own.table.index for own in gains)]
    for name in [*table.index, *controls]:
        row = table.loc[name] if name in table.index else None
        own = [""] * 3
        if row is not None:
            own = [number(row["average_rank"]), interval(row["low"], row["high"]), str(int(row["wins"]))]
        found = [_gain(one.table.loc[name]) if name in one.table.index else "" for one in gains]
        lines.append([names[name] + (" (control)" if row is None else ""), *own, *found])
    return lines


def _gain(row):
    return f"{with_interval(row['mean'], row['low'], row['high'])}, {number(row['better'])}"
