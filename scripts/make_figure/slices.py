"""The scores of one method on one data set over the values of a parameter and the number of features."""

from typing import NamedTuple

import numpy as np

from ufs_bench.metrics.study import POOR
from ufs_bench.metrics.study.frames import params_of
from ufs_bench.scripts.core.command_lines import MissingResults

BEST, DEFAULT = "best", "default"
NOT_SET = "not set"  # a parameter that is null, or that a trial leaves to the method


class Surface(NamedTuple):
    """The scores of one panel."""

    metric: str
    parameter: str
    values: list  # of the parameter, ascending
    sizes: list  # numbers of features
    scores: np.ndarray  # (n_sizes, n_values), in percent; nan where nothing is stored, or a fit learned nothing


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
