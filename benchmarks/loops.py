"""The share of a whole fit that each special loop saves, against the plain code that could stand in its place.

    python -m benchmarks.loops loops=exchange,weighted_gram repeats=3

A special loop stays only if it saves a fifth of the whole fit of a method on a paper's grid; K-means is judged by the
whole trial.  A row is measured by two processes of this checkout: one as it is, one with the plain code below instead.
They fit in turn, once before with max_iter=1, which is not timed; seconds are medians of CPU seconds.  Rounding may
lead the two to other numbers of sweeps, which the table shows.
"""

import json
import subprocess
import sys

import numpy as np

from ufs_bench.runners.code import ROOT
from ufs_bench.scripts.core.entry import plain_options

# The program of a side: a line of its input asks for a fit.
SIDE = """
import inspect, json, sys, time, warnings
import yaml
from ufs_bench import methods
from ufs_bench.datasets import load_dataset, scale

warnings.simplefilter("ignore")
name, dataset = sys.argv[1:]
with open(f"conf/method/{name}.yaml") as file:
    content = yaml.safe_load(file)
cls = getattr(methods, content["target"].rpartition(".")[2])
known = inspect.signature(cls).parameters
data = load_dataset(dataset)
X = scale(data.X, "minmax")
fixed = {"n_features_to_select": min(100, X.shape[1]), "n_clusters": data.n_classes, "random_state": 0}
params = {key: value for key, value in fixed.items() if key in known} | content["params"]
if "max_iter" in known:
    cls(**params | {"max_iter": 1}).fit(X)
for line in sys.stdin:
    began = time.process_time()
    model = cls(**params).fit(X)
    print(json.dumps({"seconds": time.process_time() - began, "sweeps": model.n_iter_}), flush=True)
"""
SWAP = """
import sys
import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from ufs_bench import methods, metrics; import ufs_bench.metrics.evaluate

def swap(module, *functions):
    for new in functions:
        old = getattr(sys.modules[module], new.__name__)
        for there in [there for name, there in sys.modules.items() if name.startswith("ufs_bench.m")]:
            if vars(there).get(new.__name__) is old:
                setattr(there, new.__name__, new)
"""
TRIAL = """
from ufs_bench.methods.core.base import BaseSelector
from ufs_bench.metrics.kmeans import kmeans_restarts
fit = BaseSelector.fit
def trial(self, X, y=None):
    fit(self, X)
    for size in (50, 100, 150, 200, 250, 300):
        kmeans_restarts(X[:, self.ranking_[:size]], self.n_clusters)
    return self
BaseSelector.fit = trial
"""

# Loop -> the whole fits that it is measured on.
LOOPS = {
    "weighted_gram": "rufs webkb4",
    "adapted_rows": "jgufs umist, jgufs coil20",
    "sparse_products": "jgufs usps, jgufs mnist",
    "exchange": "sf2sog umist, sf2sog pie10p",
    "smallest": "udfs umist, udfs pie10p, udfs isolet, ufsol umist, ufsol isolet",
    "Ceiling": "dgufs umist, dgufs coil20, dgufs fashion",
    "Pool": "dgufs umist, dgufs coil20, dgufs fashion",
    "elkan": "mcfs coil20, mcfs umist",
}
PLAIN = {
    "weighted_gram": """
def weighted_gram(data, indices, indptr, sample_weights, n_features):
    X = sparse.csr_array((data, indices, indptr), shape=(len(sample_weights), n_features))
    return (X.T @ sparse.csr_array(sparse.diags_array(sample_weights) @ X)).toarray()
swap("ufs_bench.methods.core.sparse_data", weighted_gram)
""",
    "adapted_rows": """
from ufs_bench.methods.core.prox import project_simplex
def adapted_graph(Y, S, gamma):
    distances = (cdist(Y[i : i + 64], Y, "sqeuclidean") for i in range(0, len(Y), 64))
    V = (S[64 * k : 64 * k + 64].toarray() - part / (4 * gamma) for k, part in enumerate(distances))
    return sparse.vstack([sparse.csr_array(project_simplex(part)) for part in V], format="csr")
def adapted_laplacian(Y, S, gamma):
    G = adapted_graph(Y, S, gamma)
    return G, sys.modules["ufs_bench.methods.core.optimal_graph"].symmetric_laplacian(G), ((G - S).data ** 2).sum()
swap("ufs_bench.methods.core.optimal_graph", adapted_graph, adapted_laplacian)
""",
    "sparse_products": """
def times(A, F):
    return A @ F
swap("ufs_bench.methods.core.sparse_data", times)
""",
    "exchange": """
from ufs_bench.methods.sf2sog.exchange import _Rest
_Rest.of_the_whole = classmethod(lambda cls, exchange, leaving: None)
""",
    "smallest": """
from ufs_bench.methods.core import smallest
def smallest_eigenvectors(gram, weights, n_vectors, guess=None):
    if isinstance(gram, smallest.DenseGram) or len(weights) <= smallest.DENSE_FEATURES:
        return smallest._dense(gram, weights, n_vectors)
    return smallest._lanczos(gram.inverse(weights - gram.floor), len(weights), n_vectors, n_vectors + smallest.GUARDS)
swap("ufs_bench.methods.core.smallest", smallest_eigenvectors)
""",
    "Ceiling": """
from ufs_bench.methods.dgufs.leading import Ceiling
holds = Ceiling.holds
def anew(self, *given):
    self.matrix = None  # every matrix takes a proof of its own
    return holds(self, *given)
Ceiling.holds = anew
""",
    "Pool": """
from ufs_bench.methods.dgufs.leading import Pool
Pool.empty = lambda self: np.empty(self.shape)
""",
    "elkan": """
from sklearn.cluster import KMeans
def lloyd(X, starts, max_iter=100):
    known = dict(n_init=1, algorithm="lloyd", tol=0, max_iter=max_iter)
    return np.array([KMeans(len(start), init=X[start], **known).fit(X).labels_ for start in starts])
swap("ufs_bench.metrics.kmeans", lloyd)
""",
}


class Side:
    """A process that fits one method to one data set, on request, and runs the source `before` first."""

    def __init__(self, method, dataset, before):
        command = [sys.executable, "-c", before + SIDE, method, dataset]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=ROOT, **pipes)

    def fit(self):
        """Return CPU seconds and sweeps of one fit."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        self.process.wait()


def main():
    options = plain_options(__doc__, {"loops": list(LOOPS), "repeats": 3})
    if unknown := set(options.loops) - set(LOOPS):
        sys.exit(f"error: loops={','.join(sorted(unknown))} must be of {', '.join(LOOPS)}.")
    print(f"{'loop':17}{'fit':24}{'with, s':>9}{'plain, s':>9}{'sweeps':>10}  saved", flush=True)
    for name in options.loops:
        own = SWAP + TRIAL * (name == "elkan")
        for fit in LOOPS[name].split(", "):
            with Side(*fit.split(), own) as ours, Side(*fit.split(), own + PLAIN[name]) as plain:
                results = [(ours.fit(), plain.fit()) for _ in range(options.repeats)]
            special, replaced = (np.median([pair[side]["seconds"] for pair in results]) for side in (0, 1))
            sweeps = "/".join(str(result["sweeps"]) for result in results[0])
            where = f"{name:17}{fit:24}"
            print(f"{where}{special:>9.2f}{replaced:>9.2f}{sweeps:>10}{1 - special / replaced:>7.0%}", flush=True)


if __name__ == "__main__":
    main()
