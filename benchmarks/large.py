"""The CPU seconds, the memory and the exponents of a fit as data grow, up to the largest that a cap allows.

    python -m benchmarks.large --methods laplacian_score mcfs udfs --cap 20 --figure docs/large.svg

Data are made up: five clusters in a tenth of the features, the rest noise; with `--share` so large a part of the values
is not zero, X is sparse, and methods that take no sparse X are left out.  n doubles at `--features` features, and d at
`--samples` samples, until a fit reaches the cap of CPU seconds, or would by its growth, or until the method's own
estimate of its memory is above `--memory`.  `--also 70000x784` adds single sizes, such as that of MNIST, with a cap of
their own: "about" marks the seconds that growth tells of where they are beyond it, and "refused" the memory of a fit
that is not started.
Parameters are those of the methods' files, with `--sweeps` sweeps where a method has any, so that what grows is the
work and not the number of steps.  Each fit is a process of its own with one BLAS thread; its memory is the peak beside
X, its seconds the least of three where it is short.  A fit of 200 samples, which is not counted, compiles what is
compiled.  With `--log` fits are written down, and those that it has are not run again, nor those that as large a cap
ended.
"""

import csv
import inspect
import resource
import time
import warnings
from contextlib import suppress
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.lines import Line2D
from scipy import sparse
from scipy.stats import linregress

from benchmarks.core.processes import forked
from runners.experiment.method import Method
from runners.words import duration
from runners.workers.family import memory_of, reset_peak
from scripts.core.conf import find, names
from scripts.core.programs import parser_of
from scripts.core.text import pipes
from scripts.make_figure.style import PHONE, STYLE, new_figure, styles

SIZE, CLUSTERS = 100, 5
SHORT_S = 0.02  # a shorter fit is mostly what any fit takes, and tells nothing of growth
REPEATED_S = 1  # shorter fits are repeated, as memory that is new to a process costs some of them more than the work
LAST = 3  # sizes that an exponent is taken from: the largest ones, where the leading term rules
N, D = "n", "d"
LEGEND = 3  # columns


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

    def fit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(cap) + 1, int(cap) + 2))
        reset_peak()
        before, started = memory_of("self", peak=False), time.process_time()
        model.fit(X)
        return time.process_time() - started, memory_of("self") - before

    with suppress(RuntimeError):  # ended by the cap, or for memory
        return forked(fit, "fit")


class Growth:
    """The fits of one method, up to the limits of the options; those in the log are read from there."""

    def __init__(self, method, options):
        self.method, self.options, self._known, self._compiled = method, options, {}, False
        if options.log and options.log.exists():
            for words in csv.reader(options.log.read_text().splitlines()):
                if words[:3] == [str(part) for part in (method.name, options.share, options.sweeps)]:
                    n, d, seconds, mb = map(float, words[3:])
                    self._known[int(n), int(d)] = seconds, mb
        start = options.samples, options.features
        self.by_n, self.by_d = self._grown(start, N), self._grown(start, D)

    def fit(self, shape, cap):
        """Return the CPU seconds and MB of a fit; None where it reaches the cap."""
        reached, mb = self._known.get(shape, (0, np.nan))
        if np.isnan(mb) and reached < cap:  # not run, or ended by a smaller cap
            given = self.options
            if not self._compiled:
                build(self.method, 50, given.sweeps).fit(made_up(200, 50, given.share))
                self._compiled = True
            X = made_up(*shape, given.share)
            model = build(self.method, shape[1], given.sweeps)
            spent = measured(model, X, cap)
            if spent is None:
                spent = cap, np.nan
            elif spent[0] < REPEATED_S:
                spent = min(spent, measured(model, X, cap), measured(model, X, cap))
            self._known[shape] = spent
            if given.log:
                with open(given.log, "a") as file:
                    csv.writer(file).writerow([self.method.name, str(given.share), given.sweeps, *shape, *spent])
        spent = self._known[shape]
        return spent if spent[0] <= cap and not np.isnan(spent[1]) else None

    def needs_gb(self, shape):
        """Return the method's own estimate of the memory of a fit, from above."""
        n_stored = None if self.options.share is None else int(self.options.share * shape[0] * shape[1])
        return build(self.method, shape[1], self.options.sweeps).memory(*shape, n_stored) / 2**30

    def _grown(self, shape, side):
        """Return {shape: (seconds, MB)} of shapes whose side n or d doubles, until a fit reaches a limit or would."""
        found, given = {}, self.options
        while shape[0] * shape[1] <= given.largest and self.needs_gb(shape) <= given.memory:
            spent = self.fit(shape, given.cap)
            if spent is None:
                break
            found[shape] = spent
            slope = exponent(found, side)
            if spent[0] * 2 ** (2 if np.isnan(slope) else slope) > given.cap:
                break
            shape = (2 * shape[0], shape[1]) if side == N else (shape[0], 2 * shape[1])
        return found

    def expected_s(self, shape):
        """Return the seconds of a fit as they grow from the measured ones; nan where too few were measured."""
        if not self.by_n:
            return np.nan
        nearest = list(self.by_n)[-1]
        growth = (shape[0] / nearest[0]) ** exponent(self.by_n, N) * (shape[1] / nearest[1]) ** exponent(self.by_d, D)
        return self.by_n[nearest][0] * growth

    def single(self, shape):
        """Return what a table says of one size."""
        if (needed := self.needs_gb(shape)) > self.options.memory:
            return f"refused: {needed:.0f} GB"
        expected, cap = self.expected_s(shape), self.options.also_cap or self.options.cap
        spent = None if expected > 2 * cap else self.fit(shape, cap)
        if spent:
            return said(*spent)
        return "beyond the cap" if np.isnan(expected) else f"about {duration(max(expected, cap))}"


def said(seconds, mb):
    """Return the seconds and MB of a fit in words."""
    return f"{seconds:.2g} s, {mb:.0f} MB" if seconds < 10 else f"{seconds:.0f} s, {mb:.0f} MB"


def exponent(found, side):
    """Return the slope of log seconds over log n or log d at the largest sizes; nan below two of them."""
    points = [(shape[side == D], seconds) for shape, (seconds, _) in found.items() if seconds > SHORT_S][-LAST:]
    return linregress(*np.log(points).T).slope if len(points) > 1 else np.nan


def row_of(growth, also):
    """Return the cells of a method's line."""
    cells = [growth.method.name]
    for side, found in ((N, growth.by_n), (D, growth.by_d)):
        slope = exponent(found, side)
        cells.append("" if np.isnan(slope) else f"{slope:.1f}")
        shape = max(found, default=None)
        cells.append("{} x {}: {}".format(*shape, said(*found[shape])) if shape else "none")
    return cells + [growth.single(shape) for shape in also]


def draw(results, path):
    """Write a figure of seconds over n and, below, over d, one line per method; a phone shows it whole."""
    matplotlib.rcParams["svg.hashsalt"] = "large"  # the same file for the same numbers
    looks, rows = styles(results), -(-len(results) // LEGEND)
    with matplotlib.rc_context(STYLE):
        figure = new_figure(PHONE, 6.2 + 0.145 * rows)
        axes = figure.subplots(2, 1)
        for axis, side, place in zip(axes, (N, D), (0, 1), strict=True):
            for name, found in results.items():
                points = [(shape[place], seconds) for shape, (seconds, _) in found[place].items()]
                if points:
                    colour, marker = looks[name]
                    axis.loglog(*zip(*points, strict=True), color=colour, marker=marker, markersize=4, linewidth=1)
            axis.set_xlabel({N: "samples n", D: "features d"}[side], fontsize=8)
            axis.tick_params(labelsize=8)
        figure.supylabel("CPU seconds of a fit", fontsize=8)
        entries = [Line2D([], [], color=looks[name][0], marker=looks[name][1], markersize=4, linewidth=1, label=name)
                   for name in results]  # fmt: skip
        figure.legend(
            handles=entries, loc="outside lower left", ncols=LEGEND, fontsize=7,
            handlelength=1.6, handletextpad=0.3, columnspacing=0.8,
        )  # fmt: skip
        figure.savefig(path, metadata={"Date": None})


def main(words=None):
    parser = parser_of("benchmarks.large", __doc__)
    every = names("method")
    parser.add_argument("--methods", nargs="+", choices=every, default=every, metavar="NAME")
    parser.add_argument("--samples", type=int, default=1000, help="the first n, and that of all d")
    parser.add_argument("--features", type=int, default=500, help="the first d, and that of all n")
    parser.add_argument("--share", type=float, help="of values that are not zero, for a sparse X")
    parser.add_argument("--also", nargs="*", default=[], metavar="NxD", help="single sizes")
    parser.add_argument("--cap", type=float, default=60.0, help="CPU seconds of a fit")
    parser.add_argument("--also-cap", type=float, help="CPU seconds of a fit of a single size [those of --cap]")
    parser.add_argument("--largest", type=int, default=10**8, help="numbers in the largest X, zeros among them")
    parser.add_argument("--memory", type=float, default=8.0, help="GB of a fit, by the method's own estimate")
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--figure", type=Path, help="where to write the figure")
    parser.add_argument("--log", type=Path, help="a file of measured fits, which are not run again")
    options = parser.parse_args(words)
    also = [tuple(map(int, size.split("x"))) for size in options.also]
    warnings.simplefilter("ignore")  # so few sweeps do not converge
    results = {}
    head = ["method", "exponent in n", "largest n", "exponent in d", "largest d", *(f"{n} x {d}" for n, d in also)]
    lines = [head]
    for name in options.methods:
        method = Method.read(find("method", name))
        if options.share and not getattr(method.cls, "takes_sparse", False):
            continue
        growth = Growth(method, options)
        results[name] = growth.by_n, growth.by_d
        lines.append(row_of(growth, also))
        print(f"  {' | '.join(lines[-1])}", flush=True)
        if options.figure:  # after each method, as all of them take hours
            draw(results, options.figure)
    print(pipes(lines))


if __name__ == "__main__":
    main()
