"""The parts of the report with a row for every data set and method; of thousands, every method has one instead."""

import re
from collections import Counter

import pandas as pd

from metrics.study import UNSCORED
from metrics.study.frames import of_kmeans
from runners.store.row import from_json
from runners.words import counted
from scripts.core.words import COMPLETE

# Nobody reads more rows than these, and each takes a browser as long as a card of the page: 5,000 rows in six tables
# took one eight seconds to open.
MOST_ROWS = 500
MOST_FITS = 100  # without scores; `scripts.status` lists them all
NUMBER = re.compile(r"[-+−]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
WITHIN = ["clusterer", "parameter", "optimum", "change"]  # what, besides the method, tells rows of one data set apart


def fold(frame):
    """Return a table of texts with a row a method, where it has more than `MOST_ROWS`, and the number of folded rows.

    Columns of numbers have the middle value and the lowest and the highest, those of words every word with its count.
    """
    if len(frame) <= MOST_ROWS or not {"dataset", "method"} <= set(frame.columns):
        return frame, 0
    keys = ["method", *(name for name in WITHIN if name in frame.columns)]
    others = [name for name in frame.columns if name not in ("dataset", *keys)]
    rows = []
    for key, part in frame.groupby(keys, sort=True):
        row = dict(zip(keys, key, strict=True)) | {"data sets": str(part["dataset"].nunique())}
        rows.append(row | {name: _together(part[name]) for name in others})
    return pd.DataFrame(rows), len(frame)


def _together(texts):
    """Return the texts of some cells as one."""
    texts = [text for text in texts if text]
    if len(set(texts)) < 2:
        return texts[0] if texts else ""
    if not all(map(NUMBER.match, texts)):
        return ", ".join(f"{text} {count}" for text, count in Counter(texts).most_common())
    texts.sort(key=lambda text: float(NUMBER.match(text)[0].replace("−", "-")))
    return f"{texts[(len(texts) - 1) // 2]} ({texts[0]} to {texts[-1]})"


def times(trials, methods, datasets):
    """Return seconds and memory of every method on every data set, or `folded` ones, of all data sets."""
    fits = trials[~trials["status"].isin(UNSCORED)]
    folded = len(fits[["dataset", "method"]].drop_duplicates()) > MOST_ROWS
    rows = []
    for (*_, method), cell in fits.groupby(["method"] if folded else ["dataset", "method"]):
        seconds, where = cell["fit_s"], cell["dataset"]
        dataset = counted(where.nunique(), "data set") if folded else datasets[where.iloc[0]]
        values = [seconds.median(), seconds.max(), seconds.sum(), cell["eval_s"].sum(), cell["peak_mb"].max()]
        rows.append({"dataset": dataset, "method": methods[method], "fits": len(cell), "values": values})
    return {"rows": rows, "folded": folded}


def unfinished(study, table, methods, datasets):
    """Return the fits without scores, the cells of the whole study that lack fits, and the commands that do both."""
    without = study.trials[study.trials["status"].isin(UNSCORED)].sort_values(["method", "dataset"], kind="stable")
    cells = of_kmeans(table.cells[table.cells["status"] != COMPLETE])
    lacking = [(methods[row.method], datasets[row.dataset], row.status) for row in cells.itertuples()]
    shown, _ = fold(pd.DataFrame(lacking, columns=["method", "dataset", "status"]))
    return {
        "fits": [row | {"params": from_json(row["params"])} for row in without.head(MOST_FITS).to_dict("records")],
        "n_fits": len(without),
        "cells": shown.to_numpy().tolist(),
        "n_cells": len(lacking),
        "commands": table.commands,
    }
