"""Claims of all papers on their metrics: means of ACC and NMI over runs of K-means, against other readings."""

from functools import partial

import numpy as np

from datasets import scale
from metrics.clustering import AVERAGES, acc_nmi, contingency
from metrics.kmeans import kmeans_restarts
from metrics.protocol import CHOICES
from scripts.claims.core.claim import read_claims
from scripts.claims.core.store import load, rows
from scripts.core.conf import find
from scripts.core.published import load_published
from scripts.published import SECTIONS

SCALINGS = CHOICES["scaling"]
ALL = "published"  # the word for all data sets together
DATASETS = {  # those that can be had
    "rufs": ("orl", "coil20", "binary_alphadigits", "umist", "isolet", "webkb4"),
    "ufsol": ("coil20", "isolet", "usps", "att", "umist"),
    "dgufs": ("allaml", "prostate_ge", "umist", "pix10p", "pie10p"),
    "jgufs": ("jaffe", "umist", "usps", "mnist", "coil20", "webkb", "isolet"),
    "kmeans_ufs": ("micromass", "fashion"),
}
OFF, USUAL = "mean distance", "of the usual"
NEARER = 0.5  # points, of a mean distance: runs with a std of 3 leave an error of .7 in a cell of either side


def purity(y, labels):
    """Return the share of samples that are of the most frequent class of their cluster."""
    return contingency(labels, y).max(axis=1).sum() / len(y)


def tightness(X, labels):
    """Return the sum of squared distances to the centres."""
    groups = [X[labels == label] for label in np.unique(labels)]
    return sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups)


def readings_of(X, y, restarts, average, starts="random"):
    """Return each reading of ACC and of NMI, the highest one with this average, in percent."""
    labels = kmeans_restarts(np.ascontiguousarray(X), len(np.unique(y)), restarts, 0, 100, starts=starts)
    tightest = int(np.argmin([tightness(X, own) for own in labels]))
    acc = acc_nmi(y, labels)[0]
    nmi = {name: acc_nmi(y, labels, name)[1] for name in AVERAGES}
    found = {
        ("acc", "mean ACC"): acc.mean(),
        ("acc", "mean purity"): np.mean([purity(y, own) for own in labels]),
        ("acc", "highest ACC"): acc.max(),
        ("acc", "ACC of the tightest run"): acc[tightest],
        **{("nmi", f"mean NMI, {name}"): values.mean() for name, values in nmi.items()},
        ("nmi", "highest NMI"): nmi[average].max(),
    }
    return {key: 100 * float(value) for key, value in found.items()}


def usual(paper):
    """Return the readings that the protocol has, by metric."""
    return {"acc": "mean ACC", "nmi": "mean NMI, " + find("protocol", paper)["nmi"]}


def named(paper, metric, reading):
    """Return the name of a variant: the usual reading is the control."""
    return f"control: {reading}" if reading == usual(paper)[metric] else reading


def measure(paper, data):
    """Yield a row for each reading on one data set, or on all that are stored."""
    table = load_published()
    table = table[(table["paper"] == paper) & (table["method"] == "all_features")].set_index(["dataset", "metric"])
    if data == ALL:
        yield from measure_all(paper)
        return
    protocol = find("protocol", paper)
    how = protocol["restarts"], protocol["nmi"], protocol.get("starts", "random")
    runs = {s: readings_of(scale(data.X, s), data.y, *how) for s in SCALINGS}
    for metric, reading in runs[SCALINGS[0]]:
        if (data.name, metric) in table.index:
            ours = {scaling: found[metric, reading] for scaling, found in runs.items()}
            yield named(paper, metric, reading), {"printed": table.at[(data.name, metric), "mean_percent"], **ours}


def measure_all(paper):
    """Yield the mean distance of each reading to what is printed, under the protocol's scaling and under the best."""
    stored = [row for row in rows(load(), f"{paper}_metrics") if row.dataset != ALL]
    off = {}
    for variant in dict.fromkeys(row.variant for row in stored):
        own = [row.numbers for row in stored if row.variant == variant]
        off[variant] = {s: float(np.mean([abs(found[s] - found["printed"]) for found in own])) for s in SCALINGS}
    scaling = find("protocol", paper)["scaling"]
    for variant, distances in off.items():
        like = off[f"control: {usual(paper)['nmi' if 'NMI' in variant else 'acc']}"]
        best = {"at its best scaling": min(distances.values()), "the usual at its best": min(like.values())}
        yield variant, {OFF: distances[scaling], USUAL: like[scaling], **best}


def fits_no_better(numbers):
    """Return True where a reading is not clearly nearer than the usual one; None for the rows of single data sets."""
    return numbers[OFF] > numbers[USUAL] - NEARER if OFF in numbers else None


HOW = {f"{paper}_metrics": (partial(measure, paper), fits_no_better) for paper in DATASETS}
CLAIMS = read_claims("metrics", HOW, globals() | {"SECTIONS": SECTIONS})
