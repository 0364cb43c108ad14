"""Printed cells that no runs can have, are copies, or are above what features chosen by labels reach.

    python -m benchmarks.printed > docs/printed.md        # needs the data of the JGUFS paper; some minutes

What a page says of a cell is arithmetic on what is printed: it names no reason, and none is known.
"""

import math

import numpy as np
import pandas as pd
from sklearn.feature_selection import f_classif, mutual_info_classif
from threadpoolctl import threadpool_limits

from datasets import load_dataset, scale
from metrics.clustering import AVERAGES, acc_nmi
from metrics.kmeans import kmeans_restarts
from runners.cli.boundary import boundary
from scripts.core.conf import find
from scripts.core.published import PAPERS, PATH, load_published
from scripts.core.views import render

SETS, METRIC = ("coil20", "jaffe", "isolet"), "acc"
RESTARTS = 100
IMPOSSIBLE = ["Paper", "Table", "Data", "Method", "Mean", "Std", "Least std", "Samples", "Runs"]


def least_std(mean, decimals, n_samples, runs):
    """Return the least std, in percent, of so many accuracies whose printed mean has so many decimals; nan if none can.

    The std has the number of runs below it, not one less: the smaller of the two conventions.
    """
    half = 0.5 * 10.0**-decimals
    sums = range(
        math.ceil(runs * n_samples * (mean - half) / 100 - 1e-9),
        math.floor(runs * n_samples * (mean + half) / 100 + 1e-9) + 1,
    )
    return min((100 * math.sqrt((s % runs) * (runs - s % runs)) / runs / n_samples for s in sums), default=math.nan)


def impossible():
    """Return the number of accuracies looked at, and the rows of those whose std is below the least one, as texts."""
    texts = pd.read_csv(PATH, dtype=str, keep_default_na=False)
    cells = texts[(texts["metric"] == "acc") & (texts["std_percent"] != "")]
    rows = []
    for cell in cells.itertuples():
        n_samples, runs = find("dataset", cell.dataset)["samples"], find("protocol", cell.paper)["restarts"]
        decimals = [len(text.partition(".")[2]) for text in (cell.mean_percent, cell.std_percent)]
        least = least_std(float(cell.mean_percent), decimals[0], n_samples, runs)
        if not float(cell.std_percent) + 0.5 * 10.0 ** -decimals[1] >= least:
            numbers = [cell.mean_percent, cell.std_percent, f"{least:.2f}", str(n_samples), str(runs)]
            rows.append([PAPERS[cell.paper], cell.table, cell.dataset, cell.method, *numbers])
    return len(cells), rows


def single_clusterings():
    """Return, for the cells of one clustering, each 2 x 2 table with the printed accuracy and its NMI by every mean."""
    own = load_published().query("paper == 'dgufs' and dataset == 'allaml'")
    wide = own.pivot(index="method", columns="metric", values=["mean_percent", "std_percent"])
    still = wide[(wide["std_percent"] == 0).all(axis=1)]["mean_percent"]
    counts = np.bincount(np.unique(load_dataset("allaml").y, return_inverse=True)[1])
    y = np.repeat([0, 1], counts)
    rows = []
    for method, printed in still.iterrows():
        for first in range(counts[0] + 1):
            for second in range(counts[1] + 1):
                labels = np.concatenate([np.arange(n) < k for n, k in zip(counts, (first, second), strict=True)])
                acc = 100 * acc_nmi(y, labels[None].astype(int))[0][0]
                if first >= second and abs(acc - printed["acc"]) <= 0.05:
                    nmi = [100 * acc_nmi(y, labels[None].astype(int), mean)[1][0] for mean in AVERAGES]
                    if min(abs(value - printed["nmi"]) for value in nmi) <= 0.05:
                        table = f"{first} + {second} of {counts[0]} + {counts[1]}"
                        texts = [f"{value:.2f}" for value in nmi]
                        rows.append([method, f"{printed['acc']:.1f}", f"{printed['nmi']:.1f}", table, *texts])
    return rows


def copies():
    """Return a row for every paper, data set and mark.

    How far the means are from the earlier paper's, the number of cells, of how many the mean is the larger, and the
    cells whose std and size are another earlier paper's, and not those of the mean.
    """
    table = load_published()
    marked = table[table["inherited"].str.contains(":")]
    rows = []
    for (paper, data, mark), cells in marked.groupby(["paper", "dataset", "inherited"], sort=False):
        others = table[(table["dataset"] == data) & table["paper"].isin({"rufs", "ufsol"} - {paper})]
        most = others.groupby(["method", "metric"])["mean_percent"].agg(["max", "nunique"])
        found = most.reindex(pd.MultiIndex.from_frame(cells[["method", "metric"]]))
        both = (found["nunique"] > 1).to_numpy()
        larger = np.isclose(found["max"].to_numpy(), cells["mean_percent"].to_numpy()) & both
        source = mark.partition(":")[2]
        beside = cells.merge(others[others["paper"] == source], on=["method", "metric"], suffixes=("", "_source"))
        apart = (beside["mean_percent"] - beside["mean_percent_source"]).round(1).unique()
        mixed = beside.merge(others[others["paper"] != source], on=["method", "metric"], suffixes=("", "_other"))
        same = {end: mixed["std_percent"].round(1) == mixed[f"std_percent_{end}"] for end in ("source", "other")}
        mixed = mixed[same["other"] & ~same["source"] & (mixed["n_features"] == mixed["n_features_other"])]
        texts = [f"{cell.method} {cell.std_percent:.2f} at {cell.n_features:.0f} ({PAPERS[cell.paper_other]})"
                 for cell in mixed.itertuples()]  # fmt: skip
        counts = [str(len(cells)), f"{larger.sum()} of {both.sum()}" if both.any() else "", ", ".join(texts)]
        rows.append([PAPERS[paper], data, mark, " ".join(f"{one:.1f}" for one in apart), *counts])
    return rows


def by_labels(name):
    """Return the best mean accuracy over the sizes, and its standard error, in percent, by each ranking by labels."""
    data, protocol = load_dataset(name), find("protocol", "jgufs")
    X = scale(data.X, protocol["scaling"])
    scores = {"F test": f_classif(X, data.y)[0], "mutual information": mutual_info_classif(X, data.y, random_state=0)}
    best = {}
    for ranking, values in scores.items():
        order = np.argsort(-np.nan_to_num(values), kind="stable")
        found = [kmeans_restarts(np.ascontiguousarray(X[:, np.sort(order[:size])]), data.n_classes, RESTARTS)
                 for size in protocol["sizes"]]  # fmt: skip
        accuracies = [100 * acc_nmi(data.y, labels)[0] for labels in found]
        best[ranking] = max((float(own.mean()), float(own.std(ddof=1) / np.sqrt(len(own)))) for own in accuracies)
    return best


def above_labels():
    """Return a row for every data set: the best by labels, and the printed cells above it."""
    table = load_published().query("paper == 'jgufs' and metric == @METRIC and method != 'all_features'")
    rows = []
    for name in SETS:
        best = by_labels(name)
        cells = table[(table["dataset"] == name) & (table["mean_percent"] > max(best.values())[0])]
        names = [f"{cell.method} {cell.mean_percent}" for cell in cells.itertuples()]
        rows.append([name, *(f"{mean:.1f} ({error:.1f})" for mean, error in best.values()), ", ".join(names) or "none"])
    return rows


def page():
    """Return the page in Markdown."""
    n_cells, rows = impossible()
    with threadpool_limits(1):
        above = above_labels()
    return render(
        "printed.md.j2",
        n_cells=n_cells,
        impossible=[IMPOSSIBLE, *rows],
        single=[["Method", "ACC", "NMI", "Table", *AVERAGES], *single_clusterings()],
        copies=[["Paper", "Data", "Mark", "Apart", "Cells", "Larger", "Std and size of another"], *copies()],
        restarts=RESTARTS,
        above=[["Data", "F test", "Mutual information", "Printed above both"], *above],
    )


if __name__ == "__main__":
    with boundary():
        print(page(), end="")
