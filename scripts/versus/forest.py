"""The forest plot of one method beside all others."""

import io
from math import isnan

from matplotlib.ticker import MaxNLocator

from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.make_figure.style import COLOURS, GREY, WIDTH, framed
from ufs_bench.scripts.ranks.gains import above, below

ROW = 0.15  # inches


def drawn(figure):
    """Return a figure as the text of an SVG, the same for the same figure."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def forest(found, title, note):
    """Draw the gain over every other with its interval, a panel for each `Versus`; the first orders the rows."""
    order = found[0].table.sort_values("mean", ascending=False, kind="stable").index
    order = sorted(order, key=found[0].controls.__contains__)
    names = unique_names("method", order) | {"random_rankings": "Random rankings"}
    with framed(WIDTH, 1.3 + ROW * len(order), title, note, **{"axes.grid.axis": "x"}) as figure:
        axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axis, one in zip(axes, found, strict=True):
            axis.axvline(0, color=GREY, linewidth=0.8)
            axis.axhline(len(order) - len(found[0].controls) - 0.5, color=GREY, linewidth=0.6)
            rows, gain, lose = one.table.reindex(order), above(one.table), below(one.table)
            for height, row in enumerate(rows.itertuples()):
                colour = COLOURS[2] if row.Index in gain else COLOURS[1] if row.Index in lose else COLOURS[6]
                axis.plot([row.low, row.high], [height] * 2, color=colour, linewidth=1.2)
                inside = "white" if isnan(row.low) else colour
                axis.plot(row.mean, height, "s", color=colour, markersize=3, markerfacecolor=inside)
            axis.set_title(one.selection, fontsize=8, loc="left")
            axis.xaxis.set_major_locator(MaxNLocator(nbins=4))
        axes[0].set_yticks(range(len(order)), [names[name] for name in order], fontsize=6.5)
        axes[0].set_ylim(len(order) - 0.4, -0.6)
    return figure
