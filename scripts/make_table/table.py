"""The cells of a table: reproduced values, published ones, differences and ranks, as one tidy frame."""

import functools
from dataclasses import dataclass, field

import pandas as pd

from metrics.study import CAPPED, FAILED, METRICS, UNSCORED
from scripts.core.words import CAPPED_CELL, COMPLETE, NOT_RUN, PARTIAL

COLUMNS = (
    "table dataset method clusterer metric mean std n_selected params published_mean published_std difference "
    "inherited status selection study trial trial_status n_restarts sizes published_n_features rank published_rank "
    "n_candidates random_best excess seed_std"
).split()
NO_MAXIMA = pd.DataFrame(columns=["dataset", "method", "n_candidates", "random_best"]).astype(
    {"dataset": str, "method": str, "n_candidates": float, "random_best": float}
)
NO_SEEDS = pd.DataFrame(columns=["trial", "n_selected", "clusterer", "seed_std", "n_seeds", "seed_mean"]).astype(
    {"trial": str, "n_selected": "Int64", "clusterer": str, "seed_std": float, "n_seeds": float, "seed_mean": float}
)
DECIMALS = dict.fromkeys((*METRICS, "seconds"), 1) | {"shape": 0}  # decimals that are shown; scores are in percent
# The parts of a cell that a narrow page may leave out, the first to go first, with their words in the notes.
PARTS = {
    "size": " (number of features)",
    "difference": "; Δ = ours minus published",
    "std": " ± std over K-means restarts",
}


@dataclass(frozen=True)
class Table:
    """The content of a table, for every format."""

    name: str
    title: str
    columns: dict  # data set (a quantity in a table of data sets) -> its name in print
    rows: dict  # (method, clusterer), or (data set,) -> its name in print
    cells: pd.DataFrame  # from `build_cells` or `scripts.make_table.dataset_table.shape_cells`
    notes: list  # sentences below the table
    short: list  # those of them that fit into a paper: without the study, its code and commands
    commands: list  # command lines that fill the cells that are not complete
    sources: dict = field(default_factory=dict)  # row -> the row of the paper that it stands beside, and its name
    origin: str = ""  # words after the title that say where the numbers come from
    warning: str = ""  # a sentence above the table
    # Columns of `cells` that name the row, and last the one that names the column.
    keys: tuple = ("method", "clusterer", "dataset")
    head: str = "Method"  # the head of the column of rows
    # Columns of `cells` that a CSV has.
    written: tuple = tuple(name for name in COLUMNS if name != "sizes")

    def cell(self, row, column):
        """Return one cell as a dict, by the keys of its row and column."""
        return self._by_key[(*row, column)]

    def has_published(self, row):
        """Return True where the paper has any number in this row."""
        return any(pd.notna(self.cell(row, column)["published_mean"]) for column in self.columns)

    @functools.cached_property
    def lines(self):
        """The lines as (row, label, is published, is below): what a paper prints once, and all of ours below it."""
        found, above, printed = [], None, set()
        for row, label in self.rows.items():
            source, name = self.sources.get(row, (row, label))
            if not self.has_published(row):
                above = None
            elif source not in printed:
                found.append((row, name, True, False))
                above = source
            printed.add(source if above else None)
            below = above is not None and source == above
            found.append((row, "ours" if below and label == name else label, False, below))
        return found

    def below(self, notes):
        """Return the sentences below the table: "none", "short" or "full"."""
        return {"none": [], "short": self.short, "full": self.notes}[notes]

    def whole_title(self):
        """Return the title with the origin after it."""
        return "; ".join(filter(None, (self.title, self.origin)))

    @functools.cached_property
    def _by_key(self):
        return {tuple(cell[key] for key in self.keys): cell for cell in self.cells.to_dict("records")}


def build_cells(spec, study, chosen, published, selection, maxima=NO_MAXIMA, seeds=NO_SEEDS, learned=True):
    """Return one row per cell, in the order of the table, with `COLUMNS` and what a CSV does not have.

    `chosen` is from `select` or `running_times` of `metrics.study.summary`, and all numbers are in the units of the
    table. status: "complete", "partial" (some points lack a score), "failed" (no point has one), "capped" (the same,
    and a cap ended some) or "not run"; gaps: why. rank: 1 for the best of its column and 2 for the second, equal values
    of the shown decimals together; 0 for the rest and for learned labels. excess: ours less the best of as many random
    sets.
    """
    own = {(cell["dataset"], cell["method"], cell["clusterer"]): cell for cell in chosen.to_dict("records")}
    printed = dict(zip(published.index, published.to_dict("records"), strict=True))
    given = {method for _, method, clusterer in own if learned and clusterer == "learned"}
    keys = [
        (dataset, method, clusterer)
        for method in spec.rows
        for clusterer in ("kmeans", "learned")
        if clusterer == "kmeans" or method in given
        for dataset in spec.columns
    ]
    sources = {method: spec.printed_row(method) for method in spec.rows}
    cells = [_cell(key, own.get(key), sources[key[1]], printed.get((key[0], sources[key[1]]))) for key in keys]
    sign = -1 if spec.metric == "seconds" else 1
    frame = pd.DataFrame(cells).assign(
        table=spec.name, metric=spec.metric, selection=selection, rank=0, published_rank=0
    )
    frame = frame.merge(maxima, how="left", on=["dataset", "method"])
    frame.loc[frame["clusterer"] != "kmeans", ["n_candidates", "random_best"]] = float("nan")
    frame["excess"] = frame["mean"] - frame["random_best"]
    frame = frame.astype({"n_selected": "Int64"}).merge(seeds, how="left", on=["trial", "n_selected", "clusterer"])
    # Learned labels are no K-means on selected features, and so are not ranked among them.
    ranked = frame["mean"].where(frame["clusterer"] == "kmeans"), frame["published_mean"]
    for column, values in zip(("rank", "published_rank"), ranked, strict=True):
        # A published number beside several variants counts once.
        keys = "row" if column == "rank" else "published_row"
        for _, group in frame.groupby("dataset"):
            shown = sign * values[group.index].round(DECIMALS[spec.metric])
            frame.loc[group.index, column] = _ranks(shown, group[keys])
    frame["study"] = chosen["study"].iloc[0] if len(chosen) else study
    return frame[[*COLUMNS, "n_seeds", "seed_mean", "published_machine", "gaps"]].astype(
        {"published_n_features": "Int64", "n_candidates": "Int64"}
    )


def _cell(key, own, source, paper):
    """Return a cell from our number and that of the paper in its row `source`, either of which may be None."""
    dataset, method, clusterer = key
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
        "gaps": "",
    }
    if own is not None:
        cell.update({name: own[name] for name in ("n_selected", "n_restarts", "params", "trial", "sizes")})
        cell.update(mean=own["mean"], std=own["std"], trial_status=own["status"], status=_status(own), gaps=_gaps(own))
    if paper is not None:
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
        return CAPPED_CELL if any(own[f"n_{status}"] for status in CAPPED) else FAILED
    if pd.isna(own["mean"]):
        return NOT_RUN
    return PARTIAL if own["n_missing"] else COMPLETE


def _gaps(own):
    """Count the feature sets without a score by reason: "2 timeout, 1 not run"."""
    counts = {status: own[f"n_{status}"] for status in UNSCORED}
    counts[NOT_RUN] = own["n_missing"] - sum(counts.values())
    return ", ".join(f"{count} {reason}" for reason, count in counts.items() if count)


def _ranks(values, rows):
    distinct = values[~rows.duplicated()].dropna()
    if len(distinct) < 2:
        return 0
    order = sorted(distinct.unique(), reverse=True)[:2]
    return values.map(dict(zip(order, (1, 2), strict=False))).fillna(0).astype(int)
