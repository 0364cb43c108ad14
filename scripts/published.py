"""The papers' numbers: ``python -m scripts.published`` writes anew what results/published.csv says besides them."""

import numpy as np
import pandas as pd

from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.published import PATH, YEARS, load_published

# Section 5.2 of the UFSOL paper: its baselines' results are those of "their published works".  The RUFS paper has 18
# of them, too, but none is the same there; they differ by 1.0 point in the median.
STATED = {"ufsol": ("all_features", "laplacian_score", "mcfs", "udfs", "ndfs", "rufs", "socfs")}
CELL = ["dataset", "method", "metric"]
# One equal mean on a data set may be chance: unrelated papers have 1 among the 78 cells that they share.
TIES = 2
KMEANS = ("kmeans", "kmeans restarts")
# Paper -> the section on how its rows were judged, and the rows that were not judged by K-means.
SECTIONS = {"rufs": "5.3", "ufsol": "5.2", "dgufs": "5.1", "jgufs": "3.1", "kmeans_ufs": "V-B"}
# "At the L-step of our method, iteration based eigen-decomposition uses a random start, which is varied.  For other
# comparative methods, the initialization of K-means is varied."  So its own row is plausibly that of its own labels.
LEARNED = {("dgufs", "dgufs"): ("learned", "eigensolver starts")}


def how_judged(published):
    """Return how the rows of each paper were judged, according to the paper.

    The columns are evaluated_by: "kmeans" on the selected features, or the labels that the method has "learned";
    std_over: what differs between the runs whose mean and std are printed; section: the paper's section that says so.
    """
    keys = zip(published["paper"], published["method"], strict=True)
    rows = [(*LEARNED.get(key, KMEANS), SECTIONS[key[0]]) for key in keys]
    return pd.DataFrame(rows, columns=["evaluated_by", "std_over", "section"], index=published.index)


def mark_inherited(published):
    """Mark the cells of `load_published` that are not evidence of their own, as the numbers themselves show.

    A cell is marked by the first rule that holds, and has "" where it is the paper's own:

    * ``equal:PAPER``: an earlier paper has the same mean for the same data set, method and metric, and likewise for
      at least `TIES` cells of the data set.
    * ``shifted:PAPER``: on this data set and metric, every method that the two papers share (three at least) differs
      from the earlier paper by one and the same non-zero amount, at the same numbers of features.
    * ``stated``: the paper says that it took its baselines from earlier works.
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
            # The earliest paper comes last, so that a number is attributed to the paper that printed it first.
            equal = pairs[np.isclose(pairs["difference"], 0)]
            marks[equal.loc[equal.groupby("dataset")["row"].transform("size") >= TIES, "row"]] = f"equal:{earlier}"
    return marks


def _pairs(published, paper, earlier):
    frame = published.assign(row=published.index)
    pairs = frame[frame["paper"] == paper].merge(frame[frame["paper"] == earlier], on=CELL, suffixes=("", "_earlier"))
    return pairs.assign(difference=pairs["mean_percent"] - pairs["mean_percent_earlier"])


@command("published")
def main(options):
    """Write the marks and how rows were judged; the numbers do not change by a byte."""
    published = pd.read_csv(PATH, dtype=str, keep_default_na=False)
    published["inherited"] = mark_inherited(load_published())
    published = published.assign(**how_judged(published))
    published.to_csv(PATH, index=False, lineterminator="\n")
    rules = published["inherited"].str.partition(":")[0].replace("", "own").value_counts()
    print(f"{PATH}: " + ", ".join(f"{count} {rule}" for rule, count in rules.items()))


if __name__ == "__main__":
    main()
