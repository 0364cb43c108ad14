"""The figure of the findings: the gain of every method over random rankings, a panel for each size."""

from matplotlib import rc_context
from matplotlib.ticker import MaxNLocator

from scripts.compare.controls import ALL
from scripts.make_figure.style import COLOURS, GREY, PHONE, STYLE, new_figure
from scripts.ranks.gains import above, below

ROW = 0.19  # inches
EDGE = -10.0  # points: an interval that goes beyond is cut, and has an arrow


def draw(settings):
    """Draw the mean gains with their intervals; the first setting orders the methods, all features stand below."""
    order = [*settings[0].methods.index, ALL]
    with rc_context({**STYLE, "axes.grid.axis": "x"}):
        figure = new_figure(PHONE, 0.95 + ROW * len(order))
        axes = figure.subplots(1, len(settings), sharey=True, sharex=True, squeeze=False)[0]
        for axis, one in zip(axes, settings, strict=True):
            axis.axvline(0, color=GREY, linewidth=0.9)
            axis.axhline(len(order) - 1.5, color=GREY, linewidth=0.6)
            gain, lose = above(one.random.table), below(one.random.table)
            for height, row in enumerate(one.random.table.reindex(order).itertuples()):
                colour = COLOURS[2] if row.Index in gain else COLOURS[1] if row.Index in lose else GREY
                low = max(row.low, EDGE)
                axis.plot([low, max(row.high, EDGE)], [height] * 2, color=colour, linewidth=1.6, solid_capstyle="butt")
                axis.plot(max(row.mean, EDGE), height, color=colour, marker="o", markersize=4, linestyle="")
                if low > row.low:
                    axis.plot(low, height, color=colour, marker="<", markersize=4, linestyle="")
            axis.set_title(f"{one.size} features", fontsize=9, loc="left")
            axis.xaxis.set_major_locator(MaxNLocator(nbins=4))
            axis.tick_params(axis="y", length=0)
            axis.tick_params(axis="x", labelsize=8)
        axes[0].set_yticks(range(len(order)), [settings[0].names[name] for name in order], fontsize=8)
        axes[0].set_ylim(len(order) - 0.4, -0.6)
        figure.supxlabel("Gain in accuracy over random rankings,\nin points, with its 95 % interval", fontsize=8)
        return figure
