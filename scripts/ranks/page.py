"""The gains and the ranks of a study as a page of Markdown, or as one frame."""

import numpy as np
import pandas as pd

from metrics.study import METRICS
from metrics.study.selections import BY_NAME
from scripts.compare.controls import ALL, RANDOM
from scripts.core.command_lines import fill_pairs
from scripts.core.conf import printed, unique_names
from scripts.core.text import pipes
from scripts.ranks.field import REFERENCES
from scripts.ranks.gains import COLUMNS

DRAWN = (
    "95 % interval: a bootstrap that draws families of data sets, then data sets within each family drawn, with "
    "replacement: it says what other data of other families would give, and is rough with few families"
)
ORACLE = (
    "the choice looks at the labels, so that a method with a grid gets its best point, and a control only its best "
    "size: a part of every gain is this maximum (scripts.make_table says what is left without it). "
    "selection=default_params has none of it"
)
OVER = {RANDOM: "random rankings", ALL: "all features"}
POINTS = 1  # decimals of gains
TESTS = {"nemenyi": "Nemenyi", "wilcoxon_holm": "Wilcoxon-Holm"}


def ranks_page(field, ranking, gains, rope=1.0, alpha=0.05):
    """Return the gains over controls, the ranks, and on request the p of every pair."""
    names = names_of(field)
    n_datasets, n_methods = field.scores.shape
    what = f"{METRICS[field.metric]}, {field.selection}, {field.clusterer}"
    lines = [
        f"## Gains and ranks of study {field.study.name}: {what}",
        "",
        f"{n_methods} methods on {n_datasets} data sets: {by_family(field.families)}.",
        *(f"\n{text}" for text in field.left_out),
        "",
    ]
    for found in gains:
        lines += [f"### Gain over {OVER[found.reference]}, in points", "", gains_table(found, names), ""]
    lines += gain_notes(field, gains, rope)
    for text, commands in without(field):
        lines += [f"* {text}", *(f"      {command}" for command in commands)]
    lines += ["", "### Average ranks", "", _ranks(ranking.table, names), "", *rank_notes(ranking.comparison, alpha)]
    if ranking.comparison.pairs is not None:
        lines += ["", *_pairs(ranking, names, alpha)]
    return "\n".join(lines) + "\n"


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
        ", ".join(members) if name in families else f"{name}: {', '.join(members)}"
        for name, members in sorted(groups.items())
    )


def gain_notes(field, gains, rope=1.0):
    """Explain how to read the gains, in lines of Markdown."""
    if not gains:
        return []
    n_families = len(set(field.families.values()))
    lines = [
        f"* A gain is the difference on the same data set. {DRAWN}; here there "
        f"{'is one' if n_families == 1 else f'are {n_families}'}.",
        f"* Random rankings: the mean of {field.n_draws}, each at the size that the selection gives it.",
        "* Above: share of data sets with a gain above 0.",
        f"* Worse, equivalent, better: Bayesian signed-rank test in which differences up to {rope:g} count as "
        "none: the probability that each is the most probable outcome. Here all data sets count alike.",
    ]
    if BY_NAME[field.selection].oracle:
        lines.append(f"* {field.selection}: {ORACLE}.")
    return lines


def rank_notes(comparison, alpha=0.05):
    """Explain how to read the ranks, in lines of Markdown."""
    lines = [
        "* 1 is the best; ties share the mean of their places. Both intervals are of 95 %. Other K-means starts: a "
        "bootstrap of the restarts, which are averaged before the data sets, on these data sets at this choice of "
        "parameters. Other data sets: families drawn, then data sets, as for the gains."
    ]
    if not np.isnan(comparison.friedman_p):
        verdict = "they differ" if comparison.friedman_p < alpha else "they may all be alike"
        lines.append(
            f"* Friedman: chi-squared {comparison.friedman:.2f}, p {_p(comparison.friedman_p, '= ')}: {verdict}."
        )
    if not np.isnan(comparison.critical_difference):
        lines.append(f"* Nemenyi: ranks differ at {alpha:g} when more than {comparison.critical_difference:.2f} apart.")
    return lines


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
    """Return the gains over one control as a table in Markdown."""
    head = ["Method", "Mean", "95 % interval", "Above", "Worse", "Equivalent", "Better"]
    rows = [
        [
            names[row.Index] + (" (control)" if row.Index in found.controls else ""),
            signed(row.mean),
            f"{signed(row.low)} to {signed(row.high)}",
            f"{100 * row.above:.0f} %",
            *(f"{value:.2f}" for value in (row.worse, row.equivalent, row.better)),
        ]
        for row in found.table.itertuples()
    ]
    return pipes([head, *rows])


def signed(value):
    """Return a gain as a text with its sign."""
    return f"{value + 0.0:+.{POINTS}f}"


def above(table, low="low"):
    """Return the rows whose interval lies above 0 as it is printed.

    An end that prints as 0.0 is nearer to 0 than its noise: other resamples put it on the other side.
    """
    return list(table.index[table[low].round(POINTS) > 0])


def below(table, high="high"):
    """Return the rows whose interval lies below 0 as it is printed."""
    return list(table.index[table[high].round(POINTS) < 0])


def with_interval(mean, low, high):
    """Return a gain and its interval as a text."""
    return f"{signed(mean)} ({signed(low)} to {signed(high)})"


def _ranks(table, names):
    head = ["Method", "Average rank", "Other K-means starts", "Other data sets", "Wins"]
    rows = [
        [
            names[row.Index],
            f"{row.average_rank:.2f}",
            interval(row.low, row.high),
            interval(row.low_datasets, row.high_datasets),
            str(int(row.wins)),
        ]
        for row in table.itertuples()
    ]
    return pipes([head, *rows])


def interval(low, high):
    """Return an interval of ranks as a text; "" where there is none."""
    return "" if np.isnan(low) else f"{low:.2f} to {high:.2f}"


def _pairs(ranking, names, alpha):
    p, order = ranking.comparison.pairs, list(ranking.table.index)
    rows = []
    for place, first in enumerate(order[:-1]):
        values = [p.loc[first, second] for second in order[place + 1 :]]
        texts = [f"**{_p(value)}**" if value < alpha else _p(value) for value in values]
        rows.append([names[first], *[""] * place, *texts])
    title = f"p of every pair, {TESTS[ranking.comparison.posthoc]} (bold: below {alpha:g})"
    return [title, "", pipes([["", *[names[name] for name in order[1:]]], *rows])]


def _p(value, sign=""):
    return "< 0.001" if value < 0.001 else f"{sign}{value:.3f}"
