"""Measures how far the scores of all features differ between two samples: a paper's, which nobody knows, and ours.

    python -m benchmarks.samples mnist fashion            # six minutes of one core; --splits 4 for a rough answer

The samples at hand are split at random into two halves, class by class: two samples of half the size.  Those of the
whole size differ with half the variance.  What the restarts of K-means add to a difference is taken off, as tables
count it by itself.  `scripts.compare.columns.SAMPLED` has the numbers.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from datasets import load_dataset, scale
from metrics.clustering import acc_nmi
from metrics.kmeans import kmeans_restarts
from scripts.core.conf import find
from scripts.core.programs import parser_of
from scripts.core.published import load_published


def spread(X, y, splits=60, restarts=100, seed=0):
    """Return the std of the difference between two samples of the size of X in mean ACC and NMI, and the error of each.

    X and y have shapes (n_samples, n_features) and (n_samples,); both results have shape (2,), in points.
    """
    rng, squares = np.random.default_rng(seed), []
    for _ in range(splits):
        order = rng.permutation(len(y))
        order = order[np.argsort(y[order], kind="stable")]  # so that every second one is half of each class
        first, second = (_scores(X[half], y[half], restarts) for half in (order[::2], order[1::2]))
        of_starts = (first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / restarts
        squares.append((first.mean(axis=1) - second.mean(axis=1)) ** 2 - of_starts)
    variance, error = np.mean(squares, axis=0) / 2, np.std(squares, axis=0, ddof=1) / np.sqrt(splits) / 2
    std = np.sqrt(np.maximum(variance, 0.0))
    return std, error / (2 * np.maximum(std, np.sqrt(error)))


def _scores(X, y, restarts):
    labels = kmeans_restarts(np.ascontiguousarray(X), len(np.unique(y)), restarts)
    return 100 * np.array(acc_nmi(y, labels))


def main():
    parser = parser_of("benchmarks.samples", __doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--splits", type=int, default=60, help="2 or more")
    parser.add_argument("--restarts", type=int, default=100, help="2 or more")
    parser.add_argument("--data-dir", help="folder of the data files [$UFS_DATA_DIR, the cache, a download]")
    options = parser.parse_args()
    table = load_published()
    for name in options.datasets:
        data = load_dataset(name, options.data_dir)
        paper = table.loc[table["dataset"] == name, "paper"]
        scaling = find("protocol", paper.iloc[0] if len(paper) else "fair")["scaling"]
        with threadpool_limits(1):
            std, error = spread(scale(data.X, scaling), data.y, options.splits, options.restarts)
        acc, nmi = (f"{one:.1f} (error {its:.1f})" for one, its in zip(std, error, strict=True))
        print(f"{name}, {scaling}: two samples of {len(data.y)} differ by {acc} points of ACC and {nmi} of NMI (std)")


if __name__ == "__main__":
    main()
