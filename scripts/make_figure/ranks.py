"""Gains over controls, a row for each method, and average ranks on a line, over bars that join what does not differ."""

import math
import sys
from itertools import combinations

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import printed, printed_family, unique_names
from ufs_bench.scripts.make_figure.options import several
from ufs_bench.scripts.make_figure.style import GREY, NARROW, WIDTH, face, framed, legend_in, looks_of, styles

ROW = 0.34  # inches
HIGHEST, LOWEST, MEAN = -0.36, 0.1, 0.28  # the heights of a row's points, and of its mean below them; rows are 1 apart
TESTS = {"nemenyi": "Nemenyi", "wilcoxon_holm": "Wilcoxon signed-rank with Holm's correction"}


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


def critical_difference(
    study, dataset=None, metric="acc", clusterer="kmeans", selection="best_over_grid",
    methods=None, variants="base", test="nemenyi", alpha=0.05, partial=False, width=WIDTH,
):  # fmt: skip
    """Draw average ranks over data sets, the best on the left, and join methods that no test tells apart.

    The defaults are those of `scripts.rank.field.field_of`, but that methods which lack a cell are left out.
    """
    # Here, as it imports statistics that most figures do not need.
    from ufs_bench.scripts.rank.field import DROPPED, field_of, rank_study

    if test not in TESTS:
        raise ValueError(f"test={test!r} must be one of {', '.join(TESTS)}.")
    datasets = several(dataset) or None
    field = field_of(study, metric, selection, clusterer, methods, datasets, variants, partial, drop=True)
    said = "".join(f"{text}\n" for text in field.left_out if text.startswith(DROPPED))
    print(said, end="", file=sys.stderr)
    ranking = rank_study(field, alpha, test)
    comparison = ranking.comparison
    p, length = comparison.friedman_p, comparison.critical_difference
    friedman = "" if math.isnan(p) else f" Friedman's test: p = {p:.2g}."
    distance = f" (critical difference {length:.2f})" if comparison.posthoc == "nemenyi" else ""
    title = f"Average ranks by {METRICS[metric]} over {len(field.scores)} data sets; 1 is the best"
    note = (
        f"{said}Joined: not told apart at {alpha:g} by {TESTS[test]}{distance}.{friedman} "
        f"{BY_NAME[selection].overall}.\n"
        f"Data sets: {', '.join(printed('dataset', name) for name in field.scores.index)}. "
        f"{study.origin(field.scores)}"
    )
    names, looks = unique_names("method", ranking.table.index), styles(study.summary["method"])
    average = ranking.table["average_rank"].sort_values(kind="stable")
    n_methods = len(average)
    narrow = width < NARROW
    n_left = n_methods if narrow else (n_methods + 1) // 2
    with framed(width, (2.6 if narrow else 1.75) + 0.2 * n_left, title, note, **{"axes.grid": False}) as figure:
        axis = figure.add_subplot()
        # One unit of height is a line of text: the ranks are at 0, bars and names below.
        groups = sorted(sorted(average[list(group)]) for group in alike(comparison.pairs, alpha))
        for depth, ranks in enumerate(groups, 1):
            axis.plot([ranks[0], ranks[-1]], [-depth] * 2, color="black", linewidth=3, solid_capstyle="butt", zorder=3)
        left, right = list(average.index[:n_left]), list(average.index[: n_left - 1 : -1])
        for side, methods in (("left", left), ("right", right)):
            for line, method in enumerate(methods, len(groups) + 1):
                _name(axis, names[method], average[method], -line, looks[method], side, n_methods)
        axis.set_xlim(0.8, n_methods + 0.2)
        axis.xaxis.set_ticks_position("top")
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        axis.yaxis.set_visible(False)
        axis.spines[["left", "bottom"]].set_visible(False)
        axis.spines.top.set(visible=True, position=("data", 0), bounds=(1, n_methods))
    return figure


def alike(pairs, alpha=0.05):
    """Return the largest groups of methods, as frozensets of two or more, no pair of which a test tells apart.

    By signed ranks a group need not have all methods between its best and its worst.
    """
    joined = {one: {other for other in pairs if other != one and pairs.loc[one, other] > alpha} for one in pairs}
    groups = {frozenset([one]) for one in pairs}
    for method in pairs:  # the groups of the methods so far, and what they become with one more
        groups |= {frozenset([*(group & joined[method]), method]) for group in groups}
        groups -= {one for one, other in combinations(sorted(groups, key=len), 2) if one < other}
    return [group for group in groups if len(group) > 1]


def _name(axis, name, rank, height, look, side, n_methods):
    """Draw a tick on the line of ranks, and a line from it to a method's marker and name at one side."""
    colour, marker = look
    end, shift = (0.8, -6) if side == "left" else (n_methods + 0.2, 6)
    axis.plot([end, rank, rank], [height, height, 0], color=GREY, linewidth=0.7)
    axis.plot(rank, 0, marker="|", markersize=7, color="black", zorder=3)
    axis.plot(end, height, marker=marker, markersize=6, color=colour, **face(colour), clip_on=False)
    words = f"{name}  {rank:.2f}" if side == "left" else f"{rank:.2f}  {name}"
    align = "right" if side == "left" else "left"
    axis.annotate(
        words, (end, height), (shift, 0), textcoords="offset points", ha=align, va="center", fontsize=8.5,
    )  # fmt: skip
