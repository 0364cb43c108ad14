"""The objective against the sweep, one panel for each method and data set."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import select
from ufs_bench.runners.store.row import from_json
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.core.text import by_labels
from ufs_bench.scripts.make_figure.options import several
from ufs_bench.scripts.make_figure.style import NARROW, WIDTH, framed, number, styles, symbol


def convergence(study, dataset, methods=None, metric="acc", selection="default_params", size=None, width=WIDTH):
    """Draw the objective against the sweep, a panel for each data set and method with sweeps."""
    datasets = several(dataset)
    if methods is None:
        stored = study.trials[study.trials["dataset"].isin(datasets)]
        swept = stored["trial"].isin(study.traces.index[study.traces.map(len) > 1])
        methods = sorted(stored.loc[swept, "method"].unique())
        if stored.empty:
            raise MissingResults(f"nothing is stored on dataset={','.join(datasets)}; name methods=[...].")
        if not methods:
            raise ValueError(
                f"no stored fit has iterations to draw: {', '.join(sorted(set(stored['method'])))}. They are closed "
                "forms, stopped at their start, reached a limit, failed, or were shipped without traces."
            )
    pairs = [(method, name) for method in methods for name in datasets]
    traces = chosen_traces(study, pairs, metric, selection, size)
    in_print, looks = unique_names("method", methods), styles(methods)
    at = "" if size is None else f", {size} features"
    choice = BY_NAME[selection].per_size if selection == "default_params" else BY_NAME[selection].overall
    note = f"{by_labels(choice, metric)}{at}; sweep 0 is the start. {study.origin(methods)}"
    per_row = 1 if width < NARROW else min(len(traces), 3)
    rows = -(-len(traces) // per_row)
    with framed(width, 0.9 + rows * min(2.6, 0.75 * width / per_row), "Objective after every sweep", note) as figure:
        grid = figure.subplots(rows, per_row, squeeze=False).ravel()
        for axis, (trial, trace), (method, name) in zip(grid, traces, pairs, strict=False):
            # Few sweeps are drawn as points, too; many points would merge.
            dots = {"marker": "o", "markersize": 3.5} if len(trace) <= 60 else {}
            axis.plot(np.arange(len(trace)), trace, color=looks[method][0], linewidth=1.5, **dots)
            head = f"{in_print[method]}, {printed('dataset', name)}"
            facts = [head, parameters_text(trial), _outcome(trial)]
            axis.set_title("\n".join(filter(None, facts)), fontsize=8, loc="left")
            axis.set_ylabel("Objective")
            axis.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        for index, axis in enumerate(grid):
            axis.set_visible(index < len(traces))
            if index + per_row >= len(traces):
                axis.set_xlabel("Sweep")
        figure.align_ylabels()
    return figure


def chosen_traces(study, pairs, metric="acc", selection="default_params", size=None):
    """Return (trial, objective at the start and after every sweep) of one fit for every pair (method, data set).

    Metric, selection and size say which. MissingResults is about a pair that is not stored, and a ValueError about a
    fit without a trace, or about "grid_median", which is no fit.
    """
    if selection == "grid_median":
        raise ValueError("selection=grid_median is no fit: choose default_params or best_over_grid.")
    points = of_kmeans(study.summary)
    points = points if size is None else points[points["n_selected"] == size]
    chosen = select(points, metric, selection).set_index(["method", "dataset"])
    trials = study.trials.set_index("trial")
    found = []
    for pair in pairs:
        trial = chosen["trial"].get(pair, "")
        if not trial:
            at = "" if size is None else f" with {size} features"
            raise MissingResults(f"no fit of method={pair[0]} on dataset={pair[1]} is stored{at}.", [pair])
        trace = study.traces.get(trial, ())
        if len(trace) < 2:
            raise ValueError(f"{pair[0]} has no sweeps on {pair[1]}: it is a closed form, or stopped at its start.")
        found.append((trials.loc[trial], trace))
    return found


def _outcome(trial):
    sweeps = f"{trial['n_iter']} sweep{'s' if trial['n_iter'] != 1 else ''}"
    texts = {"converged": f"converged after {sweeps}", "max_iter": f"stopped after {sweeps}"}
    return texts.get(trial["status"], f"{trial['status']}, {sweeps}")


def parameters_text(trial):
    """Return the numeric parameters of a trial, in symbols, without counts such as neighbours and clusters."""
    shown = {
        name: value
        for name, value in from_json(trial["params"]).items()
        if isinstance(value, int | float) and not isinstance(value, bool) and not name.startswith("n_")
    }
    return ", ".join(f"{symbol(name)} = {number(value)}" for name, value in shown.items())
