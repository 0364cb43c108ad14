"""The five lines of each paper, each with its value for controls instead of our rows."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import POOR
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.controls import ALL, CONTROLS, RANDOM, studies_of
from ufs_bench.scripts.compare.evidence import line_values, lines
from ufs_bench.scripts.compare.verdicts import COLUMN, NOT_COMPARABLE, NOT_RUN
from ufs_bench.scripts.core.text import PARTIAL


def with_left_out(rows):
    """Add to the rows of a comparison the scores of all features, ours and the paper's, and left_out.

    left_out says why a cell is not evidence for or against the method, and is "" for the others.
    """
    whole = of_kmeans(rows[rows["method"] == ALL]).set_index(COLUMN)[["mean", "published_mean"]]
    whole = whole.reindex(pd.MultiIndex.from_frame(rows[COLUMN])).to_numpy()
    reasons = {
        "all features": rows["published_method"] == ALL,
        "inherited": rows["inherited"] != "",
        NOT_RUN: rows["verdict"] == NOT_RUN,
        NOT_COMPARABLE: rows["verdict"] == NOT_COMPARABLE,
        "hollow": rows["trial_status"].isin(POOR),  # the fit learned nothing
    }
    left_out = np.select(list(reasons.values()), list(reasons), "")
    return rows.assign(all_mean=whole[:, 0], published_all=whole[:, 1], left_out=left_out)


def headline(comparison):
    """Return the rows of the methods' own names, clustered as in the paper; K-means where no labels are learned."""
    own = comparison[comparison["method"] == comparison["published_method"]]
    wanted = own[own["clusterer"] == own["evaluated_by"]]
    return pd.concat([wanted, of_kmeans(own)]).drop_duplicates(["table", *COLUMN, "published_method"]).sort_index()


def weighed(comparison):
    """Return the rows of `headline` that the lines weigh, of methods with all scores of a data set, by paper."""
    papers = headline(comparison).groupby("paper", sort=False)
    return {paper: complete(own[own["left_out"] == ""]) for paper, own in papers}


def line_table(comparison, controls):
    """Return the five lines of every paper, and the value that each control would get.

    cells: of `weighed`; own_cells: cells of the paper's own row; partial: cells that lack a part of their grid; absent:
    published cells that are not run; the others are of `scripts.compare.evidence.Line`, and of the draws.
    """
    absent = headline(comparison).query("left_out == @NOT_RUN")["paper"].value_counts()
    rows = []
    for paper, own in weighed(comparison).items():
        values = {control: [] for control in CONTROLS}
        for control, instead in studies_of(own, controls[controls["paper"] == paper]):
            values[control].append(line_values(instead))
        about = {"paper": paper, "cells": len(own), "own_cells": (own["method"] == paper).sum()}
        about |= {"partial": is_partial(own).sum(), "absent": absent.get(paper, 0)}
        for name, line in lines(own).items():
            random, whole, variance = ([one[name] for one in draws] or [np.nan] for draws in values.values())
            rows.append({
                **about, "line": name, **line._asdict(),
                "random_low": np.min(random), "random": np.median(random), "random_high": np.max(random),
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
    """Count, by paper, the published cells with random rankings, and those above their median."""
    published = headline(comparison)
    published = published[published["published_method"] != ALL].merge(random_medians(controls), on=COLUMN)
    above = published["published_mean"] > published["random"]
    return above.groupby(published["paper"], sort=False).agg(cells="size", above="sum").reset_index()
