"""The loss of a choice without labels against the oracle, which tells a user by which criterion to choose."""

import numpy as np
import pandas as pd

from metrics.study import ALL, NOT_CHOOSING
from metrics.study.frames import of_kmeans
from metrics.study.intervals import means_by_family
from metrics.study.selections import BY_NAME
from metrics.study.summary import select, summarise

KEYS = ["study", "dataset", "method"]
HALVES = ("even", "odd")  # of the K-means restarts: one half chooses for the oracle, and the other scores


def losses(frame, metric="acc"):
    """Return the loss of every choice in every cell that has something to choose.

    Parameters
    ----------
    frame : DataFrame
        The tidy frame of one study, with its lists.
    metric : {"acc", "nmi"}

    Returns
    -------
    DataFrame
        One row per study, data set, method and selection but the oracle, and for "all_features", the choice of no
        selection at all.  loss: the score of the oracle less that of the choice, as fractions; n_selected, and smallest
        and largest: whether that is the first or the last size.  The oracle is the candidate that is best in one half
        of the restarts, scored in the other, and the mean of both ways: its score is not the luck that chose it, so
        that a loss may be below 0.  Cells whose candidates all have the same score are left out, and so are controls.
    """
    values = [np.full(2, np.nan) if own is None else np.array(own, dtype=float) for own in frame[metric]]
    if metric == "acc":  # a count of samples
        values = [own / n for own, n in zip(values, frame["n_samples"], strict=True)]
    halves = {
        half: [own[first::2].mean() if len(own) > first else np.nan for own in values]
        for first, half in enumerate(HALVES)
    }
    summary = of_kmeans(summarise(frame.assign(**halves)))
    everything = summary[summary["method"] == ALL].set_index(KEYS[:2])[f"{metric}_mean"]
    summary = summary[~summary["method"].isin(NOT_CHOOSING)]
    best = (_best(summary, *HALVES) + _best(summary, *HALVES[::-1])) / 2
    spread = summary.groupby(KEYS)[f"{metric}_mean"].agg(lambda values: values.max() - values.min())
    frames = []
    for name, selection in BY_NAME.items():
        if selection.oracle:
            continue
        chosen = select(summary, metric, name).set_index(KEYS)
        size = chosen["n_selected"].astype(float)
        edges = {
            edge: (size == chosen["sizes"].map(lambda sizes, of=of: of(sizes, default=np.nan))).where(size.notna())
            for edge, of in (("smallest", min), ("largest", max))
        }
        columns = {"selection": name, "loss": best - chosen["mean"], "n_selected": size, **edges}
        frames.append(pd.DataFrame(columns))
    if len(everything):
        alike = best.index.droplevel("method").map(everything)
        frames.append(pd.DataFrame({"selection": ALL, "loss": best - alike}))
    found = pd.concat(frames).reset_index()
    return found[found.set_index(KEYS).index.map(spread) > 0].reset_index(drop=True)


def _best(summary, chooses, scores):
    """Return the score in one half of the restarts of the candidate that is best in the other, cell by cell."""
    rows = summary.assign(**{chooses: summary[chooses].round(12)}).dropna(subset=[chooses, scores])
    return rows.loc[rows.groupby(KEYS)[chooses].idxmax()].set_index(KEYS)[scores]


def mean_losses(found, families):
    """Return every selection's mean loss, data sets weighed alike, and its interval over data sets of other families.

    Parameters
    ----------
    found : DataFrame
        From `losses`, of one study or several below each other.
    families : Mapping
        Data set -> family.

    Returns
    -------
    DataFrame
        One row per selection, the smallest mean loss first: loss, low and high (95 %, from
        `metrics.study.intervals.means_by_family`), gain with gain_low and gain_high: how much less it loses than
        `default_params`, in pairs, and its interval; cells, missing (cells in which it chooses nothing), wins (share
        of the cells in which no other selection loses less), smallest and largest (shares).
    """
    wide = found.pivot_table(index=KEYS, columns="selection", values="loss", dropna=False)
    wide = wide[wide.notna().any(axis=1)]
    per_dataset = wide.groupby("dataset").mean()
    gains = per_dataset.rsub(per_dataset["default_params"], axis=0)
    (low, high), (gain_low, gain_high) = (means_by_family(frame, families) for frame in (per_dataset, gains))
    edges = found.groupby("selection")[["smallest", "largest"]].agg(lambda values: values.dropna().astype(float).mean())
    table = pd.DataFrame({
        "loss": per_dataset.mean(), "low": low, "high": high,
        "gain": gains.mean(), "gain_low": gain_low, "gain_high": gain_high,
        "cells": wide.notna().sum(), "missing": wide.isna().sum(),
        "wins": wide.round(12).eq(wide.round(12).min(axis=1), axis=0).mean(),
    })  # fmt: skip
    return table.join(edges).sort_values("loss", kind="stable").rename_axis("selection").reset_index()
