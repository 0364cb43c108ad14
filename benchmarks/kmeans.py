"""Time the K-means engine against scikit-learn's loop and against matrix products alone, and the scores against NMI.

    python -m benchmarks.kmeans [--data-dir FOLDER] [--datasets pie10p coil20 usps] [--sizes 50 150 300] [--repeats 5]
    python -m benchmarks.kmeans --growth

One thread, processor time.  The candidates take turns, so that a busy machine slows all of them; a line shows medians,
in brackets the smallest and largest, and ratios of medians.  `engine` is `metrics.kmeans.lloyd`; `sklearn` a loop of
``KMeans(n_init=1, init=X[start], algorithm="lloyd", max_iter=100, tol=0)`` over the same starts; `products` no
K-means at all, but the products X @ C.T in float64 that Lloyd's algorithm needs in as many steps, of all restarts not
yet converged at once.  The second table is seconds per 20 labellings of `metrics.clustering.acc_nmi`, which gives ACC
and NMI, and of scikit-learn's ``normalized_mutual_info_score`` alone.  Features are drawn at random, min-max scaled; a
data set that is not there is replaced by random clusters of its shape, and its line says so.

`--growth` fits exponents to the engine's seconds against samples and features, on random clusters.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from datasets import DataError, load_dataset, scale
from metrics.clustering import acc_nmi
from metrics.kmeans import lloyd, load_engine, starting_rows

SHAPES = {"pie10p": (210, 2420, 10), "coil20": (1440, 1024, 20), "usps": (9298, 256, 10)}
LARGEST = {"usps": 200}  # larger sizes are cut to it


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", help="folder of the data files [$UFS_DATA_DIR, the cache, a download]")
    parser.add_argument("--datasets", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 150, 300])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--growth", action="store_true", help="fit exponents instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    load_engine(lambda: print("compiling the engine, once", flush=True))
    with threadpool_limits(1):
        if options.growth:
            growth(options.restarts, options.repeats)
        else:
            compare(options)


def compare(options):
    """Print both tables."""
    print("data set        samples features  engine ms          sklearn ms         products ms        ratio  /products")
    labellings = {}
    for name in options.datasets:
        X, y, note = load(name, options.data_dir)
        for size in sorted({min(size, LARGEST.get(name, size)) for size in options.sizes}):
            columns = np.random.default_rng(size).choice(X.shape[1], size, replace=False)
            selected = np.ascontiguousarray(X[:, columns])
            starts = starting_rows(len(X), len(np.unique(y)), options.restarts, 0)
            expected, steps = sklearn_loop(selected, starts)
            labels = lloyd(selected, starts)
            if not np.array_equal(labels, expected):
                raise SystemExit(f"{name}, {size} features: the engine and scikit-learn disagree")
            engine, loop, bare = in_turn(
                options.repeats,
                lambda X=selected, starts=starts: lloyd(X, starts),
                lambda X=selected, starts=starts: sklearn_loop(X, starts),
                lambda X=selected, k=starts.shape[1], steps=steps: products(X, k, steps),
            )
            ratios = f"{np.median(loop) / np.median(engine):6.1f} {np.median(engine) / np.median(bare):9.2f}"
            print(
                f"{name + note:15s} {len(X):7d} {size:8d}  {span(engine)} {span(loop)} {span(bare)} {ratios}",
                flush=True,
            )
        labellings[name + note] = y, labels
    print("\ndata set        samples  classes  acc_nmi ms         sklearn's NMI ms    ratio")
    for name, (y, labels) in labellings.items():
        ours, theirs = in_turn(
            options.repeats,
            lambda y=y, labels=labels: acc_nmi(y, labels),
            lambda y=y, labels=labels: [normalized_mutual_info_score(y, row) for row in labels],
        )
        ratio = np.median(theirs) / np.median(ours)
        print(f"{name:15s} {len(y):7d} {len(np.unique(y)):8d}  {span(ours)} {span(theirs)} {ratio:6.1f}", flush=True)


def growth(n_restarts, repeats):
    """Print seconds against samples and against features, with exponents of a least-squares fit of logarithms."""
    for what, shapes in {
        "samples": [(n, 256) for n in (1000, 4000, 16000, 64000)],
        "features": [(500, d) for d in (256, 1024, 4096, 16384)],
    }.items():
        print(f"samples features  engine ms         (10 clusters, {n_restarts} restarts)")
        medians = []
        for n_samples, n_features in shapes:
            X, _ = clusters(n_samples, n_features, 10)
            starts = starting_rows(n_samples, 10, n_restarts, 0)
            (seconds,) = in_turn(min(repeats, 3), lambda X=X, starts=starts: lloyd(X, starts))
            medians.append(np.median(seconds))
            print(f"{n_samples:7d} {n_features:8d}  {span(seconds)}", flush=True)
        sizes = [shape[what == "features"] for shape in shapes]
        print(f"seconds grow as {what} to the power {np.polyfit(np.log(sizes), np.log(medians), 1)[0]:.2f}\n")


def load(name, data_dir):
    """Return scaled samples, classes, and a remark where they are not the real ones."""
    try:
        dataset = load_dataset(name, data_dir)
        return scale(dataset.X, "minmax"), dataset.y, ""
    except DataError as error:
        print(f"{name}: random clusters of its shape instead, as {str(error).splitlines()[0]}")
        return *clusters(*SHAPES[name]), "(random)"


def clusters(n_samples, n_features, n_clusters):
    """Draw overlapping Gaussian clusters in about twenty dimensions, with noise in all."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_clusters, size=n_samples)
    latent = rng.normal(size=(n_clusters, 20))[y] + rng.normal(size=(n_samples, 20))
    return latent @ rng.normal(size=(20, n_features)) + rng.normal(size=(n_samples, n_features)), y


def sklearn_loop(X, starts):
    """Return the labels and the number of steps of every restart."""
    settings = {"n_init": 1, "algorithm": "lloyd", "max_iter": 100, "tol": 0}
    models = [KMeans(len(rows), init=X[rows], **settings).fit(X) for rows in starts]
    return np.array([model.labels_ for model in models]), [model.n_iter_ for model in models]


def products(X, n_clusters, steps):
    """Compute only the products of samples and centres in Lloyd's algorithm, all restarts at once."""
    centres = np.ones((len(steps) * n_clusters, X.shape[1]))
    for step in range(max(steps)):
        X @ centres[: n_clusters * sum(last > step for last in steps)].T


def in_turn(repeats, *functions):
    """Return the processor seconds of each function, measured in turn."""
    seconds = [[] for _ in functions]
    for _ in range(repeats):
        for function, taken in zip(functions, seconds, strict=True):
            started = time.process_time()
            function()
            taken.append(time.process_time() - started)
    return seconds


def span(seconds):
    """Return the median with the smallest and the largest, in milliseconds."""
    middle, low, high = (f"{1e3 * value:.3g}" for value in (np.median(seconds), min(seconds), max(seconds)))
    return f"{f'{middle} [{low} {high}]':18s}"


if __name__ == "__main__":
    main()
