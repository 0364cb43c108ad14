"""The loss of a choice without labels against the oracle, which tells a user by which criterion to choose."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, NOT_CHOOSING
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import Cells, summarise

KEYS = ["study", "dataset", "method"]
HALVES = ("even", "odd")  # of the K-means restarts: one half chooses for the oracle, and the other scores
EDGES = {"smallest": min, "largest": max}


def candidates(frame):
    """Return the summary of a tidy frame of one study, with its lists, and its scores in each half of the restarts."""
    halves = {}
    for metric in ("acc", "nmi"):
        scale = frame["n_samples"] if metric == "acc" else 1  # accuracies are stored as counts of samples
        halves |= {f"{metric}_{half}": _means(frame[metric], first) / scale for first, half in enumerate(HALVES)}
    return of_kmeans(summarise(frame.assign(**halves)))


def losses(summary, metric="acc"):
    """Return the loss of every choice in every cell that has something to choose.

    `summary` is from `candidates`. There is one row per study, data set, method and selection but the oracle, and for
    "all_features", the choice of no selection at all. loss: the score of the oracle less that of the choice, as
    fractions; n_selected, and smallest and largest: whether that is the first or the last size.

    The oracle is the candidate that is best in one half of the restarts, scored in the other, and the mean of both
    ways: its score is not the luck that chose it, so that a loss may be below 0. Cells whose candidates all have the
    same score are left out, and so are controls.
    """
    everything = summary[summary["method"] == ALL].set_index(KEYS[:2])[f"{metric}_mean"]
    summary = summary[~summary["method"].isin(NOT_CHOOSING)]
    halves = [f"{metric}_{half}" for half in HALVES]
    best = (_best(summary, *halves) + _best(summary, *halves[::-1])) / 2
    scores = summary.groupby(KEYS)[f"{metric}_mean"]
    spread, cells = scores.max() - scores.min(), Cells(summary)
    chosen = {name: cells.select(metric, name).set_index(KEYS) for name, one in BY_NAME.items() if not one.oracle}
    sizes, frames = chosen["default_params"]["sizes"], []
    ends = {edge: sizes.map(lambda own, of=of: of(own, default=np.nan)) for edge, of in EDGES.items()}
    for name, own in chosen.items():
        loss = best - own["mean"]
        size = own["n_selected"].astype(float).reindex(loss.index)
        edges = {edge: (size == end.reindex(loss.index)).where(size.notna()) for edge, end in ends.items()}
        frames.append(pd.DataFrame({"selection": name, "loss": loss, "n_selected": size, **edges}))
    if len(everything):
        alike = best.index.droplevel("method").map(everything)
        frames.append(pd.DataFrame({"selection": ALL, "loss": best - alike}))
    found = pd.concat(frames)
    return found[found.index.isin(spread.index[spread > 0])].reset_index()


def _means(lists, first):
    """Return the mean of every second number of each list, from the first or the second on; nan where there is none."""
    found, lengths = np.full(len(lists), np.nan), lists.map(len, na_action="ignore").astype(float).to_numpy()
    for n in np.unique(lengths[lengths > first]):
        own = np.stack(lists.to_numpy()[lengths == n])[:, first::2]
        found[lengths == n] = np.ascontiguousarray(own, dtype=float).mean(axis=1)
    return found


def _best(summary, chooses, scores):
    """Return the score in one half of the restarts of the candidate that is best in the other, cell by cell."""
    rows = summary.dropna(subset=[chooses, scores])  # the first row of every cell with the largest value, to 12 digits
    return rows.loc[rows[chooses].round(12).groupby([rows[key] for key in KEYS]).idxmax()].set_index(KEYS)[scores]


def mean_losses(found, families):
    """Return every selection's mean loss, data sets weighed alike, and its interval over data sets of other families.

    `found` is from `losses`, of one study or several below each other. There is one row per selection, the smallest
    mean loss first: loss, low and high (95 %, from `metrics.study.intervals.means_by_family`), gain with gain_low and
    gain_high: how much less it loses than `default_params` in the cells that have both, and its interval; cells,
    missing (cells in which it chooses nothing), wins (share of the cells in which no other selection loses less),
    smallest and largest (shares).
    """
    wide = found.pivot_table(index=KEYS, columns="selection", values="loss", dropna=False)
    wide = wide[wide.notna().any(axis=1)]
    per_dataset = wide.groupby("dataset").mean()
    gains = wide.rsub(wide["default_params"], axis=0).groupby("dataset").mean()
    (low, high), (gain_low, gain_high) = (means_by_family(frame, families) for frame in (per_dataset, gains))
    edges = found.groupby("selection")[["smallest", "largest"]].agg(lambda values: values.dropna().astype(float).mean())
    table = pd.DataFrame({
        "loss": per_dataset.mean(), "low": low, "high": high,
        "gain": gains.mean(), "gain_low": gain_low, "gain_high": gain_high,
        "cells": wide.notna().sum(), "missing": wide.isna().sum(),
        "wins": wide.round(12).eq(wide.round(12).min(axis=1), axis=0).mean(),
    })  # fmt: skip
    return table.join(edges).sort_values("loss", kind="stable").rename_axis("selection").reset_index()
