"""Counts the methods that are first in each column of the papers' tables: in print, and in our own tables.

A column is one data set and one score of one paper.  Counts are of K-means on the selected features, as the tables show
them, before any correction for luck; methods that share the largest mean are first together.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study.families import step_down
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.headline import COLUMN, is_partial
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.text import number

ENOUGH = 5  # data sets for a test of a difference; of fewer no order of signs has p below .05
LEVEL = 0.05
RELEASED = "_released"
NUMBERS = ("n_printed", "printed", "columns", "first", "variant", "chance", "rank", "partial")


class Claim(NamedTuple):
    """A sentence of the papers on their tables: one method is better than another in the same column."""

    words: str
    better: str  # a method, or "own" for the own method of each paper
    worse: str
    papers: tuple  # all where it is empty


CLAIMS = (
    Claim("the own method beats all features", "own", "all_features", ()),
    Claim("one step beats two: NDFS and MCFS (DGUFS, 5.2)", "ndfs", "mcfs", ("dgufs",)),
    Claim("a learned graph beats a fixed one: JGUFS and NDFS", "jgufs", "ndfs", ("jgufs",)),
    Claim(
        "triplets beat doublets: UFSOL and its similarity variant (UFSOL, 5.3)", "ufsol", "ufsol_similarity", ("ufsol",)
    ),
    Claim("SOCFS with triplets beats SOCFS (UFSOL, 5.3)", "socfs_triplet", "socfs", ("ufsol",)),
)


def cells_of(comparison, programs="ours"):
    """Return one cell a method and column, named as printed, with the table's own mean; `programs` says of whom.

    ours: the methods' own names; variants: of the papers' own methods the best variant; released: authors' programs
    instead of our solvers in each row that has one.
    """
    rows = of_kmeans(comparison).rename(columns={"published_method": "row"})
    rows = rows.assign(mean=rows["table_mean"], own=rows["row"] == rows["paper"], partial=is_partial(rows))
    named = rows["method"] == rows["row"]
    if programs == "variants":
        best = rows[rows["own"]].sort_values("mean", ascending=False, kind="stable")
        best = best.drop_duplicates([*COLUMN, "row"]).sort_index()
        return pd.concat([rows[named & ~rows["own"]], best]).sort_index()
    if programs == "released":
        is_released = rows["method"].str.endswith(RELEASED) & rows["mean"].notna()
        keys = [*COLUMN, "row"]
        has = pd.MultiIndex.from_frame(rows[keys]).isin(pd.MultiIndex.from_frame(rows.loc[is_released, keys]))
        return rows[is_released | (named & ~has)]
    return rows[named]


def own_columns(cells, score="mean"):
    """Yield the paper, score and cells of each column in which the paper's own method has a score."""
    for (paper, _, metric), column in cells.groupby(COLUMN, sort=False):
        column = column[column[score].notna()]
        if column["own"].any():
            yield paper, metric, column


def is_first(column, score="mean"):
    """Return True for the methods of a column that have its largest score."""
    return np.isclose(column[score], column[score].max(), rtol=0, atol=1e-9)


def own_first(comparison):
    """Count the columns in which a paper's own method is first, by paper and score: a row each.

    printed, n_printed: in print; first, columns: here; variant: here, with the best variant of the own method; rank:
    its mean rank here; chance: the columns expected of a method drawn at random; partial: columns whose own cell lacks
    points of its grid, so that the count can only grow.
    """
    cells, found = cells_of(comparison), {}
    for score, first, n in (("published_mean", "printed", "n_printed"), ("mean", "first", "columns")):
        for paper, metric, column in own_columns(cells, score):
            row = found.setdefault((paper, metric), dict.fromkeys(NUMBERS, 0.0))
            row[n] += 1
            row[first] += bool(is_first(column, score)[column["own"]].any())
            if score == "mean":
                row["rank"] += column[score].rank(ascending=False)[column["own"]].item()
                row["chance"] += 1 / len(column)
                row["partial"] += bool(column.loc[column["own"], "partial"].any())
    for paper, metric, column in own_columns(cells_of(comparison, "variants")):
        found[paper, metric]["variant"] += bool(is_first(column)[column["own"]].any())
    frame = pd.DataFrame.from_dict(found, orient="index", columns=list(NUMBERS))
    frame["rank"] /= frame["columns"].where(frame["columns"] > 0)
    return frame.rename_axis(["paper", "metric"]).reset_index()


def winners(comparison, programs="ours"):
    """Return method -> columns in which it is first, the most first, and the number of columns."""
    columns = [column for _, _, column in own_columns(cells_of(comparison, programs))]
    first = [name for column in columns for name in column.loc[is_first(column), "row"]]
    return pd.Series(first, dtype=object).value_counts(), len(columns)


def claims(comparison):
    """Return, for each of `CLAIMS`, cells won, cells, data sets, mean difference in points, and p over data sets.

    p is of a two-sided sign-flip test of the data sets' mean differences; nan for fewer than `ENOUGH` data sets.
    """
    rows = of_kmeans(comparison)
    scores = rows.pivot_table(index=COLUMN, columns="method", values="table_mean").reset_index()
    found = []
    for claim in CLAIMS:
        own = scores[scores["paper"].isin(claim.papers or PAPERS)]
        better = own.get(claim.better)
        if claim.better == "own":
            better = own.apply(lambda row: row.get(row["paper"]), axis=1)
        if better is None or claim.worse not in own:
            continue
        gap = (better.astype(float) - own[claim.worse]).dropna()
        means = gap.groupby(own["dataset"]).mean()
        p = step_down(means.to_frame())[0] if len(means) >= ENOUGH else np.nan
        found.append((claim.words, int((gap > 0).sum()), len(gap), len(means), gap.mean(), p))
    return pd.DataFrame(found, columns=["words", "won", "cells", "datasets", "gap", "p"])


def first_lines(counts):
    """Return the lines of a table of what `own_first` counts, with a sum."""
    total = counts[[name for name in NUMBERS if name != "rank"]].sum()
    lines = ["Paper|Score|First in print|First here|With its best variant|By chance|Mean rank here".split("|")]
    for row in counts.itertuples():
        mark = "*" * bool(row.partial)
        lines.append([
            PAPERS[row.paper], row.metric.upper(), f"{row.printed:.0f} of {row.n_printed:.0f}",
            f"{row.first:.0f} of {row.columns:.0f}{mark}", f"{row.variant:.0f}", number(row.chance, 1),
            number(row.rank, 1),
        ])  # fmt: skip
    sums = [f"{total.printed:.0f} of {total.n_printed:.0f}", f"{total['first']:.0f} of {total['columns']:.0f}"]
    return [*lines, ["all", "", *sums, f"{total.variant:.0f}", number(total.chance, 1), ""]]


def winner_lines(comparison, most=6):
    """Return the lines of a table: the methods that are first most often, by our solvers and by authors' programs."""
    (ours, n_ours), (theirs, n_theirs) = winners(comparison), winners(comparison, "released")
    names = unique_names("method", ours.index.union(theirs.index, sort=False))
    order = sorted(names, key=lambda name: (-ours.get(name, 0), -theirs.get(name, 0), name))
    lines = [["First in", f"of {n_ours} columns, our solvers", f"of {n_theirs}, released programs where they exist"]]
    lines += [[names[name], str(ours.get(name, 0)), str(theirs.get(name, 0))] for name in order[:most]]
    rest = [[f"{len(order) - most} others", *(str(int(own.reindex(order[most:]).sum())) for own in (ours, theirs))]]
    return lines + (rest if len(order) > most else [])


def claim_lines(comparison):
    """Return the lines of the table of `claims`."""
    lines = ["What the papers say of their tables|Cells that agree|Data sets|Mean difference|p".split("|")]
    for row in claims(comparison).itertuples():
        p = "too few" if np.isnan(row.p) else number(row.p, 3)
        lines.append([row.words, f"{row.won} of {row.cells}", str(row.datasets), f"{row.gap:+.1f}", p])
    return lines
