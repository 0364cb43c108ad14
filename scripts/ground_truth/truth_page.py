"""The table and the figure of what is found in data of known truth."""

import numpy as np
from matplotlib import colormaps

from ufs_bench.scripts.core.conf import printed
from ufs_bench.scripts.core.text import pipes, signed
from ufs_bench.scripts.ground_truth import ENOUGH, LEVEL, SHARE, beyond_chance, differences, found
from ufs_bench.scripts.make_figure.style import HEAT, WIDTH, framed
from ufs_bench.scripts.rank.choice import is_control

ABREAST = 6  # panels of a figure
HEAD = ["Method", "Relevance", "Over max_variance", "Chance"]


def truth_table(rows):
    """Return the rows of `recovered` as a table in Markdown, a line for each method, which `truth_frame` has."""
    table = truth_frame(rows)
    lines = [[*HEAD, *table.columns[3:]]]
    for row in table.itertuples():
        method = f"*{row.Index}*" if is_control(row.Index) else row.Index
        lines.append([method, _text(row.relevance), row.over, row.chance, *row[4:]])
    return f"{pipes(lines)}\n"


def truth_frame(rows):
    """Return a row for each method, the one with the largest mean relevance first.

    relevance: its mean over all families and difficulties.  over: its gain over the features of largest variance, with
    ? where the test of `differences` cannot tell.  chance: "yes" where it is beyond it, by `beyond_chance`.  Then, by
    family, the relevance at the easiest difficulty, with * for a star; the last, of families with copies, diversity.
    """
    table = found(rows)
    methods, easy = _order(table), table.xs(1, level="difficulty")
    frame = table.groupby("method")["precision"].mean().reindex(methods).to_frame("relevance")
    own = [method for method in methods if not is_control(method)]
    p = beyond_chance(rows[rows["method"].isin(own)])
    frame["over"] = _over_variance(rows, own).reindex(methods).fillna("")
    frame["chance"] = ["yes" if p.get(method, 1) <= LEVEL else "" for method in methods]
    for family in easy.index.unique("family"):
        frame[family] = _starred(easy.xs(family, level="family"), "precision", "relevant").reindex(methods).fillna("")
    copies = easy["redundancy"].groupby("family").max()
    for family in copies.index[copies > 0]:
        of_copies = easy.xs(family, level="family")
        frame[f"{family}: diversity"] = _starred(of_copies, "recall", "diverse").reindex(methods).fillna("")
    return frame


def _starred(own, measure, star):
    return own[measure].map(_text) + own[star].map({True: "*", False: ""})


def _over_variance(rows, own):
    """Return by method its gain over the features of largest variance as a text."""
    if "max_variance" not in set(rows["method"]):
        return beyond_chance(rows).iloc[:0].astype(str)
    table = differences(rows, "max_variance").reindex(own)
    told = (table["p"] <= LEVEL).map({True: "", False: "?"})
    return table["mean"].map(lambda value: signed(value, 2).replace("0.", ".", 1)) + told


def ground_truth_figure(rows, name):
    """Draw the relevance in the rows of `recovered`, of a study of this name, over the difficulty; a panel a family."""
    table = found(rows)
    methods, families = _order(table), table.index.unique("family")
    colours = colormaps[HEAT]
    n_lines = -(-len(families) // ABREAST)
    title = "Relevance: share of the selected features that are relevant, at their number"
    note = f"Study {name}, default parameters. Bold: {SHARE:.0%} of the seeds reach {ENOUGH}."
    with framed(WIDTH, 0.8 + n_lines * (0.6 + 0.16 * len(methods)), title, note) as figure:
        axes = figure.subplots(n_lines, -(-len(families) // n_lines), sharey=True, squeeze=False)
        for axis in axes.ravel()[len(families) :]:
            axis.set_visible(False)
        for axis, family in zip(axes.ravel(), families, strict=False):
            part = table.xs(family, level="family")
            wide = part["precision"].unstack().reindex(methods)
            axis.pcolormesh(np.ma.masked_invalid(wide), cmap=HEAT, vmin=0, vmax=1, edgecolor="white", linewidth=0.5)
            passed = part["relevant"].unstack().reindex(methods)
            for (row, column), value in np.ndenumerate(wide.to_numpy()):
                if np.isfinite(value):
                    dark = np.dot(colours(value)[:3], (0.299, 0.587, 0.114)) < 0.5
                    axis.text(
                        column + 0.5, row + 0.5, _text(value), ha="center", va="center", fontsize=6,
                        color="white" if dark else "black", fontweight="bold" if passed.iat[row, column] else "normal",
                    )  # fmt: skip
            signals = part.groupby("difficulty")["signal"].first()
            axis.set_xticks(np.arange(len(signals)) + 0.5, [f"{signal:g}" for signal in signals], fontsize=7)
            axis.set_yticks(np.arange(len(methods)) + 0.5, [printed("method", one) for one in methods], fontsize=6.5)
            axis.set_title(family, fontsize=8)
            axis.grid(visible=False)
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
        axes[0, 0].invert_yaxis()
        axes[0, len(axes[0]) // 2].set_xlabel("signal, in standard deviations of the noise", fontsize=7)
    return figure


def _order(table):
    """Return the methods, the one with the largest mean relevance first."""
    means = table.groupby("method")["precision"].mean()
    return sorted(means.index, key=lambda method: (-means[method], method))


def _text(value):
    return "" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1)
