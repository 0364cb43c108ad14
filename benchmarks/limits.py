"""The speed of the loops in which complete grids spend most of their hours, beside the limits of this machine.

    python -m benchmarks.limits        seconds, and the share of the rate of a matrix product or of a copy in memory

`rufs_released` on COIL20: the value and slope of W, which its program asks for some thousand times.  `jgufs` on USPS:
LF, XW and X'F of a step of F.  `jgufs_released` on USPS: a graph of all pairs, from the distances to the new one.  A
loop does no more arithmetic a second than a large matrix product, and takes no more from memory than a copy does; a
sparse product fetches a row of F for each entry, and "near" is what it would take if these rows stayed in the innermost
cache.  So the table says how much faster the same steps of the same iterations could be at most.
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from datasets import load_dataset, scale
from methods.core.graphs import knn_graph
from methods.core.optimal_graph import symmetric_adapted_graph
from methods.core.sparse_data import SPARSE_FACTOR, sparse_features_where_it_pays, sparse_where_it_pays
from methods.rufs.residuals import regression

REPEATS = 7
NEAR = 256  # rows of F that stay in the innermost cache
LINE = "{:58} {:>8} {:>10} {:>6}   {:>8} {:>6}"


def best(function):
    """Return the seconds of the shortest of some calls."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def peaks():
    """Measure multiplications and additions a second of a large matrix product, and bytes a second of a copy."""
    A, B, C = (np.random.default_rng(0).random((2000, 2000)) for _ in range(3))
    source, target = np.ones(2**25), np.ones(2**25)
    flops = 2 * len(A) ** 3 / best(lambda: np.matmul(A, B, out=C))
    return flops, 2 * source.nbytes / best(lambda: np.copyto(target, source))


def loops():
    """Yield each loop: its name, a function that runs it once, its multiplications and additions, and its bytes.

    Bytes are those of the arrays that do not stay in a cache, once for each time they are read or written.
    """
    rng = np.random.default_rng(0)
    X = np.ascontiguousarray(scale(load_dataset("coil20").X, "minmax"))
    W, G = rng.random((X.shape[1], 20)), rng.random((len(X), 20))
    name = f"rufs_released, COIL20: value and slope of W, {X.shape[0]} x {X.shape[1]} x 20"
    yield name, lambda: regression(X, None, W, G, 1.0, 1.0)[1](), 4 * X.size * 20, 2 * X.nbytes

    X = np.ascontiguousarray(scale(load_dataset("usps").X, "minmax"))
    few, features = (
        sparse_kind(X, SPARSE_FACTOR) for sparse_kind in (sparse_where_it_pays, sparse_features_where_it_pays)
    )
    graph = knn_graph(X, 200, "binary", None, True)
    near = graph.copy()
    near.indices = near.indices % NEAR
    for name, A in (("LF", graph), ("LF, near", near), ("XW", few), ("X'F", features)):
        F = rng.random((A.shape[1], 10))
        name = f"jgufs, USPS: {name}, {A.nnz / 1e6:.1f} million entries"
        yield name, lambda A=A, F=F: A @ F, 20 * A.nnz, 12 * A.nnz

    n = len(X)
    S, F = np.full((n, n), 1 / n), rng.random((n, 10)) / np.sqrt(n)

    def renewed():
        symmetric_adapted_graph(F, S, 500.0)

    name = f"jgufs_released, USPS: a graph of all pairs, {n} x {n}"
    yield name, renewed, (2 * 3 * 10 + 2 * 10) * n**2, 3 * S.nbytes


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with threadpool_limits(1):
        flops, memory = peaks()
        print(f"a matrix product: {flops / 1e9:.0f} GFLOP/s; a copy in memory: {memory / 1e9:.1f} GB/s")
        print(LINE.format("", "ms", "GFLOP/s", "share", "GB/s", "share"))
        for name, function, work, moved in loops():
            function()  # compiled
            seconds = best(function)
            cells = [name, f"{1e3 * seconds:.2f}"]
            for amount, peak in ((work, flops), (moved, memory)):
                cells += [f"{amount / seconds / 1e9:.1f}", f"{amount / seconds / peak:.0%}"]
            print(LINE.format(*cells), flush=True)


if __name__ == "__main__":
    main()
