"""The page and the figure of what is found in data of known truth."""

import numpy as np
from matplotlib import colormaps, rc_context

from datasets.truth import truth_names
from scripts.core.conf import printed
from scripts.core.views import render
from scripts.ground_truth import ENOUGH, SEEDS, SHARE, found
from scripts.make_figure.style import HEAT, STYLE, WIDTH, frame, new_figure
from scripts.ranks.choice import is_control

SAME = 1e-9  # measures and expectations that differ by rounding
ABREAST = 6  # panels of a figure


def ground_truth_page(rows, name):
    """Return the rows of `recovered`, of a study of this name, as a page of Markdown."""
    table = found(rows)
    stored = rows.groupby(["family", "difficulty", "seed"]).ngroups
    families = table.index[table["redundancy"] > 0].unique("family")
    copies = table[table.index.get_level_values("family").isin(families)]
    return render(
        "ground_truth/truth.md.j2",
        enough=ENOUGH,
        share=f"{SHARE:.0%}",
        seeds=SEEDS,
        name=name,
        n_methods=rows["method"].nunique(),
        stored=stored,
        n_datasets=len(truth_names()),
        conclusions=_conclusions(table),
        relevance=_lines(table, "precision", "relevant"),
        diversity=_lines(copies, "recall", "diverse"),
        redundancy=_lines(copies, "redundancy"),
        has_copies=(rows["redundancy"] > 0).any(),
        unfound=_open(table),
    )


def ground_truth_figure(rows, name):
    """Draw the relevance in the rows of `recovered`, of a study of this name, over the difficulty; a panel a family."""
    table = found(rows)
    methods, families = _order(table), table.index.unique("family")
    colours = colormaps[HEAT]
    with rc_context(STYLE):
        n_lines = -(-len(families) // ABREAST)
        figure = new_figure(WIDTH, 0.8 + n_lines * (0.6 + 0.16 * len(methods)))
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
        note = f"Study {name}, default parameters. Bold: {SHARE:.0%} of the seeds reach {ENOUGH}."
        frame(figure, "Relevance: share of the selected features that are relevant, at their number", note)
    return figure


def _conclusions(table):
    """Return what the table comes to, in sentences."""
    means = table["precision"].groupby("method").mean()
    own = [method for method in means.index if not is_control(method)]
    easy = table.xs(1, level="difficulty")
    lines = [
        _passing(own, easy["relevant"], "methods has a star for relevance at the easiest difficulty of every family")
    ]
    copies = easy[easy["redundancy"].groupby("family").transform("max") > 0]
    if len(copies):
        words = "methods has one for diversity, too, wherever there are copies"
        lines.append(_passing(own, copies["relevant"] & copies["diverse"], words))
    # The expectation, as the stored random rankings are one for each seed.
    no_better = (easy["precision"] <= easy["share"] + SAME).groupby("method").any()
    lost = [method for method in own if no_better[method]]
    lines.append(
        f"* In at least one family, {len(lost)} of them select no more relevant features than random rankings do on "
        f"average, even at the easiest difficulty: {', '.join(lost) or 'none'}."
    )
    if "max_variance" in means.index:
        better = [method for method in own if means[method] > means["max_variance"]]
        lines.append(
            f"* {len(better)} of them have a larger mean relevance than `max_variance`, which selects the features of "
            f"largest variance: {', '.join(better) or 'none'}."
        )
    return "\n".join(lines)


def _passing(own, stars, words):
    """Return a sentence on the methods that have all of some stars."""
    passing = [method for method in own if method in stars.index and stars.loc[method].all()]
    words = words.replace("has", "have", 1) if len(passing) > 1 else words
    return f"* {len(passing) or 'None'} of the {len(own)} {words}{': ' + ', '.join(passing) if passing else ''}."


def _lines(table, measure, star=None):
    """Return the lines of a table of one measure, the methods by their mean relevance."""
    families = list(table.index.unique("family"))
    signals = table.groupby(["family", "difficulty"])["signal"].first()
    heads = [f"{family} ({', '.join(f'{one:g}' for one in signals[family])})" for family in families]
    lines = [["Method", *heads]]
    for method in _order(table):
        cells = table.loc[method]
        line = [f"*{method}*" if is_control(method) else method]
        for family in families:
            own = cells.loc[family] if family in cells.index else cells.iloc[:0]
            marks = own[star] if star else [False] * len(own)
            line.append(" ".join(_text(value) + "*" * mark for value, mark in zip(own[measure], marks, strict=True)))
        lines.append(line)
    return lines


def _open(table):
    """Say which methods, besides the controls, have no star for relevance at the first difficulty of a family."""
    first = table[table.index.get_level_values("difficulty") == 1]
    lines = []
    for family in first.index.unique("family"):
        own = first.xs(family, level="family").reset_index("difficulty", drop=True)
        own = own[[not is_control(method) for method in own.index]]
        whole = own["seeds"] >= SEEDS
        lacking, own = len(own) - whole.sum(), own[whole]
        failed = own[~own["relevant"]].sort_values("precision", ascending=False)
        names = ", ".join(f"{one.Index} {_text(one.precision)} ({_text(one.variance)})" for one in failed.itertuples())
        rest = f" With fewer than {SEEDS} seeds: {lacking} more." if lacking else ""
        lines.append(f"* {family}: {len(failed)} of {len(own)} methods{f': {names}' if names else ''}.{rest}")
    return "\n".join(lines)


def _order(table):
    """Return the methods, the one with the largest mean relevance first."""
    means = table.groupby("method")["precision"].mean()
    return sorted(means.index, key=lambda method: (-means[method], method))


def _text(value):
    return "" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1)
