"""Time `methods.DGUFS` against a plain transcription of the same sweeps.

    python -m benchmarks.dgufs --data-dir FOLDER [--datasets umist pie10p] [--sizes 100] [--alphas 10 100] [--betas .5]

All solvers fit the same points of the paper's grid in turn, with one BLAS thread; the ratios are those of total times.
The plain transcription is written for the reader: dense matrices, products with H, a full eigendecomposition per sweep.
"""

import argparse
import itertools
import time

import numpy as np
from threadpoolctl import threadpool_limits

from datasets import load_dataset, scale
from methods.core.graphs import knn_graph
from methods.dgufs import DGUFS

ALPHAS = [1e1, 1e2, 1e3, 1e4, 1e5]
BETAS = [0.1, 0.3, 0.5, 0.7, 0.9]


def plain_dgufs(X, size, alpha, beta, n_neighbors=5, n_sweeps=100):
    """Run the released program's sweeps as they are written; return the features that Y keeps, ascending, and L."""
    S = knn_graph(X, n_neighbors, "binary", include_self=True).toarray()
    X = np.ascontiguousarray(X.T)  # features by samples, as in the paper
    d, n = X.shape
    H = (np.eye(n) - 1 / n) / (n - 1)
    Y, Z, Lambda1 = np.zeros((d, n)), np.zeros((d, n)), np.zeros((d, n))
    L, M, Lambda2 = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    mu = 1e-6
    for _ in range(n_sweeps):
        kept = _top_rows(X - Y - ((1 - beta) * (Y @ H @ L @ H) - Lambda1) / mu, d - size)[0]
        Z = X - kept
        Y, selected = _top_rows(Z + ((1 - beta) * (Z @ H @ L @ H) + Lambda1) / mu, size)
        A = _rescale(M + ((1 - beta) * _rescale(H @ Y.T @ Z @ H) + beta * S - Lambda2) / mu)
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        values = np.where(values > np.sqrt(2 * alpha / mu), values, 0)
        L = (vectors * values) @ vectors.T
        Q = L + Lambda2 / mu
        P = np.clip(Q, 0, 1)
        M = np.where((Q > 0) & (0.01 / mu < Q**2 - (Q - P) ** 2), P, 0)
        np.fill_diagonal(M, 1)
        Lambda1 = Lambda1 + mu * (Z - Y)
        Lambda2 = Lambda2 + mu * (L - M)
        mu = min(1.1 * mu, 1e10)
    return np.sort(selected), L


def _top_rows(U, n_rows):
    """Return U with all but the rows of largest norm set to zero, and the indices of those rows."""
    rows = np.argsort(-np.linalg.norm(U, axis=1), kind="stable")[:n_rows]
    result = np.zeros_like(U)
    result[rows] = U[rows]
    return result, rows


def _rescale(A):
    """Map off-diagonal entries to [0, 1], and the diagonal to 0."""
    off = ~np.eye(len(A), dtype=bool)
    low, high = A[off].min(), A[off].max()
    A = (A - low) / (high - low)
    np.fill_diagonal(A, 0)
    return A


def compare(X, n_clusters, sizes, alphas, betas):
    """Fit every grid point with both solvers of `DGUFS` and with the transcription.

    Returns the seconds of "plain", "released" and "normalized", the number of grid points where plain and released
    select the same set, and that of all.
    """
    seconds = dict.fromkeys(("plain", "released", "normalized"), 0.0)
    n_equal = 0
    points = list(itertools.product(sizes, alphas, betas))
    for size, alpha, beta in points:
        start = time.perf_counter()
        expected, _ = plain_dgufs(X, size, alpha, beta)
        seconds["plain"] += time.perf_counter() - start
        for solver in ("released", "normalized"):
            model = DGUFS(size, n_clusters=n_clusters, alpha=alpha, beta=beta, solver=solver, random_state=0)
            start = time.perf_counter()
            model.fit(X)
            seconds[solver] += time.perf_counter() - start
            if solver == "released":
                n_equal += np.array_equal(np.sort(model.subset(size)), expected)
    return seconds, n_equal, len(points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", help="folder of the data files [$UFS_DATA_DIR, the cache, a download]")
    parser.add_argument("--datasets", nargs="+", default=["umist", "pie10p"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[100])
    parser.add_argument("--alphas", nargs="+", type=float, default=ALPHAS)
    parser.add_argument("--betas", nargs="+", type=float, default=BETAS)
    options = parser.parse_args()
    print("dataset points same_set   plain_s released_s  ratio normalized_s  ratio", flush=True)
    for name in options.datasets:
        dataset = load_dataset(name, options.data_dir)
        X = scale(dataset.X, "minmax")
        with threadpool_limits(1):
            seconds, n_equal, n_points = compare(X, dataset.n_classes, options.sizes, options.alphas, options.betas)
        plain, released, normalized = seconds.values()
        print(
            f"{name:7s} {n_points:6d} {n_equal:8d} {plain:9.2f} {released:10.3f} {plain / released:6.1f} "
            f"{normalized:12.3f} {plain / normalized:6.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
