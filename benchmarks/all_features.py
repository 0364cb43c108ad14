"""The fit of every reading of a paper's data, K-means and NMI to its row "All Features", which no method enters.

    python -m benchmarks.all_features dgufs          # the best ten readings, and that of the protocol
    python -m benchmarks.all_features dgufs --without pie10p      # chosen without a data set, and judged on it

A reading is a scaling, a rule for K-means and a mean of the entropies in NMI.  Were it the paper's, each printed mean
would be a draw with the standard deviation of our restarts: chi2 is the sum of the squared differences by its variance,
over the cells that are printed and are the paper's own.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from datasets import load_dataset, scale
from metrics.clustering import AVERAGES, acc_nmi
from metrics.kmeans import kmeans_restarts
from metrics.protocol import CHOICES
from scripts.claims.metrics import DATASETS
from scripts.core.conf import find
from scripts.core.programs import parser_of
from scripts.core.published import load_published
from scripts.core.text import pipes

RULES = {  # words: starts, replicates and restarts
    "one random start": ("random", 1, 200),
    "one k-means++ start": ("kmeans++", 1, 200),
    "best of ten random starts": ("random", 10, 40),
    "best of ten k-means++ starts": ("kmeans++", 10, 40),
}
BEST = 10  # readings that are printed
ROUNDING = 0.1**2 / 12  # variance of what rounding to one decimal takes away


def scores(data, scaling, rule):
    """Return ACC, shape (n_restarts,), and NMI by each mean, in percent."""
    starts, replicates, restarts = RULES[rule]
    X = np.ascontiguousarray(scale(data.X, scaling))
    labels = kmeans_restarts(X, data.n_classes, restarts, starts=starts, replicates=replicates)
    nmi = {average: 100 * acc_nmi(data.y, labels, average)[1] for average in AVERAGES}
    return 100 * acc_nmi(data.y, labels)[0], nmi


def squares(paper, names, rules=tuple(RULES)):
    """Return the squared differences of each reading by their variance, {(scaling, rule, average): {cell: value}}."""
    table = load_published()
    own = table[(table["paper"] == paper) & (table["method"] == "all_features") & (table["inherited"] == "")]
    printed, found = own.set_index(["dataset", "metric"])["mean_percent"], {}
    runs = find("protocol", paper)["restarts"]
    for name in names:
        data = load_dataset(name)
        for scaling in CHOICES["scaling"]:
            for rule in rules:
                acc, nmi = scores(data, scaling, rule)
                for average, values in nmi.items():
                    cells = found.setdefault((scaling, rule, average), {})
                    for metric, ours in (("acc", acc), ("nmi", values)):
                        if (name, metric) in printed.index:
                            variance = ours.var(ddof=1) * (1 / runs + 1 / len(ours)) + ROUNDING
                            cells[name, metric] = (ours.mean() - printed[name, metric]) ** 2 / variance
    return found


def ranked(found, without=None):
    """Return (chi2, cells, reading), best first; of means of NMI that no cell shows one is kept."""
    sums = {
        reading: [value for (name, _), value in cells.items() if name != without] for reading, cells in found.items()
    }
    rows = sorted((sum(values), len(values), reading) for reading, values in sums.items())
    shows_nmi = any(metric == "nmi" for cells in found.values() for _, metric in cells)
    return rows if shows_nmi else [row for row in rows if row[2][2] == "geometric"]


def of_protocol(paper):
    """Return the reading that the paper's protocol has."""
    protocol = find("protocol", paper)
    rule = "one random start" if protocol.get("starts", "random") == "random" else "one k-means++ start"
    return protocol["scaling"], rule, protocol["nmi"]


def main(arguments=None):
    """Print the table of a paper."""
    parser = parser_of("benchmarks.all_features", __doc__)
    parser.add_argument("paper", choices=list(DATASETS))
    parser.add_argument(
        "--without", metavar="DATASET", help="choose the reading without this data set, and judge it there"
    )
    options = parser.parse_args(arguments)
    with threadpool_limits(1):
        found = squares(options.paper, DATASETS[options.paper])
    rows, own = ranked(found, options.without), of_protocol(options.paper)
    shown = [row for place, row in enumerate(rows) if place < BEST or row[2] == own]
    head = ["chi2", "cells", "scaling", "K-means", "NMI", ""]
    texts = [[f"{chi2:.1f}", str(cells), *reading, "the protocol" * (reading == own)] for chi2, cells, reading in shown]
    print(pipes([head, *texts]))
    if options.without:
        cells = [value for (name, _), value in found[rows[0][2]].items() if name == options.without]
        print(f"\nThe first on {options.without}, which did not choose it: chi2 {sum(cells):.1f}, {len(cells)} cells.")


if __name__ == "__main__":
    main()
