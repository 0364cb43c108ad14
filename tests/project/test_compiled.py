"""Compiled loops give the same bytes whether a process compiles them or reads them from disk, and have no fastmath.

One function has it: the distances in float32 of K-means, whose errors the bounds of `metrics.elkan` contain in any
order.
"""

import ast
import json
import os
import subprocess
import sys

import pytest

from ufs_bench.methods.core.compiled import compiled
from ufs_bench.runners.code import code_of
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.scripts.core.conf import ROOT, find, names

FEW = ("fsasl", "jgufs", "jgufs_released", "rufs", "sf2sog", "sparse_kmeans")  # between them they reach every loop
FOLDERS = [ROOT / name for name in ("methods", "metrics", "datasets", "runners")]
DECORATORS = {"compiled", "_compiled", "njit", "jit", "vectorize", "guvectorize", "stencil"}
PROGRAM = """
import hashlib, json, sys, warnings
import numpy as np
from threadpoolctl import threadpool_limits
from ufs_bench.metrics.kmeans import kmeans_restarts
from ufs_bench.runners.experiment.method import load_class, parameters_of

warnings.simplefilter("ignore")
rng, found = np.random.default_rng(0), {}
groups = rng.random((60, 40)) + 3 * rng.random((5, 40))[np.arange(60) % 5]
few = np.where(rng.random((150, 60)) < 0.07, rng.random((150, 60)), 0)  # so few entries that loops of sparse data run

def note(name, *arrays):
    data = b"".join(np.ascontiguousarray(array, dtype=float).tobytes() for array in arrays)
    found[name] = hashlib.sha256(data).hexdigest()

with threadpool_limits(1):
    for name, target, params in json.loads(sys.argv[1]):
        cls = load_class(target)
        fixed = {"n_features_to_select": 8, "n_clusters": 5, "random_state": 0}
        fixed["max_iter"] = 4  # rounding shows in the first sweeps
        params = {key: value for key, value in (params | fixed).items() if key in parameters_of(cls)}
        for kind, data in ("groups", groups), ("few entries", few):
            model = cls(**params).fit(data)
            note(f"{name}, {kind}", model.scores_, model.trace_, [model.objective_], getattr(model, "labels_", []))
    for columns in (slice(10), slice(60)):
        note(f"K-means, {columns.stop}", kmeans_restarts(few[:, columns], 10, 5))
loops = {name: one for key in sorted(sys.modules) if key.startswith(("ufs_bench.methods", "ufs_bench.metrics"))
         for name, one in vars(sys.modules[key]).items() if hasattr(one, "nopython_signatures")}
print(json.dumps([found, [name for name, one in loops.items() if not one.signatures]]))
"""


def decorated(path):
    """Yield the decorators of a file by which functions are compiled."""
    for node in ast.walk(ast.parse(path.read_text())):
        for one in getattr(node, "decorator_list", ()):
            name = one.func if isinstance(one, ast.Call) else one
            if getattr(name, "id", getattr(name, "attr", "")) in DECORATORS:
                yield one


def has_loops(path):
    return any(decorated(path))


def reaching():
    """Return name, class and parameters of the methods that reach a compiled loop."""
    for name in sorted(set(names("method")) - {"all_features", "spectral_labels"}):  # these select all
        content = find("method", name)
        if any(has_loops(path) for path, _ in code_of(load_class(content["target"])).files if path.suffix == ".py"):
            yield name, content["target"], content.get("params", {})


def has_compiled(folders):
    return any(any(folder.rglob("*.nbi")) for folder in folders)


def test_compiled_code_has_no_fastmath_but_for_distances_that_decide_no_label():
    files = [path for folder in FOLDERS for path in folder.rglob("*.py")]
    assert sum(map(has_loops, files)) >= 4
    fast = []
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            for one in getattr(node, "decorator_list", ()):
                if "fastmath" in [keyword.arg for keyword in getattr(one, "keywords", ())]:
                    fast.append((path.name, node.name))
    assert fast == [("elkan.py", "_distance")]
    with pytest.raises(TypeError, match="fastmath"):
        compiled(fastmath=True)


@pytest.mark.slow  # .ci/run has the few ones on every push; tests/project/test_layout.py says what loops may use
@pytest.mark.parametrize("few", [FEW, None], ids=["few", "all"])
def test_cold_and_warm_processes_give_the_same_bytes(tmp_path, few):
    chosen = [method for method in reaching() if few is None or method[0] in few]
    assert set(FEW) <= {name for name, *_ in chosen}
    folders, environment = FOLDERS, dict(os.environ)
    # In .ci/run nothing is compiled yet, and what is compiled here, beside its source, serves all that comes after.
    if "NUMBA_CACHE_DIR" in environment or has_compiled(folders):
        folders, environment["NUMBA_CACHE_DIR"] = [tmp_path], str(tmp_path)

    def run():
        command = [sys.executable, "-c", PROGRAM, json.dumps(chosen)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    cold, unreached = run()
    assert not unreached and has_compiled(folders)
    warm, _ = run()
    assert cold == warm and len(cold) == 2 * len(chosen) + 2
