"""Compares every published score with the reproduced ones: ``python -m scripts.compare --help``."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import is_learned
from ufs_bench.runners.store.reference import PREFIX, shipped_studies
from ufs_bench.scripts.compare.headline import BEST, explain_cells, judge, with_left_out
from ufs_bench.scripts.core.conf import find, whole_grid
from ufs_bench.scripts.core.controls import control_scores
from ufs_bench.scripts.core.papers import PAPERS, load_published, paper_tables
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import table_cells

COLUMNS = (
    "paper table metric dataset published_method method clusterer published_mean published_std published_n_features "
    "inherited mean std n_selected difference verdict explanation departs status trial_status params trial study "
    "n_restarts published_n all_mean published_all left_out evaluated_by n_candidates random_best excess "
    "seed_std table_mean n_groups group_error n_again points grid"
).split()


def open_studies(results_dir, names):
    """Return the study that each paper is compared with, by the names of the studies."""
    return {paper: Study.find(results_dir, name) for paper, name in names.items()}


def shipped_names(papers=PAPERS):
    """Return the shipped study of each paper that has one."""
    found = {paper: PREFIX + paper for paper in papers if paper in shipped_studies()}
    if not found:
        raise ValueError(f"no study of {', '.join(papers)} is shipped; shipped are {', '.join(shipped_studies())}.")
    return found


def compare_studies(studies):
    """Compare every published ACC and NMI with the best that every variant of its method gives in the paper's study.

    There is one row per published cell, variant of its method in conf/table, and clusterer, in the order of the tables
    and with `COLUMNS`; scores are in percent. published_method is the printed row, inherited as in
    results/published.csv; departs: how the study's protocol is not the paper's; points: number of grid points that
    were run; grid: number of points of the whole grid.
    """
    frames = []
    for paper, study in studies.items():
        compared = [spec for spec in paper_tables(paper) if spec.metric in ("acc", "nmi")]
        tables = [(spec, table_cells(spec, study, BEST)) for spec in compared]
        frames.append(published_rows(paper, study, tables))
    rows = judge(pd.concat(frames, ignore_index=True))
    return with_left_out(rows.assign(explanation=explain_cells(rows)))[COLUMNS]


def controls_of(studies):
    """Return the scores of the controls in the same studies, by paper; over more starts where ours are."""
    scores = {paper: over_more_starts(control_scores(study), study.restarts)
              for paper, study in studies.items()}  # fmt: skip
    return pd.concat([own.assign(paper=paper) for paper, own in scores.items()], ignore_index=True)


def published_rows(paper, study, tables):
    """Return the published rows of a paper with the scores of a study, from (spec, cells) of its tables."""
    points = study.trials.groupby(["dataset", "method"])["params"].nunique()
    frames = []
    for spec, cells in tables:
        cells = over_more_starts(over_starts(cells[cells["published_mean"].notna()]), study.restarts)
        grids = {method: whole_grid(method, study.protocol) for method in cells["method"].unique()}
        places = pd.MultiIndex.from_frame(cells[["dataset", "method"]])
        cells = cells.assign(
            points=points.reindex(places, fill_value=0).to_numpy(),
            grid=cells["method"].map(grids).astype("Int64"),
            paper=paper,
            table=spec.published_table,
            published_method=cells["method"].map(spec.printed_row),
            departs=study.departures(paper),
            study=study.title,
            published_n=find("protocol", paper)["restarts"],
            difference=cells["mean"] - cells["published_mean"],
            excess=cells["mean"] - cells["random_best"],
        )
        frames.append(cells)
    keys = ["paper", "table", "metric", "dataset", "published_method"]
    evaluated = load_published().rename(columns={"method": "published_method"})[[*keys, "evaluated_by"]]
    return pd.concat(frames, ignore_index=True).merge(evaluated, how="left", on=keys, validate="many_to_one")


def over_starts(cells):
    """Return the cells with learned labels averaged over several seeds, where these are stored."""
    several = is_learned(cells) & (cells["n_seeds"] > 1)
    return cells.assign(
        mean=cells["mean"].where(~several, cells["seed_mean"]),
        std=cells["std"].where(~several, cells["seed_std"]),
        n_restarts=cells["n_restarts"].where(~several, cells["n_seeds"]).astype(int),
        seed_std=cells["seed_std"].where(~several),
    )


def over_more_starts(cells, restarts):
    """Return the cells of K-means with the mean over more starts, where `scripts.refit` has stored it.

    A cell is the best of a grid by 20 starts, and so is the paper's. The mean of that one point falls over other
    starts, as luck chose it, while the paper's number keeps its luck. So the starts stand in groups of the paper's
    number, the best of the candidates is taken in every group, and their mean is judged, with the error over the
    groups.
    """
    keys = ["trial", "n_selected", "clusterer", "metric"]
    names = {"mean": "again_mean", "std": "again_std", "n_candidates": "n_again"}
    found = restarts.rename(columns=names).astype({"n_selected": "Int64"})
    again = cells[keys].merge(found, how="left", on=keys).set_index(cells.index)
    judged = again["again_mean"].notna()
    error = again["group_std"].astype(float) / np.sqrt(again["n_groups"].astype(float))
    return cells.assign(
        table_mean=cells["mean"],
        mean=cells["mean"].where(~judged, again["again_mean"].astype(float)),
        std=cells["std"].where(~judged, again["again_std"].astype(float)),
        n_restarts=cells["n_restarts"].where(~judged, again["n_starts"]).astype(int),
        n_groups=again["n_groups"].where(judged),
        group_error=error.where(judged),
        n_again=again["n_again"].where(judged),
    )
