"""The scores that can be compared with the published ones, why others differ, and the five lines of each paper."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, FAILED, POOR, RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.evidence import line_values, lines
from ufs_bench.scripts.core.controls import CONTROLS
from ufs_bench.scripts.core.papers import FOLDER
from ufs_bench.scripts.core.text import CAPPED_CELL, PARTIAL

BEST = "best_over_grid"  # the selection of the papers
DRAWS = 20  # random rankings instead of our rows: a hundred take four times as long
OURS = ["mean", "std", "n_restarts", "group_error"]
NEAR, HIGHER, LOWER, NOT_RUN, NOT_COMPARABLE = "near", "higher", "lower", "not run", "not comparable"
POINTS = 3.0
ROUNDING = 0.05 + 1e-9  # half of the last decimal that the papers print; decimal numbers are not exact in binary
COLUMN = ["paper", "dataset", "metric"]
KEYS = ["paper", "dataset", "published_method", "metric"]
EXPLANATIONS = FOLDER / "published_explanations.csv"  # known reasons why a published score is not reached
# Evidence by commands and studies that commit ee2f1ea1 has and HEAD lacks.
GONE = ("python -m benchmarks.", "python -m scripts.audit", "python -m scripts.make_table study=reference/dgufs_minmax")


def judge(cells):
    """Add to cells a verdict: "near", "higher", "lower", "not run" or "not comparable".

    A score is near if it differs by 3 points at most, or by two standard deviations of a single K-means run: the root
    mean square of the two sides'.  A cell is not comparable where every fit failed or was capped.  All features depend
    on the data, their scaling and K-means alone: where they are not near in a column, the data or the protocol differ
    from the paper's, and no other method is comparable there.
    """
    difference, stds = cells["difference"], cells[["std", "published_std"]]
    near = difference.abs() - ROUNDING <= np.maximum(2 * np.sqrt((stds**2).mean(axis=1)).fillna(0.0), POINTS)
    verdicts = np.select([difference.isna(), near, difference > 0], [NOT_RUN, NEAR, HIGHER], LOWER)
    verdicts = pd.Series(verdicts, cells.index).mask(cells["status"].isin((FAILED, CAPPED_CELL)), NOT_COMPARABLE)
    columns, is_control = pd.MultiIndex.from_frame(cells[COLUMN]), cells["method"] == ALL
    off = columns.isin(columns[is_control & verdicts.isin((HIGHER, LOWER))])
    return cells.assign(verdict=verdicts.mask(off & ~is_control & difference.notna(), NOT_COMPARABLE))


def load_explanations():
    """Return the explanations, the most particular first; "*" stands for any value."""
    frame = pd.read_csv(EXPLANATIONS, keep_default_na=False)
    stars = (frame[KEYS] == "*").sum(axis=1)
    return frame.iloc[stars.argsort(kind="stable")]


def explain_cells(cells, explanations=None):
    """Return the first explanation that fits each cell that differs; "" where nothing differs, or nothing is known."""
    known = load_explanations() if explanations is None else explanations
    differs, found = cells["verdict"].isin((HIGHER, LOWER, NOT_COMPARABLE)), pd.Series("", cells.index)
    for entry in reversed(known.to_dict("records")):  # the most particular one is written last
        fits = differs.copy()
        for key in [*KEYS, "verdict"]:
            fits &= (cells[key] == entry[key]) | (entry[key] == "*")
        gone = " at ee2f1ea1" if entry["evidence"].startswith(GONE) else ""
        found[fits] = entry["explanation"] + (f" ({entry['evidence']}{gone})" if entry["evidence"] else "")
    return found


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


def studies_of(cells, controls):
    """Yield (control, cells of one paper with that control instead of each of our rows), once for every draw.

    No two methods have the same random ranking, as long as there are enough of them; over all draws every method has
    each of them once.  `controls` has one row per data set, metric, control and draw; `DRAWS` of them count.
    """
    own, rows = pd.factorize(cells["method"], sort=True)[0], np.arange(len(cells))
    columns = pd.MultiIndex.from_frame(cells[["dataset", "metric"]])
    for control in CONTROLS:
        scores = controls[(controls["control"] == control) & (controls["draw"] < DRAWS)]
        wide = scores.pivot(index=["dataset", "metric"], columns="draw", values=OURS)
        tables = {name: wide[name].reindex(columns).to_numpy(dtype=float) for name in OURS if len(wide)}
        n_draws = scores["draw"].nunique()
        for shift in range(n_draws):
            draws = (shift + own) % n_draws
            yield control, cells.assign(**{name: table[rows, draws] for name, table in tables.items()}, seed_std=np.nan)


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
