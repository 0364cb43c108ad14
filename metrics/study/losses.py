"""The loss of a choice without labels against the oracle, which tells a user by which criterion to choose."""

import numpy as np
import pandas as pd

from metrics.study import NOT_CHOOSING
from metrics.study.intervals import means_by_family
from metrics.study.selections import BY_NAME
from metrics.study.summary import select

KEYS = ["study", "dataset", "method"]


def losses(summary, metric="acc"):
    """Return the loss of every choice in every cell that has something to choose.

    Parameters
    ----------
    summary : DataFrame
        Of one study, from `metrics.study.summary.summarise`.
    metric : str, default="acc"

    Returns
    -------
    DataFrame
        One row per study, data set, method and selection but the oracle: loss: the mean of the best candidate less that
        of the chosen one, as fractions; n_selected, and smallest and largest: whether that is the first or the last
        size.  Cells whose candidates all have the same score are left out, and so are controls.
    """
    summary = summary[(summary["clusterer"] == "kmeans") & ~summary["method"].isin(NOT_CHOOSING)]
    best = select(summary, metric, "best_over_grid").set_index(KEYS)["mean"]
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
    found = pd.concat(frames).reset_index()
    return found[found.set_index(KEYS).index.map(spread) > 0].reset_index(drop=True)


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
