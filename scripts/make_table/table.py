"""The cells of a table as one tidy frame: ours, published ones, differences and ranks, or shapes of data sets."""

import functools
from dataclasses import dataclass, field

import pandas as pd

from ufs_bench.metrics.study import CAPPED, FAILED, METRICS, RANDOM, UNSCORED, is_learned
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.messages import did_you_mean
from ufs_bench.scripts.core.conf import check_names, find
from ufs_bench.scripts.core.papers import PAPERS, published_cells
from ufs_bench.scripts.core.text import CAPPED_CELL, COMPLETE, NOT_RUN, PARTIAL

COLUMNS = (
    "table dataset method clusterer metric mean std n_selected params published_mean published_std difference "
    "inherited status selection study trial trial_status n_restarts sizes published_n_features rank published_rank "
    "n_candidates random_best excess seed_std"
).split()
KEYS = ["dataset", "method", "clusterer"]
OF_OURS = "mean std n_selected n_restarts params trial trial_status sizes status gaps".split()
OF_PAPER = ["mean", "std", "n_features", "inherited", "machine"]
# What a cell has that was not run, or of which the paper prints nothing.
BLANK = {"n_restarts": 0, "status": NOT_RUN}
BLANK |= dict.fromkeys(("params", "trial", "trial_status", "gaps", "inherited", "published_machine"), "")
NO_MAXIMA = pd.DataFrame(columns=["dataset", "method", "n_candidates", "random_best"]).astype(
    {"dataset": str, "method": str, "n_candidates": float, "random_best": float}
)
NO_SEEDS = pd.DataFrame(columns=["trial", "n_selected", "clusterer", "seed_std", "n_seeds", "seed_mean"]).astype(
    {"trial": str, "n_selected": "Int64", "clusterer": str, "seed_std": float, "n_seeds": float, "seed_mean": float}
)
SHIPPED, IS_SHIPPED = "°", " (shipped)"  # the sign of a shipped cell in a study of the user, and the end of its study
DECIMALS = dict.fromkeys((*METRICS, "seconds"), 1) | {"shape": 0}  # decimals that are shown; scores are in percent
# The parts of a cell, with their words in the notes.
PARTS = {
    "size": " (number of features)",
    "difference": "; Δ = ours minus published",
    "std": " ± std over K-means restarts",
}
QUANTITIES = {"samples": "# Samples", "features": "# Features", "classes": "# Classes"}


@dataclass(frozen=True)
class Table:
    """The content of a table, for every format."""

    name: str
    title: str
    columns: dict  # data set (a quantity in a table of data sets) -> its name in print
    rows: dict  # (method, clusterer), or (data set,) -> its name in print
    cells: pd.DataFrame  # from `build_cells` or `shape_cells`
    brief: list  # at most four sentences
    short: list  # those that fit into a paper: without the study, its code and commands
    details: list  # further sentences
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

    @functools.cached_property
    def line(self):
        """The place in `lines` of random rankings, which stand below a line; None without them or others."""
        places = [place for place, (row, *_) in enumerate(self.lines) if row[0] == RANDOM]
        return places[0] if places and places[0] else None

    def below(self, notes):
        """Return the sentences below the table: "none", "short" or "full"."""
        return {"none": [], "short": self.brief, "full": [*self.brief, *self.details]}[notes]

    def filling(self, notes):
        """Return the command lines below the table: with short notes only a single one."""
        return self.commands if notes == "full" or (notes == "short" and len(self.commands) == 1) else []

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
    given = set(chosen.loc[is_learned(chosen), "method"]) if learned else ()
    clusterers = {True: ("kmeans", "learned"), False: ("kmeans",)}
    methods = sorted(spec.rows, key=lambda method: method == RANDOM)  # what chance gives stands last
    rows = [(method, clusterer) for method in methods for clusterer in clusterers[method in given]]
    frame = pd.DataFrame([(dataset, *row) for row in rows for dataset in spec.columns], columns=KEYS)
    frame["source"] = frame["method"].map(spec.printed_row)
    states = [(_status(cell), _gaps(cell)) for cell in chosen.to_dict("records")]
    ours = chosen.rename(columns={"status": "trial_status"}).astype({"n_selected": "Int64"})
    ours[["status", "gaps"]] = pd.DataFrame(states, index=ours.index, columns=["status", "gaps"])
    theirs = (published if "machine" in published else published.assign(machine=""))[OF_PAPER].add_prefix("published_")
    frame = frame.merge(ours[[*KEYS, *OF_OURS]], how="left", on=KEYS)
    frame = frame.merge(theirs, how="left", left_on=["dataset", "source"], right_index=True)
    frame = frame.rename(columns={"published_inherited": "inherited"}).fillna(BLANK).astype({"n_restarts": int})
    frame["sizes"] = [own if isinstance(own, list) else [] for own in frame["sizes"]]
    frame = frame.merge(maxima, how="left", on=["dataset", "method"])
    is_kmeans = ~is_learned(frame)
    # The best of many draws, chosen with the labels, is no method that a reader could take.
    ranked = is_kmeans & ~((frame["method"] == RANDOM) & (selection in BY_NAME and BY_NAME[selection].oracle))
    frame.loc[~is_kmeans, ["n_candidates", "random_best"]] = float("nan")
    frame = frame.merge(seeds, how="left", on=["trial", "n_selected", "clusterer"])
    sign, decimals = -1 if spec.metric == "seconds" else 1, DECIMALS[spec.metric]
    frame = frame.assign(
        table=spec.name,
        metric=spec.metric,
        selection=selection,
        study=chosen["study"].iloc[0] if len(chosen) else study,
        difference=frame["mean"] - frame["published_mean"],
        excess=frame["mean"] - frame["random_best"],
        # Learned labels are no K-means on selected features, and so are not ranked among them.
        rank=_ranks(sign * frame["mean"].where(ranked).round(decimals), frame, "method"),
        # A published number beside several variants counts once.
        published_rank=_ranks(sign * frame["published_mean"].round(decimals), frame, "source"),
    )
    return frame[[*COLUMNS, "n_seeds", "seed_mean", "published_machine", "gaps"]].astype(
        {"published_n_features": "Int64", "n_candidates": "Int64"}
    )


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


def _ranks(values, cells, row):
    """Return 1 for the best of each data set, 2 for the second, and 0 for others, and where one row has a number."""
    n_rows = cells[row].where(values.notna()).groupby(cells["dataset"]).transform("nunique")
    places = values.groupby(cells["dataset"]).rank(method="dense", ascending=False)
    return places.where((places <= 2) & (n_rows > 1), 0).astype(int)


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
