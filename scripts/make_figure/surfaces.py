"""A score over the values of a parameter and the number of features, as heat maps."""

from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from ufs_bench.metrics.study import METRICS, POOR
from ufs_bench.metrics.study.frames import params_of
from ufs_bench.metrics.study.selections import LABEL_FREE
from ufs_bench.runners.messages import counted
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import find, printed, whole_grid
from ufs_bench.scripts.core.text import CLUSTERERS, listed
from ufs_bench.scripts.make_figure.options import one, several
from ufs_bench.scripts.make_figure.style import HEAT, NARROW, WIDTH, framed, number, symbol

LEAST_RANGE = 5  # percentage points between the ends of the colours
BEST, DEFAULT = "best", "default"
NOT_SET = "not set"  # a parameter that is null, or that a trial leaves to the method


class Surface(NamedTuple):
    """The scores of one panel."""

    metric: str
    parameter: str
    values: list  # of the parameter, ascending
    sizes: list  # numbers of features
    scores: np.ndarray  # (n_sizes, n_values), in percent; nan where nothing is stored, or a fit learned nothing


def surfaces(
    study, dataset, method, parameters=None, metric=("acc",), clusterer="kmeans",
    others="best", grid=None, width=WIDTH,
):  # fmt: skip
    """Draw a score over each parameter and the number of features.

    `others` sets the values of the other parameters, as in `surface`; `grid` has values
    that the figure is to show, for the command that computes them.
    """
    dataset, method, metrics = one(dataset), one(method, "method"), several(metric)
    own = find("method", method) or {}
    defaults = own.get("params") or {}
    cell = _, varying, constant = grid_of(study.summary, dataset, method, clusterer, defaults)
    parameters = list(varying) if parameters is None else several(parameters)
    searched = [name for name, values in {**(own.get("grid") or {}), **(grid or {})}.items() if len(values) > 1]
    if not parameters:
        cells = [(method, dataset)] if searched else []  # a run of its grid would not add values
        raise MissingResults(f"{method} on {dataset} has scores at one setting of its parameters only.", cells)
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
    scores = " and ".join(score.upper() for score in metrics)
    title = f"{printed('method', method)} on {printed('dataset', dataset)}: {scores} of {CLUSTERERS[clusterer]}"
    note = ". ".join(rules) + (f". Everywhere: {', '.join(fixed)}." if fixed else ".")
    note += f"\n{_fits(trials, method)}. {study.origin([method])}"
    return _drawn(panels, title, note, width)


def _drawn(surfaces, title, note, width):
    """Draw one panel for each surface: a row for each metric, or one below the other in a narrow figure."""
    metrics = list(dict.fromkeys(panel.metric for panel in surfaces))
    per_row = 1 if width < NARROW else len(surfaces) // len(metrics)
    rows = -(-len(surfaces) // per_row)
    values = np.concatenate([panel.scores.ravel() for panel in surfaces])
    note += "\nOutlined: the best." if np.isfinite(values).any() else ""
    if np.isnan(values).any():
        note += " Hatched: not run, or the fit failed, reached a limit or learned nothing."
    height = 0.9 + rows * min(2.35, 0.62 * width / per_row)
    with framed(width, height, title, note, **{"axes.grid": False}) as figure:
        axes = figure.subplots(rows, per_row, squeeze=False).ravel()
        for metric in metrics:
            own = [(axis, panel) for axis, panel in zip(axes, surfaces, strict=True) if panel.metric == metric]
            scale = _scale([panel for _, panel in own])
            for axis, panel in own:
                _heat_map(axis, panel, scale, 72 * width / per_row)
            if any(np.isfinite(panel.scores).any() for _, panel in own):
                bar = figure.colorbar(ScalarMappable(scale, HEAT), ax=[axis for axis, _ in own], pad=0.015, aspect=22)
                bar.set_label(f"{METRICS[metric]} (%)")
                bar.outline.set_visible(False)
    return figure


def _scale(panels):
    """Return the scale of the colours; a small range is the noise of restarts, which full contrast would exaggerate."""
    found = np.concatenate([panel.scores.ravel() for panel in panels])
    if np.isnan(found).all():
        return Normalize(0, 100)
    low, high = np.nanmin(found), np.nanmax(found)
    missing = max(LEAST_RANGE - (high - low), 0)
    return Normalize(low - missing / 2, high + missing / 2)


def _heat_map(axis, panel, scale, points):
    axis.set_facecolor("white")
    # Cells without a score show the hatching.
    hatching = {"fill": False, "hatch": "////", "edgecolor": "#bbbbbb", "linewidth": 0}
    axis.add_patch(Rectangle((0, 0), 1, 1, transform=axis.transAxes, **hatching))
    scores = np.ma.masked_invalid(panel.scores)
    axis.pcolormesh(scores, cmap=HEAT, norm=scale, edgecolor="white", linewidth=0.5)
    room = points * 0.8 / len(panel.values)
    for (row, column), value in np.ndenumerate(panel.scores):
        if room > 18 and np.isfinite(value):
            dark = np.dot(colormaps[HEAT](scale(value))[:3], (0.299, 0.587, 0.114)) < 0.5
            axis.text(
                column + 0.5, row + 0.5, f"{value:.1f}", ha="center", va="center",
                fontsize=min(7.5, room / 3), color="white" if dark else "black",
            )  # fmt: skip
    if scores.count():
        best = np.unravel_index(scores.argmax(), scores.shape)
        axis.add_patch(Rectangle(best[::-1], 1, 1, fill=False, edgecolor="black", linewidth=1.4))
    axis.set_xticks(np.arange(len(panel.values)) + 0.5, [number(value) for value in panel.values])
    axis.set_yticks(np.arange(len(panel.sizes)) + 0.5, panel.sizes)
    axis.tick_params(length=0, labelsize=8)
    axis.spines[:].set_visible(False)
    axis.set_xlabel(symbol(panel.parameter))
    axis.set_ylabel("Selected features")


def _others_text(varying, parameter, others, defaults, metrics):
    fixed = fixed_values(varying, parameter, others, defaults)
    best = [symbol(name) for name in varying if name not in (*fixed, parameter)]
    parts = [f"{symbol(name)} = {number(value)}" for name, value in fixed.items()]
    labelled = [METRICS[metric] for metric in metrics if metric not in LABEL_FREE]
    how = ", chosen with the labels" if labelled else ""
    how += f" for {listed(labelled)}" if 0 < len(labelled) < len(metrics) else ""
    parts += [f"the best {' and '.join(best)} at every point{how}"] if best else []
    return f"Over {symbol(parameter)}: {', '.join(parts)}" if parts else f"Over {symbol(parameter)}"


def _fits(trials, method):
    """Say how much of the method's own grid is stored."""
    whole = whole_grid(method, {}) or 0
    stored = trials["params"].nunique()
    points = f"Incomplete: {stored} of {whole} grid points" if stored < whole else f"{stored} grid points"
    return f"{points}, {counted(len(trials), 'fit')}"


def grid_of(summary, dataset, method, clusterer="kmeans", defaults=None):
    """Return the points of one cell, and parameter -> values of those that vary and of those that are constant.

    The points have a column "param NAME" for each parameter, `defaults` where a trial does not set it. MissingResults
    says that there are none.
    """
    cell = summary[(summary["dataset"] == dataset) & (summary["method"] == method)]
    cell = cell[cell["clusterer"] == clusterer]
    if not (cell["n_restarts"] > 0).any():
        there = summary[(summary["dataset"] == dataset) & (summary["n_restarts"] > 0)]["method"].unique()
        raise MissingResults(
            f"no scores are stored for method={method} on dataset={dataset} and clusterer={clusterer}; methods with "
            f"scores there: {', '.join(there) or 'none'}.",
            [(method, dataset)],
        )
    own = params_of(cell).tolist()
    names = sorted({name for point in own for name in point})
    params = {name: [_set(point.get(name, (defaults or {}).get(name))) for point in own] for name in names}
    points = cell.assign(**{f"param {name}": values for name, values in params.items()})
    # A value at which every fit failed is a gap in the figure, but does not count as a second value.
    scored = {name: set(points.loc[points["n_restarts"] > 0, f"param {name}"].tolist()) for name in names}
    varying = {
        name: sorted(set(params[name]), key=lambda value: (isinstance(value, str), value))
        for name in names
        if len(scored[name]) > 1
    }
    constant = {name: values.pop() for name, values in scored.items() if len(values) == 1}
    return points, varying, constant


def _set(value):
    return NOT_SET if value is None else value


def surface(grid, parameter, metric, others=BEST, defaults=None):
    """Return the scores over one parameter and the size, from `grid_of`; MissingResults where there are none.

    The values of the `others` are the best ones at every point, the `defaults`, or given, and the best of those not
    named.
    """
    points, varying, constant = grid
    if parameter not in varying:
        has = f"has the one value {constant[parameter]}" if parameter in constant else "is not a parameter"
        method, dataset = points["method"].iloc[0], points["dataset"].iloc[0]
        raise MissingResults(
            f"{parameter} {has} of {method} in the scores on {dataset}; parameters with several values: "
            f"{', '.join(varying) or 'none'}.",
            [(method, dataset)],
        )
    wanted = fixed_values(varying, parameter, others, defaults)
    kept = points
    for name, value in wanted.items():
        kept = kept[kept[f"param {name}"] == value]
    if not (kept["n_restarts"] > 0).any():
        text = ", ".join(f"{name}={value}" for name, value in wanted.items())
        raise MissingResults(
            f"no point with a score has {text}; stored values: "
            f"{'; '.join(f'{name}: {varying[name]}' for name in wanted)}. others=best takes what there is.",
            [(points["method"].iloc[0], points["dataset"].iloc[0])],
        )
    learned = kept[~kept["status"].isin(POOR)]
    best = learned.groupby([f"param {parameter}", "n_selected"])[f"{metric}_mean"].max()
    # A value that only other slices have is not a gap of this one.
    asked = set(kept[f"param {parameter}"])
    values, sizes = [value for value in varying[parameter] if value in asked], sorted(points["n_selected"].unique())
    scores = np.array([[best.get((value, size), np.nan) for value in values] for size in sizes])
    return Surface(metric, parameter, values, [int(size) for size in sizes], scores)


def fixed_values(varying, parameter, others, defaults):
    """Return the value of every other parameter that does not take its best."""
    rest = [name for name in varying if name != parameter]
    if others == BEST:
        return {}
    if others == DEFAULT:
        return {name: _set(defaults[name]) for name in rest if name in (defaults or {})}
    if isinstance(others, str) or not hasattr(others, "items"):
        raise ValueError(f"others={others!r} must be best, default, or values such as {{gamma: 1.0}}.")
    return {name: _set(value) for name, value in others.items() if name in rest}
