"""Controls in the place of our rows: the same comparison without any method of the paper."""

import json

import numpy as np
import pandas as pd

from metrics.study import ALL, RANDOM
from metrics.study.summary import select

VARIANCE = "max_variance"
CONTROLS = {RANDOM: "random rankings", ALL: "all features", VARIANCE: "max variance"}
OURS = ["mean", "std", "n_restarts"]
COLUMNS = ["dataset", "metric", "control", "draw", *OURS]


def control_scores(study, selection="best_over_grid", metrics=("acc", "nmi")):
    """Return the scores of the controls that a study holds; empty where it has none.

    There is one row per data set, metric, control and draw (0 but for random rankings): mean and std in percent,
    n_restarts.  `selection` chooses the size of a ranking, but never among random rankings: each is kept.
    """
    part = study.part(CONTROLS, study.trials["dataset"].unique())
    if part.trials.empty:
        return pd.DataFrame(columns=COLUMNS).astype({"draw": int, "mean": float, "std": float, "n_restarts": int})
    draws = part.summary["params"].map(lambda params: json.loads(params).get("draw", 0))
    # Each draw is a method of its own, at its default.
    summary = part.summary.assign(method=part.summary["method"] + " " + draws.astype(str), is_default=True)
    chosen = pd.concat([select(summary, metric, selection) for metric in metrics], ignore_index=True)
    names = chosen["method"].str.split(" ", expand=True)
    chosen = chosen.assign(
        control=names[0], draw=names[1].astype(int), mean=100 * chosen["mean"], std=100 * chosen["std"]
    )
    return chosen.loc[chosen["mean"].notna(), COLUMNS]


def studies_of(cells, controls):
    """Yield (control, cells of one paper with that control in the place of each of our rows), once for every draw.

    No two methods have the same random ranking, as long as there are enough of them; over all draws every method has
    each of them once.
    """
    places = {method: place for place, method in enumerate(sorted(cells["method"].unique()))}
    for control in CONTROLS:
        scores = controls[controls["control"] == control]
        draws = sorted(scores["draw"].unique())
        for shift in range(len(draws)):
            own = [draws[(shift + places[method]) % len(draws)] for method in cells["method"]]
            yield control, replaced(cells, scores, own)


def replaced(cells, scores, draws):
    """Return the cells with the scores of one control, at one draw for each cell, in the place of ours."""
    keys = ["dataset", "metric", "draw"]
    found = cells.drop(columns=OURS).assign(draw=draws).merge(scores[[*keys, *OURS]], how="left", on=keys)
    return found.set_index(cells.index).assign(seed_std=np.nan, group_error=np.nan)
