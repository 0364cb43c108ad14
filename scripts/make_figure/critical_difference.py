"""The critical-difference diagram: average ranks on a line, with bars over methods that do not differ significantly."""

import math
import sys
from itertools import combinations

from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.make_figure.options import several
from ufs_bench.scripts.make_figure.style import GREY, NARROW, WIDTH, face, framed, styles

TESTS = {"nemenyi": "Nemenyi", "wilcoxon_holm": "Wilcoxon signed-rank with Holm's correction"}


def critical_difference(
    study, dataset=None, metric="acc", clusterer="kmeans", selection="best_over_grid",
    methods=None, variants="base", test="nemenyi", alpha=0.05, partial=False, width=WIDTH,
):  # fmt: skip
    """Draw average ranks over data sets, the best on the left, and join methods that no test tells apart.

    The defaults are those of `scripts.ranks.field.field_of`, but that methods which lack a cell are left out.
    """
    from ufs_bench.scripts.ranks import rank_study  # here, as it imports statistics that most figures do not need
    from ufs_bench.scripts.ranks.field import DROPPED, field_of

    if test not in TESTS:
        raise ValueError(f"test={test!r} must be one of {', '.join(TESTS)}.")
    datasets = several(dataset) or None
    field = field_of(study, metric, selection, clusterer, methods, datasets, variants, partial, drop=True)
    said = "".join(f"{text}\n" for text in field.left_out if text.startswith(DROPPED))
    print(said, end="", file=sys.stderr)
    ranking = rank_study(field, alpha, test)
    p = ranking.comparison.friedman_p
    friedman = "" if math.isnan(p) else f" Friedman's test: p = {p:.2g}."
    title = f"Average ranks by {METRICS[metric]} over {len(field.scores)} data sets; 1 is the best"
    note = (
        f"{said}Joined: not told apart at {alpha:g} by {TESTS[test]}.{friedman} {BY_NAME[selection].overall}.\n"
        f"Data sets: {', '.join(printed('dataset', name) for name in field.scores.index)}. "
        f"{study.origin(field.scores)}"
    )
    names, looks = unique_names("method", ranking.table.index), styles(study.summary["method"])
    average, comparison = ranking.table["average_rank"].sort_values(kind="stable"), ranking.comparison
    n_methods = len(average)
    narrow = width < NARROW
    height = 1.75 + (0.2 if narrow else 0.1) * n_methods
    with framed(width, height, title, note, **{"axes.grid": False}) as figure:
        axis = figure.add_subplot()
        _bare(axis)
        # One unit of height is a line of text: the ranks are at 0, bars and names below.
        rows = stacked([(average[list(one)].min(), average[list(one)].max()) for one in alike(comparison.pairs, alpha)])
        for depth, bars in enumerate(rows, 1):
            for ends in bars:
                axis.plot(ends, [-depth, -depth], color="black", linewidth=3, solid_capstyle="butt", zorder=3)
        margin = 0.03 * n_methods
        left = average if narrow else average[: (n_methods + 1) // 2]
        for line, method in enumerate(left.index):
            _name(axis, names[method], average[method], left.iloc[0] - margin, -len(rows) - 1 - line, looks[method])
        for line, method in enumerate(average.index[: len(left) - 1 : -1]):
            _name(axis, names[method], average[method], average.iloc[-1] + margin, -len(rows) - 1 - line,
                  looks[method], right=True)  # fmt: skip
        axis.set_xlim(*_limits(average, [names[method] for method in average.index], width - 0.15, narrow))
        axis.set_xticks(range(1, n_methods + 1, 1 + n_methods // (6 if narrow else 25)))
        axis.spines.top.set_bounds(1, n_methods)
        axis.tick_params(labelsize=8, pad=1)
        if comparison.posthoc == "nemenyi":
            _bar(axis, comparison.critical_difference)
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


def stacked(bars):
    """Return bars (low, high) in as many rows as keep them from touching each other, those that begin first on top."""
    rows = []
    for low, high in sorted(bars):
        free = next((row for row in rows if row[-1][1] < low), None)
        if free is None:
            rows.append(free := [])
        free.append((low, high))
    return rows


def _bare(axis):
    """Leave nothing of the frame but the line of the ranks, at a height of 0, with its numbers above."""
    axis.yaxis.set_visible(False)
    for side in ("left", "right", "bottom"):
        axis.spines[side].set_visible(False)
    axis.spines.top.set_visible(True)
    axis.spines.top.set_position(("data", 0))
    axis.xaxis.set_ticks_position("top")


def _name(axis, name, rank, end, height, look, right=False):
    """Draw a tick on the line of ranks, which hides no other one, and a line from it to a method's marker and name."""
    colour, marker = look
    axis.plot([end, rank, rank], [height, height, 0], color=GREY, linewidth=0.7)
    axis.plot(rank, 0, marker="|", markersize=7, color="black", zorder=3)
    axis.plot(end, height, marker=marker, markersize=6, color=colour, **face(colour), clip_on=False)
    words = f"{rank:.2f}  {name}" if right else f"{name}  {rank:.2f}"
    axis.annotate(
        words, (end, height), (6 if right else -6, 0), textcoords="offset points",
        ha="left" if right else "right", va="center", fontsize=8.5,
    )  # fmt: skip


def _bar(axis, length):
    """Draw the critical difference as a length, above the axis and its numbers."""
    place = {"transform": axis.get_xaxis_transform(), "clip_on": False, "color": "black"}
    axis.plot([1, 1 + length], [1.22, 1.22], linewidth=1.2, marker="|", markersize=6, **place)
    axis.text(
        1 + length / 2, 1.25, f"critical difference {length:.2f}", ha="center", va="bottom", fontsize=7.5, **place
    )


def _limits(ranks, names, inches, left_only):
    """Return ends of the axis that leave room for the names beyond the best rank and, on two sides, the worst."""
    room = 0.075 * max(map(len, names)) + 0.45
    margin = 0.03 * len(ranks)
    best, worst = ranks.min() - margin, ranks.max() + margin
    # The right end is that of the numbered axis or that of the names.
    for right, beyond in ((worst, room), (len(ranks) + 0.05, 0.05))[left_only:]:
        per_inch = (right - best) / max(inches - room - beyond, 0.5)
        low, high = best - room * per_inch, right + beyond * per_inch
        if low <= 0.95 and high >= len(ranks) + 0.05:
            break
    return min(low, 0.95), max(high, len(ranks) + 0.05)
