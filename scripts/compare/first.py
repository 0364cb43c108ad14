"""Counts the methods that are first in each column of the papers' tables: in print, and in our own tables.

A column is one data set and one score of one paper.  Counts are of K-means on the selected features, as the tables show
them, before any correction for luck; methods that share the largest mean are first together.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study.families import step_down
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.compare.headline import COLUMN, is_partial
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.core.text import number

ENOUGH = 5  # data sets for a test of a difference; of fewer no order of signs has p below .05
RELEASED = "_released"
SHOWN = 6  # methods of the table of those that are first most often


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
        places = pd.MultiIndex.from_frame(rows[[*COLUMN, "row"]])
        return rows[is_released | (named & ~places.isin(places[is_released]))]
    return rows[named]


def standings(cells, score="mean"):
    """Return the cells of the columns in which the paper's own method has a score.

    first: has the largest score; rank: its rank; share: 1 by the number of methods.
    """
    cells = cells[cells[score].notna()]
    columns = cells.groupby(COLUMN)
    found = columns[score]
    cells = cells.assign(
        first=np.isclose(cells[score], found.transform("max"), rtol=0, atol=1e-9),
        rank=found.rank(ascending=False),
        share=1 / found.transform("size"),
    )
    return cells[columns["own"].transform("any")]


def own_first(comparison):
    """Count the columns in which a paper's own method is first, by paper and score: a row each.

    printed, n_printed: in print; first, columns: here; variant: here, with the best variant of the own method; rank:
    its mean rank here; chance: the columns expected of a method drawn at random; partial: columns whose own cell lacks
    points of its grid, so that the count can only grow.
    """

    def own(programs="ours", score="mean"):
        cells = standings(cells_of(comparison, programs), score)
        return cells[cells["own"]].groupby(["paper", "metric"], sort=False)

    printed = own(score="published_mean").agg(n_printed=("first", "size"), printed=("first", "sum"))
    here = own().agg(
        columns=("first", "size"), first=("first", "sum"), rank=("rank", "mean"), chance=("share", "sum"),
        partial=("partial", "sum"),
    )  # fmt: skip
    counts = printed.join(here).join(own("variants").agg(variant=("first", "sum")))
    return counts.fillna(dict.fromkeys(counts.columns.drop("rank"), 0)).reset_index()


def winners(comparison, programs="ours"):
    """Return method -> columns in which it is first, the most first, and the number of columns."""
    cells = standings(cells_of(comparison, programs))
    return cells.loc[cells["first"], "row"].value_counts(), len(cells.drop_duplicates(COLUMN))


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
    lines = ["Paper|Score|First in print|First here|With its best variant|By chance|Mean rank here".split("|")]
    total = counts.drop(columns=["paper", "metric", "rank"]).sum()
    for row in [*counts.to_dict("records"), {"paper": "all", "metric": "", "rank": np.nan, **total, "partial": 0}]:
        lines.append([
            PAPERS.get(row["paper"], row["paper"]), row["metric"].upper(),
            f"{row['printed']:.0f} of {row['n_printed']:.0f}",
            f"{row['first']:.0f} of {row['columns']:.0f}" + "*" * bool(row["partial"]),
            f"{row['variant']:.0f}", number(row["chance"], 1), number(row["rank"], 1),
        ])  # fmt: skip
    return lines


def winner_lines(comparison):
    """Return the lines of a table: the methods that are first most often, by our solvers and by authors' programs."""
    (ours, n_ours), (theirs, n_theirs) = winners(comparison), winners(comparison, "released")
    counts = pd.DataFrame({"ours": ours, "theirs": theirs}).fillna(0).astype(int).rename_axis("row").reset_index()
    counts = counts.sort_values(["ours", "theirs", "row"], ascending=[False, False, True])
    names, rest = unique_names("method", counts["row"]), counts.iloc[SHOWN:]
    lines = [["First in", f"of {n_ours} columns, our solvers", f"of {n_theirs}, released programs where they exist"]]
    lines += [[names[one.row], str(one.ours), str(one.theirs)] for one in counts.head(SHOWN).itertuples()]
    sums = [str(rest[name].sum()) for name in ("ours", "theirs")]
    return lines + ([[f"{len(rest)} others", *sums]] if len(rest) else [])


def claim_lines(comparison):
    """Return the lines of the table of `claims`."""
    lines = ["What the papers say of their tables|Cells that agree|Data sets|Mean difference|p".split("|")]
    for row in claims(comparison).itertuples():
        p = "too few" if np.isnan(row.p) else number(row.p, 3)
        lines.append([row.words, f"{row.won} of {row.cells}", str(row.datasets), f"{row.gap:+.1f}", p])
    return lines
