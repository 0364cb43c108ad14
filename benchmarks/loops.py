"""The share of a whole fit that each special loop saves, against the plain code that could stand in its place.

    python -m benchmarks.loops [--loops exchange weighted_gram] [--repeats 3]

A special loop stays only if it saves a fifth of the whole fit of a method on a paper's grid; K-means is judged by the
whole trial.  A row is measured by two processes of this checkout, or of the last commit with a loop that is gone: one
as it is, one with the plain code below instead.  They fit in turn, as in `benchmarks.against`; seconds are medians of
CPU seconds.  Rounding may lead the two to other numbers of sweeps, which the table shows.
"""

import argparse
from contextlib import nullcontext

import numpy as np

from benchmarks.against import ROOT, Side, checkout, compare

BEFORE = "f0e8b05"  # the last commit with all loops
SWAP = """
import runpy, sys
import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
import methods, metrics.evaluate

def today(path, name):
    return runpy.run_path("ROOT/" + path)[name]

def swap(module, *functions):
    for new in functions:
        old = getattr(sys.modules[module], new.__name__)
        for there in [there for name, there in sys.modules.items() if name.startswith(("methods", "metrics"))]:
            if vars(there).get(new.__name__) is old:
                setattr(there, new.__name__, new)
""".replace("ROOT", str(ROOT))
TRIAL = """
from methods.core.base import BaseSelector
from metrics.kmeans import kmeans_restarts
fit = BaseSelector.fit
def trial(self, X, y=None):
    fit(self, X)
    for size in (50, 100, 150, 200, 250, 300):
        kmeans_restarts(X[:, self.ranking_[:size]], self.n_clusters)
    return self
BaseSelector.fit = trial
"""

# Loop -> what became of it, its number of lines, and the whole fits that it is measured on.
LOOPS = {
    "sparse_products": ("gone", 157, "ndfs webkb4, rufs webkb4, jgufs mnist"),
    "boxes": ("gone", 150, "jgufs mnist, sf2sog umist"),
    "one_entry": ("gone", 141, "ndfs webkb4, ndfs coil20"),
    "quasi_newton": ("gone", 52, "ndfs webkb4, rufs coil20"),
    "two_loops": ("gone", 65, "rufs_released coil20, rufs_released webkb4"),
    "indicator_block": ("gone", 72, "rufs webkb4, rufs coil20"),
    "data_squares": ("gone", 45, "rufs_released coil20, rufs coil20"),
    "weighted_gram": ("kept", 18, "rufs webkb4"),
    "adapted_rows": ("kept", 166, "jgufs umist, jgufs coil20"),
    "exchange": ("kept", 120, "sf2sog umist, sf2sog pie10p"),
    "smallest": ("kept", 120, "udfs umist, ufsol umist"),
    "elkan": ("kept", 298, "mcfs coil20, mcfs umist"),
}
PLAIN = {
    "sparse_products": """
def times(A, F):
    return A @ F
swap("methods.core.sparse_products", times)
""",
    "boxes": """
from methods.core.boxes import boxes as made
def boxes(Yt):  # none of them is far
    found = made(Yt)
    return found._replace(low=np.full_like(found.low, -np.inf), high=np.full_like(found.high, np.inf))
swap("methods.core.boxes", boxes)
""",
    "one_entry": """
from methods.core.ridge import _TallRidge, spread
def misfit_within(self, v, labels, n_columns):
    return self.misfit(spread(v, labels, n_columns))[np.arange(len(v)), labels]
_TallRidge.misfit_within = misfit_within
""",
    "quasi_newton": """
from methods.core.bounded import _Pairs
_Pairs.times = today("methods/core/bounded.py", "_Pairs").times
""",
    "two_loops": """
from methods.rufs.descent import Pairs
Pairs.times = today("methods/rufs/descent.py", "Pairs").times
""",
    "indicator_block": """
def value_and_slope(G, LG, XF, FF, XW, squares, nu, alpha, zeta, eps):
    away, fitted, apart = G.T @ G - np.eye(len(FF)), G @ FF - XF, G - XW
    rest = np.maximum(squares + np.einsum("ij,ij->i", G, fitted - XF), 0.0)
    fit, distance = np.sqrt(rest + eps), np.sqrt(np.einsum("ij,ij->i", apart, apart) + eps)
    value = fit.sum() + nu * np.vdot(G, LG) + alpha * distance.sum() + zeta / 4 * np.vdot(away, away)
    return value, fitted / fit[:, None] + 2 * nu * LG + (alpha / distance)[:, None] * apart + zeta * (G @ away)
swap("methods.rufs.indicator_block", value_and_slope)
""",
    "data_squares": """
def data_squares(X, G, F):
    rest = 2 * (X @ F.T)
    return np.maximum(np.einsum("ij,ij->i", X, X) + ((G @ (F @ F.T) - rest) * G.toarray()).sum(axis=1), 0.0)
swap("methods.rufs.residuals", data_squares)
""",
    "weighted_gram": """
def weighted_gram(data, indices, indptr, sample_weights, n_features):
    X = sparse.csr_array((data, indices, indptr), shape=(len(sample_weights), n_features))
    return (X.T @ sparse.csr_array(sparse.diags_array(sample_weights) @ X)).toarray()
swap("methods.core.sparse_data", weighted_gram)
""",
    "adapted_rows": """
from methods.core.prox import project_simplex
def adapted_graph(Y, S, gamma):
    distances = (cdist(Y[i : i + 64], Y, "sqeuclidean") for i in range(0, len(Y), 64))
    V = (S[64 * k : 64 * k + 64].toarray() - part / (4 * gamma) for k, part in enumerate(distances))
    return sparse.vstack([sparse.csr_array(project_simplex(part)) for part in V], format="csr")
swap("methods.core.optimal_graph", adapted_graph)
""",
    "exchange": """
from methods.sf2sog.exchange import _Rest
_Rest.of_the_whole = classmethod(lambda cls, exchange, leaving: None)
""",
    "smallest": """
from methods.core import smallest
def smallest_eigenvectors(gram, weights, n_vectors, guess=None):
    if isinstance(gram, smallest.DenseGram) or len(weights) <= smallest.DENSE_FEATURES:
        return smallest._dense(gram, weights, n_vectors)
    return smallest._lanczos(gram.inverse(weights - gram.floor), len(weights), n_vectors, n_vectors + smallest.GUARDS)
swap("methods.core.smallest", smallest_eigenvectors)
""",
    "elkan": """
from sklearn.cluster import KMeans
def lloyd(X, starts, max_iter=100):
    known = dict(n_init=1, algorithm="lloyd", tol=0, max_iter=max_iter)
    return np.array([KMeans(len(start), init=X[start], **known).fit(X).labels_ for start in starts])
swap("metrics.kmeans", lloyd)
""",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", nargs="+", choices=LOOPS, default=list(LOOPS), metavar="NAME", help="some of them")
    parser.add_argument("--repeats", type=int, default=3, help="fits of each side [3]")
    options = parser.parse_args()
    print(f"{'loop':16}{'lines':>6}      {'fit':24}{'with, s':>9}{'plain, s':>9}{'sweeps':>10}  saved", flush=True)
    with checkout(BEFORE) if any(LOOPS[name][0] == "gone" for name in options.loops) else nullcontext() as before:
        for name in options.loops:
            fate, lines, fits = LOOPS[name]
            own, tree = SWAP + TRIAL * (name == "elkan"), before if fate == "gone" else ROOT
            for fit in fits.split(", "):
                sides = [Side(tree, *fit.split(), {}, source) for source in (own, own + PLAIN[name])]
                try:
                    results = compare(*sides, options.repeats)
                finally:
                    for side in sides:
                        side.end()
                special, replaced = (np.median([result["seconds"] for result in side]) for side in results)
                sweeps = "/".join(str(side[0]["sweeps"]) for side in results)
                where = f"{name:16}{lines:>6} {fate} {fit:24}"
                print(f"{where}{special:>9.2f}{replaced:>9.2f}{sweeps:>10}{1 - special / replaced:>7.0%}", flush=True)


if __name__ == "__main__":
    main()
