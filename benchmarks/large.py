"""The CPU seconds, the memory and the exponents of a fit as data grow, up to the largest that a cap allows.

    python -m benchmarks.large --methods laplacian_score mcfs udfs --cap 20 --figure docs/large.svg

Data are made up: five clusters in a tenth of the features, the rest noise; with `--share` one value in so many is not
zero, X is sparse, and methods that take no sparse X are left out.  n doubles at `--features` features, and d at
`--samples` samples, until a fit reaches the cap of CPU seconds, or would by its growth.  `--also 70000x784` adds single
sizes, such as that of MNIST.  Parameters are those of the methods' files, with `--sweeps` sweeps where a method has
any, so that what grows is the work and not the number of steps.  Each fit is a process of its own with one BLAS thread;
its memory is the peak beside X.  A fit of 200 samples, which is not counted, compiles what is compiled.
"""

import argparse
import inspect
import os
import resource
import time
import warnings
from multiprocessing import get_context
from pathlib import Path

# One BLAS thread: before numpy is imported.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import matplotlib
import numpy as np
from scipy import sparse
from scipy.stats import linregress

from runners.family import memory_of, reset_peak
from runners.method import Method
from scripts.core.conf import find, names
from scripts.core.text import pipes

SIZE, CLUSTERS = 100, 5
SHORT_S = 0.02  # a shorter fit is mostly what any fit takes, and tells nothing of growth
LAST = 3  # sizes that an exponent is taken from: the largest ones, where the leading term rules
N, D = "n", "d"


def made_up(n_samples, n_features, share=None):
    """Return samples in [0, 1] in clusters; a csr_array where a share of the values is not zero."""
    rng = np.random.default_rng(0)
    labels, centers = np.arange(n_samples) % CLUSTERS, rng.random((CLUSTERS, max(n_features // 10, 1)))
    if share is None:
        X = rng.random((n_samples, n_features))
        X[:, : centers.shape[1]] = 0.3 * X[:, : centers.shape[1]] + 0.7 * centers[labels]
        return X
    count = int(share * n_samples * n_features)
    rows, columns = rng.integers(n_samples, size=count), rng.integers(n_features, size=count)
    values = rng.random(count)
    telling = columns < centers.shape[1]
    values[telling] += centers[labels[rows[telling]], columns[telling]]
    return sparse.csr_array((values, (rows, columns)), shape=(n_samples, n_features))


def build(method, n_features, sweeps):
    """Return the unfitted selector."""
    known = inspect.signature(method.cls).parameters
    fixed = {"n_features_to_select": min(SIZE, n_features), "random_state": 0, "max_iter": sweeps}
    fixed = {name: value for name, value in fixed.items() if name in known}
    return method.cls(**method.params_at({}, CLUSTERS) | fixed)


def measured(model, X, cap):
    """Return the CPU seconds and the MB beside X of a fit in a process of its own; None where it reaches the cap."""
    read, write = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_fit, args=(model, X, cap, write))
    process.start()
    write.close()
    try:
        return read.recv()
    except EOFError:  # ended by the cap, or for memory
        return None
    finally:
        process.join()


def _fit(model, X, cap, write):
    resource.setrlimit(resource.RLIMIT_CPU, (int(cap) + 1, int(cap) + 2))
    warnings.simplefilter("ignore")  # so few sweeps do not converge
    reset_peak()
    before, started = memory_of("self", peak=False), time.process_time()
    model.fit(X)
    write.send((time.process_time() - started, memory_of("self") - before))


def grown(method, start, side, options):
    """Return {shape: (seconds, MB)} of shapes whose side n or d doubles, until a fit reaches the cap or would."""
    found, shape = {}, start
    while shape[0] * shape[1] <= options.largest:
        spent = measured(build(method, shape[1], options.sweeps), made_up(*shape, options.share), options.cap)
        if spent is None or spent[0] > options.cap:
            break
        found[shape] = spent
        slope = exponent(found, side)
        if spent[0] * 2 ** (2 if np.isnan(slope) else slope) > options.cap:
            break
        shape = (2 * shape[0], shape[1]) if side == N else (shape[0], 2 * shape[1])
    return found


def exponent(found, side):
    """Return the slope of log seconds over log n or log d at the largest sizes; nan below two of them."""
    points = [(shape[side == D], seconds) for shape, (seconds, _) in found.items() if seconds > SHORT_S][-LAST:]
    return linregress(*np.log(points).T).slope if len(points) > 1 else np.nan


def row_of(name, by_n, by_d, also):
    """Return the cells of a method's line."""
    cells = [name]
    for side, found in ((N, by_n), (D, by_d)):
        slope = exponent(found, side)
        cells.append("" if np.isnan(slope) else f"{slope:.1f}")
        cells.append(
            "none" if not found else "{} x {}: {:.2f} s, {:.0f} MB".format(*list(found)[-1], *found[list(found)[-1]])
        )
    return cells + ["not in the cap" if spent is None else f"{spent[0]:.1f} s, {spent[1]:.0f} MB" for spent in also]


def draw(results, path):
    """Write a figure of seconds over n and over d, one line per method."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "large"  # the same file for the same numbers
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 5), sharey=True, layout="constrained")
    for axis, side, place in zip(axes, (N, D), (0, 1), strict=True):
        for number, (name, found) in enumerate(results.items()):
            points = [(shape[place], seconds) for shape, (seconds, _) in found[place].items()]
            if points:
                axis.loglog(*zip(*points, strict=True), marker="os^vD"[number // 10 % 5], markersize=4, label=name)
        axis.set_xlabel({N: "samples n", D: "features d"}[side])
    axes[0].set_ylabel("CPU seconds of a fit")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main(words=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.large", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = names("method")
    parser.add_argument("--methods", nargs="+", choices=every, default=every, metavar="NAME")
    parser.add_argument("--samples", type=int, default=1000, help="the first n, and that of all d")
    parser.add_argument("--features", type=int, default=500, help="the first d, and that of all n")
    parser.add_argument("--share", type=float, help="of values that are not zero, for a sparse X")
    parser.add_argument("--also", nargs="*", default=[], metavar="NxD", help="single sizes")
    parser.add_argument("--cap", type=float, default=60.0, help="CPU seconds of a fit")
    parser.add_argument("--largest", type=int, default=10**8, help="numbers in the largest X, zeros among them")
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--figure", type=Path, help="where to write the figure")
    options = parser.parse_args(words)
    also = [tuple(map(int, size.split("x"))) for size in options.also]
    data, results, start = [made_up(*shape, options.share) for shape in also], {}, (options.samples, options.features)
    head = ["method", "exponent in n", "largest n", "exponent in d", "largest d", *(f"{n} x {d}" for n, d in also)]
    lines = [head]
    for name in options.methods:
        method = Method.read(find("method", name))
        if options.share and not getattr(method.cls, "takes_sparse", False):
            continue
        warnings.simplefilter("ignore")
        build(method, 50, options.sweeps).fit(made_up(200, 50, options.share))
        found = [grown(method, start, side, options) for side in (N, D)]
        single = [measured(build(method, X.shape[1], options.sweeps), X, options.cap) for X in data]
        results[name] = found
        lines.append(row_of(name, *found, single))
        print(f"  {' | '.join(lines[-1])}", flush=True)
        if options.figure:  # after each method, as all of them take hours
            draw(results, options.figure)
    print(pipes(lines))


if __name__ == "__main__":
    main()
