"""The growth of a fit's CPU seconds with the number of samples, and its exponent: seconds ~ n^exponent.

    python -m benchmarks.growth --methods jgufs ndfs laplacian_score udfs --samples 1000 2000 4000 8000

Samples are the first n of `--dataset` in an order drawn once.  Parameters are those of the methods' files, with
`--sweeps` sweeps where a method has any, so that what grows is the work and not the number of steps.  One process, one
BLAS thread; a fit of 200 samples, which is not counted, compiles what is compiled.
"""

import argparse
import inspect
import os
import time
import warnings

# One BLAS thread: before numpy is imported.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from scipy.stats import linregress

from datasets import load_dataset, scale
from runners.method import Method
from scripts.core.conf import find, names
from scripts.core.text import pipes

SIZE = 100


def seconds(method, X, n_clusters, sweeps):
    """Return the CPU seconds of one fit."""
    known = inspect.signature(method.cls).parameters
    fixed = {"n_features_to_select": min(SIZE, X.shape[1]), "random_state": 0, "max_iter": sweeps}
    fixed = {name: value for name, value in fixed.items() if name in known}
    model = method.cls(**method.params_at({}, n_clusters) | fixed)
    started = time.process_time()
    model.fit(X)
    return time.process_time() - started


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=names("method"),
        default=["jgufs", "ndfs", "laplacian_score", "udfs"],
        metavar="NAME",
    )
    parser.add_argument("--samples", nargs="+", type=int, default=[1000, 2000, 4000, 8000])
    parser.add_argument("--dataset", default="usps")
    parser.add_argument("--sweeps", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # so few sweeps do not converge
    data = load_dataset(given.dataset)
    X = scale(data.X, "minmax")[np.random.default_rng(0).permutation(data.n_samples)]
    lines = [["method", *(f"n = {n}" for n in given.samples), "exponent"]]
    for name in given.methods:
        method = Method.read(find("method", name))
        seconds(method, X[:200], data.n_classes, given.sweeps)
        spent = [seconds(method, X[:n], data.n_classes, given.sweeps) for n in given.samples]
        exponent = linregress(np.log(given.samples), np.log(spent)).slope
        lines.append([name, *(f"{value:.2f} s" for value in spent), f"{exponent:.2f}"])
    print(pipes(lines))


if __name__ == "__main__":
    main()
