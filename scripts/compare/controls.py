"""Controls in the place of our rows: the same comparison without any method of the paper."""

import functools
from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.summary import cells_of_draws

VARIANCE = "max_variance"
DRAWS = 20  # random rankings in the place of our rows: a hundred take four times as long
CONTROLS = {RANDOM: "random rankings", ALL: "all features", VARIANCE: "max variance"}
OURS = ["mean", "std", "n_restarts", "group_error"]
KEYS = ["trial", "n_selected", "clusterer", "selection"]  # of `over_more_starts`
COLUMNS = ["dataset", "metric", "control", "draw", *KEYS, *OURS]


def control_scores(study, selection="best_over_grid", metrics=("acc", "nmi")):
    """Return mean and std of the controls of a study, in percent, with one row per draw, each of which is kept."""
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
    """Yield (control, cells of one paper with that control in the place of each of our rows), once for every draw.

    No two methods have the same random ranking, as long as there are enough of them; over all draws every method has
    each of them once.
    """
    places = {method: place for place, method in enumerate(sorted(cells["method"].unique()))}
    own = cells["method"].map(places).to_numpy(dtype=int)
    for control in CONTROLS:
        drawn = Drawn.of(controls[controls["control"] == control], cells)
        for shift in range(drawn.n_draws):
            yield control, drawn.beside(cells, (shift + own) % drawn.n_draws)


class Drawn(NamedTuple):
    """The scores of one control at its first `DRAWS` draws, of shape (n_cells, n_draws), with nan."""

    mean: np.ndarray
    std: np.ndarray
    n_restarts: np.ndarray
    group_error: np.ndarray  # where the starts stand in groups

    @classmethod
    def of(cls, scores, cells):
        """Look up the scores of a control, with one row per data set, metric and draw, for cells of the same paper."""
        if scores.empty:
            return cls(*[np.empty((len(cells), 0))] * len(OURS))
        first = scores[scores["draw"] < DRAWS]
        wide = first.pivot(index=["dataset", "metric"], columns="draw", values=OURS)
        places = wide.index.get_indexer(pd.MultiIndex.from_frame(cells[["dataset", "metric"]]))
        known = (places >= 0)[:, None]
        return cls(*(np.where(known, wide[name].to_numpy(dtype=float)[places], np.nan) for name in OURS))

    @property
    def n_draws(self):
        """The number of draws."""
        return self.mean.shape[1]

    def beside(self, cells, draws):
        """Return the cells with these scores in the place of ours, `draws` being the place of a draw for each cell."""
        rows = np.arange(len(cells))
        found = {name: values[rows, draws] for name, values in zip(OURS, self, strict=True)}
        return cells.assign(**found, seed_std=np.nan)
