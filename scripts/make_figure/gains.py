"""Gains over controls: a row for each method, a point for each data set, coloured by family."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed, printed_family
from ufs_bench.scripts.make_figure.options import several
from ufs_bench.scripts.make_figure.style import GREY, NARROW, WIDTH, framed, legend_in, looks_of

ROW = 0.34  # inches
HIGHEST, LOWEST, MEAN = -0.36, 0.1, 0.28  # the heights of a row's points, and of its mean below them; rows are 1 apart


def gains(
    study, dataset=None, metric="acc", clusterer="kmeans", selection="best_over_grid",
    methods=None, variants="base", partial=False, width=WIDTH,
):  # fmt: skip
    """Draw gains over random rankings and over all features: points, means and intervals, a panel for each.

    The gains over the first order the methods.  The defaults are those of `scripts.rank.field.field_of`.
    """
    # Here, as it imports statistics that most figures do not need.
    from ufs_bench.scripts.rank.field import REFERENCES, field_of, paired_gains
    from ufs_bench.scripts.rank.page import OVER, names_of

    field = field_of(study, metric, selection, clusterer, methods, several(dataset) or None, variants, partial)
    found = paired_gains(field)
    if not found:
        lacking = ", ".join(dict.fromkeys(control for control, _ in field.lacking))
        raise MissingResults(f"gains are over controls that have a score on every data set: {lacking}.", field.lacking)
    missing = "".join(f" No {name}: it lacks data sets." for name in REFERENCES if name not in field.controls)
    title = f"Gain in {METRICS[metric]} over controls on {len(field.scores)} data sets, in points"
    note = (
        "A point: one data set. Bar and line: the mean and its 95 % interval, from a bootstrap that draws "
        "families, then data sets of each. Below the line: controls, of which random rankings are the mean of "
        f"{field.n_draws}. {BY_NAME[selection].overall}.{missing}\n"
        f"{study.origin([*field.scores, *field.controls])}"
    )
    names, families = names_of(field), field.families
    controls = {one.reference for one in found}.union(*(one.controls for one in found))
    rows = [name for name in found[0].table.index if name not in controls]
    n_methods = len(rows)
    rows += sorted(controls, key=lambda name: names[name].lower())
    looks = looks_of(sorted(set(families.values())))
    narrow = width < NARROW
    entries = _entries(looks, families)
    columns = max(1, int(width / 2.4))
    legend, height = 0.18 * -(-len(entries) // columns), 0.55 + ROW * len(rows)
    deep = len(found) if narrow else 1
    whole = (1.7 if narrow else 1.1) + legend + deep * height  # the note of a narrow one is longer
    with framed(width, whole, title, note, **{"axes.grid.axis": "x"}) as figure:
        cells = figure.add_gridspec(deep + 1, 1 if narrow else len(found), height_ratios=[*[height] * deep, legend])
        axis = None
        for place, one in enumerate(found):
            axis = figure.add_subplot(cells[place, 0] if narrow else cells[0, place], sharex=axis)
            _panel(axis, one, rows, families, looks)
            axis.xaxis.set_major_locator(MaxNLocator(nbins=4 if narrow else 6))
            axis.axhline(n_methods - 0.5, color=GREY, linewidth=0.6)
            axis.set_yticks(range(len(rows)), [names[name] for name in rows] if narrow or not place else [])
            axis.set_title(f"Over {OVER[one.reference]}", fontsize=9, loc="right" if narrow else "left")
        legend_in(figure.add_subplot(cells[deep, :]), entries, columns)
    return figure


def _panel(axis, gains, rows, families, looks):
    axis.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    order = sorted(families, key=lambda name: (families[name], name))
    offsets = dict(zip(order, np.linspace(HIGHEST, LOWEST, len(order)), strict=True))
    for height, name in enumerate(rows):
        if name not in gains.table.index:
            continue
        for dataset, gain in gains.points[name].items():
            colour, marker = looks[families[dataset]]
            axis.plot(
                gain, height + offsets[dataset], color=colour, marker=marker, markersize=4.5, alpha=0.75,
                markeredgecolor="white", markeredgewidth=0.4, linestyle="", zorder=2,
            )  # fmt: skip
        row = gains.table.loc[name]
        axis.plot([row["low"], row["high"]], [height + MEAN] * 2, color="black", linewidth=1.6, zorder=3)
        axis.plot(row["mean"], height + MEAN, color="black", marker="|", markersize=8, markeredgewidth=1.8, zorder=3)
    axis.set_ylim(len(rows) - 0.5, -0.6)
    axis.tick_params(axis="y", length=0)


def _entries(looks, families):
    """Return the entries of the legend; a family of a single data set has that data set's printed name."""
    return [
        Line2D(
            [], [], color=colour, marker=marker, markersize=5.5, markeredgecolor="white", linestyle="",
            label=printed("dataset", family) if family in families else printed_family(family),
        )
        for family, (colour, marker) in looks.items()
    ]  # fmt: skip
