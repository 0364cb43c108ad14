"""Controls instead of our rows: the same comparison without any method of the paper."""

import functools

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.summary import cells_of_draws

VARIANCE = "max_variance"
BEST = "best_over_grid"  # the selection of the papers
DRAWS = 20  # random rankings instead of our rows: a hundred take four times as long
CONTROLS = {RANDOM: "random rankings", ALL: "all features", VARIANCE: "max variance"}
OURS = ["mean", "std", "n_restarts", "group_error"]
KEYS = ["trial", "n_selected", "clusterer"]  # of `over_more_starts`
COLUMNS = ["dataset", "metric", "control", "draw", *KEYS, *OURS]


def control_scores(study, selection=BEST, metrics=("acc", "nmi")):
    """Return mean and std of the controls of a study, in percent, with one row per draw."""
    cells = _cells_of(study)
    if cells is None:
        return pd.DataFrame(columns=COLUMNS).astype({"draw": int, "mean": float, "std": float, "n_restarts": int})
    chosen = percent(pd.concat([cells.select(metric, selection) for metric in metrics], ignore_index=True))
    names = chosen["method"].str.split(" ", expand=True)
    chosen = chosen.assign(control=names[0], draw=names[1].astype(int), group_error=np.nan)
    return chosen.loc[chosen["mean"].notna(), COLUMNS]


@functools.lru_cache(maxsize=16)  # of the studies of one command
def _cells_of(study):
    """Return the cells of the controls of a study, each draw being a method of its own, at its default; or None."""
    part = study.part(CONTROLS, study.frame["dataset"].unique())
    return None if part.frame.empty else cells_of_draws(part.shares)


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
