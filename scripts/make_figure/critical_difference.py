"""The critical-difference diagram: average ranks on a line, with bars over methods that do not differ significantly."""

import math
import sys
from itertools import combinations

from matplotlib.ticker import MaxNLocator

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
