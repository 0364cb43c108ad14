"""The papers whose protocols and printed numbers the suite has."""

import csv
import functools

from ufs_bench.runners.place import SUITE

PAPERS = {"rufs": "RUFS", "ufsol": "UFSOL", "dgufs": "DGUFS", "jgufs": "JGUFS", "kmeans_ufs": "K-means UFS"}
AUTHORS = {
    "rufs": "Qian & Zhai",
    "ufsol": "Guo et al.",
    "dgufs": "Guo & Zhu",
    "jgufs": "Peng et al.",
    "kmeans_ufs": "Sun, Ding & Fan",
}
YEARS = {"rufs": 2013, "ufsol": 2017, "dgufs": 2018, "jgufs": 2019, "kmeans_ufs": 2024}
PRINTED = SUITE / "results" / "published.csv"


def protocol_words(name):
    """Return a protocol in words: "protocol of the DGUFS paper (Guo & Zhu 2018)", or "protocol fair"."""
    if name not in PAPERS:
        return f"protocol {name}"
    return f"protocol of the {PAPERS[name]} paper ({AUTHORS[name]} {YEARS[name]})"


def printed_numbers(paper, dataset, method):
    """Return what a paper prints for a method on a data set, from results/published.csv, a dict for each metric.

    They have metric, mean and std in percent, n_selected (None if not printed), and evaluated_by: kmeans or learned.
    """
    wanted = {"paper": paper, "dataset": dataset, "method": method}
    rows = [row for row in _printed() if all(row[name] == value for name, value in wanted.items())]
    return [
        {
            "metric": row["metric"],
            "mean": float(row["mean_percent"]),
            "std": float(row["std_percent"] or "nan"),
            "n_selected": row["n_features"] or None,
            "evaluated_by": row["evaluated_by"],
        }
        for row in rows
        if row["mean_percent"]
    ]


@functools.cache
def _printed():
    with open(PRINTED, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
