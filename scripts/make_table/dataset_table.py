"""The papers' tables of data sets: the shape that each file must have here, and the shape that the paper prints."""

import pandas as pd

from ufs_bench.runners.messages import did_you_mean
from ufs_bench.scripts.core.conf import check_names, find
from ufs_bench.scripts.core.papers import PAPERS, published_cells
from ufs_bench.scripts.core.text import COMPLETE
from ufs_bench.scripts.make_table.table import PARTS, Table

QUANTITIES = {"samples": "# Samples", "features": "# Features", "classes": "# Classes"}


def make_dataset_table(spec):
    """Return the table of a specification with ``metric: shape``, or raise a ValueError on its names."""
    where, known = f"table={spec.name} is one of shapes:", ", ".join(QUANTITIES)
    for name in spec.columns:
        if name not in QUANTITIES:
            raise ValueError(f"{where} the column {name!r} must be one of {known}.{did_you_mean(name, QUANTITIES)}")
    if spec.paper is None:
        raise ValueError(f"{where} paper=null must be one of {', '.join(PAPERS)}.")
    check_names("dataset", spec.rows)
    ours = {name: find("dataset", name) for name in spec.rows}
    published = published_cells(spec.paper, spec.published_table, "shape")
    below = _notes(spec, ours, published)
    return Table(
        name=spec.name,
        title=spec.title,
        columns={name: QUANTITIES[name] for name in spec.columns},
        rows={(name,): content["paper_name"] for name, content in ours.items()},
        cells=shape_cells(spec, ours, published),
        brief=below,
        short=below,
        details=[],
        commands=[],
        keys=("dataset", "quantity"),
        head="Data set",
        written=("table", "dataset", "quantity", "mean", "published_mean", "difference"),
    )


def shape_cells(spec, ours, published):
    """Return one row per data set and quantity, in the columns that the formats read."""
    cells = []
    for name, content in ours.items():
        for quantity in spec.columns:
            printed = published.loc[name, quantity] if name in published.index else float("nan")
            cell = {"table": spec.name, "dataset": name, "quantity": quantity, "metric": "shape"}
            cells.append({**cell, "mean": content[quantity], "published_mean": printed})
    frame = pd.DataFrame(cells)
    frame["difference"] = frame["mean"] - frame["published_mean"]
    blank = {"std": float("nan"), "published_std": float("nan"), "n_selected": pd.NA, "published_n_features": pd.NA}
    blank |= {"inherited": "", "params": "", "trial": "", "trial_status": "", "rank": 0, "published_rank": 0}
    return frame.assign(**blank, status=COMPLETE, sizes=[[]] * len(frame))


def _notes(spec, ours, published):
    lines = [
        "Ours is the shape that the file of a data set must have to be loaded (conf/dataset); it stands with what the "
        f"{PAPERS[spec.paper]} paper prints{PARTS['difference']}."
    ]
    for name, printed in published[published.index.isin(list(ours))].iterrows():
        shape = (ours[name]["samples"], ours[name]["features"])
        if shape[0] != shape[1] and shape == (printed["features"], printed["samples"]):
            lines.append(f"{ours[name]['paper_name']}: the paper prints samples and features the other way round.")
    if unseen := [content["paper_name"] for content in ours.values() if content["data_sha256"] is None]:
        lines.append(f"Never loaded by us, so that our shape is an expectation: {', '.join(unseen)}.")
    return lines
