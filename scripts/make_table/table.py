"""The cells of a table: reproduced values, published ones, differences and ranks, as one tidy frame."""

from dataclasses import dataclass

import pandas as pd

from scripts.core.words import COMPLETE, FAILED, NOT_RUN, PARTIAL

COLUMNS = (
    "table dataset method clusterer metric mean std n_selected params published_mean published_std difference "
    "inherited status selection study trial trial_status n_restarts sizes published_n_features rank published_rank"
).split()
DECIMALS = {"acc": 1, "nmi": 1, "seconds": 1, "shape": 0}  # shown; acc and nmi are in percent


@dataclass(frozen=True)
class Table:
    """What every format shows.

    Attributes
    ----------
    name, title : str
    columns : dict
        Data set (a quantity in a table of data sets) -> its name in print.
    rows : dict
        (method, clusterer), or (data set,) -> its name in print.
    cells : DataFrame
        From `build_cells` or `scripts.make_table.dataset_table.shape_cells`.
    notes : list of str
        Sentences below the table.
    commands : list of str
        What to type to fill the cells that are not complete.
    keys : tuple of str
        Columns of `cells` that name the row, and last the one that names the column.
    head : str
        What the rows are.
    written : tuple of str
        Columns of `cells` that a CSV has.
    """

    name: str
    title: str
    columns: dict
    rows: dict
    cells: pd.DataFrame
    notes: list
    commands: list
    keys: tuple = ("method", "clusterer", "dataset")
    head: str = "Method"
    written: tuple = tuple(name for name in COLUMNS if name != "sizes")

    def cell(self, row, column):
        """One cell, by the keys of its row and column."""
        return self._row(row).loc[lambda cells: cells[self.keys[-1]] == column].iloc[0]

    def has_published(self, row):
        """Whether the paper has any number in this row."""
        return bool(self._row(row)["published_mean"].notna().any())

    def _row(self, row):
        return self.cells[(self.cells[list(self.keys[:-1])] == list(row)).all(axis=1)]


def build_cells(spec, chosen, published, selection):
    """One row per cell, in the order of the table.

    Parameters
    ----------
    spec : Mapping
        A file of conf/table.
    chosen : DataFrame
        From `metrics.study.summary.select` or `running_times`, of one study, in the units of the table.
    published : DataFrame
        From `scripts.core.published.published_cells`.
    selection : str

    Returns
    -------
    DataFrame
        Columns `COLUMNS`.  status: "complete", "partial" (some points failed or are missing), "failed" (no point has a
        score) or "not run".  rank, published_rank: 1 for the best of its column (the fewest seconds) and 2 for the
        second, equal values of the shown decimals together; 0 for the rest.
    """
    chosen = chosen.set_index(["dataset", "method", "clusterer"])
    learned = {method for _, method, clusterer in chosen.index if clusterer == "learned"}
    cells = [
        _cell(spec, dataset, method, clusterer, chosen, published)
        for method in spec["rows"]
        for clusterer in ("kmeans", "learned")
        if clusterer == "kmeans" or method in learned
        for dataset in spec["columns"]
    ]
    sign = -1 if spec["metric"] == "seconds" else 1
    frame = pd.DataFrame(cells).assign(
        table=spec["name"], metric=spec["metric"], selection=selection, rank=0, published_rank=0
    )
    for column, values in (("rank", "mean"), ("published_rank", "published_mean")):
        # A published number that stands beside several variants counts once.
        keys = "row" if column == "rank" else "published_row"
        for _, group in frame.groupby("dataset"):
            frame.loc[group.index, column] = _ranks(sign * group[values].round(DECIMALS[spec["metric"]]), group[keys])
    frame["study"] = chosen["study"].iloc[0] if len(chosen) else spec["study"]
    return frame[[*COLUMNS, "published_machine"]].astype({"n_selected": "Int64", "published_n_features": "Int64"})


def _cell(spec, dataset, method, clusterer, chosen, published):
    source = spec["published_as"].get(method, method)
    cell = {
        "dataset": dataset,
        "method": method,
        "clusterer": clusterer,
        "row": (method, clusterer),
        "published_row": source,
        "status": NOT_RUN,
        "mean": float("nan"),
        "std": float("nan"),
        "n_selected": pd.NA,
        "n_restarts": 0,
        "sizes": [],
        "params": "",
        "trial": "",
        "trial_status": "",
        "published_mean": float("nan"),
        "published_std": float("nan"),
        "published_n_features": pd.NA,
        "inherited": "",
        "published_machine": "",
    }
    if (dataset, method, clusterer) in chosen.index:
        own = chosen.loc[(dataset, method, clusterer)]
        cell.update({name: own[name] for name in ("n_selected", "n_restarts", "params", "trial", "sizes")})
        cell.update(mean=own["mean"], std=own["std"], trial_status=own["status"], status=_status(own))
    if (dataset, source) in published.index:
        paper = published.loc[(dataset, source)]
        cell.update(
            published_mean=paper["mean"],
            published_std=paper["std"],
            published_n_features=paper["n_features"],
            inherited=paper["inherited"],
            published_machine=paper.get("machine", ""),
        )
    cell["difference"] = cell["mean"] - cell["published_mean"]
    return cell


def _status(own):
    if own["n_points"] == 0:
        return FAILED
    if pd.isna(own["mean"]):
        return NOT_RUN
    return PARTIAL if own["n_missing"] else COMPLETE


def _ranks(values, rows):
    distinct = values[~rows.duplicated()].dropna()
    if len(distinct) < 2:
        return 0
    order = sorted(distinct.unique(), reverse=True)[:2]
    return values.map(dict(zip(order, (1, 2), strict=False))).fillna(0).astype(int)
