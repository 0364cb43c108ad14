"""The part of the report on what has no scores: fits that failed or ended at a cap, and cells that lack fits."""

import json

import pandas as pd

from metrics.study import UNSCORED
from metrics.study.frames import of_kmeans
from scripts.core.words import COMPLETE
from scripts.make_report.folded import fold

MOST = 100  # rows; `scripts.status` lists them all


def unfinished(study, table, methods, datasets):
    """Return the fits without scores, the cells that lack fits, and the commands that do both.

    `table` is that of the whole study; of too many cells a method's stand in one row.
    """
    without = study.trials[study.trials["status"].isin(UNSCORED)].sort_values(["method", "dataset"], kind="stable")
    cells = of_kmeans(table.cells[table.cells["status"] != COMPLETE])
    lacking = [(methods[row.method], datasets[row.dataset], row.status) for row in cells.itertuples()]
    shown, _ = fold(pd.DataFrame(lacking, columns=["method", "dataset", "status"]))
    return {
        "fits": [row | {"params": json.loads(row["params"])} for row in without.head(MOST).to_dict("records")],
        "n_fits": len(without),
        "cells": shown.to_numpy().tolist(),
        "n_cells": len(lacking),
        "commands": table.commands,
    }
