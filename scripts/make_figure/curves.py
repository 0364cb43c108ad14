"""A score against the number of features, one line per method."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ufs_bench.metrics.study import METRICS, POOR
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import select
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed
from ufs_bench.scripts.core.controls import names_of, with_mean_of_draws
from ufs_bench.scripts.core.text import CLUSTERERS, by_labels
from ufs_bench.scripts.make_figure.options import check_points, gaps, one
from ufs_bench.scripts.make_figure.style import NARROW, WIDTH, distinct, face, framed, in_words, name_ends, styles

ENTRY = 0.13  # inches between the names of two lines
MOST_BANDS = 8  # more bands on top of each other hide the lines


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
