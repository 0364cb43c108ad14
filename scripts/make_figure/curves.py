"""A score against the number of features, a line for each method, and against seconds, a panel for each data set."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from ufs_bench.metrics.study import METRICS, POOR
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import select
from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed
from ufs_bench.scripts.core.controls import names_of, with_mean_of_draws
from ufs_bench.scripts.core.study import with_seconds
from ufs_bench.scripts.core.text import CLUSTERERS, by_labels
from ufs_bench.scripts.make_figure.options import one, several
from ufs_bench.scripts.make_figure.style import (
    GREY,
    NARROW,
    WIDTH,
    distinct,
    face,
    framed,
    in_words,
    legend_in,
    name_ends,
    styles,
)

ENTRY = 0.13  # inches between the names of two lines
MOST_BANDS = 8  # more bands on top of each other hide the lines
FEW = 8  # methods that all have their colour; of more, those of a front
REST = ("#a8a8a8", "o")  # the look of the others


def acc_vs_size(
    study, dataset, metric="acc", clusterer="kmeans", selection="best_over_grid", methods=None, width=WIDTH
):
    """Draw a score against the number of features on one data set, a line for each method.

    A method without any of the protocol's sizes is a horizontal line.
    """
    dataset = one(dataset)
    points, sizes = _points(study, dataset, metric, clusterer, selection, methods)
    names = names_of(points["method"].unique(), selection)
    looks = distinct(styles(study.summary["method"]), names)
    banded = points["std"].notna().any() and len(names) <= MOST_BANDS
    bands = f"; bands: {study.spread()}" if banded else ""
    title = f"{printed('dataset', dataset)}: {METRICS[metric]} of {CLUSTERERS[clusterer]}"
    note = f"{by_labels(BY_NAME[selection].per_size, metric)}{bands}.\n{study.origin(points['method'])}"
    chosen = study.select(metric, selection)
    note += gaps(chosen[chosen["clusterer"] == clusterer], [dataset], methods)
    around = 2.0 if width < NARROW else 1.0  # inches of title and note
    with framed(width, max(min(4.2, width), around + ENTRY * len(names)), title, note) as figure:
        axes = figure.add_subplot()
        margin = 0.04 * max(sizes[-1] - sizes[0], 1)
        lines = []
        for method, curve in points.groupby("method"):
            name, (colour, marker) = names[method], looks[method]
            look = {"color": colour, "linewidth": 1.6}
            if set(curve["n_selected"]) & set(sizes):
                curve = curve.sort_values("n_selected")
                x, mean, std = (curve[column].to_numpy(float) for column in ("n_selected", "mean", "std"))
                poor = curve["status"].isin(POOR).to_numpy()
                look |= {"linestyle": "--" if poor.all() else "-", "marker": marker, "markersize": 5.5}
                if words := in_words(curve["status"]):
                    name = f"{name} ({'' if poor.all() else 'partly '}{words})"
                (line,) = axes.plot(x, mean, label=name, markevery=list(~poor), **look, **face(colour, poor.all()))
                if poor.any():
                    axes.plot(x[poor], mean[poor], **look | {"linestyle": ""}, **face(colour, True))
            else:
                x = np.array([sizes[0] - margin, sizes[-1] + margin])
                mean, std = (np.full(2, curve[column].iloc[0]) for column in ("mean", "std"))
                (line,) = axes.plot(x, mean, label=name, **look, linestyle=(0, (5, 3)), zorder=1.5)
            if banded and np.isfinite(std).all():
                axes.fill_between(x, mean - std, mean + std, color=colour, alpha=0.1, linewidth=0)
            lines.append(line)
        axes.set_xlabel("Selected features")
        axes.set_ylabel(f"{METRICS[metric]} (%)")
        axes.set_xlim(sizes[0] - margin, sizes[-1] + margin)
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 2.5, 5, 10]))
        room = figure.get_figheight() - around - 0.4  # inches between the ends of the axes
        name_ends(axes, lines, min(ENTRY / room, 1 / len(lines)))
    return figure


def _points(study, dataset, metric, clusterer, selection, methods):
    """Return the points of the lines, and the sizes of the protocol; MissingResults where there are none."""
    stored = study.summary[(study.summary["clusterer"] == clusterer) & (study.summary["dataset"] == dataset)]
    points = select(stored, metric, selection, per_size=True) if len(stored) else stored.assign(mean=0.0)
    points = with_mean_of_draws(points, study, metric, selection, per_size=True).dropna(subset="mean")
    points = points if methods is None else points[points["method"].isin(methods)]
    check_points(points, study, [dataset], clusterer, selection, methods)
    sizes = max(points["sizes"], key=len)  # all features alone have none of the protocol's
    if not sizes:
        raise MissingResults(f"nothing but all features has scores on {dataset}: there is no curve to draw.")
    return points, sizes


def front(points):
    """Return the points, fastest first, of which no other one is as good in no more seconds."""
    ordered = points.dropna(subset="seconds").sort_values(["seconds", "mean"], ascending=[True, False], kind="stable")
    best_before = ordered["mean"].cummax().shift(fill_value=-np.inf)
    return ordered[ordered["mean"] > best_before]


def acc_vs_seconds(study, dataset, metric="acc", clusterer="kmeans", selection=None, methods=None, width=WIDTH):
    """Draw a score against the seconds of fitting, on a logarithmic scale, a panel for each data set.

    All features, which need no fit, are a line.  Only methods on the front of some panel are named where there are
    many; the others are grey.
    """
    if selection is None:
        selection = "best_over_grid" if study.protocol.get("name") in PAPERS else "largest_size"
    datasets = list(dict.fromkeys(several(dataset)))
    points = with_mean_of_draws(study.select(metric, selection), study, metric, selection)
    points = points[(points["clusterer"] == clusterer) & points["dataset"].isin(datasets)]
    points = with_seconds(points, study.trials, selection)
    if methods is not None:
        points = points[points["method"].isin(methods)]
    check_points(points, study, datasets, clusterer, selection, methods)
    title = f"{METRICS[metric]} of {CLUSTERERS[clusterer]} against the seconds of fitting"
    note = (
        f"{by_labels(BY_NAME[selection].overall, metric)}; bars: {study.spread()}. Pareto front: no other "
        "method scores as high in as few seconds.\n"
        f"{BY_NAME[selection].seconds}; what the fits on one data set share, a graph for example, counts in the first "
        f"of them. One core each, on whatever machine ran them.\n{study.origin(points['method'])}"
        f"{gaps(points, datasets, methods)}"
    )
    names, looks = names_of(points["method"].unique(), selection), styles(study.summary["method"])
    named = _named(points, looks)
    looks = distinct(looks, named)
    per_row = 1 if width < NARROW else min(len(datasets), 3)
    rows = -(-len(datasets) // per_row)
    entries = _legend(points, looks, names, named)
    columns = max(1, int(width / 1.6))
    panel_height, legend_height = min(2.9, 0.8 * width / per_row), 0.17 * -(-len(entries) // columns)
    height = 1.2 + legend_height + rows * panel_height
    with framed(width, height, title, note, **{"axes.grid.axis": "both"}) as figure:
        cells = figure.add_gridspec(rows + 1, per_row, height_ratios=[*[panel_height] * rows, legend_height])
        grid = [figure.add_subplot(cells[index // per_row, index % per_row]) for index in range(len(datasets))]
        for axis, dataset in zip(grid, datasets, strict=True):
            own = points[points["dataset"] == dataset]
            for row in own.itertuples():
                is_named = row.method in named
                colour, marker = looks[row.method] if is_named or not looks[row.method][1] else REST
                if not marker:
                    axis.axhline(row.mean, color=colour, linewidth=1.3, linestyle=(0, (5, 3)), zorder=1.5)
                    continue
                axis.errorbar(
                    row.seconds, row.mean, row.std if is_named and np.isfinite(row.std) else None, color=colour,
                    marker=marker, markersize=7 if is_named else 4, **face(colour, row.status in POOR), elinewidth=0.9,
                    capsize=2, zorder=2 + is_named,
                )  # fmt: skip
            fitted = own[[bool(looks[method][1]) for method in own["method"]]]
            best = front(fitted)
            axis.step(best["seconds"], best["mean"], where="post", color=GREY, linewidth=0.9, zorder=1.2)
            axis.set_xscale("log")
            axis.xaxis.set_major_locator(LogLocator(numticks=6))
            axis.xaxis.set_minor_locator(NullLocator())
            axis.yaxis.set_major_locator(MaxNLocator(nbins=6))
            words = in_words(fitted["status"])
            hollow = words and f" (hollow: {words})"
            axis.set_title(printed("dataset", dataset) + hollow, fontsize=9, loc="left")
        for index, axis in enumerate(grid):
            if index % per_row == 0:
                axis.set_ylabel(f"{METRICS[metric]} (%)")
            if index + per_row >= len(datasets):
                axis.set_xlabel("Seconds")
        legend_in(figure.add_subplot(cells[rows, :]), entries, columns)
    return figure


def _named(points, looks):
    """Return the methods that have their own look: all of a few, or those of a front, the fastest first."""
    points = points[[bool(looks[method][1]) for method in points["method"]]]
    if points["method"].nunique() <= FEW:
        return sorted(points["method"].unique())
    fronts = [front(own) for _, own in points.groupby("dataset")]
    return list(dict.fromkeys(method for own in fronts for method in own["method"]))


def _legend(points, looks, names, named):
    """Return the entries of the legend, those of a front in its order."""
    others = set(points["method"]) - set(named)
    lines = sorted(name for name in others if not looks[name][1])
    rest = len(others) - len(lines)
    methods = [*(named if rest else sorted(named, key=lambda name: names[name].lower())), *lines]
    grey = Line2D([], [], color=REST[0], marker=REST[1], markersize=4, linestyle="", label=f"{rest} others")
    return [
        Line2D(
            [], [], color=looks[name][0], marker=looks[name][1] or None, markersize=6.5, markeredgecolor="white",
            linestyle="" if looks[name][1] else (0, (5, 3)), label=names[name],
        )
        for name in methods
    ] + [*([grey] if rest else []), Line2D([], [], color=GREY, linewidth=0.9, label="Pareto front")]  # fmt: skip


def check_points(points, study, datasets, clusterer, selection, methods):
    """Raise MissingResults where a data set has no points to draw."""
    if lacking := [name for name in datasets if name not in set(points["dataset"])]:
        wanted = methods or sorted(study.summary["method"].unique())
        raise MissingResults(
            f"no scores are stored for dataset={','.join(lacking)}, clusterer={clusterer} and selection={selection}; "
            f"data sets of this study: {', '.join(study.summary['dataset'].unique()) or 'none'}.",
            [(method, name) for name in lacking for method in wanted],
        )


def gaps(chosen, datasets, methods=None):
    """Return a line on the methods that lack a score on a data set, or a part of their fits; "" where none does.

    `chosen` is of `Study.select`, of one clusterer.  Without `methods` they are those that it has.
    """
    missing = chosen[chosen["mean"].notna()].set_index(["dataset", "method"])["n_missing"].to_dict()
    pairs = [(name, method) for name in datasets for method in methods or chosen["method"].unique()]
    said = {
        "No scores": [pair for pair in pairs if methods and pair not in missing],
        "Incomplete": [pair for pair in pairs if missing.get(pair)],
    }
    return "".join(f"\n{words}: {_listed(found, len(datasets) > 1)}." for words, found in said.items() if found)


def _listed(pairs, with_dataset):
    return ", ".join(
        printed("method", method) + (f" on {printed('dataset', name)}" if with_dataset else "")
        for name, method in pairs
    )
