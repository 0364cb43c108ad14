"""The numbers that the papers print, results/published*.csv, and the tables that stand beside them, conf/table."""

import functools
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import METRICS
from ufs_bench.runners.experiment.kinds import NAME, TEXT, Kind, check_fields, listed, mapping, one_of, optional
from ufs_bench.runners.papers import PAPERS, YEARS
from ufs_bench.scripts.core.conf import ROOT, composed, known, names, read

FOLDER = ROOT / "results"
PATH, RUNTIMES, DATASETS = (FOLDER / f"published{part}.csv" for part in ("", "_runtimes", "_datasets"))
MARKS = {
    "equal": "its mean was printed before in {papers}",
    "shifted": "all methods shared with {papers} differ from there by one and the same amount",
    "stated": "its paper says that it comes from an earlier one",
}
OF_TABLES = (*METRICS, "seconds", "shape")
NAMES = Kind("a list of names, such as [mcfs, rufs]", listed(NAME).holds)
KINDS = {
    "name": TEXT,
    "title": TEXT,
    "paper": one_of(*PAPERS, None),
    "published_table": optional(TEXT),
    "metric": one_of(*OF_TABLES),
    "study": TEXT,
    "protocol": NAME,
    "rows": NAMES,
    "columns": NAMES,
    "published_as": Kind("{} or as {a_variant: mcfs}", mapping(NAME).holds),
}


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """The specification of a table, from a file of conf/table."""

    name: str
    title: str
    # The paper whose numbers stand beside ours, a key of `runners.papers.PAPERS`.
    paper: str | None = None
    published_table: str | None = None  # the paper's own name of the table
    metric: str  # one of `metrics.study.METRICS`, "seconds" (those of a fit) or "shape" (that of the data sets)
    # study, protocol: the study that it is made for, and the protocol that fills it
    study: str
    protocol: str

    rows: list
    columns: list
    published_as: dict = field(default_factory=dict)  # variant of a method -> the row of the paper beside it

    @classmethod
    def check(cls, content, name):
        """Return the `TableSpec` of a file of conf/table, or raise a ConfigError."""
        content = content if isinstance(content, dict) else {}
        check_fields(f"table={name}", content, KINDS, KINDS, f"table={name}: ")
        return cls(**content)

    def printed_row(self, method):
        """Return the row of the paper that a method stands beside."""
        return self.published_as.get(method, method)


def read_table(name):
    """Read and check a file of conf/table, with the file that it builds on, or a file of the user, FILE.yaml."""
    content = read(name) if name.endswith(".yaml") else composed("table", known("table", name))
    return TableSpec.check(content, name)


def paper_tables(paper):
    """Return the tables of a paper, by the names of their files."""
    return [read_table(name) for name in names("table") if name.startswith(f"{paper}_table")]


@functools.cache
def load_published():
    """Return the published cells; do not change them in place, as they are read once and shared.

    The columns are paper, table, dataset, method, metric, mean_percent, std_percent, n_features, inherited,
    evaluated_by, std_over, section; the last four are explained in docs/protocols.md.
    """
    return pd.read_csv(
        PATH,
        dtype={"n_features": "Int64", "section": str},
        keep_default_na=False,
        na_values={name: [""] for name in ("mean_percent", "std_percent", "n_features")},
    )


def published_cells(paper, table, metric):
    """Return the numbers that a paper prints in one of its tables.

    They are indexed by dataset and method, with mean, std (percent or seconds), n_features, inherited, and for seconds
    the machine.  For "shape" they are indexed by dataset: samples, features, classes.
    """
    if metric == "shape":
        frame = _read(DATASETS)
        return frame[(frame["paper"] == paper) & (frame["table"] == table)].set_index("dataset")
    if metric == "seconds":
        frame = _read(RUNTIMES).rename(columns={"seconds": "mean"})
        frame = frame.assign(metric="seconds", std=np.nan, n_features=pd.NA, inherited="")
    else:
        frame = load_published().rename(columns={"mean_percent": "mean", "std_percent": "std"})
    wanted = (frame["paper"] == paper) & (frame["table"] == table) & (frame["metric"] == metric)
    return frame[wanted].set_index(["dataset", "method"])


@functools.cache
def _read(path):
    return pd.read_csv(path)


def explain(marks):
    """Explain the marks of the column inherited that occur."""
    papers = {}
    for mark in sorted(set(marks) - {""}):
        rule, _, paper = mark.partition(":")
        papers.setdefault(rule, []).append(f"{PAPERS[paper]} ({YEARS[paper]})" if paper else "")
    return "; or ".join(MARKS[rule].format(papers=" or ".join(names)) for rule, names in papers.items())
