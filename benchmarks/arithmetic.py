"""The cost of portable arithmetic: CPU seconds of whole fits, and of K-means evaluations, against native arithmetic.

    python -m benchmarks.arithmetic [--fits "mcfs coil20, dgufs umist"] [--repeats 3]

Two processes of this checkout, one with each arithmetic, fit in turn, as in `benchmarks.against`; a ratio is that of
median CPU seconds, portable over native.  "kmeans" in place of a method is mcfs with its evaluation at six sizes.
Other bytes may take other numbers of sweeps, which are shown.
"""

import os
import statistics

from benchmarks.against import Side, compare
from benchmarks.loops import TRIAL
from runners.arithmetic import NATIVE, VARIABLE, portable
from runners.code import ROOT
from scripts.core.programs import parser_of

FITS = "mcfs coil20, udfs umist, dgufs umist, ndfs umist, rufs umist, socfs umist, kmeans umist, kmeans coil20"


def environment(native):
    """Return the environment of one side."""
    others = {name: value for name, value in os.environ.items() if name not in (*portable(), VARIABLE)}
    return others | ({VARIABLE: NATIVE} if native else portable())


def measure(method, dataset, repeats):
    """Return seconds and sweeps of each side, native first, as medians."""
    name, before = ("mcfs", TRIAL) if method == "kmeans" else (method, "")
    given = ROOT, name, dataset, {}, before
    with Side(*given, environment(native=True)) as native, Side(*given, environment(native=False)) as ours:
        found = compare(native, ours, repeats)
    for fits in found:
        yield statistics.median(fit["seconds"] for fit in fits), fits[0]["sweeps"]


def main():
    """Print the table."""
    parser = parser_of("benchmarks.arithmetic", __doc__)
    parser.add_argument("--fits", default=FITS, help="pairs of a method and a data set, with commas between")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("| fit | native, CPU s | portable, CPU s | ratio | sweeps, native and portable |\n|---|---|---|---|---|")
    for pair in options.fits.split(","):
        method, dataset = pair.split()
        (native, before), (ours, after) = measure(method, dataset, options.repeats)
        row = f"| {method} {dataset} | {native:.3f} | {ours:.3f} | {ours / native:.2f} | {before}, {after} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
