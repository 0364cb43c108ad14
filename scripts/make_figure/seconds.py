"""A score against the seconds of fitting, one panel for each data set."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from ufs_bench.metrics.study import METRICS, POOR
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.core.conf import printed
from ufs_bench.scripts.core.controls import names_of, with_mean_of_draws
from ufs_bench.scripts.core.study import with_seconds
from ufs_bench.scripts.core.text import CLUSTERERS, by_labels
from ufs_bench.scripts.make_figure.options import check_points, gaps, several
from ufs_bench.scripts.make_figure.style import GREY, NARROW, WIDTH, distinct, face, framed, in_words, legend_in, styles

FEW = 8  # methods that all have their colour; of more, those of a front
REST = ("#a8a8a8", "o")  # the look of the others


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
    entries = _entries(points, looks, names, named)
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


def _entries(points, looks, names, named):
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
