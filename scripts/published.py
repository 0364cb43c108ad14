"""The papers' numbers: ``python -m scripts.published`` rewrites the `inherited` marks of results/published.csv."""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parents[1] / "results"
PATH, RUNTIMES, DATASETS = (FOLDER / f"published{part}.csv" for part in ("", "_runtimes", "_datasets"))
PAPERS = {"rufs": "RUFS", "ufsol": "UFSOL", "dgufs": "DGUFS", "jgufs": "JGUFS", "kmeans_ufs": "K-means UFS"}
YEARS = {"rufs": 2013, "ufsol": 2017, "dgufs": 2018, "jgufs": 2019, "kmeans_ufs": 2024}
# Section 5.2 of the UFSOL paper: its baselines' results are those of "their published works".
STATED = {"ufsol": ("all_features", "laplacian_score", "mcfs", "udfs", "ndfs", "rufs", "socfs")}
CELL = ["dataset", "method", "metric"]
MARKS = {
    "equal": "its mean was printed before in {papers}",
    "shifted": "all methods shared with {papers} differ from there by one and the same amount",
    "stated": "its paper says that it comes from an earlier one",
}


def load_published(path=PATH):
    """The published cells.

    Returns
    -------
    DataFrame
        Columns paper, table, dataset, method, metric, mean_percent, std_percent, n_features, inherited.
    """
    return pd.read_csv(
        path,
        dtype={"n_features": "Int64"},
        keep_default_na=False,
        na_values={name: [""] for name in ("mean_percent", "std_percent", "n_features")},
    )


def published_cells(paper, table, metric, published=None):
    """What a paper prints in one of its tables.

    Parameters
    ----------
    paper, table : str or None
    metric : {"acc", "nmi", "seconds", "shape"}
    published : DataFrame, optional
        Scores, from `load_published` by default.

    Returns
    -------
    DataFrame
        Indexed by dataset and method; columns mean, std (percent or seconds), n_features, inherited, and for seconds
        the machine.  For "shape" indexed by dataset, with columns samples, features, classes.
    """
    if metric == "shape":
        frame = pd.read_csv(DATASETS)
        return frame[(frame["paper"] == paper) & (frame["table"] == table)].set_index("dataset")
    if metric == "seconds":
        frame = pd.read_csv(RUNTIMES).rename(columns={"seconds": "mean"})
        frame = frame.assign(metric="seconds", std=np.nan, n_features=pd.NA, inherited="")
    else:
        frame = load_published() if published is None else published
        frame = frame.rename(columns={"mean_percent": "mean", "std_percent": "std"})
    wanted = (frame["paper"] == paper) & (frame["table"] == table) & (frame["metric"] == metric)
    return frame[wanted].set_index(["dataset", "method"])


def mark_inherited(published):
    """Which cells are no evidence of their own, derived from the numbers themselves.

    A cell is marked by the first rule that holds:

    * ``equal:PAPER``: an earlier paper has the same mean for the same data set, method and metric.
    * ``shifted:PAPER``: on this data set and metric, every method that the two papers share (three at least) differs
      from the earlier paper by one and the same non-zero amount, at the same numbers of features.
    * ``stated``: the paper says that it took its baselines from earlier works.

    Parameters
    ----------
    published : DataFrame
        As from `load_published`; a column `inherited` in it is not read.

    Returns
    -------
    Series of str
        "" for a cell of the paper's own.
    """
    marks = pd.Series("", index=published.index)
    for paper, methods in STATED.items():
        marks[(published["paper"] == paper) & published["method"].isin(methods)] = "stated"
    for paper in YEARS:
        for earlier in sorted((name for name in YEARS if YEARS[name] < YEARS[paper]), key=YEARS.get, reverse=True):
            pairs = _pairs(published, paper, earlier)
            for _, group in pairs.groupby(["dataset", "metric"]):
                differences = group["difference"].round(6)
                same_sizes = (group["n_features"].fillna(0) == group["n_features_earlier"].fillna(0)).all()
                if len(group) >= 3 and same_sizes and differences.nunique() == 1 and differences.iloc[0] != 0:
                    marks[group["row"]] = f"shifted:{earlier}"
            # The earliest paper is visited last, so that a number goes back to where it was first printed.
            marks[pairs.loc[np.isclose(pairs["difference"], 0), "row"]] = f"equal:{earlier}"
    return marks


def explain(marks):
    """The marks of `mark_inherited` that occur, in words.

    Parameters
    ----------
    marks : iterable of str

    Returns
    -------
    str
    """
    papers = {}
    for mark in sorted(set(marks) - {""}):
        rule, _, paper = mark.partition(":")
        papers.setdefault(rule, []).append(f"{PAPERS[paper]} ({YEARS[paper]})" if paper else "")
    return "; or ".join(MARKS[rule].format(papers=" or ".join(names)) for rule, names in papers.items())


def _pairs(published, paper, earlier):
    frame = published.assign(row=published.index)
    pairs = frame[frame["paper"] == paper].merge(frame[frame["paper"] == earlier], on=CELL, suffixes=("", "_earlier"))
    return pairs.assign(difference=pairs["mean_percent"] - pairs["mean_percent_earlier"])


def main():
    """Rewrite the marks; the numbers stay byte for byte as they are."""
    published = pd.read_csv(PATH, dtype=str, keep_default_na=False)
    published["inherited"] = mark_inherited(load_published())
    published.to_csv(PATH, index=False, lineterminator="\n")
    rules = published["inherited"].str.partition(":")[0].replace("", "own").value_counts()
    print(f"{PATH}: " + ", ".join(f"{count} {rule}" for rule, count in rules.items()))


if __name__ == "__main__":
    main()
