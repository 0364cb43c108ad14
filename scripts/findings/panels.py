"""The figures of the findings: the gains of all methods, and those of ACC beside NMI by size and by family."""

import numpy as np
import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ufs_bench.scripts.compare.controls import ALL
from ufs_bench.scripts.core.conf import printed_family
from ufs_bench.scripts.findings.plan import ENOUGH, SCORES, WEIGHTS, means_of
from ufs_bench.scripts.make_figure.style import COLOURS, GREY, PHONE, STYLE, apart, new_figure
from ufs_bench.scripts.ranks.gains import above, below

NAMED = 2  # of the largest, and of the least means: methods that have a colour and a name
REACH = 15.0  # points: gains beyond have the last colour
ROW = 0.19  # inches of a method
EDGE = -10.0  # points: an interval that goes beyond is cut, and has an arrow
CELL = 0.13  # inches
NARROW = 0.098  # the least width of a cell, in inches, which the names below it need
LETTER = 0.068  # inches of a name in the smallest size


def draw(settings):
    """Draw the gains over random rankings by size; the first setting orders the methods, all features stand below."""
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


def draw_sizes(kinds):
    """Draw the mean gains over families by size, a line for each method, those at both ends of the order named."""
    named = list(dict.fromkeys([*kinds.methods[:NAMED], *kinds.methods[-NAMED:], ALL]))
    looks = dict(zip(named, [(colour, "-") for colour in COLOURS], strict=False)) | {ALL: (GREY, "--")}
    names = kinds.names | {ALL: "All features"}
    with rc_context(STYLE):
        figure = new_figure(PHONE, 0.3 + 2.6 * len(SCORES))
        axes = figure.subplots(len(SCORES), 1, sharex=True, sharey=True)
        for axis, score in zip(axes, SCORES, strict=True):
            table = _by_size(kinds, score)
            axis.axhline(0, color=GREY, linewidth=0.9)
            for name in [*(name for name in table if name not in looks), *(name for name in named if name in table)]:
                colour, line = looks.get(name, (GREY, "-"))
                width, alpha = (1.8, 1.0) if name in looks else (0.7, 0.45)
                axis.plot(table.index, table[name], line, color=colour, linewidth=width, alpha=alpha)
            axis.set_xscale("log")
            axis.set_xlim(right=max(WEIGHTS) * 1.05)  # lines end where names begin
            axis.set_xticks(list(WEIGHTS), [str(size) for size in WEIGHTS])
            axis.minorticks_off()
            axis.set_title(score.upper(), fontsize=9, loc="left")
            axis.tick_params(labelsize=8)
        axes[-1].set_xlabel("Number of features", fontsize=8)
        figure.supylabel("Gain over random rankings, in points", fontsize=8)
        low, high = axes[0].get_ylim()
        for axis, score in zip(axes, SCORES, strict=True):
            ends = _by_size(kinds, score).ffill().iloc[-1].reindex(named).dropna().sort_values()
            for name, height in zip(ends.index, apart(ends, (high - low) / 18, low, high), strict=True):
                axis.text(max(WEIGHTS) * 1.08, height, names[name], color=looks[name][0], fontsize=8, va="center")
        return figure


def _by_size(kinds, score):
    """Return the mean gains over families: sizes by methods and all features, nan where too few families have any."""
    rows = {}
    for size, own in kinds.sized[score].groupby(level="n_selected"):
        means = means_of(own.droplevel("n_selected").unstack("method"), kinds.families)
        enough = means.notna().sum() >= min(ENOUGH, len(means))
        rows[size] = means.mean().where(enough).reindex([*kinds.methods, ALL])
    return pd.DataFrame(rows).T.dropna(axis=1, how="all")


def draw_families(kinds):
    """Draw the mean gain of every method in every family as a colour; what has no score is hatched."""
    means, names = kinds.means, [kinds.names[name] for name in kinds.methods]
    n_methods, n_families = len(names), len(means)
    left, below = (LETTER * max(map(len, texts)) for texts in (names, means.index))
    rows = 1 if left + len(SCORES) * CELL * n_families <= PHONE else len(SCORES)  # beside or below each other
    with rc_context({**STYLE, "axes.grid": False, "hatch.linewidth": 0.4}):
        figure = new_figure(max(PHONE, left + NARROW * n_families), 0.7 + rows * (0.3 + CELL * n_methods) + below)
        axes = figure.subplots(rows, len(SCORES) // rows, sharex=True, sharey=True)
        colours = colormaps["BrBG"]
        for axis, score in zip(axes, SCORES, strict=True):
            own = means.xs(score, axis=1, level="score")[kinds.methods].to_numpy().T
            whole = Rectangle((-0.5, -0.5), n_families, n_methods, facecolor="none", edgecolor=GREY, linewidth=0)
            axis.add_patch(whole).set_hatch("/////")
            mesh = axis.pcolormesh(
                np.arange(n_families), np.arange(n_methods), np.ma.masked_invalid(own),
                cmap=colours, vmin=-REACH, vmax=REACH, shading="nearest", linewidth=0, zorder=2,
            )  # fmt: skip
            axis.set_xticks(range(n_families), [*map(printed_family, means.index)], rotation=90)
            axis.set_title(score.upper(), fontsize=9, loc="left")
            axis.tick_params(length=0, labelsize=7)
            axis.spines[:].set_visible(False)
        axes[0].set_yticks(range(n_methods), names)
        axes[0].set_ylim(n_methods - 0.5, -0.5)
        bar = figure.colorbar(mesh, ax=axes, location="bottom", extend="both", fraction=0.03, pad=0.01, aspect=30)
        bar.set_label("Gain over random rankings, in points", fontsize=8)
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)
        return figure
