"""Claims of the DGUFS paper on what it shows and what it prints: selected pixels, their scores, labels of the graph."""

import numpy as np

from datasets import scale
from methods import DGUFS, MinNorm
from methods.core.graphs import knn_graph
from methods.core.starts import kmeans_labels, spectral_labels
from methods.spectral_labels import leading_rows
from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts
from scripts.claims.core.claim import read_claims
from scripts.claims.core.numbers import LLOYD, RESTARTS, minmax
from scripts.claims.core.numbers import shared as in_common
from scripts.core.published import load_published, published_pixels

SCALINGS = ("none", "minmax", "zscore", "unit_norm", "unit_features")
POINTS = ((1e5, 0.1, 100), (10.0, 0.9, 300))  # alpha, beta, m; 10 and .5 are the defaults
MOST = 0.99
NEIGHBORS = 5


def printed_sets():
    """Return the features of table 4, by size."""
    return published_pixels("dgufs", "table4")[1]


def overlap(sets, select):
    """Return how many of the printed features ``select(size)`` has, at each size and in all."""
    found = {f"of {size}": in_common(select(size), features) for size, features in sets.items()}
    return {**found, "of all": sum(found.values()), "all": sum(map(len, sets.values()))}


def measure_pixels(data):
    sets, raw, scaled = printed_sets(), data.X, minmax(data)

    def default(X):
        return lambda m: DGUFS(m, n_clusters=data.n_classes).fit(X).subset(m)

    yield "released, raw data", overlap(sets, default(raw))
    for alpha, beta, m in POINTS:
        own = DGUFS(m, n_clusters=data.n_classes, alpha=alpha, beta=beta).fit(raw).subset(m)
        yield f"released, raw data, alpha = {alpha:g}, beta = {beta:g}", overlap({m: sets[m]}, lambda m, own=own: own)
    yield "control: smallest norm, raw data", overlap(sets, MinNorm().fit(raw).subset)
    yield "control: released, min-max", overlap(sets, default(scaled))
    yield "control: smallest norm, min-max", overlap(sets, MinNorm().fit(scaled).subset)
    chance = {f"of {m}": m**2 / data.n_features for m in sets}
    yield "control: by chance", {**chance, "of all": sum(chance.values()), "all": sum(sets)}


def printed_scores(dataset):
    """Return the ACC, its std, and the NMI that tables 2 and 3 print for DGUFS."""
    table = load_published()
    rows = table[(table["paper"] == "dgufs") & (table["dataset"] == dataset) & (table["method"] == "dgufs")]
    acc, nmi = (rows[rows["metric"] == metric].iloc[0] for metric in ("acc", "nmi"))
    return {"printed ACC": acc["mean_percent"], "its std": acc["std_percent"], "printed NMI": nmi["mean_percent"]}


def scores(points, data):
    """Return mean ACC and NMI over K-means restarts, in percent."""
    labels = kmeans_restarts(np.ascontiguousarray(points), data.n_classes, RESTARTS, 0, LLOYD)
    return [100 * float(np.mean(values)) for values in acc_nmi(data.y, labels, "geometric")]


def measure_scores(data):
    sets, printed = printed_sets(), printed_scores(data.name)
    for scaling in SCALINGS:
        X = scale(data.X, scaling)
        found = np.array([scores(X[:, np.sort(features)], data) for features in sets.values()])
        at_100 = found[list(sets).index(100)]
        numbers = {"ACC at 100": at_100[0], "NMI at 100": at_100[1], "best ACC": found[:, 0].max()}
        yield scaling, {**numbers, "best NMI": found[:, 1].max(), **printed}


def measure_graph(data):
    printed = printed_scores(data.name)
    for scaling in ("none", "minmax"):
        X = scale(data.X, scaling)
        S = knn_graph(X, NEIGHBORS, "binary", include_self=True)
        degrees = S.sum(axis=1) ** -0.5
        normalized = leading_rows(S.multiply(degrees[:, None]).multiply(degrees).tocsr(), data.n_classes)
        plain = leading_rows(S, data.n_classes)
        one = {
            "S": kmeans_labels(plain, data.n_classes, 0),
            "D^-1/2 S D^-1/2": spectral_labels(X, S, data.n_classes, 0),
        }
        for matrix, rows in (("S", plain), ("D^-1/2 S D^-1/2", normalized)):
            acc, nmi = scores(rows, data)
            kept = [100 * float(value[0]) for value in acc_nmi(data.y, one[matrix][None], "geometric")]
            numbers = {"ACC": acc, "NMI": nmi, "ACC, best start": kept[0], "NMI, best start": kept[1]}
            yield f"{matrix}, scaling {scaling}", {**numbers, **printed}


HOW = {
    "dgufs_pixels": (measure_pixels, lambda n: n["of all"] >= MOST * n["all"]),
    "dgufs_pixels_score": (measure_scores, lambda n: abs(n["best ACC"] - n["printed ACC"]) <= n["its std"]),
    "dgufs_graph": (measure_graph, lambda n: n["printed ACC"] > n["ACC"]),
}
CLAIMS = read_claims("dgufs_pixels", HOW, globals())
