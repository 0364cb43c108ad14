"""The numbers that the papers print: results/published*.csv."""

import functools
from pathlib import Path

import numpy as np
import pandas as pd

from ufs_bench.runners.papers import PAPERS, YEARS

FOLDER = Path(__file__).resolve().parents[2] / "results"
PATH, RUNTIMES, DATASETS = (FOLDER / f"published{part}.csv" for part in ("", "_runtimes", "_datasets"))
MARKS = {
    "equal": "its mean was printed before in {papers}",
    "shifted": "all methods shared with {papers} differ from there by one and the same amount",
    "stated": "its paper says that it comes from an earlier one",
}


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
