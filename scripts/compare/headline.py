"""The head of a comparison: five lines a paper, each with its value for controls instead of our rows."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.columns import equivalence, own_error, published_error
from ufs_bench.scripts.compare.controls import ALL, CONTROLS, RANDOM, studies_of
from ufs_bench.scripts.compare.evidence import line_values, lines
from ufs_bench.scripts.compare.verdicts import CELL, NOT_COMPARABLE, NOT_RUN, is_hollow
from ufs_bench.scripts.core.words import PARTIAL

COLUMN = ["paper", "dataset", "metric"]
# The columns that a line looks at.
COUNTED = [
    *COLUMN, "method", "published_method", "mean", "std", "n_restarts", "seed_std", "group_error",
    "published_mean", "published_std", "published_n", "all_mean", "published_all",
]  # fmt: skip


def with_equivalence(rows):
    """Add the equivalence test of every cell to the rows of a comparison, as `judge` gives them.

    margin: half of the paper's gain or loss against all features; equivalence: "" for these, and without a number of
    ours; left_out: why a cell is no evidence for or against the method, or "".
    """
    whole = of_kmeans(rows[rows["method"] == ALL]).set_index(COLUMN)
    places = pd.MultiIndex.from_frame(rows[COLUMN])
    rows = rows.assign(
        all_mean=whole["mean"].reindex(places).to_numpy(),
        published_all=whole["published_mean"].reindex(places).to_numpy(),
    )
    margin = (rows["published_mean"] - rows["published_all"]).abs() / 2
    rows["margin"] = margin.where(rows["published_method"] != ALL)
    rows = _tested(rows)
    reasons = {
        "all features": rows["published_method"] == ALL,
        "inherited": rows["inherited"] != "",
        NOT_RUN: rows["verdict"] == NOT_RUN,
        NOT_COMPARABLE: rows["verdict"] == NOT_COMPARABLE,
        "hollow": is_hollow(rows),
    }
    return rows.assign(left_out=np.select(list(reasons.values()), list(reasons), ""))


def _tested(cells):
    """Add standard_error and equivalence to cells, from mean, std, n_restarts, seed_std and group_error."""
    error = np.hypot(own_error(cells), published_error(cells))
    difference = (cells["mean"] - cells["published_mean"]).to_numpy(dtype=float)
    words = equivalence(difference, error, cells["margin"].to_numpy())
    known = np.isfinite(difference) & cells["margin"].notna().to_numpy()
    return cells.assign(
        standard_error=np.where(known, error, np.nan), equivalence=np.where(known, words.astype(object), "")
    )


def headline(comparison):
    """Return the rows of the methods' own names, clustered as in the paper; K-means where no labels are learned."""
    own = comparison[comparison["method"] == comparison["published_method"]]
    wanted = own[own["clusterer"] == own["evaluated_by"]]
    return pd.concat([wanted, of_kmeans(own)]).drop_duplicates(CELL).sort_index()


def weighed(comparison):
    """Return the rows of `headline` that the lines weigh, of methods with all scores of a data set, by paper."""
    papers = headline(comparison).groupby("paper", sort=False)
    return {paper: complete(own[own["left_out"] == ""]) for paper, own in papers}


def line_table(comparison, controls):
    """Return the five lines of every paper, and the value that each control would get.

    cells: of `weighed`; own_cells: those of the paper's own row; partial: those that lack a part of their grid; absent:
    published cells that are not run; the others are of `scripts.compare.evidence.Line`, and of the draws.
    """
    absent = headline(comparison).query("left_out == @NOT_RUN")["paper"].value_counts()
    rows = []
    for paper, own in weighed(comparison).items():
        beside = {}
        for control, instead in studies_of(own[COUNTED], controls[controls["paper"] == paper]):
            for name, value in line_values(instead).items():
                beside.setdefault((name, control), []).append(value)
        about = {"paper": paper, "cells": len(own), "own_cells": (own["method"] == paper).sum()}
        about |= {"partial": is_partial(own).sum(), "absent": absent.get(paper, 0)}
        for name, line in lines(own).items():
            random, whole, variance = (np.array(beside.get((name, one), [np.nan])) for one in CONTROLS)
            rows.append({
                **about, "line": name, **line._asdict(),
                "random_low": random.min(), "random": np.median(random), "random_high": random.max(),
                "all_features": whole[0], "max_variance": variance[0],
            })  # fmt: skip
    return pd.DataFrame(rows)


def is_partial(cells):
    """Return True where a cell lacks a part of its grid: of the points that were asked for, or of the whole grid."""
    return (cells["status"] == PARTIAL) | (cells["points"] < cells["grid"]).fillna(False).astype(bool)


def complete(cells):
    """Return the methods that have all scores of a data set, where there are at least two."""
    scores = cells.groupby("dataset")["metric"].transform("nunique")
    cells = cells[cells.groupby(["dataset", "method"])["metric"].transform("size") == scores]
    return cells[cells.groupby("dataset")["method"].transform("nunique") > 1]


def random_medians(controls):
    """Return the median random ranking of every paper, data set and metric, in a column random."""
    scores = controls[controls["control"] == RANDOM]
    return scores.groupby(COLUMN)["mean"].median().rename("random").reset_index()


def above_random(comparison, controls):
    """Count, by paper, published cells with random rankings, those above their median, and those of another paper."""
    published = headline(comparison)
    published = published[published["published_method"] != ALL]
    pairs = published[[*COLUMN, "published_mean", "inherited"]].merge(random_medians(controls), on=COLUMN)
    pairs = pairs.assign(above=pairs["published_mean"] > pairs["random"], taken=pairs["inherited"] != "")
    counts = pairs.groupby("paper", sort=False)
    return counts.agg(cells=("above", "size"), above=("above", "sum"), taken=("taken", "sum")).reset_index()
