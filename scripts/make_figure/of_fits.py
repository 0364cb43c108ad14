"""The figures of single fits: over the parameters, sweep by sweep, pixel by pixel."""

import math
from collections import Counter

import numpy as np

from metrics.study import METRICS, UNSCORED
from metrics.study.selections import BY_NAME, LABEL_FREE
from runners.words import counted
from scripts.core.command_lines import MissingResults
from scripts.core.conf import find, printed, unique_names
from scripts.core.published import PAPERS, published_pixels
from scripts.core.text import listed
from scripts.core.words import CLUSTERERS, by_labels
from scripts.features import selected_features
from scripts.make_figure.convergence import chosen_traces, draw_convergence
from scripts.make_figure.options import one, several
from scripts.make_figure.pixels import check_same_data, draw_pixels, middle_of_classes
from scripts.make_figure.style import WIDTH, number, styles, symbol
from scripts.make_figure.surfaces import draw_surfaces, fixed_values, grid_of, surface


def surfaces(
    study,
    dataset,
    method,
    parameters=None,
    metric=("acc",),
    clusterer="kmeans",
    others="best",
    kind="heatmap",
    grid=None,
    width=WIDTH,
):
    """Draw a score over each parameter and the number of features.

    `others` sets the values of the other parameters, as in `scripts.make_figure.surfaces.surface`; `grid` has values
    that the figure is to show, of which the note names those that are not stored.
    """
    dataset, method, metrics = one(dataset), one(method, "method"), several(metric)
    own = find("method", method) or {}
    defaults = own.get("params") or {}
    cell = _, varying, constant = grid_of(study.summary, dataset, method, clusterer, defaults)
    parameters = list(varying) if parameters is None else several(parameters)
    searched = [name for name, values in {**(own.get("grid") or {}), **(grid or {})}.items() if len(values) > 1]
    if not parameters and not searched:
        names = ", ".join(defaults)
        remedy = f" To search one of {names}: python run.py ... method={method} '+method.grid.NAME=[...]'"
        raise ValueError(
            f"{method} has no parameter with several values, stored or in its file's grid.{remedy if names else ''}"
        )
    if not parameters:
        raise MissingResults(
            f"{method} on {dataset} has scores at one setting of its parameters only.", [(method, dataset)]
        )
    try:
        panels = [surface(cell, name, score, others, defaults) for score in metrics for name in parameters]
    except MissingResults as error:
        if set(parameters) <= {*varying, *searched}:
            raise
        raise ValueError(str(error)) from error  # a run of the method's own grid would not add values
    rules = dict.fromkeys(_others_text(varying, name, others, defaults, metrics) for name in parameters)
    fixed = [f"{symbol(k)} = {number(v)}" for k, v in constant.items() if type(v) in (int, float) and k != "n_clusters"]
    trials = study.trials
    trials = trials[(trials["dataset"] == dataset) & (trials["method"] == method)]
    lines = [
        ". ".join(rules) + (f". Everywhere: {', '.join(fixed)}." if fixed else "."),
        f"{_fits(trials, method)}. {study.origin([method])}{_not_run(panels, grid or {})}",
    ]
    scores = " and ".join(score.upper() for score in metrics)
    return draw_surfaces(
        panels,
        title=f"{printed('method', method)} on {printed('dataset', dataset)}: {scores} of {CLUSTERERS[clusterer]}",
        note="\n".join(lines),
        kind=kind,
        width=width,
    )


def _others_text(varying, parameter, others, defaults, metrics):
    fixed = fixed_values(varying, parameter, others, defaults)
    best = [symbol(name) for name in varying if name not in (*fixed, parameter)]
    parts = [f"{symbol(name)} = {number(value)}" for name, value in fixed.items()]
    labelled = [METRICS[metric] for metric in metrics if metric not in LABEL_FREE]
    how = ", chosen with the labels" if labelled else ""
    how += f" for {listed(labelled)}" if 0 < len(labelled) < len(metrics) else ""
    parts += [f"the best {' and '.join(best)} at every point{how}"] if best else []
    return f"Over {symbol(parameter)}: {', '.join(parts)}" if parts else f"Over {symbol(parameter)}"


def _not_run(panels, grid):
    stored = {panel.parameter: set(panel.values) for panel in panels}
    lacking = {name: [v for v in grid.get(name, []) if v not in found] for name, found in stored.items()}
    texts = [f"{symbol(name)} = {', '.join(map(number, values))}" for name, values in lacking.items() if values]
    return f" Not yet run: {'; '.join(texts)}." if texts else ""


def _fits(trials, method):
    """Say how much of the method's own grid is stored, and how the fits ended."""
    own = find("method", method)
    whole = math.prod(len(values) for values in (own["grid"] or {}).values()) if own else 0
    stored = trials["params"].nunique()
    odd = {name: count for name, count in sorted(Counter(trials["status"]).items()) if name != "converged"}
    parts = [f"{count} {'stopped at max_iter' if name == 'max_iter' else name}" for name, count in odd.items()]
    points = f"Incomplete: {stored} of {whole} grid points" if stored < whole else f"{stored} grid points"
    return ", ".join([points, counted(len(trials), "fit"), *parts])


def convergence(
    study, dataset, methods=None, metric="acc", selection="default_params", size=None, yscale="linear", width=WIDTH
):
    """Draw the objective against the sweep, a panel for each data set and method with sweeps."""
    datasets = several(dataset)
    if methods is None:
        stored = study.trials[study.trials["dataset"].isin(datasets)]
        swept = stored["trial"].isin(study.traces.index[study.traces.map(len) > 1])
        methods = sorted(stored.loc[swept, "method"].unique())
        where = f"dataset={','.join(datasets)}"
        if stored.empty:
            raise MissingResults(f"nothing is stored on {where}; name what you want: methods=[...].")
        if not methods:
            raise ValueError(
                f"no fit stored on {where} has iterations to draw: {', '.join(sorted(set(stored['method'])))}. "
                "They are closed forms, stopped at their start, reached a limit, failed, or were shipped without "
                "traces; choose a study with another method."
            )
    pairs = [(method, name) for method in methods for name in datasets]
    traces = chosen_traces(study, pairs, metric, selection, size)
    in_print = unique_names("method", methods)
    at = "" if size is None else f", {size} features"
    choice = BY_NAME[selection].per_size if selection == "default_params" else BY_NAME[selection].overall
    choice = by_labels(choice, metric)
    return draw_convergence(
        traces,
        [f"{in_print[method]}, {printed('dataset', name)}" for method, name in pairs],
        [styles(methods)[method][0] for method, _ in pairs],
        title="Objective after every sweep",
        note=f"{choice}{at}; sweep 0 is the start. {study.origin(methods)}",
        yscale=yscale,
        width=width,
    )


def pixels(study, dataset, methods=None, metric="acc", selection="best_over_grid", samples=None, width=WIDTH):
    """Draw the selected pixels over images, a row for each method and sample, those of the data by default."""
    from datasets import load_dataset  # here, as only this figure reads data

    dataset = one(dataset)
    data = load_dataset(dataset, data_dir=study.data_dir)
    if data.image_shape is None:
        raise ValueError(f"dataset={dataset} has no pixels to draw: choose a data set of images.")
    check_same_data(study, data)
    trials = study.trials
    if methods is None:
        stored = (
            (trials["dataset"] == dataset) & ~trials["status"].isin(UNSCORED) & (trials["method"] != "all_features")
        )
        methods = sorted(trials.loc[stored, "method"].unique())
        if not methods:
            raise MissingResults(f"nothing is stored on dataset={dataset}; name what you want: methods=[...].")
    samples = middle_of_classes(data, 2 if len(methods) == 1 else 1) if samples is None else [int(s) for s in samples]
    in_print = unique_names("method", methods)
    sets = {in_print[method]: selected_features(study, method, dataset, metric, selection) for method in methods}
    who = f"{printed('method', methods[0])} on " if len(methods) == 1 else ""
    return draw_pixels(
        data,
        sets,
        samples,
        title=f"{who}{printed('dataset', dataset)}: the m selected pixels",
        note=f"{by_labels(BY_NAME[selection].per_size, metric)}"
        f"{f' ({METRICS[metric]})' if selection == 'best_over_grid' else ''}. "
        f"{_of_data(samples)} {study.origin(methods)}",
        width=width,
    )


def printed_pixels(study, paper, table, samples=None, width=WIDTH):
    """Draw the pixels of a paper's table over an image, and as many of smallest norm of the data as they are."""
    from datasets import load_dataset  # here, as most figures read no data

    name, sets = published_pixels(paper, table)
    data = load_dataset(name, data_dir=study.data_dir)
    order = np.argsort(np.linalg.norm(data.X, axis=0), kind="stable")
    smallest = {size: order[:size] for size in sets}
    both = sum(len(np.intersect1d(smallest[size], sets[size])) for size in sets)
    samples = middle_of_classes(data, 1) if samples is None else [int(sample) for sample in samples]
    return draw_pixels(
        data,
        {"Printed": sets, "Smallest norm": smallest},
        samples,
        title=f"{PAPERS[paper]} on {printed('dataset', name)}: the m pixels of {table.replace('table', 'table ')}",
        note="Printed: as the paper shows them. Smallest norm: of the data as they are. "
        f"{both} of {sum(map(len, sets.values()))} are the same. {_of_data(samples)}",
        width=width,
    )


def _of_data(samples):
    return f"Sample{'s' * (len(samples) > 1)} {', '.join(map(str, samples))} of the data."
