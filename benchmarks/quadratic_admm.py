"""Figure 2 of the K-means UFS paper, on other data: the norm of V in its first attempt, a quadratic ADMM.

    python -m benchmarks.quadratic_admm [--dataset digits] [--size 50] [--sweeps 120] [--output figure.png]

Prints log10 ||V||_F after some sweeps of (12) with the updates (22), (24), (26), (17) to (19), mu0 = lambda_1(A) + 0.1
and rho = 1.05, from the start (32).  In the bilinear ADMM (27), method=kmeans_ufs_admm, ||V||_F^2 = h after every sweep
by its own update (29).  The paper's data, StatLog DNA, are not part of this suite.
"""

import numpy as np
from matplotlib.figure import Figure

from datasets import load_dataset
from methods.kmeans_ufs import standardized
from scripts.claims.core.quadratic_admm import quadratic_admm
from scripts.core.programs import parser_of


def main():
    parser = parser_of("benchmarks.quadratic_admm", __doc__)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--size", type=int, default=50, help="features kept, h [50]")
    parser.add_argument("--sweeps", type=int, default=120)
    parser.add_argument("--output", help="a file for the figure")
    parser.add_argument("--data-dir", help="folder of the data files [$UFS_DATA_DIR, the cache, a download]")
    options = parser.parse_args()
    data = load_dataset(options.dataset, options.data_dir)
    norms, _ = quadratic_admm(standardized(data.X), data.n_classes, options.size, options.sweeps)
    bilinear = np.log10(options.size) / 2
    print(f"{data.name}, k = {data.n_classes}, h = {options.size}: log10 ||V||_F; bilinear ADMM: {bilinear:.2f} always")
    for sweep in range(0, options.sweeps + 1, max(1, options.sweeps // 12)):
        print(f"{sweep:6d} {np.log10(norms[sweep]):8.2f}")
    if options.output:
        draw(norms, bilinear, data.name, options)
        print(options.output)


def draw(norms, bilinear, name, options):
    figure = Figure(figsize=(6.8, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(np.log10(norms), label="quadratic ADMM (12)", color="#0072b2")
    axes.axhline(bilinear, label="bilinear ADMM (27)", color="#d55e00", linestyle="--")
    axes.set(xlabel="Sweep", ylabel="log10 ||V||_F", title=f"Norm of V on {name}, h = {options.size}")
    axes.legend()
    figure.savefig(options.output, dpi=200)


if __name__ == "__main__":
    main()
