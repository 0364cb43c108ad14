"""Scores against the width t of the heat kernel exp(-||x_i - x_j||^2 / (2 t^2)), beside the published ones.

    python -m benchmarks.bandwidth [--dataset umist] [--methods mcfs fssl jelsr ndfs] [--widths 1 0.7071 0.5]

Only the UFSOL paper names a width: exp(-||x_i - x_j||^2 / sigma), sigma = 1, that is t = 0.7071.  Ours scales
with the data: t is the mean length of the edges of the graph.  This prints the best ACC and NMI over the sizes and the
coarse grid of the protocol "rufs", for our t and for fixed ones.
"""

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from datasets import load_dataset, scale
from methods.core.graphs import knn_graph
from metrics.evaluate import evaluate
from metrics.protocol import Protocol
from runners.experiment.grid import expand
from scripts.core.conf import CONF, read
from scripts.core.programs import parser_of
from scripts.core.published import load_published

NEIGHBORS = 5
PROTOCOL = "rufs"  # min-max scaling, as that of UFSOL and JGUFS


def main():
    parser = parser_of("benchmarks.bandwidth", __doc__)
    parser.add_argument("--dataset", default="umist")
    parser.add_argument("--methods", nargs="+", default=["mcfs", "fssl", "jelsr", "ndfs"])
    parser.add_argument("--widths", nargs="+", type=float, default=[1.0, 0.5**0.5, 0.5])
    parser.add_argument("--data-dir", help="folder of the data files [$UFS_DATA_DIR, the cache, a download]")
    options = parser.parse_args()
    data = load_dataset(options.dataset, options.data_dir)
    protocol = replace(Protocol(**read(CONF / f"protocol/{PROTOCOL}.yaml")), coarse=True)
    X = scale(data.X, protocol.scaling)
    ours = mean_edge(X)
    widths = [ours, *options.widths]
    published = load_published()
    print(f"{data.name}, best ACC / NMI in percent; t = {ours:.3g} is ours")
    print(_line(["method", *(f"t = {width:.3g}" for width in widths), "published"]))
    with threadpool_limits(1):
        for name in options.methods:
            scores = [best(name, data, X, width, protocol) for width in widths]
            cells = published[(published["dataset"] == data.name) & (published["method"] == name)]
            means = [cells.loc[cells["metric"] == metric, "mean_percent"] for metric in ("acc", "nmi")]
            printed = " / ".join(f"{found.min():.1f} to {found.max():.1f}" if len(found) else "-" for found in means)
            print(_line([name, *(f"{acc:.1f} / {nmi:.1f}" for acc, nmi in scores), printed]), flush=True)


def mean_edge(X):
    """Return the mean length of the edges of the graph, which is the width that the methods use."""
    edges = knn_graph(X, NEIGHBORS, weights="binary").tocoo()
    return float(np.mean(np.linalg.norm(X[edges.row] - X[edges.col], axis=1)))


def best(name, data, X, width, protocol):
    """Return the largest mean ACC and the largest mean NMI over sizes and grid."""
    trials = expand(protocol.name, data, read(CONF / "method" / f"{name}.yaml"), protocol)
    S = knn_graph(X, NEIGHBORS, bandwidth=width).toarray()
    means = []
    for trial in trials:
        selector = trial.selector().set_params(affinity=S).fit(X)
        for size in trial.sizes:
            scores, _ = evaluate(selector.subset(size), X, data.y, protocol)
            means.append(100 * scores[:2].mean(axis=1))
    return np.max(means, axis=0)


def _line(texts):
    return f"{texts[0]:16}" + "".join(f"{text:>15}" for text in texts[1:-1]) + f"  {texts[-1]}"


if __name__ == "__main__":
    main()
