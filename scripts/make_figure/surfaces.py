"""A score over the values of a parameter and the number of features: heat maps, or bars in three dimensions."""

from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgba
from matplotlib.patches import Rectangle

from metrics.study import METRICS, POOR
from metrics.study.frames import params_of
from scripts.core.command_lines import MissingResults
from scripts.make_figure.style import GREY, HEAT, NARROW, WIDTH, framed, in_words, number, symbol

BEST, DEFAULT = "best", "default"
NOT_SET = "not set"  # a parameter that is null, or that a trial leaves to the method
POOR_FACE = "#e9e9e9"  # of a cell whose fit learned nothing
LEAST_RANGE = 5  # percentage points between the ends of the colours


class Surface(NamedTuple):
    """The scores of one panel."""

    metric: str
    parameter: str
    # values, sizes: values of the parameter, ascending, and the numbers of features
    values: list
    sizes: list
    scores: np.ndarray  # shape (n_sizes, n_values), in percent; nan where nothing is stored or the fit failed
    poor: np.ndarray  # of the same shape: the status where the fit with this score learned nothing; "" elsewhere


def grid_of(summary, dataset, method, clusterer="kmeans", defaults=None):
    """Return the points of one cell, and parameter -> values of those that vary and of those that are constant.

    The points have a column "param NAME" for each parameter, `defaults` where a trial does not set it. MissingResults
    says that there are none.
    """
    cell = summary[(summary["dataset"] == dataset) & (summary["method"] == method)]
    cell = cell[cell["clusterer"] == clusterer]
    if not (cell["n_restarts"] > 0).any():
        there = summary[(summary["dataset"] == dataset) & (summary["n_restarts"] > 0)]["method"].unique()
        others = f"methods with scores there: {', '.join(there)}"
        if not len(there):
            others = f"there are none on it; methods of this study: {', '.join(summary['method'].unique()) or 'none'}"
        raise MissingResults(
            f"no scores are stored for method={method} on dataset={dataset} and clusterer={clusterer}; {others}.",
            [(method, dataset)],
        )
    own = params_of(cell).tolist()
    names = sorted({name for point in own for name in point})
    params = [{name: _set(point.get(name, (defaults or {}).get(name))) for name in names} for point in own]
    points = cell.assign(**{f"param {name}": [point[name] for point in params] for name in names})
    scored = [point for point, count in zip(params, cell["n_restarts"], strict=True) if count]
    found = {name: {point[name] for point in scored} for name in names}
    # A value at which every fit failed is a gap in the figure, but does not count as a second value.
    varying = {name: _sorted({point[name] for point in params}) for name in names if len(found[name]) > 1}
    constant = {name: values.pop() for name, values in found.items() if len(values) == 1}
    return points, varying, constant


def _set(value):
    return NOT_SET if value is None else value


def _sorted(values):
    return sorted(values, key=lambda value: (isinstance(value, str), value))


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
    # Among equal scores, the one of a fit that learned something counts.
    order = kept.assign(learned=~kept["status"].isin(POOR)).sort_values([f"{metric}_mean", "learned"], kind="stable")
    best = order.dropna(subset=f"{metric}_mean").groupby([f"param {parameter}", "n_selected"], sort=False).last()
    status, best = best["status"].where(~best["learned"], ""), best[f"{metric}_mean"]
    # A value that only other slices have is not a gap of this one.
    asked = set(kept[f"param {parameter}"])
    values, sizes = [value for value in varying[parameter] if value in asked], sorted(points["n_selected"].unique())
    scores = np.array([[best.get((value, size), np.nan) for value in values] for size in sizes])
    poor = np.array([[status.get((value, size), "") for value in values] for size in sizes])
    return Surface(metric, parameter, values, [int(size) for size in sizes], scores, poor)


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


def draw_surfaces(surfaces, *, title, note, kind="heatmap", width=WIDTH):
    """Draw one panel for each surface: a row for each metric, or one below the other in a narrow figure."""
    if kind not in ("heatmap", "bars"):
        raise ValueError(f"kind={kind!r} must be heatmap or bars.")
    is_map = kind == "heatmap"
    metrics = list(dict.fromkeys(panel.metric for panel in surfaces))
    learned = {panel.metric for panel in surfaces if _learned(panel).any()}
    per_row = 1 if width < NARROW else len(surfaces) // len(metrics)
    rows = -(-len(surfaces) // per_row)
    cell = width / per_row
    height = 0.9 + rows * (min(2.35, 0.62 * cell) if is_map else min(2.55, 0.75 * cell))
    scales = {metric: _scale([panel for panel in surfaces if panel.metric == metric]) for metric in metrics}
    if learned or not is_map:
        note += "\nOutlined: the best." if is_map else "\nThe bars do not start at 0."
    if any(np.isnan(panel.scores).any() for panel in surfaces):
        note += f" {'Hatched' if is_map else 'Gaps'}: not run, or the fit failed or reached a limit."
    with framed(width, height, title, note, **{"axes.grid": False}) as figure:
        projection = {} if is_map else {"projection": "3d"}
        axes = figure.subplots(rows, per_row, squeeze=False, subplot_kw=projection).ravel()
        for index, (axis, panel) in enumerate(zip(axes, surfaces, strict=True)):
            (_heat_map if is_map else _bars)(axis, panel, scales[panel.metric], index % per_row == 0, 72 * cell)
            if words := _poor(panel):
                axis.set_title(f"{'Crossed' if is_map else 'Grey'}: {words}", fontsize=7.5, loc="left", color=GREY)
        for metric in (one for one in metrics if is_map and one in learned):
            of_metric = [axis for axis, panel in zip(axes, surfaces, strict=True) if panel.metric == metric]
            bar = figure.colorbar(ScalarMappable(scales[metric], HEAT), ax=of_metric, pad=0.015, aspect=22)
            bar.set_label(f"{METRICS[metric]} (%)")
            bar.outline.set_visible(False)
    return figure


def _learned(panel):
    """Return where a score is of a fit that learned something."""
    return np.isfinite(panel.scores) & (panel.poor == "")


def _poor(panel):
    """Say how many scores are of fits that learned nothing; "" where none is."""
    words, count, stored = in_words(panel.poor.ravel()), np.sum(panel.poor != ""), np.isfinite(panel.scores).sum()
    if not words:
        return ""
    return f"the fit {words} ({f'all {count}' if count == stored else f'{count} of {stored}'} cells)"


def _scale(panels):
    found = np.concatenate([panel.scores[_learned(panel)] for panel in panels])
    if not len(found):
        found = np.concatenate([panel.scores.ravel() for panel in panels])
    low, high = np.nanmin(found), np.nanmax(found)
    # A smaller range is the noise of the restarts, which full contrast would exaggerate.
    missing = max(LEAST_RANGE - (high - low), 0)
    return Normalize(low - missing / 2, high + missing / 2)


def _heat_map(axis, panel, scale, first, points):
    colours = colormaps[HEAT]
    axis.set_facecolor("white")
    # Cells without a score show the hatching.
    hatching = {"fill": False, "hatch": "////", "edgecolor": "#bbbbbb", "linewidth": 0}
    axis.add_patch(Rectangle((0, 0), 1, 1, transform=axis.transAxes, **hatching))
    learned = _learned(panel)
    axis.pcolormesh(np.ma.masked_where(~learned, panel.scores), cmap=HEAT, norm=scale, edgecolor="white", linewidth=0.5)
    room = points * 0.8 / len(panel.values)
    for (row, column), value in np.ndenumerate(panel.scores):
        if panel.poor[row, column]:
            crossed = {"facecolor": POOR_FACE, "hatch": "xxx", "edgecolor": "#c4c4c4", "linewidth": 0}
            axis.add_patch(Rectangle((column, row), 1, 1, **crossed))
        if room > 18 and np.isfinite(value):
            behind = {} if learned[row, column] else {"bbox": {"color": POOR_FACE, "pad": 0.6}}
            dark = learned[row, column] and np.dot(colours(scale(value))[:3], (0.299, 0.587, 0.114)) < 0.5
            axis.text(
                column + 0.5, row + 0.5, f"{value:.1f}", ha="center", va="center",
                fontsize=min(7.5, room / 3), color="white" if dark else "black", **behind,
            )  # fmt: skip
    if learned.any():
        best = np.unravel_index(np.argmax(np.where(learned, panel.scores, -np.inf)), learned.shape)
        axis.add_patch(Rectangle(best[::-1], 1, 1, fill=False, edgecolor="black", linewidth=1.4))
    axis.set_xticks(np.arange(len(panel.values)) + 0.5, [number(value) for value in panel.values])
    axis.set_yticks(np.arange(len(panel.sizes)) + 0.5, panel.sizes)
    axis.tick_params(length=0, labelsize=8)
    axis.spines[:].set_visible(False)
    axis.set_xlabel(symbol(panel.parameter))
    if first:
        axis.set_ylabel("Selected features")


def _bars(axis, panel, scale, first, points):
    colours = colormaps[HEAT]
    column, row = np.meshgrid(np.arange(len(panel.values)), np.arange(len(panel.sizes)))
    known = np.isfinite(panel.scores)
    low = np.floor(scale.vmin / 5) * 5
    axis.bar3d(
        column[known] - 0.35, row[known] - 0.35, low, 0.7, 0.7, np.maximum(panel.scores[known] - low, 1e-3),
        color=np.where(_learned(panel)[known][:, None], colours(scale(panel.scores[known])), to_rgba(POOR_FACE)),
        edgecolor="white", linewidth=0.2,
    )  # fmt: skip
    axis.set_xticks(np.arange(len(panel.values)), [number(value) for value in panel.values])
    axis.set_yticks(np.arange(len(panel.sizes)), panel.sizes)
    axis.set_zlim(low, np.nanmax(panel.scores))
    axis.tick_params(labelsize=6.5, pad=-2, color=GREY)
    axis.set_xlabel(symbol(panel.parameter), labelpad=-4)
    axis.set_ylabel("features", labelpad=-2, fontsize=8)
    axis.set_zlabel(f"{METRICS[panel.metric]} (%)", labelpad=-5, fontsize=8)
    axis.view_init(elev=28, azim=-58)
    axis.set_box_aspect((1, 1, 0.7), zoom=0.95)
