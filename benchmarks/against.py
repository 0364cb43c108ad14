"""CPU seconds and results of fits by this checkout and by an older commit, which fit in turn.

    python -m benchmarks.against --commit 5db6d0b --methods jgufs_released --datasets mnist --set alpha=0.01 max_iter=8

The commit is checked out beside, in a folder that is removed at the end.  Each side is one process with one BLAS
thread.  It loads the data, fits once with max_iter=1, which is not timed (imports, compilation, graphs that all fits
share), and then fits in turn with the other.  A ratio is that of median CPU seconds; "objective" is by how much it is
higher than the old one, relative, and "-" where there is none or rounding alone moves it by a factor.  Packages are
those of this environment.
"""

import json
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentTypeError
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf

from runners.code import ROOT
from scripts.core.programs import parser_of

SIZE = 100  # number of features that are compared
UNSTEADY = {"rufs_released"}  # rounding changes the objective of its last step by a factor (docs/methods/rufs.md)

# The program of a side, which runs in its own checkout, without this file.
SIDE = """
import inspect, json, sys, time, warnings
import yaml
import methods
from datasets import load_dataset, scale

warnings.simplefilter("ignore")
name, dataset, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with open(f"conf/method/{name}.yaml") as file:
    content = yaml.safe_load(file)
cls = getattr(methods, content["target"].rpartition(".")[2])
known = inspect.signature(cls).parameters
unknown = sorted(set(given) - set(known))
if unknown:
    sys.exit(f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(known)}.")
data = load_dataset(dataset)
X = scale(data.X, "minmax")
fixed = {"n_features_to_select": min(SIZE, X.shape[1]), "n_clusters": data.n_classes, "random_state": 0}
params = {key: value for key, value in fixed.items() if key in known} | content["params"] | given
if "max_iter" in known:
    cls(**params | {"max_iter": 1}).fit(X)
for line in sys.stdin:
    began = time.process_time()
    model = cls(**params).fit(X)
    seconds = time.process_time() - began
    features = [int(j) for j in model.ranking_[:SIZE]]
    result = {"seconds": seconds, "sweeps": model.n_iter_, "objective": model.objective_, "features": features}
    print(json.dumps(result | {"shape": X.shape}), flush=True)
""".replace("SIZE", str(SIZE))


@contextmanager
def checkout(commit):
    """Provide a folder with the files of a commit, as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        added = ["git", "-C", str(ROOT), "worktree", "add", "--detach", str(tree), commit]
        done = subprocess.run(added, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"--commit {commit} cannot be checked out: {done.stderr.strip()}")
        try:
            yield tree
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], check=True)


class Side:
    """A process that fits one method to one data set, on request, and runs the source `before` first."""

    def __init__(self, tree, method, dataset, params, before="", environment=None):
        command = [sys.executable, "-c", before + SIDE, method, dataset, json.dumps(params)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=tree, env=environment, **pipes)

    def fit(self):
        """Return CPU seconds, sweeps, objective, features and shape of one fit."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing line below is the error
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"A side ended with {self.process.wait()}; what it said is above.")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        self.process.wait()


def compare(old, new, repeats):
    """Run fits of the two sides in turn."""
    results = [(old.fit(), new.fit()) for _ in range(repeats)]
    return [before for before, _ in results], [after for _, after in results]


def line(method, dataset, before, after):
    """Return a row of the table."""
    old, new = (np.median([fit["seconds"] for fit in fits]) for fits in (before, after))
    first, second = before[0], after[0]
    values = first["objective"], second["objective"]
    gap = (values[1] - values[0]) / max(abs(values[0]), np.finfo(float).tiny)
    above = f"{gap:+.0e}" if np.isfinite(gap) and method not in UNSTEADY else "-"
    shared = len(set(first["features"]) & set(second["features"]))
    sweeps = f"{first['sweeps']}/{second['sweeps']}"
    shape = " x ".join(map(str, first["shape"]))
    return (
        f"{method:18}{dataset:10}{shape:>13}{sweeps:>10}{old:>10.3f}{new:>10.3f}{old / new:>8.1f}{above:>10}"
        f"{shared:>8} of {len(first['features'])}"
    )


def setting(text):
    """Return a parameter and its value, from ``name=value``."""
    if "=" not in text[1:]:
        raise ArgumentTypeError(f"{text!r} must be name=value, such as alpha=0.01.")
    return next(iter(OmegaConf.from_dotlist([text]).items()))


def main():
    parser = parser_of("benchmarks.against", __doc__)
    parser.add_argument("--commit", required=True, help="the older one: a hash, a tag or a branch")
    parser.add_argument("--methods", nargs="+", required=True, help="names of files of conf/method, at both commits")
    parser.add_argument("--datasets", nargs="+", required=True, help="names of files of conf/dataset, at both commits")
    parser.add_argument(
        "--set", nargs="+", type=setting, default=[], metavar="NAME=VALUE", help="parameters [the files']"
    )
    parser.add_argument("--repeats", type=int, default=3, help="fits of each side [3]")
    options = parser.parse_args()
    for kind in ("method", "dataset"):
        for name in getattr(options, f"{kind}s"):
            if not (ROOT / "conf" / kind / f"{name}.yaml").exists():
                sys.exit(f"--{kind}s {name}: there is no conf/{kind}/{name}.yaml.")
    if options.repeats < 1:
        sys.exit(f"--repeats {options.repeats} must be at least 1.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the checkout is removed
    print(
        f"{'method':18}{'data set':10}{'shape':>13}{'sweeps':>10}{'old CPU s':>10}{'new CPU s':>10}{'ratio':>8}"
        f"{'objective':>10}  same features",
        flush=True,
    )
    with checkout(options.commit) as tree:
        for dataset in options.datasets:
            for method in options.methods:
                given = method, dataset, dict(options.set)
                with Side(tree, *given) as old, Side(ROOT, *given) as new:
                    print(line(method, dataset, *compare(old, new, options.repeats)), flush=True)


if __name__ == "__main__":
    main()
