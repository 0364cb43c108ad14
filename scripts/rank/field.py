"""The scores that are compared, without gaps; the ranks of methods, and their gains over controls, by data set."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import DIGITS, MIN_DATASETS, Comparison, check_enough, compare, ranks
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.controls import random_scores
from ufs_bench.scripts.rank.choice import choose

DROPPED = "Left out, as a data set or a part of the grid is missing: "
SHOWN = 6  # most missing cells that a message names
REFERENCES = (RANDOM, ALL)  # controls that gains are measured over
COLUMNS = ["mean", "n_datasets", "wins", "ties", "losses", "low", "high"]


class Field(NamedTuple):
    """The scores that a ranking and the gains are computed from."""

    study: object
    metric: str
    selection: str
    clusterer: str
    # scores, controls: data sets x methods, and x controls, in percent. A control is there if it has a score on every
    # data set; random rankings have the mean over their draws
    scores: pd.DataFrame
    controls: pd.DataFrame
    families: dict  # data set -> family
    n_draws: int  # number of random rankings on a data set
    lacking: list  # list of (str, str): (control, data set) without a score
    left_out: list  # sentences on what was left out, and why


class Gains(NamedTuple):
    """Gains over one control."""

    reference: str  # the control
    points: pd.DataFrame  # data sets x methods and other controls; positive where the column is better than the control
    table: pd.DataFrame  # as `gains_of` returns it, methods by their mean and controls after them
    controls: list  # columns of `points` that are controls


class Ranking(NamedTuple):
    """The content of a table of ranks."""

    # One row per method, best first: average_rank, low and high (its interval on other data sets), wins (ties count)
    table: pd.DataFrame
    comparison: Comparison


def field_of(study, metric="acc", selection="best_over_grid", clusterer="kmeans",
             methods=None, datasets=None, variants="base", partial=False, drop=False):  # fmt: skip
    """Return the `Field` of a study: the scores that can be compared.

    Metric, selection and clusterer are as in `metrics.study.summary.select`; controls are clustered by K-means,
    whatever the clusterer.  Methods, datasets and variants are as in `scripts.rank.choice.choose`.  `partial` accepts
    cells in which some grid points or sizes failed or are missing; `drop` leaves out methods that lack a cell, if two
    others have all.  MissingResults is about a cell that is missing or incomplete, a ValueError about controls alone.
    """
    selected = study.select(metric, selection)
    cells = selected[selected["clusterer"] == clusterer].set_index(["dataset", "method"])
    if cells.empty:
        raise MissingResults(f"no scores are stored for clusterer={clusterer}.")
    choice = choose(study, methods, datasets, variants)
    scored = cells.index.unique("method")
    names = [name for name in choice.methods if methods is not None or name in scored]
    if not names:
        raise ValueError(
            f"only controls ({', '.join(choice.controls)}), which have no rank: name methods, or run some."
        )
    means = cells["mean"].where(partial | (cells["n_missing"] == 0))
    scores = means.unstack("method").reindex(index=choice.datasets, columns=names)
    lacking = [(method, dataset) for dataset in scores.index for method in names if pd.isna(scores.at[dataset, method])]
    whole = list(scores.columns[scores.notna().all()])
    if lacking and not (drop and methods is None and len(whole) > 1):
        raise MissingResults(_explain(lacking, cells["mean"], scores), lacking)
    if lacking:
        choice.left_out.append(f"{DROPPED}{', '.join(name for name in names if name not in whole)}.")
    controls, n_draws = _controls(study, metric, selection, choice)
    gaps = [(name, dataset) for name in controls for dataset in controls.index[controls[name].isna()]]
    return Field(
        study, metric, selection, clusterer, scores[whole], controls.dropna(axis=1), choice.families, n_draws, gaps,
        choice.left_out,
    )  # fmt: skip


def _explain(lacking, means, scores):
    """Say which cells are missing, and what has them all."""
    texts = [
        f"{method} on {dataset} ({'incomplete' if pd.notna(means.get((dataset, method))) else 'no score'})"
        for method, dataset in lacking
    ]
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    whole = {"methods": scores.columns[scores.notna().all()], "datasets": scores.index[scores.notna().all(axis=1)]}
    ways = [f"{what}=[{','.join(names)}] has them all" for what, names in whole.items() if len(names) > 1]
    ways += ["partial=true takes incomplete cells as they are"] if any("incomplete" in text for text in texts) else []
    return (
        f"{len(lacking)} of {scores.size} cells are missing: {', '.join(texts[:SHOWN])}{more}. "
        f"{'; '.join(['A rank needs every cell', *ways])}."
    )


def _controls(study, metric, selection, choice):
    """Return the controls on the data sets, with gaps, and the number of random rankings."""
    names = list(dict.fromkeys([*REFERENCES, *choice.controls]))
    scores = study.means(metric, selection).reindex(index=choice.datasets, columns=names)
    drawn = random_scores(study, metric, selection).reindex(choice.datasets)
    scores[RANDOM] = drawn["mean"]
    return scores, int(drawn["size"].fillna(0).min())


def rank_study(field, alpha=0.05, posthoc=None):
    """Return the `Ranking` of the methods of a field; `alpha` and `posthoc` are as in `metrics.study.ranks.compare`."""
    comparison = compare(field.scores, alpha, posthoc)
    per_dataset = ranks(field.scores)
    low, high = means_by_family(per_dataset, field.families)
    best = per_dataset.eq(per_dataset.min(axis=1), axis=0)
    columns = {"average_rank": per_dataset.mean(), "low": low, "high": high, "wins": best.sum()}
    table = pd.DataFrame(columns, index=field.scores.columns)
    return Ranking(table.sort_values("average_rank", kind="stable"), comparison)


def paired_gains(field):
    """Compare every method with each of `REFERENCES` that has all scores."""
    check_enough(field.scores.index)
    found = []
    for reference in REFERENCES:
        if reference not in field.controls:
            continue
        others = field.controls.drop(columns=reference)
        points = pd.concat([field.scores, others], axis=1).sub(field.controls[reference], axis=0).round(DIGITS)
        table = gains_of(points, field.families).sort_values("mean", ascending=False, kind="stable")
        order = sorted(table.index, key=others.columns.__contains__)
        found.append(Gains(reference, points[order], table.loc[order], list(others)))
    return found


def gains_of(points, families):
    """Return a row with `COLUMNS` for each column of gains by data set, in which gaps are left out.

    low and high: the interval, by `metrics.study.intervals.means_by_family`; nan with fewer than `MIN_DATASETS` gains.
    """
    rows = {}
    for name, own in points.round(DIGITS).items():
        own = own.dropna()
        counts = [len(own), (own > 0).sum(), (own == 0).sum(), (own < 0).sum()]
        interval = means_by_family(own.to_frame(), families) if len(own) >= MIN_DATASETS else (np.nan, np.nan)
        rows[name] = [own.mean(), *counts, *np.ravel(interval)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
