"""The share of a whole fit that each special loop saves, against the plain numpy or scipy that could stand there.

    python -m benchmarks.loops [--loops one_entry exchange] [--repeats 3]

A special loop stays only if it saves `WORTH` of the whole fit of a method on a paper's grid.  Each row is measured by
two processes of this checkout, or for a loop that is gone of the last commit with it (`BEFORE`): one as it is, and one
whose loop is replaced by the plain code below.  They fit in turn, as in `benchmarks.against`; seconds are medians of
CPU seconds.
"""

import argparse
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from benchmarks.against import ROOT, Side, checkout, compare

WORTH = 0.2  # share of a fit, from which a loop is worth its lines
BEFORE = "f0e8b05"  # the last commit with all loops
# Puts plain functions in the place of those of the same name, wherever these have been imported.
SWAP = """
import sys
import numpy as np
from scipy import sparse
import methods

def swap(module, *functions):
    for new in functions:
        old = getattr(sys.modules[module], new.__name__)
        for there in list(sys.modules.values()):
            if getattr(there, "__name__", "").startswith("methods") and vars(there).get(new.__name__) is old:
                setattr(there, new.__name__, new)
"""


@dataclass(frozen=True)
class Loop:
    """A loop, its lines, the plain code, and whole fits: method, data set, parameters."""

    name: str
    lines: int
    fits: tuple
    plain: str
    gone: bool = False


LOOPS = [
    Loop(
        "sparse_products",
        157,
        (("ndfs", "webkb4", {}), ("rufs", "webkb4", {}), ("jgufs", "mnist", {})),
        """
def times(A, F):
    return A @ F

swap("methods.core.sparse_products", times)
""",
        gone=True,
    ),
    Loop(
        "one_entry",
        141,
        (("ndfs", "webkb4", {}), ("ndfs", "coil20", {}), ("jgufs", "mnist", {})),
        """
def column_sums(X, v, labels, n_columns):
    V = sparse.csr_array((v, labels, np.arange(len(v) + 1)), shape=(len(v), n_columns))
    sums = V.T @ X
    return sums.toarray() if sparse.issparse(sums) else sums

def own_products(X, W, labels):
    return (X @ W.T)[np.arange(len(labels)), labels]

def within(L, labels):
    rows = np.repeat(np.arange(len(labels)), np.diff(L.indptr))
    kept = labels[rows] == labels[L.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[L.indptr].astype(L.indptr.dtype)
    return sparse.csr_array((L.data[kept], L.indices[kept], ends), shape=L.shape)

swap("methods.core.one_entry", column_sums, own_products, within)
""",
        gone=True,
    ),
    Loop(
        "quasi_newton",
        55,
        (("ndfs", "webkb4", {}), ("rufs", "webkb4", {}), ("rufs", "coil20", {}), ("eufs", "coil20", {})),
        """
def quasi_newton(slope, free, steps, changes, newest_first):
    direction, used, scale = slope.copy(), [], 1.0
    for i in newest_first:
        step, change = steps[i] * free, changes[i] * free
        product, across = step @ change, change @ change
        if product > 1e-12 * np.sqrt(across * (step @ step)):
            if not used:
                scale = product / across
            factor = step @ direction / product
            direction -= factor * change
            used.append((step, change, product, factor))
    direction *= scale
    for step, change, product, factor in reversed(used):
        direction += (factor - change @ direction / product) * step
    return direction

swap("methods.core.bounded", quasi_newton)
""",
        gone=True,
    ),
    Loop(
        "two_loops",
        65,
        (("rufs_released", "coil20", {}), ("rufs_released", "webkb4", {})),
        """
def two_loops(g, steps, changes, products, newest_first):
    q, factors = g.copy(), []
    for i in newest_first:
        factors.append(steps[i] @ q / products[i])
        q -= factors[-1] * changes[i]
    if len(newest_first):
        newest = newest_first[0]
        q *= products[newest] / (changes[newest] @ changes[newest])
    for i, factor in zip(newest_first[::-1], factors[::-1]):
        q += (factor - changes[i] @ q / products[i]) * steps[i]
    return q

swap("methods.rufs.descent", two_loops)
""",
        gone=True,
    ),
    Loop(
        "indicator_block",
        72,
        (("rufs", "webkb4", {}), ("rufs", "coil20", {})),
        """
def value_and_slope(G, LG, XF, FF, XW, squares, nu, alpha, zeta, eps):
    away, fitted, apart = G.T @ G, G @ FF - XF, G - XW
    away.flat[:: len(away) + 1] -= 1.0
    rest = np.maximum(squares + np.einsum("ij,ij->i", G, fitted - XF), 0.0)
    fit, distance = np.sqrt(rest + eps), np.sqrt(np.einsum("ij,ij->i", apart, apart) + eps)
    value = fit.sum() + nu * np.vdot(G, LG) + alpha * distance.sum() + zeta / 4 * np.vdot(away, away)
    return value, fitted / fit[:, None] + 2 * nu * LG + (alpha / distance)[:, None] * apart + zeta * (G @ away)

swap("methods.rufs.indicator_block", value_and_slope)
""",
        gone=True,
    ),
    Loop(
        "residuals",
        128,
        (("rufs_released", "coil20", {}), ("rufs", "coil20", {}), ("rufs_released", "webkb4", {})),
        """
def to_length(rows, length):
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return length * norms.sum(), np.divide(length * rows, norms, out=np.zeros_like(rows), where=norms > 0)

def regression(X, W, G, alpha, beta, slope=True):
    value, rest = to_length(X @ W - G, alpha)
    more, gradient = to_length(W, beta)
    return value + more, gradient + (rest.T @ X).T if slope else None

def sparse_regression(X, features, W, G, alpha, beta):
    value, rest = to_length(X @ W - G, alpha)
    more, gradient = to_length(W, beta)
    return value + more, lambda: gradient + features @ rest

def data_squares(X, G, F):
    rest = G @ F - X
    return np.einsum("ij,ij->i", rest, rest)

swap("methods.rufs.residuals", regression, sparse_regression, data_squares)
""",
        gone=True,
    ),
    Loop(
        "weighted_gram",
        27,
        (("rufs", "webkb4", {}),),
        """
def weighted_gram(data, indices, indptr, sample_weights, n_features):
    X = sparse.csr_array((data, indices, indptr), shape=(len(sample_weights), n_features))
    return (X.T @ sparse.csr_array(sparse.diags_array(sample_weights) @ X)).toarray()

swap("methods.core.ridge", weighted_gram)
""",
        gone=True,
    ),
    Loop(
        "exchange",
        260,
        (("sf2sog", "umist", {}),),
        """
from methods.sf2sog import exchange

def falls(self, order, diagonal, needed):
    p, z = self.poles[:, None, None], self.columns[:, order]
    low = np.maximum(np.concatenate([[0.0], self.values[:-1]]), 0.0)[:, None] + np.zeros(len(order))
    high = np.maximum(self.values, 0.0)[:, None] + np.zeros(len(order))
    for _ in range(exchange.BISECTIONS):
        middle = (low + high) / 2
        with np.errstate(all="ignore"):
            inverse = 1 / (p - middle)
            P = np.einsum("m,mkj->kj", self.u**2, inverse)
            R = np.einsum("mj,mkj->kj", self.u[:, None] * z, inverse)
            s = np.einsum("mj,mkj->kj", z**2, inverse) - np.where(P != 0, R**2 / P, 0.0)
        above = diagonal - middle > s
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        if (self.values[:, None] - low).sum(axis=0).max() <= needed:
            break
    return (self.values[:, None] - low).sum(axis=0)

exchange._Rest.falls = falls
exchange._Rest.of_the_whole = classmethod(lambda cls, exchange, leaving: None)
""",
        gone=True,
    ),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", nargs="+", choices=[loop.name for loop in LOOPS], help="some of them [all]")
    parser.add_argument("--repeats", type=int, default=3, help="fits of each side [3]")
    options = parser.parse_args()
    loops = [loop for loop in LOOPS if not options.loops or loop.name in options.loops]
    print(f"{'loop':18}{'lines':>6}  {'fit':40}{'with, s':>9}{'plain, s':>9}{'saved':>7}", flush=True)
    with checkout(BEFORE) if any(loop.gone for loop in loops) else nullcontext() as tree:
        for loop in loops:
            for method, dataset, params in loop.fits:
                sides = [
                    Side(tree if loop.gone else ROOT, method, dataset, params, before)
                    for before in ("", SWAP + loop.plain)
                ]
                try:
                    results = compare(*sides, options.repeats)
                finally:
                    for side in sides:
                        side.end()
                fast, plain = (np.median([fit["seconds"] for fit in fits]) for fits in results)
                fit = " ".join([method, dataset, *(f"{name}={value}" for name, value in params.items())])
                saved = 1 - fast / plain
                print(
                    f"{loop.name:18}{loop.lines:>6}  {fit:40}{fast:>9.2f}{plain:>9.2f}{saved:>7.0%}  "
                    + f"{results[0][0]['sweeps']}/{results[1][0]['sweeps']} {results[0][0]['objective']:.12g} {results[1][0]['objective']:.12g}"
                    + "  gone" * loop.gone,
                    flush=True,
                )


if __name__ == "__main__":
    main()
