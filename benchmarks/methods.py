"""Time methods side by side with public packages, and say how far they select the same features.

    pip install '.[bench]'                                  the peer, skfeature-chappers; nothing else here needs it
    python -m benchmarks.methods methods=NDFS,UDFS datasets=orl,coil20 sweeps=20 wide_sweeps=3

Both get the same X, the peer's heat-kernel graph with our bandwidth (ready-made, so that it is not timed), the same
parameters, the same start where both take one, and the same number of sweeps, on one BLAS thread.  The runs alternate,
each in a process of its own.  A run of the peer that takes longer than `timeout` seconds is ended: its time and the
ratios are then lower bounds.  Times are medians ± half the range; ratios are the peer's median over ours.
"""

import importlib.util
import inspect
import multiprocessing
import sys
import time
from dataclasses import dataclass

import numpy as np

from ufs_bench import methods
from ufs_bench.datasets import load_dataset, scale
from ufs_bench.methods.core.graphs import knn_graph
from ufs_bench.scripts.core.entry import plain_options

INSTALL = "The peer is not installed: pip install skfeature-chappers==1.2.1 (nothing else in this project needs it)."
SIZE = 100
WIDE = 2000  # number of features from which --wide-sweeps applies
# Differences of the peer's computations, for which the selected features may differ.
DIFFERENCES = {
    "LaplacianScore": "the same closed form",
    "MCFS": "the peer follows least-angle regression instead of the lasso, with an intercept, until each path has 100 "
    "features, and ranks by the largest signed coefficient",
    "NDFS": "the peer subtracts the graph from the row of its degrees where the Laplacian belongs, and normalises the "
    "columns of F after each sweep",
    "UDFS": "the peer takes the neighbours of samples 0 to 5 for those of every sample, and starts from D = I",
}
TARGETS = {
    "NDFS": {"coil20": 10, "isolet": 10, "pie10p": 100, "allaml": 1000},
    "UDFS": {"orl": 3, "coil20": 3, "isolet": 3},
}


@dataclass(frozen=True)
class Problem:
    """The input of both sides."""

    X: np.ndarray
    n_clusters: int
    graph: object
    start: np.ndarray
    n_sweeps: int


def peer_sweeps(module, name, n_sweeps):
    """Return the peer's function, changed to do exactly `n_sweeps` sweeps.

    It has no parameter for that, so three places in its source are changed: the number of sweeps, the test that
    stops them, and (NDFS) the number of clusters, which it forgets to set where a start is given.
    """
    source = inspect.getsource(module)
    changes = {"max_iter = 1000": f"max_iter = {n_sweeps}", "< 1e-3": "< 0.0"}
    if name == "ndfs":
        changes['F = kwargs["F0"]'] = 'F = kwargs["F0"]; n_clusters = F.shape[1]'
    for old, new in changes.items():
        if source.count(old) != 1:
            sys.exit(f"This version of skfeature-chappers has no single {old!r} in {module.__name__}; 1.2.1 has.")
        source = source.replace(old, new)
    namespace = {"__name__": module.__name__}
    exec(compile(source, module.__file__, "exec"), namespace)
    return namespace[name]


def peer_run(name, problem):
    """Call the peer; return its features, best first."""
    where = {"LaplacianScore": "similarity_based.lap_score"}.get(name, f"sparse_learning_based.{name}")
    module = importlib.import_module(f"skfeature.function.{where}")
    X, graph, n_clusters = problem.X.copy(), problem.graph, problem.n_clusters
    if name == "LaplacianScore":
        return module.lap_score(X, W=graph, mode="index")
    if name == "MCFS":
        weights = module.mcfs(X, n_selected_features=SIZE, W=graph, n_clusters=n_clusters, mode="raw")
        return np.argsort(-weights.max(axis=1), kind="stable")
    run = peer_sweeps(module, name.lower(), problem.n_sweeps)
    if name == "NDFS":
        weights = run(X, W=graph, F0=problem.start.copy(), alpha=1.0, beta=1.0, gamma=1e8, mode="raw")
    else:
        weights = run(X, gamma=0.1, k=5, n_clusters=n_clusters, mode="raw")
    return np.argsort(-np.linalg.norm(np.asarray(weights), axis=1), kind="stable")


def our_run(name, problem):
    """Fit ours with the same settings; return its features, best first."""
    cls = getattr(methods, name)
    settings = {
        "LaplacianScore": {"affinity": problem.graph},
        "MCFS": {"affinity": problem.graph, "n_clusters": problem.n_clusters},
        "NDFS": {"affinity": problem.graph, "init": problem.start, "alpha": 1.0, "beta": 1.0, "gamma": 1e8},
        "UDFS": {"gamma": 0.1, "lambda_": 0.1, "n_neighbors": 5},
    }[name]
    if name in ("NDFS", "UDFS"):
        settings |= {"n_clusters": problem.n_clusters, "max_iter": problem.n_sweeps, "tol": 0.0}
    return cls(SIZE, **settings).fit(problem.X).subset(SIZE)


def in_a_process(run, name, problem, timeout):
    """Return CPU seconds, wall seconds and features of a run in a forked process; None where `timeout` ends it.

    A RuntimeError says that the process died.
    """

    def work():
        wall, cpu = time.perf_counter(), time.process_time()
        features = np.asarray(run(name, problem))
        sender.send((time.process_time() - cpu, time.perf_counter() - wall, features[:SIZE]))

    context = multiprocessing.get_context("fork")  # the child has all imports and compiled code
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=work)
    child.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(timeout) else None
    except EOFError:
        child.join()
        raise RuntimeError(f"{run.__name__}: the process died with exit code {child.exitcode}") from None
    finally:
        child.kill()
        child.join()


def compare(name, problem, repeats, timeout, patience=60):
    """Alternate the two sides; return our results, and those of the peer (None: stopped at the timeout)."""
    ours, peers = [], []
    while len(ours) < repeats:
        ours.append(in_a_process(our_run, name, problem, None))
        if None not in peers and sum(wall for _, wall, _ in peers) < patience:
            peers.append(in_a_process(peer_run, name, problem, timeout))
    return ours, peers


def line(name, dataset, problem, ours, peers, timeout):
    """Return a row of the table."""
    sweeps = str(problem.n_sweeps) if name in ("NDFS", "UDFS") else "-"
    shape = " x ".join(map(str, problem.X.shape))
    target = TARGETS.get(name, {}).get(dataset)
    cpu, wall = (np.median([run[column] for run in ours]) for column in (0, 1))
    if None in peers:
        ratio, ratio_wall = timeout / cpu, timeout / wall
        theirs, sign, shared = f"more than {timeout:g}", ">", "-"
    else:
        ratio = np.median([run[0] for run in peers]) / cpu
        ratio_wall = np.median([run[1] for run in peers]) / wall
        theirs, sign = _seconds(peers), ""
        shared = f"{len(set(ours[0][2]) & set(peers[0][2]))}"
    verdict = "met" if target and ratio >= target else "open" if None in peers else "MISSED"
    goal = f"{target} {verdict}" if target else "-"
    return (
        f"{name:15}{dataset:8}{shape:>12}{sweeps:>7}{_seconds(ours):>16}{theirs:>16}"
        f"{sign + format(ratio, '.1f'):>9}{sign + format(ratio_wall, '.1f'):>9}  {goal:12}{shared:>5}"
    )


def _seconds(runs):
    cpu = [run[0] for run in runs]
    return f"{np.median(cpu):.3f}±{(max(cpu) - min(cpu)) / 2:.3f}"


def make_problem(dataset, options):
    """Scale the data, build the peer's graph with our bandwidth, and draw a start."""
    X = scale(dataset.X, "minmax")
    from skfeature.utility.construct_W import construct_W

    edges = knn_graph(X, 5, "binary").tocoo()
    bandwidth = np.linalg.norm(X[edges.row] - X[edges.col], axis=1).mean()
    graph = construct_W(X.copy(), metric="euclidean", weight_mode="heat_kernel", k=5, t=bandwidth)
    rng = np.random.default_rng(0)
    start = np.eye(dataset.n_classes)[rng.integers(dataset.n_classes, size=len(X))] + 0.2
    sweeps = options.wide_sweeps if X.shape[1] >= WIDE else options.sweeps
    return Problem(X, dataset.n_classes, graph, start, sweeps)


def main():
    names = ["umist", "orl", "coil20", "isolet", "pie10p", "pix10p", "allaml"]
    numbers = {"sweeps": 20, "wide_sweeps": 3, "repeats": 3, "timeout": 600.0}
    options = plain_options(__doc__, {"methods": list(DIFFERENCES), "datasets": names, "data_dir": None} | numbers)
    if unknown := set(options.methods) - set(DIFFERENCES):
        sys.exit(f"error: methods={','.join(sorted(unknown))} must be of {', '.join(DIFFERENCES)}.")
    if importlib.util.find_spec("skfeature") is None:
        sys.exit(INSTALL)
    print(
        f"{'method':15}{'data set':8}{'shape':>12}{'sweeps':>7}{'ours, CPU s':>16}{'peer, CPU s':>16}{'ratio':>9}"
        f"{'of wall':>9}  {'target':12}same of {SIZE}",
        flush=True,
    )
    for dataset in options.datasets:
        problem = make_problem(load_dataset(dataset, options.data_dir), options)
        for name in options.methods:
            try:
                ours, peers = compare(name, problem, options.repeats, options.timeout)
            except RuntimeError as error:
                print(f"{name:15}{dataset:8}  {error}", flush=True)
                continue
            print(line(name, dataset, problem, ours, peers, options.timeout), flush=True)
    for name in options.methods:
        print(f"{name}: {DIFFERENCES[name]}.")


if __name__ == "__main__":
    main()
