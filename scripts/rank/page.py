"""Gains and ranks of a study, and what choices without labels lose: as pages of Markdown, or as one frame."""

import textwrap

import pandas as pd

from ufs_bench.metrics.study import ALL, METRICS, RANDOM
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.losses import candidates, losses, mean_losses
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.messages import counted
from ufs_bench.scripts.core.command_lines import fill_pairs
from ufs_bench.scripts.core.conf import family_of, printed, printed_family, unique_names
from ufs_bench.scripts.core.text import interval, number, pipes, uses_labels, with_interval, wrapped
from ufs_bench.scripts.rank.choice import is_control, one_of_each_source
from ufs_bench.scripts.rank.field import COLUMNS, DROPPED, REFERENCES

ORACLE = (
    "the choice looks at {}, so that a method with a grid gets its best point, and a control only its best "
    "size: a part of every gain is this maximum (scripts.make_table says what is left without it). "
    "selection=default_params has none of it"
)
MOST = 12  # methods of a page that is not full
MEAN = ["mean", "low", "high"]  # of gains, with its interval
OVER = {RANDOM: "random rankings", ALL: "all features"}
EVERYTHING = "all features, no choice"
HEAD = "Choice|Loss|95 % interval|Less than default|Least|Smallest size|Largest size|Cells|Without a choice".split("|")
NOTE = """
Points that a choice loses against the oracle: the candidate that is best by the labels in one half of the K-means
restarts, scored in the other half, so that its score is not the luck that chose it. Data sets count alike, of copies of
a source the one with the most methods; the intervals are of a bootstrap that draws families of data sets, then data
sets with all that is on them. Less than default: how much less is lost than at the default parameters and the size
nearest to 100, in the cells that have both; where the interval holds 0, the choice is not shown to be better than none.
Least: the share of the cells in which no other choice loses less. Smallest and largest size: how often the choice is
the first or the last size of the protocol. "default", "largest" and "median" look at nothing, and "all features"
selects nothing: a criterion that loses more is worse than that. Cells whose candidates all score alike are left out,
and so are controls. Without a choice: the fit of that size failed, or ended at a limit.
"""


def ranks_page(field, ranking, gains, full=False):
    """Return the page of ranks and of gains over controls, of the best `MOST` or all methods."""
    rows = _rows(ranking.table, gains, names_of(field))
    shown = rows if full else [*rows[: MOST + 1], *(row for row in rows[MOST + 1 :] if not row[1])]
    n_datasets, n_methods = field.scores.shape
    p, n_families = ranking.comparison.friedman_p, len(set(field.families.values()))
    families = f": {by_family(field.families)}" if full else ""
    said = [
        "Rank: 1 is the best; ties share the mean of their places. Gain: the difference on the same data set, in "
        "points.",
        "Intervals of 95 % are for other data sets: a bootstrap that draws families of data sets, then data sets "
        f"within each, here of {'1 family' if n_families == 1 else f'{n_families} families'}.",
    ]
    if field.n_draws:
        said.append(f"Random rankings: the mean of {field.n_draws}, each at the size that the selection gives it.")
    if words := oracle_words(field.selection, field.metric):
        said.append(f"{field.selection}: {words}.")
    if p == p:
        said.append(f"Friedman's test whether any method differs: p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}.")
    said += [text for text in field.left_out if full or text.startswith(DROPPED)]
    title = f"Gains and ranks of study {field.study.title}: {METRICS[field.metric]}"
    return page(
        f"## {title}, {field.selection}, {field.clusterer}",
        f"{n_methods} methods on {n_datasets} data sets{families}.",
        pipes(shown),
        f"{len(rows) - len(shown)} more methods: full=true." if len(rows) > len(shown) else "",
        bullets(said),
        _lacking(field),
    )


def page(*parts):
    """Return the parts of a page that are not empty, with a line between two."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def bullets(texts):
    """Return a list in Markdown, in lines of 120 letters."""
    return "\n".join(textwrap.fill(f"* {text}", 120, subsequent_indent="  ", break_on_hyphens=False) for text in texts)


def frame(ranking, gains):
    """Return one row per method, best rank first, and per control, which has no rank; a reference without scores
    has empty columns."""
    tables = {found.reference: found.table for found in gains}
    empty = pd.DataFrame(columns=COLUMNS, dtype=float)
    parts = [tables.get(reference, empty).add_prefix(f"over_{reference}_") for reference in REFERENCES]
    names = dict.fromkeys(name for part in (ranking.table, *parts) for name in part.index)
    table = pd.concat([ranking.table, *parts], axis=1).reindex(list(names))
    return table.astype({"wins": "Int64"}).rename_axis("method")


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


def _lacking(field):
    """Say which controls have no score on some data set, with the commands that fill them."""
    controls = dict.fromkeys(control for control, _ in field.lacking)
    if not controls:
        return ""
    commands = "\n".join(f"    {line}" for line in fill_pairs(field.lacking, field.study, field.study.own_name))
    return f"Not shown, as some data sets have no score of it: {', '.join(controls)}. To fill it:\n\n{commands}"


def _rows(table, gains, names):
    """Return the lines of methods by their rank, and of controls after them, with their gains over each reference."""
    head = ["Method", "Average rank", "Interval", "Wins"]
    lines = [head + [f"Over {OVER[found.reference]}" for found in gains]]
    controls = [name for name in names if name not in table.index and any(name in own.table.index for own in gains)]
    for name in [*table.index, *controls]:
        ranked, mark = ["", "", ""], " (control)"
        if name in table.index:
            row, mark = table.loc[name], ""
            ranked = [number(row["average_rank"]), interval(row["low"], row["high"]), str(int(row["wins"]))]
        found = [with_interval(*own.table.loc[name, MEAN]) if name in own.table.index else "" for own in gains]
        lines.append([names[name] + mark, *ranked, *found])
    return lines


def choices_text(studies, metric, form="md"):
    """Return the loss of every choice over the cells of some studies as Markdown, or of every cell as CSV."""
    found = [losses(candidates(study.whole), metric) for study in studies]
    found, names = percent(pd.concat(found, ignore_index=True)), [study.title for study in studies]
    controls = [name for name in found["method"].unique() if is_control(name)]
    found = found[~found["method"].isin(controls)]
    found = found[found["dataset"].isin(one_of_each_source(sorted(found["dataset"].unique()), found)[0])]
    if found.empty:
        raise ValueError(
            f"study={','.join(names)}: no cell has two candidates that differ in {metric}, controls aside, so "
            "there is nothing to choose. Run a method with a grid or several sizes."
        )
    return choices_page(found, metric, names) if form == "md" else found.to_csv(index=False)


def choices_page(found, metric, names):
    """Return the mean of losses in percent, of studies of these names, as a page of Markdown."""
    families = {name: family_of(name) for name in found["dataset"].unique()}
    columns = {name: choice.column for name, choice in BY_NAME.items()} | {ALL: EVERYTHING}
    rows = [HEAD]
    for row in mean_losses(found, families).itertuples():
        shares = ["" if pd.isna(share) else f"{share:.0%}" for share in (row.wins, row.smallest, row.largest)]
        rows.append([
            columns[row.selection], number(row.loss, 1), interval(row.low, row.high, lambda value: number(value, 1)),
            with_interval(row.gain, row.gain_low, row.gain_high), *shares, str(row.cells), str(row.missing),
        ])  # fmt: skip
    cells = counted(len(found.groupby(["study", "dataset", "method"])), "cell")
    return page(
        f"# What a choice without labels loses: {METRICS[metric]}",
        f"Studies: {', '.join(names)}; {cells} on {counted(len(families), 'data set')}.",
        pipes(rows),
        wrapped(NOTE),
    )
