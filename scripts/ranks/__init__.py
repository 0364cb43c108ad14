"""Methods ranked over the data sets of a study: ``python -m scripts.ranks --help``."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.study.ranks import Comparison, bootstrap_average_ranks, compare, ranks
from scripts.core.command_lines import MissingResults

SHOWN = 6  # missing cells in a message


class Ranking(NamedTuple):
    """What a table of ranks shows.

    Attributes
    ----------
    scores : DataFrame
        Data sets x methods, in percent.
    table : DataFrame
        One row per method, best first: average_rank, low, high (nan where there are no restarts), wins (ties count).
    comparison : Comparison
    """

    scores: pd.DataFrame
    table: pd.DataFrame
    comparison: Comparison


def rank_study(study, metric="acc", selection="best_over_grid", clusterer="kmeans",
               methods=None, datasets=None, partial=False, alpha=0.05):  # fmt: skip
    """Rank methods by a score.

    Parameters
    ----------
    study : Study
    metric, selection, clusterer : str
        As in `metrics.study.summary.select`.
    methods, datasets : list of str, optional
        All that the study has by default.
    partial : bool, default=False
        Take cells of which some grid points or sizes failed or are missing.
    alpha : float, default=0.05

    Returns
    -------
    Ranking

    Raises
    ------
    MissingResults
        When a cell is missing or incomplete.
    ValueError
        For too few data sets or methods.
    """
    chosen = study.select(metric, selection)
    chosen = chosen[chosen["clusterer"] == clusterer]
    if chosen.empty:
        raise MissingResults(f"no scores are stored for clusterer={clusterer}.")
    methods = sorted(chosen["method"].unique()) if methods is None else list(methods)
    datasets = sorted(chosen["dataset"].unique()) if datasets is None else list(datasets)
    cells = chosen.set_index(["dataset", "method"])
    lacking = [
        (method, dataset)
        for dataset in datasets
        for method in methods
        if (dataset, method) not in cells.index or not _complete(cells.loc[(dataset, method)], partial)
    ]
    if lacking:
        raise MissingResults(_explain(lacking, cells, methods, datasets), lacking)
    scores = 100 * cells["mean"].unstack("method").loc[datasets, methods]
    comparison = compare(scores, alpha)
    per_dataset = ranks(scores)
    low, high = _intervals(study.results.scores, cells, methods, datasets, metric, clusterer)
    best = per_dataset.eq(per_dataset.min(axis=1), axis=0)
    columns = {"average_rank": per_dataset.mean(), "low": low, "high": high, "wins": best.sum()}
    table = pd.DataFrame(columns, index=methods)
    return Ranking(scores, table.sort_values("average_rank", kind="stable"), comparison)


def _complete(cell, partial):
    return pd.notna(cell["mean"]) and (partial or cell["n_missing"] == 0)


def _explain(lacking, cells, methods, datasets):
    texts = []
    for method, dataset in lacking:
        stored = (dataset, method) in cells.index and pd.notna(cells.loc[(dataset, method), "mean"])
        texts.append(f"{method} on {dataset} ({'incomplete' if stored else 'no score'})")
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    whole = [name for name in datasets if not any(dataset == name for _, dataset in lacking)]
    everywhere = [name for name in methods if not any(method == name for method, _ in lacking)]
    ways = []
    if len(everywhere) > 1:
        ways.append(f"methods=[{','.join(everywhere)}] has them all")
    if whole:
        ways.append(f"data sets with all methods: {', '.join(whole)}")
    if any("incomplete" in text for text in texts):
        ways.append("partial=true takes incomplete cells as they are")
    return (
        f"{len(lacking)} of {len(methods) * len(datasets)} cells are missing: {', '.join(texts[:SHOWN])}{more}. "
        f"A rank needs every cell{'; ' if ways else ''}{'; '.join(ways)}."
    )


def _intervals(scores, cells, methods, datasets, metric, clusterer):
    """Bootstrap intervals; nan where a cell is no single feature set, or has one labelling only."""
    unknown = np.full(len(methods), np.nan)
    wanted = cells.loc[[(dataset, method) for dataset in datasets for method in methods]]
    if (wanted["trial"] == "").any() or wanted["n_restarts"].min() < 2 or wanted["n_restarts"].nunique() > 1:
        return unknown, unknown
    by_set = scores[scores["clusterer"] == clusterer].set_index(["trial", "n_selected"]).sort_index()
    values = [
        by_set.loc[[(cell["trial"], cell["n_selected"])]].sort_values("restart")[metric].to_numpy()
        for _, cell in wanted.iterrows()
    ]
    return bootstrap_average_ranks(np.array(values).reshape(len(datasets), len(methods), -1))
