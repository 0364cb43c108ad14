"""The critical-difference diagram: average ranks on a line, with bars over methods that do not differ significantly."""

import scikit_posthocs
from matplotlib import rc_context

from scripts.make_figure.style import NARROW, STYLE, WIDTH, frame, new_figure

TESTS = {"nemenyi": "Nemenyi", "wilcoxon_holm": "Wilcoxon signed-rank with Holm's correction"}


def draw_critical_difference(ranking, looks, names, *, alpha=0.05, title, note, width=WIDTH):
    """Draw the average ranks, the best on the left; methods that no test of the pair tells apart are joined.

    `looks` has the (colour, marker) of a method, and `names` its name in print.
    """
    table, comparison = ranking.table, ranking.comparison
    n_methods = len(table)
    printed = {method: names[method] for method in table.index}
    narrow = width < NARROW
    with rc_context({**STYLE, "axes.grid": False}):
        figure = new_figure(width, 1.75 + (0.2 if narrow else 0.1) * n_methods)
        axis = figure.add_subplot()
        axis.spines.top.set_visible(True)
        scikit_posthocs.critical_difference_diagram(
            table["average_rank"].rename(printed),
            comparison.pairs.rename(index=printed, columns=printed),
            alpha=alpha,
            ax=axis,
            color_palette={printed[method]: looks[method][0] for method in table.index},
            label_fmt_left="{label}  {rank:.2f} ",
            label_fmt_right=" {rank:.2f}  {label}",
            label_props={"fontsize": 8.5},
            crossbar_props={"color": "black", "linewidth": 3},
            elbow_props={"linewidth": 1},
            marker_props={"s": 18},
            text_h_margin=0.03 * n_methods,
            left_only=narrow,
        )
        axis.set_xlim(*_limits(table["average_rank"], list(printed.values()), width - 0.15, narrow))
        axis.set_xticks(range(1, n_methods + 1))
        axis.spines.top.set_bounds(1, n_methods)
        axis.tick_params(labelsize=8, pad=1)
        if comparison.posthoc == "nemenyi":
            _bar(axis, comparison.critical_difference)
        frame(figure, title, note)
        return figure


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
