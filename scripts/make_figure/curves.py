"""A score against the number of features, one line per method."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ufs_bench.metrics.study import METRICS, POOR
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import select
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed
from ufs_bench.scripts.core.draws import names_of, with_mean_of_draws
from ufs_bench.scripts.core.words import CLUSTERERS, by_labels
from ufs_bench.scripts.make_figure.options import gaps, one
from ufs_bench.scripts.make_figure.style import GREY, NARROW, WIDTH, apart, face, framed, in_words, styles

LABEL, PLOT = 11, 0.75  # points between lines of text; the part of the figure's height that the axes take
DIGIT = 5.8  # points of a digit of a tick
SMALL = {"fontsize": 7.5, "loc": "left", "color": GREY}
MOST_BANDS = 8  # more bands on top of each other hide the lines


def acc_vs_size(
    study, dataset, metric="acc", clusterer="kmeans", selection="best_over_grid", methods=None, width=WIDTH
):
    """Draw a score against the number of features on one data set, a line for each method, its name at the end.

    A method without any of the protocol's sizes is a horizontal line.
    """
    dataset = one(dataset)
    points, sizes = _points(study, dataset, metric, clusterer, selection, methods)
    names, looks = names_of(points["method"].unique(), selection), styles(study.summary["method"])
    banded = points["std"].notna().any() and len(names) <= MOST_BANDS
    bands = f"; bands: {study.spread()}" if banded else ""
    title = f"{printed('dataset', dataset)}: {METRICS[metric]} of {CLUSTERERS[clusterer]}"
    note = f"{by_labels(BY_NAME[selection].per_size, metric)}{bands}.\n{study.origin(points['method'])}"
    chosen = study.select(metric, selection)
    note += gaps(chosen[chosen["clusterer"] == clusterer], [dataset], methods)
    with framed(width, max(min(4.2, width), LABEL / 72 * len(names) / PLOT), title, note) as figure:
        axes = figure.add_subplot()
        margin = 0.04 * max(sizes[-1] - sizes[0], 1)
        shade = 0.13 if len(names) <= 5 else 0.06
        ends, said = [], []
        for method, curve in points.groupby("method"):
            name, (colour, marker) = names[method], looks[method]
            if set(curve["n_selected"]) & set(sizes):
                curve = curve.sort_values("n_selected")
                x, mean, std = (curve[column].to_numpy(float) for column in ("n_selected", "mean", "std"))
                poor = curve["status"].isin(POOR).to_numpy()
                axes.plot(x, mean, color=colour, linewidth=1.6, linestyle="--" if poor.all() else "-")
                for part, hollow in ((~poor, False), (poor, True)):
                    if part.any():
                        dots = {"color": colour, "marker": marker, "markersize": 5.5, **face(colour, hollow)}
                        axes.plot(x[part], mean[part], linestyle="", **dots)
                if words := in_words(curve["status"]):
                    name = f"{name} ({'' if poor.all() else 'partly '}{words})"
                    said.append(words)
            else:
                x, marker = np.array([sizes[0] - margin, sizes[-1] + margin]), ""
                mean, std = (np.full(2, curve[column].iloc[0]) for column in ("mean", "std"))
                axes.plot(x, mean, color=colour, linewidth=1.3, linestyle=(0, (5, 3)), zorder=1.5)
            if np.isfinite(std).all() and len(names) <= MOST_BANDS:
                axes.fill_between(x, mean - std, mean + std, color=colour, alpha=shade, linewidth=0)
            ends.append((x[-1], mean[-1], colour, marker, name))
        axes.set_xlabel("Selected features" if width < NARROW else "Number of selected features")
        axes.set_ylabel(f"{METRICS[metric]} (%)")
        axes.set_xticks(sizes, _spaced(sizes, width))
        axes.set_xlim(sizes[0] - margin, sizes[-1] + margin)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
        if said:
            axes.set_title(f"Hollow: the fit {in_words(' or '.join(said).split(' or '))}", **SMALL)
        _label_ends(axes, ends)
    return figure


def _points(study, dataset, metric, clusterer, selection, methods):
    """Return the points of the lines, and the sizes of the protocol; MissingResults where there are none."""
    summary = study.summary
    stored = summary[summary["clusterer"] == clusterer]
    if dataset not in set(stored["dataset"]):
        raise MissingResults(
            f"nothing is stored for dataset={dataset!r} and clusterer={clusterer!r}; "
            f"data sets of this study: {', '.join(stored['dataset'].unique()) or 'none'}.",
            [(method, dataset) for method in methods or sorted(summary["method"].unique())],
        )
    points = select(stored[stored["dataset"] == dataset], metric, selection, per_size=True)
    points = with_mean_of_draws(points, study, metric, selection, per_size=True).dropna(subset="mean")
    if methods is not None:
        points = points[points["method"].isin(methods)]
    if points.empty:
        who = "no method has" if methods is None else f"methods={methods} have no"
        raise MissingResults(
            f"{who} scores on {dataset} for selection={selection!r}.",
            [(method, dataset) for method in methods or sorted(stored["method"].unique())],
        )
    sizes = max(points["sizes"], key=len)  # all features alone have none of the protocol's
    if not sizes:
        raise MissingResults(
            f"nothing but all features has scores on {dataset}: there is no curve to draw.",
            [(method, dataset) for method in sorted(points["method"].unique())],
        )
    return points, sizes


def _spaced(sizes, width):
    """Return the sizes as texts, "" for one that would touch the next larger one that has a text."""
    unit = _across(width) * 72 * width / max(sizes[-1] - sizes[0], 1)  # points
    last, texts = (np.inf, ""), []
    for size in reversed(sizes):
        if (last[0] - size) * unit > DIGIT * ((len(str(size)) + len(last[1])) / 2 + 0.5):
            last = (size, str(size))
        texts.append(last[1] if last[0] == size else "")
    return texts[::-1]


def _across(width):
    """Return about what part of the figure's width the axes take; the names leave them less of a narrow one."""
    return 0.46 if width < NARROW else 0.68


def _label_ends(axes, ends):
    """Write names right of the plot at the height of the line's end, moved apart where they would overlap."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    ends = sorted(ends, key=lambda end: end[1])
    gap = LABEL / (PLOT * 72 * axes.figure.get_figheight()) * (high - low)
    heights = apart([end[1] for end in ends], gap, low, high)
    width = axes.figure.get_figwidth()
    step = 10 / (_across(width) * 72 * width) * (right - left)  # about ten points
    for (x, height, colour, marker, name), placed in zip(ends, heights, strict=True):
        beyond = {"clip_on": False, "scalex": False, "scaley": False, "color": colour}
        axes.plot([x, right, right + step], [height, height, placed], linewidth=0.7, alpha=0.6, zorder=1, **beyond)
        if marker:
            axes.plot([right + 1.6 * step], [placed], marker=marker, markersize=5, markeredgecolor="white", **beyond)
        place, size = right + (2.3 if marker else 1.3) * step, 7.5 if width < NARROW else 8.5
        axes.text(place, placed, name, color=colour, va="center", fontsize=size)
